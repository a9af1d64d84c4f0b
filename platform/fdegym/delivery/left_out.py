"""What of ``system/`` a submission cannot hold: links, pipes and the like, and what lies too deep.

The person is told before they hand in, by looking (nothing is ended or frozen for it), and the log says what the
freezing itself left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run
from workspaces.services import SYSTEM, run_in_workspace

SHOWN = 20
LOOK_TIMEOUT_S = 15.0
#: Words for the reasons of ``workspaces.services.FrozenSystem``; any other reason is said as it is.
WORDS = {"link": "a link: put the file itself there", "special": "a pipe, socket or device"}

#: Looks through a folder from inside and prints how many, and the first, as JSON. By the rules of freezing: compiled files
#: are nobody's delivery, and a folder below 64 others is left out where it holds something.
LOOK = f"""
import json, os, stat, sys
found = []
def look(folder, prefix, depth):
    if depth > 64:
        if os.listdir(folder):
            found.append((prefix.rstrip("/"), "deeper than 64 folders"))
        return
    for name in sorted(os.listdir(folder)):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if name == "__pycache__" or stat.S_ISREG(mode):
            continue
        if not stat.S_ISDIR(mode):
            found.append((prefix + name, "link" if stat.S_ISLNK(mode) else "special"))
            continue
        try:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        except OSError:
            continue
        look(below, prefix + name + "/", depth + 1)
        os.close(below)
look(os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY), "", 0)
json.dump({{"count": len(found), "first": sorted(found)[:{SHOWN}]}}, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many, and of the first the path and the reason in words."""

    count: int
    first: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        return {"count": self.count, "first": [{"path": path, "words": words} for path, words in self.first]}


def left_out_of(skipped: Sequence[tuple[str, str]]) -> LeftOut:
    """The same of what a freezing skipped."""
    return LeftOut(len(skipped), _in_words(sorted(skipped)[:SHOWN]))


def would_be_left_out(run: Run) -> LeftOut:
    """Look, inside the workspace; that it cannot be looked through, or not in time, is said in the same place."""
    argv = ["python3", "-I", "-S", "-c", LOOK, SYSTEM]
    try:
        done = run_in_workspace(str(run.id), argv, timeout_s=LOOK_TIMEOUT_S)
    except FdegymError as problem:
        return LeftOut(1, (("system", str(problem)),))
    if done.timed_out or done.exit_status:
        return LeftOut(1, (("system", "could not be looked through: links in it are left out"),))
    found = json.loads(done.stdout)
    return LeftOut(found["count"], _in_words([(path, reason) for path, reason in found["first"]]))


def _in_words(found: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((visible_name(path), WORDS.get(reason, reason)) for path, reason in found)


def visible_name(path: str) -> str:
    """A path as a page can show it: what has no shape of its own, or turns the writing round, is spelt out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in path)
