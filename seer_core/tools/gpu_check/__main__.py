"""`python -m seer_core.tools.gpu_check`: lines as it goes, one JSON line at the end; status 1 if a check failed."""

from __future__ import annotations

import json
import sys
import time

import torch

from seer_core.engine.graphs.cuda import CudaGraphs
from seer_core.tools.gpu_check.check import Bench, report
from seer_core.tools.gpu_check.sizes import LLADA_CUT


def main() -> int:
    """The exit status."""
    if not torch.cuda.is_available():
        print(json.dumps({"ok": True, "skipped": "no CUDA device"}))
        return 0
    device = torch.device("cuda", torch.cuda.current_device())
    bench = Bench(device=device, graphs=lambda: CudaGraphs(device), sizes=LLADA_CUT)
    found = report(bench, say=lambda line: print(line, flush=True), clock=time.perf_counter)
    print(json.dumps(found))
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
