"""What must hold of a scenario's figures, and in words what does not. Pure: figures in, sentences out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from grading.anchors import SolutionFigures, TaskAnchors
from grading.score import FLOOR, adjusted
from scenarios.kit.load import ORIGINAL, Scenario
from scenarios.kit.solutions import ORIGINAL_SOLUTION, ablated_fact, solution_names, solution_note, solutions_on

REFERENCE_LEAST = Decimal("0.95")
LITERAL_MOST = Decimal("0.2")
SHORTCUT_MOST = Decimal("0.8")
BYPASS_MOST = Decimal("0.05")
ORIGINAL_MOST = Decimal("0.6")  #: of the original's solution, on two variants and a third of them
GOOD_SOMEWHERE, BAD_ELSEWHERE = Decimal("0.5"), Decimal("0.2")  #: one shortcut at least
ANGLES_LEAST = 3
VARIANTS_LEAST = 2
UNCHANGED = "S = 0 exactly, U = 0, no charge, no incident"


@dataclass(frozen=True, slots=True)
class Failure:
    """What does not hold. ``task`` or ``name`` empty: of the scenario as a whole."""

    task: str
    name: str
    words: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (" · ".join(filter(None, (self.task, self.name))), self.words)))


@dataclass(frozen=True, slots=True)
class Played:
    """Everything that was played of a scenario: figures by task, and for what has none the reason in words.

    The keys are (task, solution); in ``unplayed`` a solution without name says why U cannot be told on a task at all,
    whose plays have their KPI in ``kpis`` then. ``unmeasured``: what this hour's host had no time for, solutions and
    checks; it may hold, and the same command goes on there.
    """

    scenario: Scenario
    tasks: Mapping[str, TaskAnchors]
    unplayed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unmeasured: Mapping[tuple[str, str], str] = field(default_factory=dict)
    kpis: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def adjusted_of(self, task: str, name: str) -> Decimal | None:
        """U_adj of a solution on a task; None where it was not played."""
        anchors = self.tasks.get(task)
        figures = anchors.solutions.get(name) if anchors else None
        return None if figures is None else adjusted(figures.uplift, incident=bool(figures.incidents))

    def named(self, kind: str) -> list[str]:
        return [name for name, found in solution_names(self.scenario).items() if found == kind]


def failures(played: Played, *, whole: bool) -> list[Failure]:
    """All that does not hold. ``whole``: everything was played, so that what concerns all tasks together is judged too."""
    found = [Failure(task, name, words) for (task, name), words in played.unplayed.items()]
    for task, anchors in played.tasks.items():
        for name, figures in anchors.solutions.items():
            if words := unmet(played, task, name, figures):
                found.append(Failure(task, name, words))
        found += _ablations(played, task)
    if whole:
        found += [*angles(played.scenario), *offered(played.scenario)]
        if not played.unmeasured and not any(
            name == "" for _, name in played.unplayed
        ):  # else it is of some tasks only
            found += [*_shortcuts(played), *_original_solution(played)]
    return found


def unmet(played: Played, task: str, name: str, figures: SolutionFigures) -> str | None:
    """What a solution's figures on a task do not meet of what its kind demands, in words; None where all is met."""
    scenario, kind = played.scenario, figures.kind
    angle = None if task == ORIGINAL else scenario.facts.variants[task].angle
    score = figures.score if figures.score is not None else figures.uplift
    earned = adjusted(figures.uplift, incident=bool(figures.incidents))
    happened = f" ({', '.join(figures.incidents)})" if figures.incidents else ""
    if kind == "do_nothing" and (figures.uplift != 0 or score != 0 or figures.incidents):
        return f"S is {score:.3f}{happened}; who does nothing gets {UNCHANGED}"
    right = kind == "literal" and angle == "sponsor_right"
    if (kind == "reference" or right) and (score < REFERENCE_LEAST or figures.incidents):
        which = "where the sponsor is right, the request taken literally" if right else "the reference"
        return f"S is {score:.3f}{happened}; {which} reaches at least {REFERENCE_LEAST} without incident"
    if kind == "literal" and not right and score > LITERAL_MOST:
        return f"S is {score:.3f}; the request taken literally stays at or below {LITERAL_MOST}"
    if kind == "bypass" and score > BYPASS_MOST:
        return f"S is {score:.3f}; a bypass stays at or below {BYPASS_MOST}"
    if kind == "shortcut":
        named_right = task in solution_note(scenario, name, kind).right_on
        if earned > SHORTCUT_MOST and not named_right:
            return (
                f"U adjusted is {earned:.3f}; a shortcut stays at or below {SHORTCUT_MOST} unless it is right_on here"
            )
        if earned <= SHORTCUT_MOST and named_right:
            return (
                f"U adjusted is {earned:.3f}; its right_on says that it is right here, which is above {SHORTCUT_MOST}"
            )
    return None


