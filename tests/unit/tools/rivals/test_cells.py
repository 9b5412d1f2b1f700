from __future__ import annotations

from pathlib import Path

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.rivals.cells import Cells


def test_a_finished_cell_is_there_for_the_next_run(tmp_path: Path) -> None:
    Cells(tmp_path, {"weights": "a"}).put("one", {"rows": [1]})
    again = Cells(tmp_path, {"weights": "a"})
    assert (again.get("one"), again.get("two")) == ({"rows": [1]}, None)


def test_cells_of_other_weights_are_refused_by_what_differs(tmp_path: Path) -> None:
    Cells(tmp_path, {"weights": "a", "data": "d"})
    with pytest.raises(ConfigError, match="weights is 'a' there, 'b' here"):
        Cells(tmp_path, {"weights": "b", "data": "d"})


def test_a_broken_cell_is_named(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("{")
    with pytest.raises(ConfigError, match=r"one\.json cannot be read"):
        Cells(tmp_path, {}).get("one")


def test_without_a_folder_cells_last_as_long_as_the_run() -> None:
    cells = Cells(None, {})
    cells.put("one", {})
    assert cells.get("one") == {}
