"""Over random weights: what is asked of the numbers is that they belong together, not that they are good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seer_core.tools.rivals.cells import Cells
from seer_core.tools.rivals.end_to_end import COLUMNS, EndToEnd
from seer_core.tools.rivals.methods import METHODS
from seer_core.tools.rivals.settings import EndToEndSettings
from seer_core.tools.rivals.track import Track
from tests.unit.tools.rivals.tiny_track import tiny_samples, tiny_track

NAMES = tuple(name for name in METHODS if name not in {"paper", "dual"})


def bench(cells: Path | None, *, rounds: int = 1, rows: int = 4) -> EndToEnd:
    settings = EndToEndSettings(
        canvases=(16, 24), batches=(1, 2), methods=NAMES, quality_rows=rows, speed_rows=2, rounds=rounds, part_rows=2
    )
    return EndToEnd(samples=tiny_samples(rows), settings=settings, cells=Cells(cells, {}), track_of=tiny_track)


def no_track(rows: int) -> Track:
    raise AssertionError(f"a track of {rows} rows was made for cells that are all there")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cells")
    bench(folder).run(progress=False)
    return folder


def test_every_method_has_a_row_of_every_canvas_and_batch_with_all_columns(finished: Path) -> None:
    rows = bench(finished).rows()
    assert [(row["method"], row["canvas"], row["batch"]) for row in rows] == [
        (name, canvas, batch) for canvas in (16, 24) for batch in (1, 2) for name in NAMES
    ]
    assert all(set(COLUMNS) <= row.keys() for row in rows)
    assert bench(finished).missing() == []
    json.dumps(rows, allow_nan=False)


def test_the_baseline_agrees_with_itself_and_takes_every_step(finished: Path) -> None:
    for row in bench(finished).rows():
        if row["method"] == "fixed":
            assert (row["exact_agreement"], row["ratio_to_baseline"]) == (1.0, 1.0)
            assert row["steps"] == row["canvas"]
            assert row["positions"] > row["canvas"] ** 2  # the prompt, once, as well


def test_the_probe_is_paid_for_in_fractions_of_a_position(finished: Path) -> None:
    rows = {(row["method"], row["batch"]): row for row in bench(finished).rows() if row["canvas"] == 24}
    layer = 3072 + 3 * 1536  # attention, and the MLP's three maps
    for batch, rows_probed in ((1, 24 + 3.5), (2, 24 + 4)):  # prompts of 3 and 4 are padded to 4 together
        paid = rows["oracle", batch]["positions"] - rows["oracle_free", batch]["positions"]
        assert paid == pytest.approx(rows_probed * (3072 + 2 * 1536) / layer / 3, rel=0.2)
        assert rows["oracle", batch]["exact_agreement"] == rows["oracle_free", batch]["exact_agreement"]


def test_a_second_run_makes_nothing_again_and_a_lost_cell_only_itself(finished: Path) -> None:
    again = bench(finished)
    EndToEnd(samples=again.samples, settings=again.settings, cells=again.cells, track_of=no_track).run(progress=False)
    lost = next(finished.glob("quality-24-daedal-*.json"))
    before = json.loads(lost.read_text())
    lost.unlink()
    once_more = bench(finished)
    assert once_more.missing() == [lost.stem]
    once_more.run(progress=False)
    assert json.loads(lost.read_text()) == before


def test_more_rows_build_on_the_parts_that_are_there(finished: Path) -> None:
    assert {name.split("-")[3] for name in bench(finished, rows=6).missing()} == {"4"}


def test_quality_alone_has_no_speed(tmp_path: Path) -> None:
    alone = bench(tmp_path, rounds=0, rows=2)
    alone.run(progress=False)
    row = alone.rows()[0]
    assert (row["valid_tokens_per_s"], row["ratio_to_baseline"], row["exact_agreement"]) == (None, None, 1.0)