def _shortcuts(played: Played) -> Iterator[Failure]:
    """Shortcuts over all tasks: none good on the whole, and one at least that is good here and bad there."""
    two_faced = False
    for name in played.named("shortcut"):
        every = [earned for task in played.tasks if (earned := played.adjusted_of(task, name)) is not None]
        if not every:
            continue
        mean = sum((max(earned, FLOOR) for earned in every), Decimal(0)) / len(every)
        if mean > SHORTCUT_MOST:
            yield Failure(
                "",
                name,
                f"its mean U adjusted over {len(every)} tasks is {mean:.3f}; a shortcut's is at most {SHORTCUT_MOST}",
            )
        two_faced |= max(every) >= GOOD_SOMEWHERE and min(every) <= BAD_ELSEWHERE
    if not two_faced:
        yield Failure(
            "",
            "",
            f"no shortcut reaches {GOOD_SOMEWHERE} on one task and stays at or below {BAD_ELSEWHERE} on another: what "
            "scores well on one task must be able to fail on the next",
        )


def variants_unlike(variants: int) -> int:
    """On how many of the variants the original's solution must not do."""
    return max(VARIANTS_LEAST, math.ceil(variants / 3))


def _original_solution(played: Played) -> Iterator[Failure]:
    variants = [task for task in played.tasks if task != ORIGINAL]
    low = [
        task
        for task in variants
        if (earned := played.adjusted_of(task, ORIGINAL_SOLUTION)) is not None and earned <= ORIGINAL_MOST
    ]
    wanted = variants_unlike(len(variants))
    if len(low) < wanted:
        yield Failure(
            "",
            ORIGINAL_SOLUTION,
            f"stays at or below {ORIGINAL_MOST} on {len(low)} of {len(variants)} variants; at least {wanted} are wanted, or "
            "the variants are too much like the original",
        )


def angles(scenario: Scenario) -> Iterator[Failure]:
    """Whether the variants differ in enough ways."""
    found = {variant.angle for variant in scenario.facts.variants.values()}
    if len(scenario.facts.variants) >= ANGLES_LEAST > len(found):
        words = f"the variants have {len(found)} angle(s), {', '.join(sorted(found))}; {ANGLES_LEAST} are wanted"
        yield Failure("", "", words)


def offered(scenario: Scenario) -> Iterator[Failure]:
    """Whether runs are drawn from every task."""
    if missing := [task for task in scenario.task_ids if task not in scenario.config.offered]:
        words = f"`offered` of scenario.toml lacks {', '.join(missing)}: a scenario is admitted, and drawn from, whole"
        yield Failure("", "", words)


def ablations_of(played: Played, task: str) -> dict[str, list[str]]:
    """Key fact → the solutions that lack its rule on a task and nothing else; every key fact of the task is there."""
    found: dict[str, list[str]] = {fact: [] for fact in played.scenario.key_facts(task)}
    for name in played.tasks[task].solutions:
        fact = ablated_fact(played.scenario, task, name)
        if fact in found:
            found[fact].append(name)
    return found


def _ablations(played: Played, task: str) -> Iterator[Failure]:
    if set(solutions_on(played.scenario, task)) - set(played.tasks[task].solutions):
        return  # it may be among those that were not played
    for fact, names in ablations_of(played, task).items():
        if not names:
            yield Failure(
                task,
                "",
                f"no solution played here lacks the rule of key fact {fact} alone; add solutions/ablations/<name> with "
                f'`ablates = "{fact}"` (a shortcut counts only where it lies over the task\'s own reference)',
            )


def prices(played: Played, task: str) -> dict[str, Decimal]:
    """What each key fact's rule is worth on a task: 1 − the best U adjusted of the deliveries that lack it."""
    return {
        fact: 1 - max(earned for name in names if (earned := played.adjusted_of(task, name)) is not None)
        for fact, names in ablations_of(played, task).items()
        if names
    }


def with_prices(played: Played) -> dict[str, TaskAnchors]:
    """The anchors of every task, with the prices of its rules."""
    return {
        task: TaskAnchors(anchors.kpi_baseline, anchors.kpi_reference, anchors.solutions, prices(played, task))
        for task, anchors in played.tasks.items()
    }


def sort_failures(found: Sequence[Failure], tasks: Sequence[str]) -> list[Failure]:
    """In the order of the tasks; what concerns the scenario as a whole comes last."""
    order = {task: place for place, task in enumerate(tasks)}
    return sorted(found, key=lambda failure: order.get(failure.task, len(order)))
