"""An observer of step 0 that reduces what it is shown to a few numbers a position, and keeps nothing else.

Legend: B rows, N longest canvas, D hidden width.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import silu

from seer_core.kernels.sparsity import gated_sparsity_for, sparsity
from seer_core.models.decoder import Decoder
from seer_core.probe.calibrated import centre
from seer_core.probe.end_tokens import EndTokens, end_tokens
from seer_core.probe.profile import Profile
from seer_core.probe.readout import readout_scores
from seer_core.probe.statistic import Curve, Evidence
from seer_core.types import TokenRoles


class Reader:
    """Reads the profile's taps as they come by and, where `roles` are given, the end tokens behind the last layer."""

    def __init__(self, profile: Profile, weights: Tensor | None, decoder: Decoder, roles: TokenRoles | None) -> None:
        self._profile, self._weights, self._decoder, self._roles = profile, weights, decoder, roles
        self._units = 0
        self._sparsity: Tensor | None = None  # all [B, N]
        self._calibrated: Tensor | None = None
        self._scores: Tensor | None = None
        self._hidden: Tensor | None = None  # [B, N, D]

    def __call__(self, layer: int, name: str, value: Tensor) -> None:
        if name == "mlp_input":
            self._peek(layer, value)
            return
        paper, calibrated, readout = self._profile.paper, self._profile.calibrated_rule, self._profile.readout
        tap = (layer, name)
        if tap == (paper.layer, paper.tensor):
            self._sparsity, self._units = sparsity(value, paper.eps), value.shape[-1]
        if calibrated is not None and tap == (calibrated.layer, calibrated.tensor):
            self._calibrated = sparsity(value, calibrated.eps)
        if readout is not None and self._weights is not None and tap == (readout.layer, readout.tensor):
            self._scores = readout_scores(value, self._weights.to(value.device), readout.bias)
        if self._roles is not None and tap == (self._decoder.config.layers - 1, "hidden"):
            self._hidden = value

    def _peek(self, layer: int, value: Tensor) -> None:
        """Read a layer's gates and products off its MLP's input, computing no more of the MLP than they need."""
        profile, mlp = self._profile, self._decoder.mlp(layer)
        rules = (profile.paper, profile.calibrated_rule, profile.readout)
        taps = [rule.tensor for rule in rules if rule is not None and rule.layer == layer]
        gate = mlp.gate_proj(value)
        if taps == ["product"] and profile.paper.layer == layer:
            self._sparsity = gated_sparsity_for(value.device)(gate, mlp.up_proj(value), profile.paper.eps)
            self._units = gate.shape[-1]
            return
        active = silu(gate)
        if "gate" in taps:
            self(layer, "gate", active)
        if "product" in taps:
            self(layer, "product", active * mlp.up_proj(value))

    def evidence(self, canvas_tokens: Sequence[int]) -> list[Evidence]:
        """What was read of each row, cut to its canvas."""
        ends = self._ends(canvas_tokens)
        return [self._of_row(row, length, ends[row]) for row, length in enumerate(canvas_tokens)]

    def _of_row(self, row: int, length: int, ends: EndTokens | None) -> Evidence:
        calibrated = _curve(self._calibrated, row, length)
        rule = self._profile.calibrated_rule
        return Evidence(
            canvas_tokens=length,
            sparsity=_curve(self._sparsity, row, length),
            units=self._units,
            centred=None if calibrated is None or rule is None else centre(calibrated, rule.baseline),
            scores=_curve(self._scores, row, length),
            end_probability=None if ends is None else ends.probability.numpy(),
            end_likeliest=None if ends is None else ends.likeliest.numpy(),
        )

    def _ends(self, canvas_tokens: Sequence[int]) -> list[EndTokens] | list[None]:
        hidden, roles = self._hidden, self._roles
        if hidden is None or roles is None:
            return [None] * len(canvas_tokens)
        real = torch.cat([hidden[row, :length] for row, length in enumerate(canvas_tokens)])  # [M, D], no padding
        probability, likeliest = (values.cpu() for values in end_tokens(self._decoder.logits, real, roles))
        lengths = list(canvas_tokens)
        return [EndTokens(*row) for row in zip(probability.split(lengths), likeliest.split(lengths), strict=True)]


def _curve(values: Tensor | None, row: int, length: int) -> Curve | None:
    if values is None:
        return None
    return np.asarray(values[row, :length].double().cpu().numpy(), np.float64)
