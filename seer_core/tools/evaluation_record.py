"""What evaluating one sample found, as one line of JSON, and the summary of many. Knows no model and no file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seer_core.errors import ConfigError
from seer_core.tools.scores import NO_BOUNDARY, Truth, score

Summary = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One sample. `sample` is a digest of what was asked and how it is scored; `end` is the slot of the first end token
    of the untruncated run, the canvas where there is none. Fields with `untruncated` are of the whole canvas.
    """

    id: str
    sample: str
    kind: str
    metric: str
    answers: tuple[str, ...]
    text: str
    text_untruncated: str
    score: float
    score_untruncated: float
    exact: bool
    exact_untruncated: bool
    agrees: bool
    agrees_oracle: bool
    detector: str
    canvas_tokens: int
    end: int
    boundary: int | None
    forecast_tokens: int
    kept_tokens: int
    margin_cost_tokens: int
    answer_tokens: int
    answer_tokens_untruncated: int
    regrown: int
    steps: int
    steps_untruncated: int

    @property
    def cut_short(self) -> bool:
        """L* < e: the canvas was cut inside the answer."""
        return self.forecast_tokens < self.end

    @property
    def shorter(self) -> bool:
        """The answer came out shorter than on the whole canvas, repaired or not."""
        return self.answer_tokens < self.answer_tokens_untruncated


def summarise(records: Sequence[Record]) -> Summary:
    """The numbers of all samples at one canvas; ratios between 0 and 1, `None` where nothing was to be averaged."""
    if not records:
        raise ConfigError("nothing to evaluate: no samples", field="count")
    boundaries = np.array([NO_BOUNDARY if one.boundary is None else one.boundary for one in records])
    canvas = np.array([one.canvas_tokens for one in records])
    boundary = score(boundaries, Truth(canvas=canvas, end=np.array([one.end for one in records])))
    shorter = sum(one.shorter for one in records)
    return {
        "count": len(records),
        "canvas": records[0].canvas_tokens,
        "detector": records[0].detector,
        **_scores(records),
        "paired_agreement": _mean([one.agrees for one in records]),
        "paired_agreement_oracle": _mean([one.agrees_oracle for one in records]),
        "paired_agreement_cut_short": _mean([one.agrees for one in records if one.cut_short]),
        "boundary_mae_tokens": boundary.mae_tokens,
        "detection_rate": boundary.detection_rate,
        "over_truncation": _mean([one.cut_short for one in records]),
        "over_truncation_after_repair": shorter / len(records),
        "over_truncation_after_repair_rows": shorter,
        "regrow_rate": _mean([one.regrown > 0 for one in records]),
        "margin_cost_tokens": _mean([one.margin_cost_tokens for one in records]),
        "answer_tokens": _mean([one.answer_tokens_untruncated for one in records]),
        "kept_tokens": _mean([one.kept_tokens for one in records]),
        "steps_untruncated": _mean([one.steps_untruncated for one in records]),
        "steps": _mean([one.steps for one in records]),
        "per_metric": _by(records, [one.metric for one in records]),
        "per_kind": _by(records, [one.kind for one in records]),
    }


def _by(records: Sequence[Record], keys: Sequence[str]) -> Summary:
    groups = {key: [one for one, of in zip(records, keys, strict=True) if of == key] for key in sorted(set(keys))}
    return {key: {"count": len(group), **_scores(group)} for key, group in groups.items()}


def _scores(records: Sequence[Record]) -> Summary:
    return {
        "score_untruncated": _mean([one.score_untruncated for one in records]),
        "score": _mean([one.score for one in records]),
        "exact_match_untruncated": _mean([one.exact_untruncated for one in records]),
        "exact_match": _mean([one.exact for one in records]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
