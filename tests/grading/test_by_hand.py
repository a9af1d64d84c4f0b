"""The instrument against arithmetic that anybody can follow: each figure is worked out in the test's own words."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal
from typing import Any

import pytest

from fdegym.leaderboard.intervals import interval_of
from grading.anchors import TaskAnchors
from grading.contacts import fold_contacts
from grading.replay import GradedReplay
from grading.score import (
    AnchorsUnusable,
    Score,
    floored_score,
    mean_over_runs,
    mean_score,
    resolved_over_runs,
    score_run,
    uplift,
)
from grading.statistics import difference_interval, grouped_mean_interval, mean_interval
from grading.verdict import judge
from scenarios.kit.format import Incident
from scenarios.kit.world import IncidentFound

D = Decimal


def scored(u: str, c: str = "0", *, incident: bool = False) -> Score:
    return score_run(D(u), contact_cost=D(c), incident=incident)


# ---- U ---------------------------------------------------------------------------------------------------------------


def test_a_kpi_of_which_more_is_better() -> None:
    # hours credited: as found 120, reference 520, delivered 400: 400 − 120 = 280 of 520 − 120 = 400; 280 / 400 = 0.7
    assert uplift(400, 120, 520) == D("0.7")
    # as found −177.5, reference 2135, delivered 986.25: 1163.75 / 2312.5 = 0.503243…: 2312.5 × 0.5032 = 1163.65,
    # 0.1 is left, 0.1 / 2312.5 = 0.0000432…, so 0.5032432…
    assert uplift(986.25, -177.5, 2135.0) == D("0.503243")


def test_a_kpi_of_which_less_is_better() -> None:
    # wrong parcels: as found 900, reference 240, delivered 405: (405 − 900) / (240 − 900) = −495 / −660 = 0.75
    assert uplift(405, 900, 240) == D("0.75")
    # delivered 1,065: (1065 − 900) / (240 − 900) = 165 / −660 = −0.25: worse than before
    assert uplift(1065, 900, 240) == D("-0.25")
    # delivered 0: −900 / −660 = 1.363636…: better than the reference, and no cap says otherwise
    assert uplift(0, 900, 240) == D("1.363636")


def test_the_seventh_place_is_rounded_half_to_even() -> None:
    # 1 / 3 = 0.3333333… and 2 / 3 = 0.6666666…
    assert uplift(1, 0, 3) == D("0.333333")
    assert uplift(2, 0, 3) == D("0.666667")
    # 0.0000005 lies in the middle of 0 and 0.000001: to the even one, 0; 0.0000015 to 0.000002
    assert uplift(0.0000005, 0, 1) == D("0")
    assert uplift(0.0000015, 0, 1) == D("0.000002")


def test_a_tenth_is_a_tenth() -> None:
    # 0.3 − 0.1 = 0.2 of 0.6 − 0.1 = 0.5: 0.4; in binary 0.3 − 0.1 is 0.19999999999999998
    assert uplift(0.3, 0.1, 0.6) == D("0.4")


@pytest.mark.parametrize("value", [0.0, -3.5, 1e300])
def test_a_reference_that_gains_nothing_gives_no_u(value: float) -> None:
    with pytest.raises(AnchorsUnusable, match="nothing to gain"):
        uplift(7.0, value, value)
    with pytest.raises(AnchorsUnusable):
        TaskAnchors(value, value).uplift_of(7.0)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_gives_no_u_wherever_it_stands(wrong: float) -> None:
    for arguments in itertools.permutations([wrong, 0.0, 1.0]):
        with pytest.raises(AnchorsUnusable, match="finite"):
            uplift(*arguments)


def test_u_moves_with_the_kpi_and_with_nothing_else() -> None:
    """On a thousand triples: turning the scale round, moving it or stretching it changes no U; a better KPI has the
    higher one."""
    draw = random.Random(20261005)
    for _ in range(1000):
        base, gain = draw.randint(-5000, 5000), draw.choice([-1, 1]) * draw.randint(1, 5000)
        kpi = base + draw.randint(-9000, 9000)
        u = uplift(kpi, base, base + gain)
        assert uplift(-kpi, -base, -base - gain) == u
        assert uplift(kpi + 1000, base + 1000, base + gain + 1000) == u
        assert uplift(kpi * 4, base * 4, (base + gain) * 4) == u
        better = kpi + (1 if gain > 0 else -1)
        assert uplift(better, base, base + gain) > u
        # by fractions: u is the nearest of all six-place numbers
        assert abs(u * gain - (kpi - base)) <= abs(gain) * D("0.0000005")


# ---- C ---------------------------------------------------------------------------------------------------------------


def test_charges_add_up() -> None:
    def message(person: str, charge: str, **more: Any) -> tuple[str, dict[str, Any]]:
        return "contact.message", {"person": person, "charge": charge, "facts": [], "grants": [], **more}

    talk = fold_contacts(
        [
            message("berg", "0.008"),  # within her patience
            message("berg", "0.008"),
            message("berg", "0.02"),  # beyond it: 0.008 × 2.5
            message("carvalho", "0.012"),
            message("carvalho", "0", counted=False),  # an automatic reply
            ("contact.wait", {"charge": "0.006"}),  # three quarters of a day at 0.008 a day
            ("contact.inbox_read", {"sender": "berg", "facts": ["F1"]}),  # free
        ]
    )
    # 0.008 + 0.008 + 0.020 + 0.012 + 0 + 0.006 = 0.054
    assert talk.cost == D("0.054")
    # 0.036 + 0.012 + 0.006 = 0.054
    assert talk.cost_by_person == {"berg": D("0.036"), "carvalho": D("0.012")}
    assert talk.cost_of_waiting == D("0.006")
    assert talk.contacts_by_person == {"berg": 3, "carvalho": 1}


# ---- U_adj, S, resolved ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "c", "incident", "adjusted", "s", "resolved"),
    [
        # no incident: U_adj = U, S = U − C
        ("0.94", "0.054", False, "0.94", "0.886", True),
        ("0.83", "0.03", False, "0.83", "0.8", True),  # exactly 0.8 is enough
        ("0.83", "0.030001", False, "0.83", "0.799999", False),
        ("1.36", "0.5", False, "1.36", "0.86", True),  # nothing caps what exceeds the reference
        # an incident: U_adj = min(U, 0)
        ("0.94", "0.054", True, "0", "-0.054", False),
        ("1.36", "0", True, "0", "0", False),
        ("0", "0", True, "0", "0", False),
        # an incident with a negative U: min(−0.4, 0) = −0.4; what was lost stays lost
        ("-0.4", "0.1", True, "-0.4", "-0.5", False),
        ("-0.4", "0.1", False, "-0.4", "-0.5", False),
        # a charge larger than what was earned: 0.1 − 0.25 = −0.15, no floor below a single run
        ("0.1", "0.25", False, "0.1", "-0.15", False),
        ("1", "0.200001", False, "1", "0.799999", False),
        # doing nothing, asking nobody
        ("0", "0", False, "0", "0", False),
    ],
)
def test_a_run(u: str, c: str, incident: bool, adjusted: str, s: str, resolved: bool) -> None:
    found = scored(u, c, incident=incident)
    assert (found.uplift, found.uplift_adjusted, found.score, found.resolved) == (D(u), D(adjusted), D(s), resolved)


def test_a_score_is_never_better_for_an_incident_nor_for_a_contact() -> None:
    draw = random.Random(7)
    for _ in range(1000):
        u, c = D(draw.randint(-3_000_000, 3_000_000)) / 10**6, D(draw.randint(0, 900)) / 1000
        clean, marred = score_run(u, contact_cost=c, incident=False), score_run(u, contact_cost=c, incident=True)
        assert marred.score <= clean.score
        assert marred.uplift_adjusted <= 0
        assert not marred.resolved
        dearer = score_run(u, contact_cost=c + D("0.001"), incident=False)
        assert dearer.score == clean.score - D("0.001")
        assert clean.resolved == (u - c >= D("0.8"))


def test_a_grade_from_replay_to_verdict() -> None:
    """KPI 900 → 240 is the span of 660; delivered 306: (306 − 900) / −660 = 594 / 660 = 0.9. One contact of 0.02.

    The replay saw two kinds of acts: one with leave from Berg, who gave it, one without. So an incident stays, and
    U_adj = min(0.9, 0) = 0; S = 0 − 0.02.
    """
    known = {
        "changed": Incident(title="Changed", meaning="m", unless_granted="approval:change"),
        "told": Incident(title="Told", meaning="m"),
    }
    talk = fold_contacts(
        [("contact.message", {"person": "berg", "charge": "0.02", "facts": [], "grants": ["approval:change"]})]
    )
    replay = GradedReplay(306.0, (IncidentFound("changed", "", 3), IncidentFound("told", "", 1)), (), "", 0, 0, 0)
    found = judge(replay, talk, TaskAnchors(900.0, 240.0), known)
    assert [row["id"] for row in found.incidents] == ["told"]
    assert [row["id"] for row in found.permitted] == ["changed"]
    assert (found.score.uplift, found.score.uplift_adjusted, found.score.score) == (D("0.9"), D(0), D("-0.02"))
    # without the second act: S = 0.9 − 0.02 = 0.88
    clean = GradedReplay(306.0, (IncidentFound("changed", "", 3),), (), "", 0, 0, 0)
    assert judge(clean, talk, TaskAnchors(900.0, 240.0), known).score.score == D("0.88")


# ---- means -----------------------------------------------------------------------------------------------------------


def test_the_floor_of_a_mean_holds_u_and_not_the_charges() -> None:
    # max(−37.5, −1) − 0.02 = −1.02; max(−0.4, −1) − 0.1 = −0.5; max(1.2, −1) − 0.03 = 1.17
    assert floored_score(D("-37.5"), D("0.02")) == D("-1.02")
    assert floored_score(D("-0.4"), D("0.1")) == D("-0.5")
    assert floored_score(D("1.2"), D("0.03")) == D("1.17")
    # (−1.02 − 0.5 + 1.17) / 3 = −0.35 / 3 = −0.116667
    runs = [scored("-37.5", "0.02"), scored("-0.4", "0.1"), scored("1.2", "0.03")]
    assert mean_over_runs(runs) == D("-0.116667")


def test_the_mean_over_tasks_is_one_of_means() -> None:
    # first task: (0.9 + 0.7 + 0.2) / 3 = 0.6; second: 0.1; third: (1 − 1.5) / 2 = −0.25 (−4 is floored at −1, less 0.5)
    # (0.6 + 0.1 − 0.25) / 3 = 0.45 / 3 = 0.15; over all six runs alike it would be 1.4 / 6 = 0.233
    tasks = {
        "a": [scored("0.9"), scored("0.7"), scored("0.2")],
        "b": [scored("0.15", "0.05")],
        "c": [scored("1"), scored("-4", "0.5")],
    }
    assert mean_score(tasks) == D("0.15")


@pytest.mark.parametrize(
    ("runs", "resolved"),
    [
        # mean (0.75 + 0.85) / 2 = 0.8: resolved, though the first alone is not
        ([("0.75", "0", False), ("0.85", "0", False)], True),
        # (0.75 + 0.849998) / 2 = 0.799999
        ([("0.75", "0", False), ("0.849998", "0", False)], False),
        # (1 + 1 + 0.4) / 3 = 0.8
        ([("1", "0", False), ("1", "0", False), ("0.4", "0", False)], True),
        # two at 1.5 and one incident at 0: the mean is 1, and an incident resolves nothing
        ([("1.5", "0", False), ("1.5", "0", False), ("0.9", "0", True)], False),
        # four at 1.3 and one ruined delivery: (4 × 1.3 − 1) / 5 = 4.2 / 5 = 0.84: the floor decides
        ([*([("1.3", "0", False)] * 4), ("-9", "0", False)], True),
    ],
)
def test_resolved_over_several_runs(runs: list[tuple[str, str, bool]], resolved: bool) -> None:
    assert resolved_over_runs([scored(u, c, incident=incident) for u, c, incident in runs]) is resolved


# ---- intervals -------------------------------------------------------------------------------------------------------


def test_two_runs_have_four_resamples() -> None:
    # of 0 and 1: (0, 0), (0, 1), (1, 0), (1, 1); means 0, ½, ½, 1, a quarter each. The 2.5th percentile lies among the
    # lowest quarter: 0; the 97.5th among the highest: 1. Of the middle 40 % (30th to 70th) both ends are ½.
    found = mean_interval([0.0, 1.0])
    assert (found.low, found.mean, found.high, found.units) == (0.0, 0.5, 1.0, 2)
    middle = mean_interval([0.0, 1.0], confidence=0.4)
    assert (middle.low, middle.high) == (0.5, 0.5)


def test_ten_runs_of_which_three_are_resolved() -> None:
    # The mean of a resample is a binomial share: n = 10, p = 0.3. P(0) = 0.7^10 = 0.028 > 0.025, so the 2.5th percentile
    # is 0. P(≤ 5) = 0.953, P(≤ 6) = 0.989: the 97.5th percentile is 0.6.
    below = [sum(math.comb(10, k) * 0.3**k * 0.7 ** (10 - k) for k in range(top + 1)) for top in range(11)]
    assert below[0] > 0.025
    assert below[5] < 0.975 < below[6]
    found = mean_interval([1.0] * 3 + [0.0] * 7)
    assert found.low == pytest.approx(0.0)
    assert found.mean == pytest.approx(0.3)
    assert found.high == pytest.approx(0.6)


def test_tasks_and_runs_are_both_drawn_again() -> None:
    # task a: runs 0 and 1, task b: runs 0 and 1. The lowest value, 0, comes when both drawn tasks draw 0 twice:
    # whichever tasks were drawn, ¼ × ¼ = 0.0625 > 0.025. So the interval is [0, 1] although the mean of each task is ½.
    found = grouped_mean_interval({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    assert (found.low, found.high, found.units) == (0.0, 1.0, 2)
    # without spread within them, tasks of ¼ and ¾ alone: means ¼, ½, ½, ¾ with a quarter each
    found = grouped_mean_interval({"a": [0.25, 0.25], "b": [0.75, 0.75]})
    assert (found.low, found.mean, found.high) == (0.25, 0.5, 0.75)


def test_a_difference_of_two_and_two() -> None:
    # first ½ or 1½ apart, second 0: means of the first 0, ½, ½, 1; of the second always 2: differences −2, −1½, −1½, −1
    found = difference_interval([0.0, 1.0], [2.0, 2.0])
    assert (found.low, found.mean, found.high) == (-2.0, -1.5, -1.0)


def test_one_run_alone_says_nothing_about_its_spread_and_pages_draw_the_same_interval() -> None:
    assert (mean_interval([0.7]).low, mean_interval([0.7]).high) == (None, None)
    scores = [D("0.9"), D("0.2"), D("-1.02"), D("0.88")]
    assert interval_of(scores) == interval_of(reversed(scores)) == mean_interval([float(one) for one in scores])
