"""Tables as the gateway reads them, and what alerts come to under them."""

from __future__ import annotations

import pytest

from scenarios.oncall_incident.grader.tables import HEADER, MAX_BYTES, parse_table
from scenarios.oncall_incident.world.alerts import Alert
from scenarios.oncall_incident.world.clock import HELD_OUT, from_stamp, from_wall, is_night, stamp
from scenarios.oncall_incident.world.gateway import RestLedger, Ring
from scenarios.oncall_incident.world.organisation import TEAM_SITE
from tests.scenarios import oncall_worlds

ASOF = from_stamp("2026-11-03T06:00Z")
PEOPLE = {"ana", "rui"}
ROW = "ward-sync,2,2026-11-03T06:05Z,2026-11-03T09:05Z,1,ana,0"


def rings(*lines: str, at: str = "2026-11-03T07:00Z") -> list[Ring]:
    table = parse_table("\n".join([HEADER, *lines]).encode(), ASOF, PEOPLE)
    assert table is not None
    return table.rings("ward-sync", 2, from_stamp(at))


def test_of_several_rows_for_one_level_the_first_holds() -> None:
    assert rings(ROW, ROW.replace("ana", "rui")) == [Ring(1, "ana", 0)]


def test_rows_outside_the_window_hold_nothing_and_its_last_rows_hold_on() -> None:
    early = ROW.replace("06:05Z,2026-11-03T09:05Z", "03:05Z,2026-11-03T06:00Z")
    assert rings(early) == []
    assert rings(ROW, at="2026-11-04T12:00Z") == [Ring(1, "ana", 0)]
    assert rings(ROW.replace("T09:05Z", "T08:00Z"), at="2026-11-04T12:00Z") == []


@pytest.mark.parametrize(
    "line",
    [
        ROW.replace("ana", "duty manager"),
        ROW.replace(",2,", ",4,"),
        ROW.replace(",1,", ",3,"),
        ROW.replace("06:05Z", "25:05Z"),
        ROW + "," + "x" * 500,
        "ward-sync,2",
        "",
    ],
)
def test_what_is_no_row_is_passed_over(line: str) -> None:
    assert rings(line) == []


@pytest.mark.parametrize(("text", "delay"), [("99", 15), ("-5", 0), ("NaN", 0), ("1e3", 0), ("7", 7)])
def test_a_delay_is_clamped_and_what_is_no_number_is_the_usual_one(text: str, delay: int) -> None:
    assert rings(f"{ROW[:-1]}{text}") == [Ring(1, "ana", delay)]


@pytest.mark.parametrize("data", [None, b"", b"\xff\xfe", b"id;person\n", b" " * (MAX_BYTES + 1)])
def test_a_file_that_is_no_table_is_none(data: bytes | None) -> None:
    assert parse_table(data, ASOF, PEOPLE) is None


def test_a_rest_is_broken_once_a_table_and_only_by_what_the_compile_knew() -> None:
    ledger = RestLedger(660)
    assert not ledger.rung("ana", 100, known=90)
    assert not ledger.rung("ana", 150, known=90), "the same table: one disturbance"
    assert ledger.rung("ana", 400, known=270)
    assert not ledger.rung("ana", 410, known=270)
    assert not ledger.rung("ana", 400 + 900, known=1_170)


def an_alert(severity: int, *, clinical: bool, night: bool, luck: float = 0.0) -> Alert:
    """Of the held-out weeks' first alerts that fit; its luck is the given one."""
    truth = oncall_worlds.truth("original")
    return next(
        Alert(one.at, one.service, severity, (luck, luck, 0.5))
        for one in truth.alerts
        if one.at >= HELD_OUT[0]
        and truth.fleet[one.service].clinical == clinical
        and is_night(TEAM_SITE[truth.carriers.at(one.service, one.at)], one.at) == night
    )


def test_the_right_primary_engages_in_four_minutes_weighted_by_severity() -> None:
    truth = oncall_worlds.truth("original")
    alert = an_alert(1, clinical=False, night=False)
    primary, secondary = truth.roster.pair(truth.carriers.at(alert.service, alert.at), alert.at)
    played = truth.gateway().play(alert, [Ring(1, primary, 0), Ring(2, secondary, 10)], alert.at)
    assert (played.waiting, played.sleep, len(played.pages)) == (12.0, {}, 1)


def test_another_team_says_not_mine_twice_and_then_the_duty_manager_rings_around() -> None:
    truth = oncall_worlds.truth("original")
    alert = an_alert(2, clinical=False, night=False)
    owner = truth.carriers.at(alert.service, alert.at)
    stranger = next(team for team in TEAM_SITE if team != owner)
    first, second = truth.roster.pair(stranger, alert.at)
    played = truth.gateway().play(alert, [Ring(1, first, 0), Ring(2, second, 10)], alert.at)
    assert [page.outcome for page in played.pages] == ["not_mine", "not_mine"]
    assert played.duty_manager
    assert played.waiting == 24 + 28 + 2


def test_an_unpaged_alert_costs_nothing_only_where_it_may_wait() -> None:
    gateway = oncall_worlds.truth("original").gateway()
    waits = gateway.play(an_alert(3, clinical=False, night=True), [], 0)
    assert (waits.held, waits.lost) == (True, 0)
    by_day = gateway.play(an_alert(3, clinical=False, night=False), [], 0)
    assert by_day.lost == pytest.approx(0.3 * 120)
    clinical = gateway.play(an_alert(3, clinical=True, night=True), [], 0)
    assert clinical.clinical_missed
    assert clinical.lost == pytest.approx(0.3 * 120 * 3)


def test_an_hour_that_comes_twice_is_the_first() -> None:
    twice = from_stamp("2026-10-25T01:30Z")
    assert stamp(from_wall("Lisbon", twice)) == "2026-10-25T00:30Z"
    assert stamp(from_wall("Lisbon", twice + 60)) == "2026-10-25T02:30Z"
