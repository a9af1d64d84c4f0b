"""What the span between the system as found and the reference is worth: beside the truth, chance, and other seeds."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.conf import settings

from fdegym.authoring.admission.findings import Check, Finding
from grading.anchoring import task_anchors
from grading.anchors import AnchorsUnusable, TaskAnchors
from grading.measure import measure, system_of
from grading.replay import ReplayVoid
from grading.score import adjusted
from grading.told import oracle_outcome, random_outcomes
from grading.trusted import build_in_sandbox
from grading.worlds import ensure_world, grading_runtime
from scenarios.kit.cache import ensure_task
from scenarios.kit.load import Scenario, Task
from scenarios.kit.solutions import load_solution
from scenarios.kit.world import Outcome

ORACLE_SHARE_LEAST = 0.95
OTHER_SEEDS = 5
DEVIATIONS_LEAST = 10
DRAWS = 300
CHANCE_MOST = 0.1  #: U adjusted of a delivery that guesses …
CHANCE_SHARE_LEAST = 0.99  #: … in at least this share of the draws
_LAST_WORDS = 600  #: characters of a traceback that an author is shown


def _crashed(check: str, task_id: str, function: str, problem: ReplayVoid) -> Finding:
    words = f"grader.{function} came to no result: {problem} {problem.detail[-_LAST_WORDS:]}".strip()
    return Finding(check, task_id, False, {}, words)


# ---- the truth -------------------------------------------------------------------------------------------------------


def judge_oracle(task_id: str, anchors: TaskAnchors, kpi: float) -> Finding:
    """KPI reference − KPI baseline is at least ``ORACLE_SHARE_LEAST`` of KPI oracle − KPI baseline."""
    possible = kpi - anchors.kpi_baseline
    share = anchors.span / possible if possible else 0.0
    figures = {"kpi_oracle": kpi, "share": round(share, 4)}
    if possible * anchors.span <= 0:
        words = (
            f"the oracle comes to {kpi:g}, the system as found to {anchors.kpi_baseline:g} and the reference to "
            f"{anchors.kpi_reference:g}: who knows the truth must gain, as the reference does. Look at grader.oracle."
        )
        return Finding("oracle", task_id, False, figures, words)
    if share < ORACLE_SHARE_LEAST:
        words = (
            f"the reference gains {share:.3f} of what somebody who knows the truth at decision time would gain; at least "
            f"{ORACLE_SHARE_LEAST} is wanted. Better the reference, or let the oracle know only what the customer records."
        )
        return Finding("oracle", task_id, False, figures, words)
    return Finding("oracle", task_id, True, figures)


def weigh_oracle(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    excuse = scenario.config.admission.no_oracle
    for task_id in tasks:
        if excuse is not None:
            yield Finding("oracle", task_id, True, {}, f"none: {excuse}")
            continue
        task = ensure_world(scenario, task_id)
        try:
            kpi = oracle_outcome(task).kpi
        except ReplayVoid as problem:
            finding = _crashed("oracle", task_id, "oracle", problem)
            hint = " Where nobody can know, say why in [admission] no_oracle of scenario.toml."
            yield Finding("oracle", task_id, False, {}, finding.words + hint)
            continue
        yield judge_oracle(task_id, task_anchors(task), kpi)


# ---- other seeds -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ends:
    """KPI of the system as found and of the reference."""

    baseline: float
    reference: float

    @property
    def span(self) -> float:
        return self.reference - self.baseline


def judge_spread(task_id: str, span: float, others: Sequence[Ends]) -> Finding:
    """The span exceeds ``DEVIATIONS_LEAST`` times its standard deviation over other seeds (n − 1)."""
    spans = [ends.span for ends in others]
    deviation = statistics.stdev(spans)
    figures = {
        "span": span,
        "spans_of_other_seeds": [round(other, 6) for other in spans],
        "standard_deviation": round(deviation, 6),
        "deviations": round(abs(span) / deviation, 1) if deviation else None,
    }
    if abs(span) > DEVIATIONS_LEAST * deviation and min(spans) * span > 0 and max(spans) * span > 0:
        return Finding("spread", task_id, True, figures)
    words = (
        f"the span of {span:g} is {abs(span) / deviation if deviation else 0:.1f} times its standard deviation over "
        f"{len(spans)} other seeds ({', '.join(f'{other:g}' for other in spans)}), all of one sign; more than "
        f"{DEVIATIONS_LEAST} times is wanted. Hold out more decisions, or draw them by quotas of class and size."
    )
    return Finding("spread", task_id, False, figures, words)


def ends_of_seed(task: Task, salt: str) -> Ends:
    """Both ends on the task's world built anew with another salt, which is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=settings.VAR, prefix="seed-") as scratch:
        builder = partial(build_in_sandbox, grading_runtime())
        other = ensure_task(task.scenario, task.task_id, salt=salt, cache=Path(scratch), builder=builder)
        kpis = {}
        for name in ("do_nothing", "reference"):
            with system_of(other, load_solution(other, name)) as system:
                kpis[name] = measure(other, system, salt=salt).replay.kpi
    return Ends(kpis["do_nothing"], kpis["reference"])


