"""How much memory loading takes at its peak, as a factor on the checkpoint's bytes. Not a test: it writes a gigabyte.

    python -m tests.golden.loading_peak --family dimple

A random checkpoint in the family's layout is written, loaded whole in a process of its own, and deleted again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save_file

from tests.golden import weights

WIDTH, HEADS, MLP = 512, 64, 2048
FAMILIES = ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple")

MEASURE = """
import re, sys
from pathlib import Path
import torch
from seer_core.families import network
from seer_core.families.registry import load_model

def resident(kind):
    return int(re.search(kind + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

torch.zeros(8, 8) @ torch.zeros(8, 8)
before = resident("VmRSS")
model = load_model(Path(sys.argv[1]), dtype=torch.float32, quiet=True)
print(resident("VmHWM") - before)
"""


def write(family: str, folder: Path, wanted_bytes: int) -> int:
    """A checkpoint of about `wanted_bytes`, by as many layers as that takes; the size of its weights."""
    weights.HIDDEN, weights.HEADS, weights.MLP = WIDTH, HEADS, MLP
    layer_bytes = 4 * (4 * WIDTH**2 + 3 * WIDTH * MLP)
    weights.LAYERS = 1
    weights.LAYERS += max(0, wanted_bytes - stored_bytes(family)) // layer_bytes
    weights.write_settings(family, str(folder))  # type: ignore[no-untyped-call]
    tensors = {name: torch.randn(shape) for name, shape, _ in weights.keys(family)}  # type: ignore[no-untyped-call]
    save_file(tensors, folder / "model.safetensors")
    return stored_bytes(family)


def stored_bytes(family: str) -> int:
    shapes = (shape for _, shape, _ in weights.keys(family))  # type: ignore[no-untyped-call]
    return sum(4 * torch.Size(shape).numel() for shape in shapes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, default="dimple")
    parser.add_argument("--gib", type=float, default=1.0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        size = write(options.family, Path(folder), int(options.gib * 2**30))
        command = [sys.executable, "-c", MEASURE, folder]
        peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    report = {"family": options.family, "checkpoint_bytes": size, "peak_bytes": peak, "ratio": round(peak / size, 3)}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
