"""Stands where the watcher would: asks the fake service how many workers it has. A program; its argument is a URL."""

from __future__ import annotations

import json
import sys
import time
import urllib.request

while True:
    with urllib.request.urlopen(f"{sys.argv[1]}/workers") as reply:
        count = json.load(reply)["workers"]
    sys.stdout.write(json.dumps({"at": time.monotonic(), "count": count}) + "\n")
    sys.stdout.flush()
    time.sleep(0.05)
