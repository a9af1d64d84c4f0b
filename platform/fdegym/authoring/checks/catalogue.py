"""How many ways of going wrong a scenario has tried, and that no pattern of problem crowds the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from django.conf import settings

from fdegym.authoring.admission.findings import Check, Finding
from fdegym.catalog.scenarios import get_scenario
from fdegym.lib.errors import FdegymError
from scenarios.kit.load import Scenario, scenario_ids
from scenarios.kit.solutions import solution_names

SHORTCUTS_LEAST = 8
BYPASSES_LEAST = 3
SCENARIOS_LEAST = 3  #: from so many on patterns are counted
PATTERN_SHARE_MOST = 1 / 3


def judge_strategies(kinds: Mapping[str, str]) -> Finding:
    """``kinds``: solution → kind."""
    count = Counter(kinds.values())
    figures = {"shortcuts": count["shortcut"], "bypasses": count["bypass"], "ablations": count["ablation"]}
    found = [
        f"{count[kind]} {name} where at least {least} are wanted: add solutions/{name}/<name>"
        for kind, name, least in (("shortcut", "shortcuts", SHORTCUTS_LEAST), ("bypass", "bypasses", BYPASSES_LEAST))
        if count[kind] < least
    ]
    return Finding("strategies", "", not found, figures, f"{'; '.join(found)}." if found else "")


def judge_patterns(patterns: Mapping[str, str], scenario_id: str) -> Finding:
    """``patterns``: scenario → pattern of its problem."""
    mine = patterns[scenario_id]
    alike = sorted(name for name, pattern in patterns.items() if pattern == mine)
    figures = {"pattern": mine, "scenarios": len(patterns), "of_this_pattern": len(alike)}
    if len(patterns) < SCENARIOS_LEAST or len(alike) <= PATTERN_SHARE_MOST * len(patterns):
        return Finding("patterns", "", True, figures)
    words = (
        f"{len(alike)} of {len(patterns)} scenarios have the problem pattern {mine} ({', '.join(alike)}), more than a "
        "third: give one of them another problem, or add scenarios of other patterns first."
    )
    return Finding("patterns", "", False, figures, words)


def _patterns() -> dict[str, str]:
    """Of every scenario that can be read and is ready; a broken one is its own admission's matter."""
    found: dict[str, str] = {}
    for scenario_id in scenario_ids(settings.SCENARIO_DIRS):
        try:
            config = get_scenario(scenario_id).config
        except FdegymError:
            continue
        if config.status == "ready":
            found[scenario_id] = config.pattern
    return found


def count_strategies(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    yield judge_strategies(solution_names(scenario))


def count_patterns(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    if scenario.config.status == "training":  # counted neither here nor at the others' admission
        yield Finding("patterns", "", True, {"pattern": scenario.config.pattern}, "Training is counted in no pattern.")
        return
    yield judge_patterns({**_patterns(), scenario.id: scenario.config.pattern}, scenario.id)


STRATEGIES = Check(
    "strategies",
    f"at least {SHORTCUTS_LEAST} shortcuts and {BYPASSES_LEAST} bypasses of its own",
    count_strategies,
    each_task=False,
    decided_by=lambda scenario: " ".join(f"{name}={kind}" for name, kind in solution_names(scenario).items()),
    seconds=0.1,
)
PATTERNS = Check(
    "patterns",
    "no problem pattern in more than a third of all scenarios",
    count_patterns,
    each_task=False,
    decided_by=lambda scenario: " ".join(f"{name}={pattern}" for name, pattern in sorted(_patterns().items())),
    seconds=0.1,
)
