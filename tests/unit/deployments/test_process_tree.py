"""No process outlives the service."""

from __future__ import annotations

import os
import subprocess
import sys

from deployments.process_tree import descendants, end


def test_a_grandchild_that_will_not_end_is_found_and_killed() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    middle = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {deaf!r}])"
    with subprocess.Popen([sys.executable, "-c", middle], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        below = {one for one in descendants(os.getpid()) if one.pid == child.pid or one in descendants(child.pid)}
        assert len(below) == 2
        end(below, patience_s=0.0)
    assert child.returncode != 0
    end(below, patience_s=5.0)
    assert not below & descendants(os.getpid())
