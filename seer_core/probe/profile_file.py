"""A profile on disk: a JSON file, and the readout's weights in a safetensors file beside it.

Strict both ways: an unknown or missing key, another version and a foreign fingerprint are all refused by name. Only
what came later may be missing: sections of detectors, which then go by their defaults or not at all, and the window.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from seer_core.errors import ProfileError
from seer_core.probe.profile import CalibratedRule, DualRule, FirstEndRule, PaperRule, Profile, Readout, SmartCropRule

VERSION = 1
SECTIONS: Mapping[str, type] = MappingProxyType(
    {"calibrated_rule": CalibratedRule, "first_end": FirstEndRule, "smartcrop": SmartCropRule, "dual": DualRule}
)
"""Those that may be missing."""

Json = dict[str, Any]


def save_profile(profile: Profile, path: Path) -> None:
    """Write `path` (JSON) and, where there is a readout, `<stem>.safetensors` beside it."""
    data: Json = {"version": VERSION, **asdict(profile), "provenance": dict(profile.provenance)}
    if profile.readout is not None:
        weights_path = path.with_suffix(".safetensors")
        arrays = {
            "weights": np.asarray(profile.readout.weights, np.float64),
            "bias": np.asarray([profile.readout.bias], np.float64),
        }
        save_file(arrays, weights_path)
        readout = {name: data["readout"][name] for name in ("layer", "tensor", "margin_tokens")}
        data["readout"] = {**readout, "weights": weights_path.name}
    path.write_text(json.dumps(data, indent=2) + "\n")


def load_profile(path: Path, *, fingerprint: str | None = None) -> Profile:
    """Read the profile at `path`.

    Raises `ProfileError` naming the field that is unknown, missing or wrong, the file that cannot be read, or the
    checkpoint it was calibrated on where that is not the one of `fingerprint`.
    """
    data = _read_json(path)
    if data.get("version") != VERSION:
        raise ProfileError(f"{path}: version {data.get('version')!r}, this software reads {VERSION}", field="version")
    _check_keys("", data, {"version", *_names(Profile)}, optional={*SECTIONS, "window_tokens"})
    sections = {name: _rule(name, data) for name in SECTIONS if name in data}
    profile = Profile(
        **{**_without(data, "version"), "paper": _paper(data), "readout": _readout(data, path), **sections}
    )
    if fingerprint is not None and profile.fingerprint != fingerprint:
        raise ProfileError(
            f"{path} was calibrated on checkpoint {profile.fingerprint}, the loaded one is {fingerprint}",
            field="fingerprint",
        )
    return profile


def _paper(data: Json) -> PaperRule:
    section = _section("paper", data["paper"], _names(PaperRule))
    return PaperRule(**section)


def _rule(name: str, data: Json) -> object:
    """An optional section; null where the checkpoint has no such rule."""
    if data[name] is None and name == "calibrated_rule":
        return None
    section = _section(name, data[name], _names(SECTIONS[name]))
    return SECTIONS[name](**{key: tuple(value) if isinstance(value, list) else value for key, value in section.items()})


def _readout(data: Json, path: Path) -> Readout | None:
    if data["readout"] is None:
        return None
    section = _section("readout", data["readout"], _names(Readout) - {"bias"})
    name = section["weights"]
    if not isinstance(name, str) or Path(name).name != name:
        raise ProfileError("profile field readout.weights must name a file beside it", field="readout.weights")
    arrays = _read_arrays(path.parent / name)
    weights, bias = (tuple(arrays[key].tolist()) for key in ("weights", "bias"))
    return Readout(**{**section, "weights": weights, "bias": bias[0]})


def _read_json(path: Path) -> Json:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ProfileError(f"{path} cannot be read as a profile: {error}") from error
    if not isinstance(data, dict):
        raise ProfileError(f"{path} holds no JSON object")
    return data


def _read_arrays(path: Path) -> dict[str, NDArray[np.float64]]:
    try:
        arrays: dict[str, NDArray[np.float64]] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise ProfileError(f"the readout weights {path} cannot be read: {error}", field="readout.weights") from error
    shapes = {name: array.ndim for name, array in arrays.items()}
    if shapes != {"weights": 1, "bias": 1} or arrays["bias"].size != 1:
        raise ProfileError(f"{path} must hold weights [d] and bias [1]", field="readout.weights")
    return arrays


def _section(where: str, section: object, names: set[str]) -> Json:
    if not isinstance(section, dict):
        raise ProfileError(f"profile field {where} must be an object", field=where)
    _check_keys(f"{where}.", section, names)
    return section


def _check_keys(prefix: str, data: Mapping[str, object], names: set[str], optional: Collection[str] = ()) -> None:
    for key in data:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            hint = f"; did you mean {prefix}{near[0]}?" if near else ""
            raise ProfileError(f"unknown profile field {prefix}{key}{hint}", field=f"{prefix}{key}")
    for name in sorted(names - data.keys() - set(optional)):
        raise ProfileError(f"profile field {prefix}{name} is missing", field=f"{prefix}{name}")


def _names(kind: type) -> set[str]:
    return {item.name for item in fields(kind)}


def _without(data: Json, key: str) -> Json:
    return {name: value for name, value in data.items() if name != key}
