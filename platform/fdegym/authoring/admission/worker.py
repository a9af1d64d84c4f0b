"""A worker of admission: reads one item a line on standard input, does it whole, answers with one line of JSON.

``{"result": …, "seconds": …}``, or ``{"failed": words, "later": …, "seconds": …}`` where ``later`` says whether another
try may succeed. When its input ends it ends too, in the middle of a play as well: the run it was playing is cleared away.
Whoever ends an admission, and however, leaves no worker behind.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from fdegym.lib.errors import FdegymError


def _play(item: Any) -> dict[str, Any]:
    from fdegym.authoring.admission.plays import play_solution

    return play_solution(item)


def _check(item: Any) -> dict[str, Any]:
    from fdegym.authoring.admission.registry import check_named
    from fdegym.catalog.scenarios import get_scenario

    scenario = get_scenario(item.scenario)
    tasks = (item.task,) if item.task else scenario.task_ids
    findings = check_named(item.name).run(scenario, tasks)
    return {"findings": [finding.as_json() for finding in findings]}


def _ends(item: Any) -> dict[str, Any]:
    from fdegym.catalog.scenarios import get_scenario
    from grading.anchoring import task_anchors
    from grading.worlds import ensure_world

    anchors = task_anchors(ensure_world(get_scenario(item.scenario), item.task))
    return {"kpi_baseline": anchors.kpi_baseline, "kpi_reference": anchors.kpi_reference}


def _is_ours(problem: FdegymError) -> bool:
    """Whether this machine is to blame and not the scenario: too busy, or a sandbox or a grading process was lost."""
    from fdegym.authoring.admission.findings import HostTooBusy
    from fdegym.delivery.play import GradeMissing
    from fdegym.lib.errors import ServiceUnavailable
    from grading.replay import ReplayVoid
    from workspaces.runtime.errors import HostFull

    if isinstance(problem, GradeMissing):
        return not problem.lasting
    lost = isinstance(problem, ReplayVoid) and problem.retry
    return lost or isinstance(problem, HostTooBusy | HostFull | ServiceUnavailable)


def _for_authors(problem: FdegymError) -> str:
    """What a player is told of a desk that is slow helps no author."""
    from stakeholders.client import DeskSilent

    return "the desk did not answer in time" if isinstance(problem, DeskSilent) else str(problem)


#: The argument of a worker whose U nobody asks for: it need not measure the two ends anew.
TRUSTING = "trusting"
DOING = {"play": _play, "check": _check, "ends": _ends}


def answer_to(line: str) -> dict[str, Any]:
    """Do the item of a line. An author's mistake is told in its words, anything else with the end of its traceback."""
    from fdegym.authoring.admission.work import Item

    begun = time.monotonic()
    item = Item.from_json(json.loads(line))
    try:
        answer: dict[str, Any] = {"result": DOING[item.part](item)}
    except FdegymError as problem:
        answer = {"failed": _for_authors(problem), "later": _is_ours(problem)}
    except Exception as problem:  # noqa: BLE001 - told to the author; the other items go on
        place = "".join(traceback.format_exception(problem)[-3:]).strip()
        answer = {"failed": f"{type(problem).__name__}: {problem}\n{place}"}
    return {**answer, "seconds": round(time.monotonic() - begun, 2)}


def _listen(lines: queue.Queue[str | None]) -> None:
    """Hand lines on; at the end of the input interrupt whatever is being done."""
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)
    os.kill(os.getpid(), signal.SIGINT)


def main() -> int:
    import django

    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anything else prints is no answer
    # SIGTERM interrupts like Ctrl-C, so that a play clears its run away; a worker may inherit an ignored SIGINT
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    django.setup()
    from django.conf import settings
    from django.db import connections

    settings.TRUST_ANCHORS = TRUSTING in sys.argv[1:]
    lines: queue.Queue[str | None] = queue.Queue()
    with (Path(settings.VAR) / "workers.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        threading.Thread(target=_listen, args=(lines,), daemon=True).start()
        try:
            while (line := lines.get()) is not None:
                answer = answer_to(line)
                connections.close_all()
                print(json.dumps(answer, ensure_ascii=False), file=told, flush=True)
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
