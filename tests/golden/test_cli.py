"""The command line on a real-layout checkpoint of every family."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seer_core.cli import main
from tests.golden.conftest import CASES

FAMILIES = ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple")
PICTURE = CASES / "images" / "wide_640x200.png"
TOKENS = {"lavida_llada": 428, "lavida_dream": 428, "llada_v": 1664, "mmada": 1024, "dimple": 161}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.parametrize("family", FAMILIES)
def test_inspect_knows_the_family_its_size_and_what_an_image_becomes(
    family: str, seeing_checkpoint: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    status, fields = run(capsys, "inspect", str(seeing_checkpoint(family)), "--image", str(PICTURE))
    assert (status, fields["family"], fields["can_serve"]) == (0, family, True)
    assert fields["image"] == {"size_px": [640, 200], "tokens": TOKENS[family]}
    assert fields["calibrated"] is False
    assert fields["profile"].startswith("uncalibrated")
    assert 0 < fields["weights_gib"]["bfloat16"] < fields["weights_gib"]["float32"]
    assert fields["loads_as"]["cpu"] == "float32"  # as config.json says


@pytest.mark.parametrize("family", FAMILIES)
def test_generate_answers_about_an_image(
    family: str, seeing_checkpoint: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(seeing_checkpoint(family))
    ask = ("--model", folder, "--image", str(PICTURE), "--prompt", "What is it?", "--max-tokens", "8")
    status, fields = run(capsys, "generate", *ask)
    assert status == 0
    assert fields["usage"]["prompt_tokens"] > TOKENS[family]
    assert 0 < fields["steps"] <= 8
    assert fields["calibrated"] is False
    assert main(["generate", *ask]) == 0
    assert capsys.readouterr().out == fields["text"] + "\n"  # streamed
    status, seen = run(capsys, "probe", *ask)
    assert (status, len(seen["sparsity"]), seen["calibrated"]) == (0, 8, False)
    assert seen["canvas_tokens"] == seen["kept_tokens"] or seen["boundary"] is not None


@pytest.mark.parametrize("family", ["llada", "dream"])
def test_a_text_model_answers_and_refuses_an_image(
    family: str, text_checkpoint: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("--model", str(text_checkpoint(family)), "--prompt", "What is it?", "--max-tokens", "8")
    status, fields = run(capsys, "inspect", str(text_checkpoint(family)))
    assert (status, fields["family"], fields["images"]) == (0, family, "none")
    status, fields = run(capsys, "generate", *ask)
    assert (status, fields["canvas_tokens"]) == (0, 8)
    assert main(["generate", *ask]) == 0
    assert capsys.readouterr().out == fields["text"] + "\n"
    status, seen = run(capsys, "probe", *ask)
    assert (status, len(seen["sparsity"])) == (0, 8)
    status, fields = run(capsys, "generate", *ask, "--image", str(PICTURE))
    assert status == 2
    assert "image" in fields["error"]["message"]


@pytest.mark.parametrize(
    ("family", "loops"),
    [("lavida_llada", ("prefix", "full")), ("dimple", ("dim", "dream")), ("mmada", ("full", "fast"))],
)
def test_a_loop_is_chosen_by_name_and_the_first_is_the_default(
    family: str,
    loops: tuple[str, str],
    golden_checkpoint: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    ask = ("generate", "--model", str(golden_checkpoint(family)), "--prompt", "What is it?", "--max-tokens", "8")
    _, default = run(capsys, *ask)
    first, second = (run(capsys, *ask, "--family", family, "--loop", loop)[1] for loop in loops)
    assert first == default
    assert len(second["tokens"]) <= 8
    for option, wrong, near in (("--loop", loops[0] + "x", loops[0]), ("--family", family + "x", family)):
        status, fields = run(capsys, *ask, option, wrong)
        assert status == 2
        assert f"did you mean {near!r}" in fields["error"]["message"]


def test_a_model_without_its_image_tokenizer_says_so(
    golden_checkpoint: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(golden_checkpoint("mmada"))
    _, fields = run(capsys, "inspect", folder)
    assert fields["images"].startswith("none; MAGVIT-v2 codes need a folder magvit")
    for command in (["inspect", folder], ["generate", "--model", folder, "--prompt", "What is it?"]):
        status, fields = run(capsys, *command, "--image", str(PICTURE))
        assert status == 2
        assert "image" in fields["error"]["message"]


def test_an_image_that_is_none_is_named(
    golden_checkpoint: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    status, fields = run(capsys, "inspect", str(golden_checkpoint("dimple")), "--image", __file__)
    assert (status, fields["error"]["type"]) == (2, "BadImage")
