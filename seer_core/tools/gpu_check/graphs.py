"""A replayed graph gives what the eager forward gives: the same numbers for the same inputs, step after step."""

from __future__ import annotations

from typing import Any

import torch

from seer_core.config import DecoderConfig, LoopFacts
from seer_core.engine.denoiser import denoise
from seer_core.engine.graphs.backend import GraphBackend
from seer_core.models.decoder import Decoder
from seer_core.tools.engine_bench.modes import way_of
from seer_core.tools.engine_bench.rig import Rig, Way
from seer_core.types import Decoding, TokenRoles

SMALL = DecoderConfig(
    hidden_size=128,
    layers=2,
    heads=4,
    kv_heads=2,
    mlp_size=192,
    vocab_size=320,
    rope_theta=10000.0,
    norm_eps=1e-5,
    max_positions=512,
)
LENGTHS, PROMPT_TOKENS = (5, 16, 16, 30, 33), 20
WORST = 1e-5


def roles_of(config: DecoderConfig) -> TokenRoles:
    """Some roles: the last ids of the vocabulary."""
    last = config.vocab_size
    return TokenRoles(mask_id=last - 1, fill_id=last - 2, end_ids=frozenset({last - 2, last - 3}))


def random_decoder(config: DecoderConfig, device: torch.device, dtype: torch.dtype) -> Decoder:
    """Of random weights, made on the device."""
    torch.manual_seed(0)
    with torch.device(device), torch.no_grad():
        decoder = Decoder(config).to(dtype)
        for parameter in decoder.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=parameter.shape[1] ** -0.5)
    return decoder.eval()


def check_graphs(device: torch.device, graphs: GraphBackend) -> dict[str, Any]:
    """Padded and packed steps in float32, each by a replay and eagerly; then whole canvases."""
    decoder = random_decoder(SMALL, device, torch.float32)
    places = 2 * sum(LENGTHS) + 2 * len(LENGTHS) * PROMPT_TOKENS
    rig = Rig(decoder, roles_of(SMALL), loop=LoopFacts(prefix_lm=True), places=places, graphs=graphs)
    pool = rig.forward.graphs
    assert pool is not None
    pool.prepare([rig.config.padded_shape(len(LENGTHS), 64, PROMPT_TOKENS)])
    worst = max(_worst(rig, way_of(mode, rig)) for mode in ("static", "varlen"))
    unequal = _unequal_rows(rig)
    return {
        "ok": worst <= WORST and unequal == 0 and pool.hits > 0,
        "worst": worst,
        "unequal_rows": unequal,
        "hits": pool.hits,
        "shapes": len(pool.captured),
    }


def _worst(rig: Rig, way: Way) -> float:
    """The largest difference between a replay and the eager forward in some steps of all rows."""
    rows, worst = rig.start(LENGTHS, PROMPT_TOKENS, lambda _: Decoding(steps_per_token=0.5)), 0.0
    for _ in range(2):  # the shortest row is full after three steps
        for batch in way.lineup.batches(rows):
            with torch.inference_mode():
                inputs = batch.inputs(rig.decoder)
            first, again = (rig.forward(batch.shape, inputs, captured=True) for _ in range(2))
            eager = rig.forward(batch.shape, inputs)
            worst = max(worst, *(float((each - eager).abs().max()) for each in (first, again)))
            denoise(way.forward, batch, mask_id=rig.roles.mask_id)
    rig.run(way, rows)
    return worst


def _unequal_rows(rig: Rig) -> int:
    """Rows that a whole run by graphs writes otherwise than an eager one."""
    ways = [way_of(mode, rig) for mode in ("eager", "static", "varlen", "routed")]
    canvases = []
    for way in ways:
        rows = rig.start(LENGTHS, PROMPT_TOKENS, lambda _: Decoding(steps_per_token=0.5))
        rig.run(way, rows)
        canvases.append([row.canvas.tokens for row in rows])
    return sum(mine != wanted for found in canvases[1:] for mine, wanted in zip(found, canvases[0], strict=True))
