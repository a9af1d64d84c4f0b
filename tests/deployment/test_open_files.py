"""A login's usual limit of open files does not bound a class."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

OPS = Path(__file__).resolve().parents[2] / "ops"
STARTED_WITH_FEW = """
import resource, subprocess, sys
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
import supervisor
supervisor.open_as_many_files_as_allowed()
asked = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
subprocess.run([sys.executable, "-c", asked], check=True)
"""


def test_what_make_run_starts_may_open_as_many_files_as_the_machine_allows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTED_WITH_FEW],
        env={"PYTHONPATH": str(OPS)},
        capture_output=True,
        text=True,
        check=True,
    )
    soft, hard = done.stdout.split()
    assert soft == hard
