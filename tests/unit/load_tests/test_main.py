"""The command line says what it cannot do, and exits with 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from load_tests.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--url", "http://127.0.0.1:8000"], "--url and --grpc belong together"),
        (["--url", "http://example.com:80", "--grpc", "127.0.0.1:9000"], "example.com is not on this machine"),
        (["--scenario", "storm"], "there is no scenario storm"),
    ],
)
def test_what_cannot_be_run_is_said(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--report", str(tmp_path / "report.html")]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
