"""The bench: every mode on every mix and batch size, the modes taking turns, so that a machine's drift hits them alike.

Ratios inside one run are the message; milliseconds are context.
"""

from __future__ import annotations

from tqdm import tqdm

from seer_core.config import LoopFacts
from seer_core.models.decoder import Decoder
from seer_core.tools.engine_bench.course import BenchRow, Course
from seer_core.tools.engine_bench.settings import BenchSettings
from seer_core.types import TokenRoles


def bench_engine(
    decoder: Decoder, roles: TokenRoles, settings: BenchSettings, *, loop: LoopFacts, progress: bool = True
) -> list[BenchRow]:
    """One row per mix, batch size and mode.

    Waste and paths are of a first run, which also captures and warms up, overhead is of clocked ones behind it; seconds
    are medians of the rounds. Raises `ConfigError` for graphs that the decoder's device has not.
    """
    cells = [(mix, batch) for mix in settings.mixes for batch in settings.batches]
    rows: list[BenchRow] = []
    with tqdm(total=len(cells) * settings.turns, desc="engine", unit="run", disable=not progress) as bar:
        for cell in cells:
            rows += Course(decoder, roles, settings, cell, loop=loop).rows(bar.update)
    return rows
