"""Explains the KPI in the customer's words: where the minutes were lost, by cause, site and week, with samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scenarios.oncall_incident.world.clock import HELD_OUT, LISBON, SITES, WEEK, moment
from scenarios.oncall_incident.world.gateway import Played
from scenarios.oncall_incident.world.organisation import TEAM_SITE
from scenarios.oncall_incident.world.truth import Truth

Section = Mapping[str, Any]

SAMPLES = 5
#: where a waiting minute or a night went → what it is called
WAITING = {
    "another team": "Waiting: the first page went to another team",
    "off shift": "Waiting: rang somebody who was off shift",
    "duty manager": "Waiting: nobody of the pair answered, the duty manager rang around",
    "unpaged": "Waiting: nobody was paged",
    "on duty": "Waiting: those on duty took the call",
}
SLEEP = {
    "woken in another team": "Sleep: woken in another team",
    "woken off shift": "Sleep: woken off shift",
    "needless at night": "Sleep: woken for severity 3",
    "rest broken": "Sleep: rest broken",
}


def cause_of_waiting(played: Played) -> str:
    """What made an alert's engineer late, or ``on duty`` where nothing did."""
    if not played.pages:
        return "unpaged"
    rung = {page.who for page in played.pages}
    for who in ("another team", "off shift"):
        if who in rung:
            return who
    return "duty manager" if played.duty_manager else "on duty"


def breakdown(played: Sequence[Played], truth: Truth, calls: int, unread: Sequence[int]) -> list[Section]:
    return [
        _totals(played, calls, unread),
        _causes(played),
        _sites(played, truth),
        _weeks(played),
        _samples(played, truth),
    ]


def _totals(played: Sequence[Played], calls: int, unread: Sequence[int]) -> Section:
    pages = [page for one in played for page in one.pages]
    wrong = sum(page.who == "another team" for page in pages)
    return {
        "kind": "facts",
        "title": "Sixteen weeks of alerts",
        "items": [
            ["Incidents", str(len(played))],
            ["Pages", str(len(pages))],
            ["Pages to another team", f"{wrong} ({_percent(wrong, len(pages))})"],
            ["Pages at night", str(sum(page.night for page in pages))],
            ["Incidents for which the duty manager had to ring around", str(sum(one.duty_manager for one in played))],
            ["Severity 3 left for the morning", str(sum(one.held for one in played))],
            ["Compiles without a table that could be read", f"{len(unread)} of {calls}"],
        ],
    }


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def _causes(played: Sequence[Played]) -> Section:
    minutes: dict[str, float] = defaultdict(float)
    count: dict[str, int] = defaultdict(int)
    for one in played:
        for cause, lost in _minutes(one):
            minutes[cause] += lost
            count[cause] += 1
    rows = [
        [name, count[cause], f"{minutes[cause]:.0f}", f"{minutes[cause] / len(played):.2f}"]
        for cause, name in {**WAITING, **SLEEP}.items()
    ]
    return {
        "kind": "table",
        "title": "Lost minutes by cause",
        "columns": ["Cause", "Incidents", "Minutes", "Minutes per incident"],
        "rows": rows,
        "note": "Minutes until the right engineer is engaged are weighted by severity (3, 1, 0.3).",
    }


def _minutes(one: Played) -> Iterable[tuple[str, float]]:
    if one.waiting:
        yield cause_of_waiting(one), one.waiting
    yield from one.sleep.items()


def _sites(played: Sequence[Played], truth: Truth) -> Section:
    woken: dict[str, int] = defaultdict(int)
    incidents: dict[str, int] = defaultdict(int)
    lost: dict[str, float] = defaultdict(float)
    for one in played:
        owner_site = TEAM_SITE[one.owner]
        incidents[owner_site] += 1
        lost[owner_site] += one.lost
        for page in one.pages:
            woken[truth.roster.site_of[page.person]] += page.night
    rows = [[site, incidents[site], f"{lost[site] / max(1, incidents[site]):.1f}", woken[site]] for site in SITES]
    return {
        "kind": "table",
        "title": "By site",
        "columns": ["Site", "Incidents of its teams", "Lost minutes per incident", "Pages at night to its people"],
        "rows": rows,
        "note": f"Only {LISBON} has a rest rule.",
    }


def _weeks(played: Sequence[Played]) -> Section:
    weeks = range(HELD_OUT[0], HELD_OUT[1], WEEK)
    waiting, sleep, count = ([0.0] * len(weeks) for _ in range(3))
    for one in played:
        week = (one.alert.at - HELD_OUT[0]) // WEEK
        waiting[week] += one.waiting
        sleep[week] += sum(one.sleep.values())
        count[week] += 1

    def per_incident(values: list[float]) -> list[float]:
        return [round(value / max(1.0, number), 2) for value, number in zip(values, count, strict=True)]

    return {
        "kind": "series",
        "title": "Lost minutes per incident, week by week",
        "unit": "min",
        "x": [f"{moment(week):%d %b}" for week in weeks],
        "series": [
            {"name": "Until the right engineer is engaged", "values": per_incident(waiting)},
            {"name": "Sleep", "values": per_incident(sleep)},
        ],
    }


def _samples(played: Sequence[Played], truth: Truth) -> Section:
    """The worst incident of each cause, the heaviest causes first."""
    worst: dict[str, Played] = {}
    for one in sorted(played, key=lambda one: (-one.lost, one.alert.at)):
        worst.setdefault(max(_minutes(one), key=lambda pair: pair[1], default=("held", 0.0))[0], one)
    rows = [
        [
            f"{moment(one.alert.at):%Y-%m-%d %H:%M} UTC",
            truth.fleet[one.alert.service].id_at(one.alert.at),
            one.alert.severity,
            _story(one),
            f"{one.lost:.1f}",
        ]
        for one in list(worst.values())[:SAMPLES]
    ]
    return {
        "kind": "table",
        "title": "Sample incidents",
        "columns": ["When", "Service", "Severity", "What happened", "Lost minutes"],
        "rows": rows,
        "note": "",
    }


def _story(one: Played) -> str:
    words = {"engaged": "engaged", "not_mine": "said not mine", "no_answer": "no answer"}
    parts = [f"{page.person} ({page.who}): {words[page.outcome]}" for page in one.pages] or ["nobody was paged"]
    if one.duty_manager:
        parts.append(f"the duty manager found somebody after {one.engaged_min:.0f} min")
    return "; ".join(parts)
