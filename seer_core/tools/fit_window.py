"""Chooses the probe's window from labelled rows: the one under which the probe costs least and loses no more ends.

Legend: R rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from tqdm import tqdm

from seer_core.probe.detectors import detector_named, foresee
from seer_core.probe.probe import Probe
from seer_core.probe.profile import Profile
from seer_core.probe.window import first_look, settled, widened
from seer_core.tools.labelled import Labelled
from seer_core.tools.stages import Stages, batches
from seer_core.types import Forecast

WINDOWS = (32, 64, 128, 256)

FEWEST_ROWS = 24
"""A window is tried only where so many canvases are longer than it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFit:
    """The default detector through one window; all windows are tried on the same rows.

    `longer` of the `rows` have a canvas longer than the window. `probe_positions` are mean positions of a probe, prompt
    included; `lost_end` the share of rows whose kept canvas lacks the end token's slot; `changed` the share whose kept
    length is another than without a window.
    """

    window_tokens: int
    rows: int
    longer: int
    probe_positions: float
    looked_again: float
    lost_end: float
    changed: float


def fit_window(
    stages: Stages, labelled: Labelled, profile: Profile, *, lost_end: float, batch_rows: int, progress: bool = True
) -> tuple[int | None, list[WindowFit]]:
    """The window, and what was tried. None where no window is both cheaper than none and as safe."""
    probe = Probe(stages.probe.model, stages.probe.roles, profile, loop=stages.probe.loop)
    canvas = labelled.truth.canvas
    rows: list[int] = np.flatnonzero(canvas > WINDOWS[0]).tolist()
    windows = [window for window in WINDOWS if (canvas > window).sum() >= FEWEST_ROWS]
    if not windows:
        return None, []
    whole = _look(probe, labelled, rows, None, batch_rows)
    tried = [
        _fit(labelled, rows, window, whole, _look(probe, labelled, rows, window, batch_rows))
        for window in tqdm(windows, desc="windows", unit="window", disable=not progress)
    ]
    none = float(np.mean([labelled.prompts[row].length_tokens + int(canvas[row]) for row in rows]))
    good = [fit for fit in tried if fit.lost_end <= lost_end and fit.probe_positions < none]
    return min(good, key=lambda fit: fit.probe_positions).window_tokens if good else None, tried


def as_rows(tried: Sequence[WindowFit], chosen: int | None) -> list[dict[str, object]]:
    """For a report."""
    return [{**asdict(fit), "chosen": fit.window_tokens == chosen} for fit in tried]


def _look(
    probe: Probe, labelled: Labelled, rows: Sequence[int], window: int | None, batch_rows: int
) -> list[tuple[Forecast, bool]]:
    """Forecasts as of the whole canvas, and whether the first look stood."""
    profile = probe.profile
    detector = detector_named(profile.default_detector, profile)
    seen: list[tuple[Forecast, bool]] = []
    for some in batches(rows, batch_rows):
        canvases = [int(labelled.truth.canvas[row]) for row in some]
        looked = [first_look(canvas, window) for canvas in canvases]
        evidence = probe.observe([labelled.prompts[row] for row in some], looked, detector.cost(profile))
        for canvas, one in zip(canvases, evidence, strict=True):
            found = foresee(detector, one, profile)
            seen.append((widened(found, canvas, profile.margin_of(detector.name)), settled(found, canvas)))
    return seen


def _fit(
    labelled: Labelled,
    rows: Sequence[int],
    window: int,
    whole: Sequence[tuple[Forecast, bool]],
    glanced: Sequence[tuple[Forecast, bool]],
) -> WindowFit:
    ends, canvas = labelled.truth.end[list(rows)], labelled.truth.canvas[list(rows)]
    prompts = np.array([labelled.prompts[row].length_tokens for row in rows])
    again = np.array([not stood for _, stood in glanced])
    full = np.array([forecast.length_tokens for forecast, _ in whole])
    kept = np.where(again, full, [forecast.length_tokens for forecast, _ in glanced])
    return WindowFit(
        window_tokens=window,
        rows=len(rows),
        longer=int((canvas > window).sum()),
        probe_positions=float((prompts + np.minimum(canvas, window) + again * (prompts + canvas)).mean()),
        looked_again=float(again.mean()),
        lost_end=float((kept < np.minimum(ends + 1, canvas)).mean()),
        changed=float((kept != full).mean()),
    )
