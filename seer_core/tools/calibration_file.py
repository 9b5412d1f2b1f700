"""A calibration's report on disk, beside the profile: text for people, JSON for programs, three pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError
from seer_core.families.checkpoint import PROFILE
from seer_core.tools.calibration_plots import plot_dials, plot_heat, plot_safety

Report = dict[str, Any]

LEGEND = (
    "Over-truncation is the share of rows with fewer tokens kept than the answer has, under the margin; `at most` is "
    "the upper end of its 95 % interval (Wilson); false cuts are those of canvases that hold no end. Work is in "
    "positions through the whole decoder: one token a step, prompt cached, probe included; `of oracle` is the share of "
    "an oracle's saving. All but `paper` are scored on rows that their weights and rules were not fitted on; the tap, "
    "the margin and the readout's ridge and caution are chosen by these scores."
)
COLUMNS = (
    *("detector", "layers", "tensor", "MAE", "detected", "margin", "kept", "over-truncation", "at most"),
    *("false cuts", "work", "of oracle"),
)
DETECTORS = ("paper", "calibrated", "readout", "first_end", "smartcrop", "dual")


def new_profile(folder: Path) -> Path:
    """Where a checkpoint's first profile goes; raises `ConfigError` where it has one already."""
    path = folder / PROFILE
    if path.exists():
        raise ConfigError(f"{path} is there already; say with --out where the profile goes", field="out")
    return path


def write_report(report: Report, profile: Path) -> Path:
    """Write `<profile>.report.json`, `.report.md` and, where matplotlib is installed, the pictures it shows.

    Returns the path of the text.
    """
    stem = profile.with_suffix("")
    stem.with_name(f"{stem.name}.report.json").write_text(json.dumps(report, allow_nan=False) + "\n")
    text = stem.with_name(f"{stem.name}.report.md")
    text.write_text(as_text(report, _draw(report, stem)))
    return text


def as_text(report: Report, pictures: dict[str, Path]) -> str:
    """The report as Markdown; `pictures` by caption, beside it."""
    found = [name for name in DETECTORS if name in report]
    work = report["work"]
    lines = [
        "# Calibration",
        "",
        report["verdict"],
        "",
        f"{report['rows']} rows, {report['rows_with_end']} of which end inside their canvas. {LEGEND}",
        f"An oracle's work is {work['oracle']:.0f}, that of whole canvases {work['whole_canvas']:.0f}.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(_row(name, report[name]) for name in found),
        "",
        _window(report["windows"]),
    ]
    lines += [line for caption, path in pictures.items() for line in ("", f"![{caption}]({path.name})")]
    return "\n".join(lines) + "\n"


def _window(tried: Sequence[Report]) -> str:
    chosen = [one for one in tried if one["chosen"]]
    if not chosen:
        return "Every canvas is probed whole: no shorter window is both cheaper and as safe."
    (one,) = chosen
    window, again, changed, lost = (one[name] for name in ("window_tokens", "looked_again", "changed", "lost_end"))
    return (
        f"A canvas of more than {window} tokens is probed as one of {window} first. Of {one['rows']} rows,"
        f" {one['longer']} of which are longer, {again:.1%} are looked at again, whole; {changed:.1%} keep another"
        f" length than without that window, {lost:.1%} lose their end token's slot."
    )


def _row(name: str, found: Report) -> str:
    layers = f"{found['layers_run']} + head" if found["head"] else str(found["layers_run"])
    error = "-" if found["mae_tokens"] is None else f"{found['mae_tokens']:.2f}"
    cells = [
        *(name, layers, found.get("tensor", "-"), error),
        f"{found['detection_rate']:.1%}",
        str(found["margin_tokens"]),
        f"{found['with_margin']['kept_tokens']:.1f}",
        f"{found['with_margin']['over_truncation']:.2%}",
        f"{found['over_truncation_upper']:.2%}",
        "-" if found["false_cuts"] is None else f"{found['false_cuts']:.2%}",
        f"{found['work']:.0f}",
        f"{found['saved_of_oracle']:.1%}",
    ]
    return f"| {' | '.join(cells)} |"


def _draw(report: Report, stem: Path) -> dict[str, Path]:
    paths = {name: stem.with_name(f"{stem.name}.{name}.png") for name in ("heat", "safety", "dials")}
    try:
        plot_heat(report, paths["heat"])
        plot_safety(report, [name for name in DETECTORS if name in report], paths["safety"])
        plot_dials(report, paths["dials"])
    except ConfigError:  # matplotlib is an extra; the numbers do not need it
        return {}
    return {
        "Sparsity by layer around the end": paths["heat"],
        "Over-truncation against positions saved": paths["safety"],
        "The two dials of the paper's rule": paths["dials"],
    }
