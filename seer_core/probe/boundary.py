"""The detector of the paper, and the arithmetic from a boundary to a canvas length.

A boundary is the predicted slot of the first end token, zero-based. "Cut only if it saves enough" is no business of
this module: a detector says what it sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seer_core.probe.statistic import Curve, Evidence, jumps, step_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A detector's word on one canvas; `boundary` None means that it saw no end. `score` is its own measure."""

    boundary: int | None
    score: float


NOTHING = Detection(boundary=None, score=0.0)


def first_jump(sparsity: Curve, *, tau_jump: float, gamma: float, window: int) -> int | None:
    """First i in 1 .. N - window with `jump >= tau_jump` and `noise <= gamma * jump` on a curve [N], or None."""
    jump, noise = jumps(sparsity, window)
    matches = np.flatnonzero((jump >= tau_jump) & (noise <= gamma * jump))
    return int(matches[0]) + 1 if matches.size else None


def paper_boundary(evidence: Evidence, *, tau_jump: float, gamma: float, window: int) -> Detection:
    """The Semantic Jump, scored by its signal-to-noise ratio."""
    assert evidence.sparsity is not None, "the paper's rule reads a sparsity"
    boundary = first_jump(evidence.sparsity, tau_jump=tau_jump, gamma=gamma, window=window)
    if boundary is None:
        return NOTHING
    return Detection(boundary=boundary, score=step_at(evidence, boundary, window).snr)


def kept_tokens(boundary: int | None, canvas_tokens: int, margin_tokens: int) -> int:
    """L*: the end token's slot and the margin are kept, the canvas is never exceeded; without a boundary, all of it."""
    if boundary is None:
        return canvas_tokens
    return min(canvas_tokens, boundary + 1 + margin_tokens)
