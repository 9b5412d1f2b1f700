"""Modules without memory: what they cost, and what is left of them once they are filled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from seer_core.models.skeleton import skeleton
from seer_core.models.weights import load_into


class Counted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(4, 3)
        self.line = nn.Linear(3, 3)
        self.register_buffer("places", torch.arange(4), persistent=False)


def test_parameters_have_no_memory_and_buffers_do() -> None:
    with skeleton():
        module = Counted()
    assert all(parameter.is_meta for parameter in module.parameters())
    assert module.get_buffer("places").tolist() == [0, 1, 2, 3]


def test_modules_built_afterwards_are_real_again() -> None:
    with skeleton():
        Counted()
    assert not nn.Linear(2, 2).weight.is_meta


def test_a_filled_skeleton_is_a_module_like_any_other(tmp_path: Path) -> None:
    torch.manual_seed(0)
    whole = Counted()
    save_file(whole.state_dict(), tmp_path / "model.safetensors")
    with skeleton():
        filled = Counted()
    load_into(filled, tmp_path, ((r"(.+)", r"\1"),))
    ids = torch.tensor([1, 3])
    assert torch.equal(filled.line(filled.table(ids)), whole.line(whole.table(ids)))


MEASURE = """
import re, sys
from pathlib import Path
import torch
from torch import nn
from seer_core.models.skeleton import skeleton
from seer_core.models.weights import load_into

def resident(kind):
    return int(re.search(kind + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

torch.zeros(8, 8) @ torch.zeros(8, 8)
before = resident("VmRSS")
with skeleton():
    module = nn.Sequential(*(nn.Linear(1024, 1024, bias=False) for _ in range(24)))
load_into(module, Path(sys.argv[1]), ((r"(.+)", r"\\1"),), quiet=True)
print((resident("VmHWM") - before) / (24 * 4 * 2**20))
"""


def test_loading_needs_no_second_copy(tmp_path: Path) -> None:
    save_file({f"{i}.weight": torch.full((1024, 1024), float(i)) for i in range(24)}, tmp_path / "model.safetensors")
    command = [sys.executable, "-c", MEASURE, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert float(done.stdout) < 1.2
