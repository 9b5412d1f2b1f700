"""`python -m seer_core.cli`: the command line without its installed script."""

from __future__ import annotations

import sys

from seer_core.cli import main

sys.exit(main())
