"""The command line: `seer COMMAND`.

generate, probe, evaluate, calibrate, train-embedded, bench, doctor, models, inspect.

Every command prints for people, or with `--json` one JSON object as its last line. Errors go to standard error, name
what is wrong and end with status 2.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from seer_core.cli.options import parser
from seer_core.errors import SeerError

__all__ = ["main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except SeerError as error:
        print(f"seer: error: {error}", file=sys.stderr)
        if options.json:
            kind = type(error).__name__
            print(json.dumps({"error": {"type": kind, "message": error.message, "field": error.field}}))
        return 2
    return 0
