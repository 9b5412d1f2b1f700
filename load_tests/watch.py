"""The watcher, a program of its own: says how many workers run, in lines `{"at": ..., "count": ...}`.

`at` is seconds on this machine's monotonic clock, which all processes of a load test share. It asks Serve, only
reads, and runs until it is interrupted.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from contextlib import suppress

DEPLOYMENT = "Worker"
PERIOD_S = 0.25


def running_workers() -> int:
    """Replicas of the Worker deployment that take requests now, over all applications."""
    from ray import serve

    parts = [
        application.deployments[DEPLOYMENT]
        for application in serve.status().applications.values()
        if DEPLOYMENT in application.deployments
    ]
    return sum(count for part in parts for state, count in part.replica_states.items() if state == "RUNNING")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m load_tests.watch")
    parser.add_argument("--address", required=True, help="address of the Ray cluster")
    address = parser.parse_args().address

    import ray

    ray.init(address, namespace="serve", log_to_driver=False, logging_level=logging.ERROR)
    with suppress(KeyboardInterrupt):
        while True:
            print(json.dumps({"at": time.monotonic(), "count": running_workers()}), flush=True)
            time.sleep(PERIOD_S)
    ray.shutdown()


if __name__ == "__main__":
    main()
