"""From a KPI to a score: U, U_adj, C, S, resolved, and their means. The only place where this arithmetic is done.

U = (KPI delivered − KPI baseline) / (KPI reference − KPI baseline); with an incident U_adj = min(U, 0), else U_adj = U;
S = U_adj − C; a run is resolved when S ≥ 0.8 and there was no incident. These are the definitions of the FDE-Gym paper.

Everything is ``Decimal``, with U rounded to six places: what a page shows, what decides "resolved" and what an export
allows to recompute are then the same number, and 0.83 − 0.03 reaches 0.8, which it does not in binary floating point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

RESOLVED_AT = Decimal("0.8")
FLOOR = Decimal(-1)  #: in means only: one ruinous delivery must not outweigh all other tasks
PLACES = Decimal("0.000001")
UPLIFT_BOUND = Decimal(10) ** 9  #: U is clamped to ± this, so that every store can hold it


class AnchorsUnusable(ValueError):
    """The anchors of a task cannot give a U: they are equal, or not finite numbers."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one replay and one conversation come to. All amounts are in units of U."""

    uplift: Decimal
    uplift_adjusted: Decimal
    contact_cost: Decimal
    score: Decimal
    incident: bool
    resolved: bool


def _exact(kpi: float) -> Decimal:
    """The shortest decimal that names this float: 0.1 is one tenth here."""
    if not math.isfinite(kpi):
        raise AnchorsUnusable(f"a KPI must be a finite number, not {kpi!r}")
    return Decimal(repr(float(kpi)))


def uplift(kpi: float, baseline: float, reference: float) -> Decimal:
    """U, in [−1e9, 1e9], to six places. Exactly 0 at the baseline and exactly 1 at the reference.

    Whether more or less is better needs no saying: the reference is the better one. Raises ``AnchorsUnusable`` when
    the two anchors are equal or any of the three is not finite.
    """
    delivered, low, high = _exact(kpi), _exact(baseline), _exact(reference)
    with localcontext() as context:
        context.prec = 700  # holds the sum of any two floats exactly, and the rounding below for any clamped ratio
        if high == low:
            raise AnchorsUnusable(f"baseline and reference are both {baseline!r}: there is nothing to gain")
        ratio = (delivered - low) / (high - low)
        bounded = max(-UPLIFT_BOUND, min(UPLIFT_BOUND, ratio))
        rounded = bounded.quantize(PLACES, rounding=ROUND_HALF_EVEN)
    return rounded if rounded else PLACES * 0  # no negative zero


def adjusted(uplift_value: Decimal, *, incident: bool) -> Decimal:
    """U_adj: nothing is earned where an incident happened, and what was lost stays lost."""
    return min(uplift_value, PLACES * 0) if incident else uplift_value


def score_run(uplift_value: Decimal, *, contact_cost: Decimal, incident: bool) -> Score:
    """The score of one run. ``contact_cost`` is C, never negative."""
    if contact_cost < 0:
        raise ValueError(f"a contact cost cannot be negative: {contact_cost}")
    earned = adjusted(uplift_value, incident=incident)
    total = earned - contact_cost
    return Score(
        uplift=uplift_value,
        uplift_adjusted=earned,
        contact_cost=contact_cost,
        score=total,
        incident=incident,
        resolved=not incident and total >= RESOLVED_AT,
    )


def floored_score(uplift_adjusted: Decimal, contact_cost: Decimal) -> Decimal:
    """max(U_adj, −1) − C: a run's contribution to a mean."""
    return max(uplift_adjusted, FLOOR) - contact_cost


def _mean(values: Iterable[Decimal]) -> Decimal:
    known = list(values)
    if not known:
        raise ValueError("there is no mean of nothing")
    with localcontext() as context:
        context.prec = 50
        return (sum(known, Decimal(0)) / len(known)).quantize(PLACES, rounding=ROUND_HALF_EVEN)


def mean_over_runs(runs: Sequence[Score]) -> Decimal:
    """Mean S of one task's runs, each floored."""
    return _mean(floored_score(run.uplift_adjusted, run.contact_cost) for run in runs)


def mean_score(tasks: Mapping[str, Sequence[Score]]) -> Decimal:
    """Mean S of a subject: over tasks the mean over each task's runs. ``ValueError`` for a task without one."""
    return _mean(mean_over_runs(runs) for runs in tasks.values())


def resolved_over_runs(runs: Sequence[Score]) -> bool:
    """Whether R runs of one task resolve it: their mean S is at least 0.8, and no run had an incident."""
    return not any(run.incident for run in runs) and mean_over_runs(runs) >= RESOLVED_AT
