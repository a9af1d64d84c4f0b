"""What the workspace of oncall_incident shows, and that it agrees with the truth behind it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from scenarios.oncall_incident.grader import oracle
from scenarios.oncall_incident.world.clock import DAY, HELD_OUT, SHADOW, VISIBLE, from_stamp
from scenarios.oncall_incident.world.organisation import TEAMS
from tests.scenarios import oncall_worlds

TASKS = ("original", "cmdb_fresh", "immediate", "works_council", "rota_utc")


def test_the_alerts_are_as_many_in_every_task() -> None:
    for task in TASKS:
        truth = oncall_worlds.truth(task)
        held_out = [one for one in truth.alerts if one.at >= HELD_OUT[0]]
        assert len(held_out) == 3_024
        assert len(truth.history) == len(oncall_worlds.truth("original").history)


def test_the_catalogue_is_right_only_where_it_was_set_anew() -> None:
    for task, right in (("original", False), ("cmdb_fresh", True)):
        truth = oncall_worlds.truth(task)
        at = HELD_OUT[1] - DAY
        wrong = [
            one
            for one in truth.fleet
            if truth.carriers.catalogue(one, at, right=right) != truth.carriers.at(one.rank, at)
        ]
        assert (len(wrong) == 0) == right
        assert right or len(wrong) > 80


def test_the_pager_moves_four_weeks_after_the_acceptance_to_the_minute() -> None:
    truth = oncall_worlds.truth("original")
    seen = 0
    for ticket in truth.tickets:
        accepted = ticket.accepted_at
        if ticket.scope == "ops" and accepted is not None and VISIBLE[0] < accepted < VISIBLE[1] - 28 * DAY:
            moves = accepted + 28 * DAY
            assert truth.carriers.at(ticket.service, moves) == ticket.to_team
            assert truth.carriers.at(ticket.service, moves - 1) == ticket.from_team
            seen += 1
    assert seen > 5


def test_the_rota_jumps_to_utc_in_september_on_one_task_only() -> None:
    for task, starts in (("original", {"08:00"}), ("rota_utc", {"07:00", "12:00", "00:00"})):
        rows = oncall_worlds.truth(task).roster.rota_rows(from_stamp("2026-09-14T00:00Z"), VISIBLE[1])
        assert {row[3] for row in rows if row[2] == "D"} == starts


def test_every_hour_of_every_team_has_a_pair_of_two_people_but_where_a_swap_runs_into_a_new_week() -> None:
    roster = oncall_worlds.truth("original").roster
    pairs = [roster.pair(team, at) for team in TEAMS for at in range(VISIBLE[0], HELD_OUT[1], 60)]
    assert all(primary and secondary for primary, secondary in pairs)
    assert sum(primary == secondary for primary, secondary in pairs) < 0.02 * len(pairs)


def test_events_come_twice_and_late_and_cancellations_may_come_first() -> None:
    lines = oncall_worlds.truth("original").feed.lines(VISIBLE[0] - DAY, HELD_OUT[1])
    events = [json.loads(line) for line in lines]
    counts = Counter(event["event_id"] for event in events)
    assert 0.05 < sum(count > 1 for count in counts.values()) / len(counts) < 0.07
    first: dict[tuple[str, str], str] = {}
    for event in events:
        if event["type"] == "override":
            key = event["override_id"], event["action"]
            first[key] = min(event["delivered"], first.get(key, "9"))
    assert any(
        when < first.get((number, "create"), "") for (number, action), when in first.items() if action == "cancel"
    )


def test_the_visible_files_end_with_the_visible_weeks_and_hold_the_examples() -> None:
    built = oncall_worlds.built("original")
    assert len(built.table("rota.csv")) == 2_520
    assert len(built.table("calls.csv")) == 2_800
    assert max(row["ts_utc"] for row in built.table("calls.csv")) < "2026-09-28"
    facts, records = built.result.facts, built.result.records
    assert facts["ex_ops_ticket"] in records["ticket"]
    assert facts["ex_code_ticket"] in records["ticket"]
    assert facts["ex_swap"] in records["swap"]
    assert f"{facts['ex_rota_team']}|{facts['ex_rota_date']}|D" in records["rota"]


def test_the_feed_brings_the_pages_that_the_tables_caused_and_nobody_the_duty_manager_found() -> None:
    production = oncall_worlds.production("original", until=SHADOW[0] + DAY)

    class Nobody:
        def rings(self, service_id: str, severity: int, at: int) -> list[object]:
            return []

    for asof in production.calls:
        lines = production.feed(asof)["events.jsonl"].decode().splitlines()
        assert not [line for line in lines if json.loads(line)["type"] == "call"]
        production.react(asof, Nobody())  # type: ignore[arg-type]


@pytest.mark.parametrize("task", ["original", "rota_utc"])
def test_the_truth_s_own_tables_never_ring_another_team_or_somebody_off_shift(task: str) -> None:
    outcome = oracle(oncall_worlds.view(task), oncall_worlds.streams(task))
    causes = {row[0]: row[1] for row in outcome.breakdown[1]["rows"]}
    assert outcome.incidents == ()
    assert causes["Waiting: the first page went to another team"] == 0
    assert causes["Waiting: rang somebody who was off shift"] == 0
    assert 3 < outcome.kpi < 12