def weigh_spread(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        others = [ends_of_seed(task, f"admission: seed {number}") for number in range(1, OTHER_SEEDS + 1)]
        yield judge_spread(task_id, task_anchors(task).span, others)


# ---- chance ----------------------------------------------------------------------------------------------------------


def _uplift(anchors: TaskAnchors, outcome: Outcome, forgiven: Mapping[str, bool]) -> float:
    """U adjusted as if every approval had been given: chance must not succeed even then."""
    incident = any(not forgiven.get(found.id, False) for found in outcome.incidents)
    return float(adjusted(anchors.uplift_of(outcome.kpi), incident=incident))


def judge_chance(task_id: str, uplifts: Sequence[float]) -> Finding:
    """U adjusted is at most ``CHANCE_MOST`` in at least ``CHANCE_SHARE_LEAST`` of the draws."""
    share = sum(uplift <= CHANCE_MOST for uplift in uplifts) / len(uplifts)
    figures = {
        "draws": len(uplifts),
        "share_at_most_0.1": round(share, 4),
        "highest": round(max(uplifts), 4),
        "mean": round(statistics.fmean(uplifts), 4),
        "different": len(set(uplifts)),
    }
    if len(set(uplifts)) == 1 and len(uplifts) > 1:
        words = "every draw of grader.random_delivery comes to the same: draw each decision from `rng`."
        return Finding("random", task_id, False, figures, words)
    if share < CHANCE_SHARE_LEAST:
        words = (
            f"{1 - share:.1%} of {len(uplifts)} deliveries that guess score above {CHANCE_MOST}, the best "
            f"{max(uplifts):.3f}; at most {1 - CHANCE_SHARE_LEAST:.0%} may. Hold out more decisions, or let a wrong one "
            "cost more."
        )
        return Finding("random", task_id, False, figures, words)
    return Finding("random", task_id, True, figures)


def weigh_chance(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    forgiven = {name: incident.unless_granted is not None for name, incident in scenario.config.incidents.items()}
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        anchors = task_anchors(task)
        try:
            uplifts = [_uplift(anchors, outcome, forgiven) for outcome in random_outcomes(task, DRAWS)]
        except ReplayVoid as problem:
            yield _crashed("random", task_id, "random_delivery", problem)
        except AnchorsUnusable as problem:
            yield Finding("random", task_id, False, {}, f"U has no scale here: {problem}")
        else:
            yield judge_chance(task_id, uplifts)


ORACLE = Check(
    "oracle",
    f"the reference gains at least {ORACLE_SHARE_LEAST} of what is possible",
    weigh_oracle,
    solutions=("reference",),
    seconds=5,
)
SPREAD = Check(
    "spread",
    f"the span exceeds {DEVIATIONS_LEAST} times its standard deviation over {OTHER_SEEDS} other seeds",
    weigh_spread,
    solutions=("reference",),
    seconds=90,
)
CHANCE = Check(
    "random",
    f"{CHANCE_SHARE_LEAST:.0%} of {DRAWS} deliveries that guess stay at or below {CHANCE_MOST}",
    weigh_chance,
    solutions=("reference",),
    seconds=60,
)
