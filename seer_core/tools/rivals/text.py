"""Tables of a benchmark's rows: for a terminal, and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
Column = tuple[str, str, str]
"""Title, name in the row, format; a format that ends in % is of a share."""

QUALITY: tuple[Column, ...] = (
    ("method", "method", "s"),
    ("rows", "quality_rows", "d"),
    ("score", "score", ".2%"),
    ("agreement", "exact_agreement", ".2%"),
    ("MAE", "boundary_mae_tokens", ".2f"),
    ("over-tr.", "over_truncation", ".2%"),
    ("Wilson", "over_truncation_wilson", ".2%"),
    ("after repair", "over_truncation_after_repair_rows", "d"),
    ("cut rows", "cut_short_rows", "d"),
    ("of these agree", "agreement_cut_short", ".0%"),
    ("regrown", "regrow_rate", ".2%"),
    ("kept", "kept_tokens", ".1f"),
)
SPEED: tuple[Column, ...] = (
    ("method", "method", "s"),
    ("steps", "steps", ".1f"),
    ("positions", "positions", ".0f"),
    ("head", "head_positions", ".0f"),
    ("tokens/s", "valid_tokens_per_s", ".1f"),
    ("requests/s", "requests_per_s", ".2f"),
    ("x fixed", "ratio_to_baseline", ".2f"),
    ("x oracle", "ratio_to_oracle", ".2f"),
    ("x fixed, CPU time", "cpu_ratio_to_baseline", ".2f"),
    ("x oracle, CPU time", "cpu_ratio_to_oracle", ".2f"),
    ("encoding", "encoding_share", ".0%"),
)
VERDICTS: tuple[Column, ...] = (
    ("canvas", "canvas", "d"),
    ("batch", "batch", "d"),
    ("best rival", "best_rival", "s"),
    ("its x fixed", "best_rival_ratio", ".2f"),
    ("seer x fixed", "seer_ratio", ".2f"),
    ("seer x rival", "seer_against_best", ".2f"),
    ("seer_threshold x rival", "seer_threshold_against_best", ".2f"),
    ("by CPU time", "seer_threshold_against_best_cpu", ".2f"),
    ("seer_fastdllm_dual x rival", "seer_fastdllm_dual_against_best", ".2f"),
    ("by CPU time", "seer_fastdllm_dual_against_best_cpu", ".2f"),
    ("seer x smartcrop", "seer_to_smartcrop", ".2f"),
    ("seer x first_end", "seer_to_first_end", ".2f"),
    ("seer x oracle", "seer_to_oracle", ".2f"),
    ("seer x free oracle", "seer_to_free_oracle", ".2f"),
)
DETECTORS: tuple[Column, ...] = (
    ("detector", "detector", "s"),
    ("rows", "rows", "d"),
    ("layers", "layers", "d"),
    ("head", "head", "s"),
    ("ms/row", "probe_ms", ".2f"),
    ("margin", "margin_tokens", "d"),
    ("detected", "detection_rate", ".2%"),
    ("MAE", "boundary_mae_tokens", ".2f"),
    ("over-tr.", "over_truncation", ".2%"),
    ("Wilson", "over_truncation_wilson", ".2%"),
    ("kept", "kept_tokens", ".1f"),
    ("positions here", "model_positions", ".0f"),
    ("keys kept", "model_positions_keys_kept", ".0f"),
    ("at LLaDA-8B", "model_positions_llada_8b", ".0f"),
    ("keys kept", "model_positions_llada_8b_keys_kept", ".0f"),
    ("same depth", "model_positions_llada_8b_same_depth", ".0f"),
    ("false cuts", "false_cuts", ".2%"),
    ("Wilson", "false_cuts_wilson", ".2%"),
)


def end_to_end_lines(rows: Sequence[Row]) -> list[str]:
    """Quality by canvas, speed by canvas and batch, as far as they were measured."""
    return [line for title, table in end_to_end_tables(rows) for line in ("", f"### {title}", "", *table)]


def end_to_end_tables(rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """Titles and tables."""
    tables: list[tuple[str, list[str]]] = []
    for canvas in _values(rows, "canvas"):
        own = [row for row in rows if row["canvas"] == canvas]
        first = [row for row in own if row["batch"] == own[0]["batch"] and "quality_rows" in row]
        if first:
            tables.append((f"Quality, canvas {canvas}", table(QUALITY, first)))
    for canvas in _values(rows, "canvas"):
        for batch in _values(rows, "batch"):
            timed = [row for row in rows if (row["canvas"], row["batch"]) == (canvas, batch) and "rounds" in row]
            if timed:
                rounds = timed[0]["rounds"]
                tables.append((f"Speed, canvas {canvas}, batch {batch} ({rounds} rounds)", table(SPEED, timed)))
    return tables


def detector_lines(rows: Sequence[Row]) -> list[str]:
    """A table a canvas."""
    return [line for title, one in detector_tables(rows) for line in ("", f"### {title}", "", *one)]


def detector_tables(rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """Titles and tables."""
    return [
        (f"Detectors, canvas {canvas}", table(DETECTORS, [row for row in rows if row["canvas"] == canvas]))
        for canvas in _values(rows, "canvas")
    ]


def table(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    """Markdown, one line a row."""
    head = [title for title, _, _ in columns]
    rule = [":--" if form == "s" else "--:" for _, _, form in columns]
    body = [[_shown(row.get(name), form) for _, name, form in columns] for row in rows]
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *body)]


def _shown(value: Any, form: str) -> str:
    if value is None:
        return "-"
    if form == "s":
        return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    return format(value, form)


def _values(rows: Sequence[Row], name: str) -> list[Any]:
    return sorted({row[name] for row in rows})
