"""The command line: its JSON, its pictures, and how it says what is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet
from safetensors.torch import load_file, save_file

from seer_core.cli import main, parser
from seer_core.embedded import CHECKPOINT
from seer_core.errors import ConfigError
from seer_core.pipeline import Pipeline

EXAMPLES = Path(__file__).parents[2] / "examples"
LISTED = "red circle, blue square, green triangle, purple ring, yellow cross"
ASK = ["--image", str(EXAMPLES / "shapes.png"), "--prompt", "How many shapes are there?"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, the last line as JSON, standard error."""
    status = main([*arguments, "--json"])
    printed = capsys.readouterr()
    return status, json.loads(printed.out.splitlines()[-1]), printed.err


def test_generate_prints_the_answer_and_its_account(capsys: pytest.CaptureFixture[str]) -> None:
    status, fields, _ = run(capsys, "generate", *ASK)
    assert status == 0
    assert (fields["text"], fields["finish_reason"]) == ("5", "stop")
    assert fields["usage"]["completion_tokens"] == 1
    assert {"forecast_tokens", "canvas_tokens", "kept_tokens", "steps", "regrown"} <= fields.keys()
    assert fields["forecast_tokens"] < fields["canvas_tokens"] == 64


def test_a_parallel_commit_rule_gives_the_answer_in_fewer_steps(capsys: pytest.CaptureFixture[str]) -> None:
    ask = [*ASK[:2], "--prompt", "List the shapes."]
    _, plain, _ = run(capsys, "generate", *ask)
    for rule in (["threshold", "--commit-threshold", "0.8"], ["factor", "--commit-factor", "0.5"]):
        _, fields, _ = run(capsys, "generate", *ask, "--commit", *rule)
        assert fields["text"] == plain["text"]
        assert fields["steps"] < plain["steps"]


def test_generate_streams_plain_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", *ASK]) == 0
    assert capsys.readouterr().out == "5\n"


def test_without_truncation_the_whole_canvas_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    _, fields, _ = run(capsys, "generate", *ASK, "--no-truncate", "--max-tokens", "16")
    assert (fields["text"], fields["kept_tokens"], fields["detector"]) == ("5", 16, "none")


def test_probe_shows_the_curve_and_draws_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    _, fields, _ = run(capsys, "probe", *ASK, "--plot", str(picture))
    assert len(fields["sparsity"]) == fields["canvas_tokens"] == 64
    assert fields["boundary"] < fields["kept_tokens"] <= 64
    assert {"jump", "noise", "snr", "detector"} <= fields.keys()
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "detector", ["paper", "readout", "first_end", "smartcrop", "dual", "oracle:1", "fixed:8", "none"]
)
def test_probe_draws_for_every_detector(capsys: pytest.CaptureFixture[str], tmp_path: Path, detector: str) -> None:
    picture = tmp_path / "curve.png"
    _, fields, _ = run(capsys, "probe", *ASK, "--detector", detector, "--plot", str(picture))
    assert fields["detector"] == detector.partition(":")[0]
    assert (fields["end_probability"] is not None) == (detector in ("first_end", "smartcrop", "dual"))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_evaluate_reports_every_score(capsys: pytest.CaptureFixture[str]) -> None:
    _, fields, _ = run(capsys, "evaluate", "--count", "2", "--canvas", "16")
    wanted = "count canvas exact_match_untruncated exact_match paired_agreement boundary_mae_tokens over_truncation"
    assert {*wanted.split(), "over_truncation_after_repair", "regrow_rate"} <= fields.keys()
    assert (fields["count"], fields["canvas"]) == (2, 16)


def questions(folder: Path, *rows: dict[str, Any]) -> Path:
    shutil.copy(EXAMPLES / "shapes.png", folder)
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps({"image": "shapes.png", **row}) + "\n" for row in rows))
    return file


def test_evaluate_scores_a_file_and_goes_on_where_it_stopped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = questions(
        tmp_path,
        {"question": "How many shapes are there?", "answers": ["5", "five"]},
        {"question": "List the shapes.", "metric": "anls", "answer": LISTED.replace("yellow", "yellowy")},
    )
    common = ["evaluate", "--data", str(data), "--canvas", "32", "--out", str(tmp_path / "records.jsonl")]
    _, first, _ = run(capsys, *common, "--count", "1")
    kept = (tmp_path / "records.jsonl").read_text()
    _, whole, _ = run(capsys, *common)
    assert (first["count"], first["score"], whole["count"]) == (1, 1.0, 2)
    assert whole["per_metric"]["anls"]["score"] == pytest.approx(1 - 1 / (len(LISTED) + 1))
    assert (tmp_path / "records.jsonl").read_text().startswith(kept)
    for changed, named in (
        (["--detector", "paper"], "was made with decoding"),
        (["--metric", "relaxed"], "is of another question"),
    ):
        status, fields, _ = run(capsys, *common, *changed)
        assert status == 2
        assert named in fields["error"]["message"]


