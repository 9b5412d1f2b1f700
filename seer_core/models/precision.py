"""In which dtype a CPU multiplies matrices fastest. Knows no checkpoint."""

from __future__ import annotations

from time import perf_counter

import torch

ROWS, WIDTH, REPEATS = 64, 1024, 5


def bfloat16_keeps_up() -> bool:
    """Whether products in bfloat16 take no longer than in float32 on this CPU: the best of a few small ones each.

    Where the CPU has no instructions for it, bfloat16 is slower by far. A call takes milliseconds; its answer does not
    change while a process lives.
    """
    return product_seconds(torch.bfloat16) <= product_seconds(torch.float32)


@torch.inference_mode()
def product_seconds(dtype: torch.dtype) -> float:
    """The shortest time of a small linear layer in `dtype`, in seconds."""
    rows, weight = torch.ones(ROWS, WIDTH, dtype=dtype), torch.ones(WIDTH, WIDTH, dtype=dtype)
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        torch.nn.functional.linear(rows, weight)
        times.append(perf_counter() - start)
    return min(times)
