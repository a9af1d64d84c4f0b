"""The reference's messages are understood alike on another machine; those close to a threshold are reported."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.authoring.admission.findings import Check, Finding
from fdegym.authoring.checks.elsewhere import another_machine
from fdegym.authoring.checks.heard import told
from fdegym.lib.errors import FdegymError
from grading.worlds import ensure_world
from scenarios.kit.load import Scenario
from scenarios.kit.solutions import load_solution
from stakeholders.matching import matcher_of, topics_in_file
from stakeholders.scripts import compiled_script

Message = tuple[str, str]  #: person and text
PROGRAM = Path(__file__).with_name("heard.py")
PATIENCE_S = 600.0
TOO_CLOSE = 0.002  #: of a threshold: only there may machines decide differently


class MatcherSilent(FdegymError):
    """The process that was to understand messages ended otherwise."""


def understood_here(scenario: Scenario, task_id: str, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """What the matcher that answers people takes messages for, as ``heard`` tells it."""
    script = compiled_script(scenario.id, task_id, scenario.release)
    return [told(matcher_of(scenario, script).match(text, person)) for person, text in messages]


def understood_elsewhere(scenario: Scenario, task_id: str, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """What a matcher takes them for that another machine has fitted anew."""
    asked = {
        "phrasings": str(scenario.folder / "phrasings.toml"),
        "topics": topics_in_file(scenario, task_id),
        "messages": messages,
    }
    path = f"{settings.ROOT}{os.pathsep}{settings.ROOT / 'platform'}"
    done = subprocess.run(
        [sys.executable, "-P", str(PROGRAM)],
        input=json.dumps(asked).encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": path, **another_machine()},
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode:
        raise MatcherSilent(f"The matcher of {scenario.id} ended: {done.stderr.decode('utf-8', 'replace')[-600:]}")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def thresholds() -> list[float]:
    """The shares on which the matcher decides."""
    from stakeholders.matcher.decision import Thresholds

    return [value for value in dataclasses.asdict(Thresholds()).values() if isinstance(value, float) and 0 < value < 1]


def too_close(answer: Mapping[str, Any], limits: Sequence[float]) -> bool:
    """Whether the score of a topic of the message lies within ``TOO_CLOSE`` of a threshold."""
    scores = [score for _topic, score in answer["scores"]]
    return any(abs(score - limit) <= TOO_CLOSE + 1e-9 for score in scores for limit in limits)


def decided(answer: Mapping[str, Any]) -> object:
    return answer["topics"], answer["rejected"], answer["small_talk"]


def judge_understanding(
    task_id: str,
    messages: Sequence[Message],
    here: Sequence[Mapping[str, Any]],
    there: Sequence[Mapping[str, Any]],
) -> Finding:
    other = [
        f"{text[:60]!r} to {person}"
        for (person, text), one, two in zip(messages, here, there, strict=True)
        if decided(one) != decided(two)
    ]
    limits = thresholds()
    close = [
        f"{text[:60]!r} to {person}"
        for (person, text), one in zip(messages, here, strict=True)
        if too_close(one, limits)
    ]
    figures = {"messages": len(messages), "understood_otherwise": len(other), "close_to_a_threshold": close}
    words = ""
    if other:
        words = f"with other CPU features, understood otherwise: {'; '.join(other)}. Word it less like its neighbours."
    return Finding("understanding", task_id, not other, figures, words)


def check_understanding(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    """The messages of all tasks that have the same topics are asked together: fitting a matcher takes its time."""
    groups: dict[object, list[str]] = {}
    for task_id in tasks:
        groups.setdefault(topics_in_file(scenario, task_id), []).append(task_id)
    for group in groups.values():
        said = {task_id: _messages(scenario, task_id) for task_id in group}
        every = list(dict.fromkeys(message for messages in said.values() for message in messages))
        here, there = (
            dict(zip(every, understood(scenario, group[0], every) if every else [], strict=True))
            for understood in (understood_here, understood_elsewhere)
        )
        for task_id, messages in said.items():
            yield judge_understanding(
                task_id,
                messages,
                [here[message] for message in messages],
                [there[message] for message in messages],
            )


def _messages(scenario: Scenario, task_id: str) -> list[Message]:
    steps = load_solution(ensure_world(scenario, task_id), "reference").conversation.steps
    return [(step.to, step.text) for step in steps if step.to is not None and step.text is not None]


UNDERSTANDING = Check(
    "understanding",
    "another machine understands the reference's messages alike",
    check_understanding,
    each_task=False,
    solutions=("reference",),
    spoken=True,
    seconds=30,
)