def test_evaluate_reads_parquet_with_names_of_its_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    image = (EXAMPLES / "shapes.png").read_bytes()
    rows = [{"picture": {"bytes": image, "path": None}, "query": "How many shapes are there?", "label": ["5"], "x": 1}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    renamed = ["--fields", "image=picture", "question=query", "answers=label", "--metric", "relaxed"]
    status, fields, _ = run(capsys, "evaluate", "--data", str(tmp_path), "--canvas", "16", *renamed)
    assert (status, fields["score"]) == (0, 1.0)
    assert fields["per_metric"]["relaxed"]["count"] == 1
    assert fields["per_kind"].keys() == {"a"}


def test_bench_compares_the_modes_on_the_same_answers(capsys: pytest.CaptureFixture[str]) -> None:
    _, fields, _ = run(capsys, "bench", "--count", "2", "--canvases", "32", "--rounds", "1")
    rows = {row["mode"]: row for row in fields["rows"]}
    assert rows["fixed"]["steps"] == 64
    assert rows["seer"]["steps"] < rows["fixed_early_exit"]["steps"] <= 64
    assert rows["fixed"]["ratio_to_fixed"] == 1.0


def test_bench_engine_compares_the_ways_to_run_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "bench.png"
    some = ["--mixes", "equal-16", "--batches", "2", "--modes", "naive_padding", "routed", "--rounds", "1"]
    _, fields, _ = run(capsys, "bench", "engine", *some, "--plot", str(picture))
    wanted = "mix batch mode step_ms rows_per_s padding_waste path_shares graph_hits overhead_share"
    assert all(set(wanted.split()) <= row.keys() for row in fields["rows"])
    assert [row["mode"] for row in fields["rows"]] == ["naive_padding", "routed"]
    assert (fields["prompt_tokens"], fields["rounds"]) == (60, 1)
    assert picture.exists()


def test_bench_engine_prints_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "engine", "--mixes", "equal-16", "--batches", "1", "--modes", "eager", "--rounds", "1"]) == 0
    headings, row = capsys.readouterr().out.splitlines()
    assert headings.startswith("mix")
    assert row.startswith("equal-16")


