"""What the first process of a sandbox loads, and so keeps in memory as long as a workspace is open."""

from __future__ import annotations

import subprocess

from workspaces.runtime import layout

#: Half of the memory of a small interpreter: each may be imported by a job or a step, in its fork.
NOT_KEPT = {"dataclasses", "difflib", "hashlib", "inspect", "tarfile", "threading", "traceback", "typing"}


def test_the_launcher_keeps_no_module_that_only_its_forks_need() -> None:
    code = f"""
import sys
sys.path.insert(0, {str(layout.LAUNCHER_DIRECTORY.parent)!r})
from launcher import handoff, main
print(*sys.modules)
"""
    said = subprocess.run([layout.PYTHON, "-s", "-B", "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(said.split())
    assert {"launcher.archive", "launcher.python_steps", "json"} <= loaded
    assert loaded & NOT_KEPT == set()
