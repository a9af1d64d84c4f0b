"""What did not run in production, in words."""

from __future__ import annotations

import re

from grading.budget import WALL_FACTOR
from grading.models import Grade
from scenarios.kit.format import ScenarioConfig

FAILURE_WORDS = {
    "exit": "ended with an error",
    "signal": "was killed by a signal",
    "cpu_limit": "used up its CPU time",
    "wall_limit": "ran out of time",
    "memory_limit": "used up its memory",
    "server_lost": "ended every process around it, its own with them",
    "obstructed": "stood where production writes its own file",
    "replay_cpu_spent": "was not run any more: the CPU time of the whole replay was spent",
    "replay_time_spent": "was not run any more: the time of the whole replay was spent",
    "given_up": "was not run any more: it had run out of time five times in a row",
}


def failure_words(config: ScenarioConfig | None) -> dict[str, str]:
    """How each failure is told; with the scenario's configuration, those of limits with their values."""
    if config is None:
        return FAILURE_WORDS
    replay, all_mb = config.replay, config.limits.memory_mb
    return FAILURE_WORDS | {
        "cpu_limit": f"used up its {replay.call_cpu_s:g} s of CPU time",
        "wall_limit": f"ran out of time after {WALL_FACTOR * replay.call_cpu_s:g} s",
        "memory_limit": f"met its memory limit of {replay.call_memory_mb:,} MB, or of {all_mb:,} MB with all it started",
        "replay_cpu_spent": f"was not run any more: the whole replay's {replay.replay_cpu_s:g} s of CPU time were spent",
    }


_FRAME = re.compile(r'^\s+File "/workspace/(?P<file>[\w./-]{1,80})", line (?P<line>\d{1,5})\b', re.MULTILINE)
_RAISED = re.compile(r"^(?P<error>[A-Za-z_][\w.]{0,50})(?::|$)", re.MULTILINE)


def place_of(stderr: str) -> str:
    """Where a delivered program ended and by which kind of error, of its traceback: ``system/a.py, line 3: KeyError``.

    Nothing else that it printed is shown: it has read the held-out data, and a score is worth little where a delivery
    can carry that home. "" where there is no traceback.
    """
    frames = list(_FRAME.finditer(stderr))
    if not frames:
        return ""
    raised = _RAISED.search(stderr, frames[-1].end())
    return f"{frames[-1]['file']}, line {frames[-1]['line']}" + (f": {raised['error']}" if raised else "")


def failures_of(grade: Grade, config: ScenarioConfig | None = None) -> list[dict[str, str]]:
    """What did not run in production, by entry point, with the place of the first error in the delivered code."""
    rows = []
    told = failure_words(config)
    for name, record in sorted(grade.replay.get("failures", {}).items()):
        counts = record.get("failures") or {}
        if not counts:
            continue
        words = "; ".join(f"{count} × {told.get(kind, kind)}" for kind, count in sorted(counts.items()))
        first = record.get("first") or {}
        calls = record.get("calls")
        rows.append(
            {
                "entry_point": name,
                "words": f"{words} (of {calls} calls)" if calls else words,
                "place": place_of(str(first.get("stderr", ""))),
            }
        )
    return rows