def test_bench_layers_reads_the_reports_of_calibrations(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = Path(__file__).parents[2] / "docs/results/calibrate.json"
    _, fields, _ = run(capsys, "bench", "layers", f"shipped={report}", "--plot", str(tmp_path / "layers.png"))
    assert {row["report"] for row in fields["rows"]} == {"shipped"}
    assert {"paper", "readout", "smartcrop"} <= {row["detector"] for row in fields["rows"]}


def test_bench_layers_does_not_take_two_reports_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    report = str(Path(__file__).parents[2] / "docs/results/calibrate.json")
    status, fields, _ = run(capsys, "bench", "layers", report, report)
    assert status == 2
    assert "two reports are called 'calibrate'" in fields["error"]["message"]
    _, fields, _ = run(capsys, "bench", "layers", report, f"again={report}")
    assert {row["report"] for row in fields["rows"]} == {"calibrate", "again"}


@pytest.mark.parametrize(
    "words",
    [
        ["bench", "canvases", "--count", "1"],
        ["bench", "readout", "--count", "1"],
        ["bench", "end-to-end", "--quality-rows", "1", "--rounds", "0"],
        ["bench", "--count", "1"],
        ["evaluate", "--count", "1"],
    ],
)
def test_weights_are_loaded_in_the_dtype_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    def load(model: Path, **choice: Any) -> Pipeline:
        raise ConfigError(f"asked for {choice['dtype']}")

    monkeypatch.setattr(Pipeline, "load", load)
    _, fields, _ = run(capsys, *words, "--dtype", "float16")
    assert fields["error"]["message"] == "asked for torch.float16"


def test_bench_canvases_asks_the_same_on_every_canvas(capsys: pytest.CaptureFixture[str]) -> None:
    _, fields, _ = run(capsys, "bench", "canvases", "--canvases", "8", "16", "--count", "2")
    assert [(row["canvas"], row["rows"]) for row in fields["rows"]] == [(8, 2), (16, 2)]


def test_bench_readout_says_what_the_readout_gains_and_keeps_the_ends(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ends, out, picture = (tmp_path / name for name in ("ends.json", "study.json", "study.png"))
    some = ["--count", "10", "--canvases", "8", "16", "--layers", "1", "--tensors", "gate", "--ends", str(ends)]
    _, fields, _ = run(capsys, "bench", "readout", *some, "--out", str(out), "--plot", str(picture))
    assert {"features", "stacking", "prompts", "margins", "canvases", "kinds"} <= fields.keys()
    assert json.loads(out.read_text()) == fields
    assert ends.exists()
    assert picture.exists()


def test_bench_readout_names_a_layer_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, fields, _ = run(capsys, "bench", "readout", "--count", "1", "--layers", "99")
    assert code == 2
    assert "no layer 99" in fields["error"]["message"]


def test_what_all_commands_share_may_stand_before_the_part_that_is_measured() -> None:
    options = parser().parse_args(["bench", "--json", "--dtype", "bfloat16", "engine", "--batches", "4"])
    assert (options.json, options.dtype, options.batches) == (True, "bfloat16", [4])
    assert not parser().parse_args(["bench", "engine"]).json


def test_every_picture_that_is_given_is_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (str(EXAMPLES / name) for name in ("shapes.png", "digits.png"))
    code, fields, _ = run(capsys, "generate", "--image", one, "--image", two, "--prompt", "List the shapes.")
    assert code == 2
    assert "2 images" in fields["error"]["message"]


def test_doctor_says_what_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    _, fields, _ = run(capsys, "doctor")
    assert fields["embedded_model"] == "lavida_llada"
    assert fields["can"]["generate"]


def test_models_lists_every_family(capsys: pytest.CaptureFixture[str]) -> None:
    status, fields, _ = run(capsys, "models")
    assert status == 0
    assert {row["name"] for row in fields["families"]} >= {"lavida_llada", "llada_v", "mmada", "dimple"}
    assert main(["models"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(fields["families"])


def test_inspect_says_what_a_folder_is(capsys: pytest.CaptureFixture[str]) -> None:
    status, fields, _ = run(capsys, "inspect", str(CHECKPOINT))
    assert status == 0
    assert (fields["family"], fields["can_serve"]) == ("lavida_llada", True)
    assert fields["weights_gib"]["float32"] > 0
    assert main(["inspect", str(CHECKPOINT)]) == 0
    assert "LaViDa (LLaDA)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["generate", "--prompt", "hi"], "needs an image"),
        (["generate", "--image", __file__, "--prompt", "hi"], "not an image"),
        (["generate", "--image", "nowhere.png", "--prompt", "hi"], "nowhere.png"),
        (["generate", *ASK, "--model", "no/such/folder"], "no/such/folder"),
        (["generate", *ASK, "--detector", "papper"], "did you mean 'paper'"),
        (["generate", *ASK, "--detector", "smart_crop"], "did you mean 'smartcrop'"),
        (["probe", *ASK, "--detector", "oracle"], "oracle:24"),
        (["generate", *ASK, "--commit", "treshold"], "did you mean 'threshold'"),
        (["generate", *ASK, "--max-tokens", "100000"], "100000"),
        (["inspect", str(CHECKPOINT), "--family", "llada-v"], "did you mean 'llada_v'"),
        (["inspect", str(CHECKPOINT), "--family", "llada_v"], "it lacks model.layers.0"),
        (["bench", "engine", "--modes", "stattic"], "did you mean 'static'"),
        (["bench", "layers", "README.md"], "README.md"),
    ],
)
def test_what_is_wrong_is_named_on_standard_error_and_in_json(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    status, fields, complaint = run(capsys, *arguments)
    assert status == 2
    assert named in complaint
    assert named in fields["error"]["message"]


def test_a_renamed_weight_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(CHECKPOINT, folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["model.oops"] = tensors.pop("model.image_newline")
    save_file(tensors, folder / "model.safetensors")
    status, _, complaint = run(capsys, "generate", *ASK, "--model", str(folder))
    assert status == 2
    assert "missing: newline" in complaint
    assert "model.oops" in complaint


@pytest.mark.parametrize("arguments", [["generate", *ASK, "--max-tokens", "-1"], ["generate", "--surprise"], ["fly"]])
def test_malformed_command_lines_end_with_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
