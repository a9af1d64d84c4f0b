"""What admission demands and the folder alone tells: said before hours of plays come to the same.

How many variants, shortcuts, bypasses and ablations there are, and whether variants have a right delivery of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from fdegym.authoring.admission.conditions import VARIANTS_LEAST, Failure, angles, offered, variants_unlike
from fdegym.authoring.checks.catalogue import count_patterns, judge_strategies
from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.load import Scenario
from scenarios.kit.solutions import (
    ORIGINAL_SOLUTION,
    ablated_fact,
    conversation_file,
    overlays_of,
    solution_names,
    solutions_on,
)


def counted(scenario: Scenario) -> list[Problem]:
    """Everything that admission will find too few of. Nothing is built, played or run."""
    try:
        return list(_counted(scenario))
    except ScenarioInvalid as invalid:  # a note that is none: lint has named it already
        return list(invalid.problems)


def _counted(scenario: Scenario) -> Iterator[Problem]:
    variants = scenario.facts.variants
    if len(variants) < VARIANTS_LEAST:
        yield Problem("facts.toml", "variants", f"{len(variants)}; admission wants at least {VARIANTS_LEAST}")
    else:
        yield from _unlike(scenario)
    yield from _as_problems("facts.toml", "variants", angles(scenario))
    yield from _as_problems("scenario.toml", "offered", offered(scenario))
    strategies = judge_strategies(solution_names(scenario))
    if not strategies.passed:
        yield Problem("solutions", "", strategies.words)
    yield from _ablations(scenario)
    for finding in count_patterns(scenario, scenario.task_ids):
        if not finding.passed:
            yield Problem("scenario.toml", "pattern", finding.words)


def _as_problems(file: str, place: str, failures: Iterator[Failure]) -> Iterator[Problem]:
    return (Problem(file, place, failure.words) for failure in failures)


def _unlike(scenario: Scenario) -> Iterator[Problem]:
    """Where the original's reference is the variant's too, file by file and word by word, it earns as much."""
    variants = list(scenario.facts.variants)
    unlike = [task for task in variants if _right_here(scenario, task, "reference") != _right_here(scenario, task)]
    wanted = variants_unlike(len(variants))
    if len(unlike) < wanted:
        words = (
            f"{len(unlike)} of {len(variants)} variants have a folder of their own, and what is right on the original is "
            f"right on the others; admission wants at least {wanted} on which it is not"
        )
        yield Problem("solutions/reference", "", words)


def _right_here(scenario: Scenario, task: str, name: str = ORIGINAL_SOLUTION) -> tuple[object, object]:
    return overlays_of(scenario, task, name), conversation_file(scenario, task, name)


def _ablations(scenario: Scenario) -> Iterator[Problem]:
    for task in scenario.task_ids:
        lacking = {ablated_fact(scenario, task, name) for name in solutions_on(scenario, task)}
        for fact in scenario.key_facts(task):
            if fact not in lacking:
                words = f"no solution lacks the rule of key fact {fact} alone on {task}; admission prices each rule so"
                yield Problem("solutions/ablations", "", words)
