"""The weights a command runs, as the options that all commands share say."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from seer_core.pipeline import Pipeline
    from seer_core.probe.profile import Profile


def load_pipeline(options: argparse.Namespace, profile: Profile | None = None) -> Pipeline:
    """The checkpoint in its own profile without `profile`."""
    from seer_core.pipeline import Pipeline

    choice = {"family": options.family, "loop": options.loop, "device": options.device, "dtype": chosen_dtype(options)}
    return Pipeline.load(options.model, **choice, profile=profile)


def chosen_dtype(options: argparse.Namespace) -> torch.dtype | None:
    """None: the checkpoint's own."""
    import torch

    if options.dtype is None:
        return None
    dtype: torch.dtype = getattr(torch, options.dtype)
    return dtype
