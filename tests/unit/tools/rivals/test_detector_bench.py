"""The embedded model on a handful of rows: the columns belong together, and what the shipped profile sees is right."""

from __future__ import annotations

import json

import pytest

from seer_core.pipeline import Pipeline
from seer_core.tools.rivals.detector_bench import Row, bench_detectors
from seer_core.tools.scenes import published_samples

CANVAS = 24


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    pipeline = Pipeline.load()
    samples = published_samples(8)
    lengths = [len(pipeline.processor.tokenizer.encode(sample.answer)) for sample in samples]
    ends = {CANVAS: [length if length < CANVAS else None for length in lengths]}
    return {row["detector"]: row for row in bench_detectors(pipeline, samples, ends, progress=False)}


def test_every_detector_of_the_profile_has_a_row(rows: dict[str, Row]) -> None:
    assert list(rows) == ["paper", "calibrated", "readout", "first_end", "smartcrop", "dual"]
    json.dumps(rows, allow_nan=False)


def test_early_detectors_run_few_layers_and_no_head(rows: dict[str, Row]) -> None:
    assert (rows["readout"]["layers"], rows["readout"]["head"]) == (4, False)
    assert (rows["smartcrop"]["layers"], rows["smartcrop"]["head"]) == (8, True)


def test_the_readout_sees_these_ends_and_cuts_nothing_that_has_none(rows: dict[str, Row]) -> None:
    readout = rows["readout"]
    assert (readout["detection_rate"], readout["over_truncation"], readout["false_cuts"]) == (1.0, 0.0, 0.0)
    assert readout["boundary_mae_tokens"] < 1
    assert readout["endless_rows"] > 0
    assert readout["over_truncation_wilson"] > 0.2  # eight rows say little
