"""What a scenario's own code says of a task without any delivery: what somebody who knows the truth comes to, and guesses.

It says so in its sandbox, as in a replay; the worker believes it as little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grading.frames import ChannelClosed, ChannelTimeout, FrameProblem
from grading.measure import replay_task
from grading.replay import ReplayVoid
from grading.requests import Crashed, Finished, RequestProblem, parse_request
from grading.trusted import scenario_side, tail
from grading.worlds import grading_runtime
from scenarios.kit.load import Task
from scenarios.kit.world import Outcome


def oracle_outcome(task: Task) -> Outcome:
    """``grader.oracle`` of the task's world. Raises ``ReplayVoid``, with what scenario code raised as its detail."""
    return next(_told(task, {"want": "oracle"}, 1))


def random_outcomes(task: Task, count: int) -> Iterator[Outcome]:
    """``grader.random_delivery``, ``count`` draws of it from one process. Raises ``ReplayVoid``."""
    return _told(task, {"want": "random", "count": count}, count)


def _told(task: Task, wanted: Mapping[str, Any], count: int) -> Iterator[Outcome]:
    begin = replay_task(task)
    with scenario_side(grading_runtime(), task.scenario) as (side, stderr):
        try:
            side.send(
                {"scenario": begin.scenario, "task": begin.task, "facts": begin.facts, "salt": begin.salt, **wanted}
            )
            for _ in range(count):
                match parse_request(side.receive()):
                    case Finished(outcome):
                        yield outcome
                    case Crashed(where, traceback):
                        raise ReplayVoid(f"The scenario's {where} failed.", retry=False, detail=traceback)
                    case other:
                        raise ReplayVoid(f"The scenario asked for {other} where nothing is deployed.", retry=False)
        except (RequestProblem, FrameProblem, ChannelClosed, ChannelTimeout) as problem:
            detail = f"{problem}\n{tail(stderr)}".strip()
            raise ReplayVoid(
                "The process that runs the scenario did not answer.", retry=False, detail=detail
            ) from problem
