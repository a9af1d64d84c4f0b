"""Who is on duty: the weekly rota, swaps as they were typed, and the pair that was truly on duty in each hour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from scenarios.kit.tables import csv_bytes
from scenarios.oncall_incident.world.clock import (
    DAY,
    HELD_OUT,
    HOUR,
    VISIBLE,
    WEEK,
    day_of,
    from_stamp,
    from_wall,
    local,
    moment,
    wall,
)
from scenarios.oncall_incident.world.organisation import (
    CLERKS,
    PER_TEAM,
    TEAM_SITE,
    TEAMS,
    TRANSFER_AT,
    Person,
    after_transfer,
    engineers,
)

DAY_FROM, NIGHT_FROM = 8 * HOUR, 20 * HOUR
WEEKS = HELD_OUT[1] // WEEK
NEW_SCHEDULER = from_stamp("2026-09-14T00:00Z")
LENGTHS = (12 * HOUR, 12 * HOUR, 24 * HOUR)
ROTA_COLUMNS = ("team", "date", "shift", "start", "end", "primary", "secondary")
#: of a team's seven swaps a week: who typed them. A site stands for its clerk, "own" for somebody of the team's site
_ENTERED = {
    "Lisbon": ("own", "own", "own", "Singapore", "Singapore", "Singapore", "Toronto"),
    "Toronto": ("own", "own", "own", "Singapore", "Singapore", "Singapore", "Lisbon"),
    "Singapore": ("own", "own", "own", "Lisbon", "Lisbon", "Toronto", "Toronto"),
}
_CANCELLED_EVERY = 7
_SHORTEST_LEAD, _LONGEST_LEAD = 14 * HOUR, 6 * DAY
_FIRST_NUMBER = 10_001

Pair = tuple[str, str]  #: ids of primary and secondary


@dataclass(frozen=True, slots=True)
class Shift:
    """A row of the rota. ``day``: midnight of the local day on which it starts; ``start``, ``end`` in UTC."""

    team: str
    day: int
    kind: str  #: D or N
    start: int
    end: int
    primary: str
    secondary: str


@dataclass(slots=True)
class Swap:
    """``start``, ``end``: what it truly means. ``typed``: the wall times as exported. ``cancelled_at`` 0: it stands."""

    team: str
    person_out: str
    person_in: str
    start: int
    end: int
    typed: tuple[int, int]
    entered_by: str
    created: int
    cancelled_at: int = 0
    number: str = ""


class Roster:
    """The duty of all teams from 15 June 2026 to the end of the held-out period."""

    def __init__(self, facts: Mapping[str, Any], rng: Generator) -> None:
        utc_from = str(facts["export_utc_from"])
        self._utc_from = from_stamp(f"{utc_from}T00:00Z") if utc_from else None
        self._by_enterer = facts["swap_zone"] == "enterer"
        self.teams_before = engineers()
        self.teams_after = after_transfer(self.teams_before)
        self._turn = {team: int(rng.integers(PER_TEAM)) for team in TEAMS}
        self.shifts: dict[str, list[Shift]] = {team: self._shifts(team) for team in TEAMS}
        self.swaps: list[Swap] = self._swaps(rng)
        self._pairs = {team: self._hours(team) for team in TEAMS}
        people = [person for team in self.teams_before.values() for person in team]
        self.site_of: dict[str, str] = {person.id: person.site for person in people}
        self._team_before = {person.id: person.team for person in people}
        self._team_after = {person.id: person.team for team in self.teams_after.values() for person in team}

    def pair(self, team: str, at: int) -> Pair:
        """Primary and secondary truly on duty; ``at`` from 14 June 2026 on."""
        return self._pairs[team][(at - _GRID_FROM) // HOUR]

    def team_of(self, person: str, at: int) -> str:
        return (self._team_before if at < TRANSFER_AT else self._team_after)[person]

    def members(self, team: str, at: int) -> list[Person]:
        return (self.teams_before if at < TRANSFER_AT else self.teams_after)[team]

    # ---- rota ----

    def rota_csv(self, first: int, last: int) -> bytes:
        """Rows of the shifts whose local day lies in [first, last), as the scheduler exports them."""
        return csv_bytes(ROTA_COLUMNS, self.rota_rows(first, last))

    def rota_rows(self, first: int, last: int) -> list[tuple[str, ...]]:
        wanted = [shift for team in TEAMS for shift in self.shifts[team] if first <= shift.day < last]
        wanted.sort(key=lambda shift: (shift.day, TEAMS.index(shift.team), shift.kind))
        return [self._row(shift) for shift in wanted]

    def printed_day(self, shift: Shift) -> str:
        return self._row(shift)[1]

    def _row(self, shift: Shift) -> tuple[str, ...]:
        in_utc = self._utc_from is not None and shift.day >= self._utc_from
        site = TEAM_SITE[shift.team]
        start, end = (shift.start, shift.end) if in_utc else (local(site, shift.start), local(site, shift.end))
        clocks = (f"{moment(start):%H:%M}", f"{moment(end):%H:%M}")
        return (shift.team, day_of(start).isoformat(), shift.kind, *clocks, shift.primary, shift.secondary)

    def _turn_at(self, team: str, shown: int) -> int:
        """Whose turn it is, as a place in the team; weeks turn on Monday 08:00 of the site's clock."""
        return (self._turn[team] + (shown - DAY_FROM) // WEEK) % PER_TEAM

    def _shifts(self, team: str) -> list[Shift]:
        site, found = TEAM_SITE[team], []
        for day in range(VISIBLE[0] - DAY, HELD_OUT[1] + 2 * DAY, DAY):
            for kind, opens, closes in (("D", DAY_FROM, NIGHT_FROM), ("N", NIGHT_FROM, DAY + DAY_FROM)):
                start, end = from_wall(site, day + opens), from_wall(site, day + closes)
                turn = self._turn_at(team, day + opens) + (0 if kind == "D" else 2)
                people = self.members(team, start)
                primary, secondary = (people[(turn + place) % PER_TEAM].id for place in (0, 1))
                found.append(Shift(team, day, kind, start, end, primary, secondary))
        return found

    # ---- swaps ----

    def _swaps(self, rng: Generator) -> list[Swap]:
        made: list[Swap] = []
        for index, team in enumerate(TEAMS):
            for week in range(WEEKS):
                who = rng.permutation(7)
                for weekday in range(7):
                    typed_by = _ENTERED[TEAM_SITE[team]][int(who[weekday])]
                    swap = self._swap(team, week * WEEK + weekday * DAY, typed_by, rng)
                    if (weekday + week + index) % _CANCELLED_EVERY == 0:
                        swap.cancelled_at = swap.created + int(rng.integers(HOUR, 12 * HOUR))
                    made.append(swap)
        made.sort(key=lambda swap: (swap.created, swap.team))
        for index, swap in enumerate(made):
            swap.number = f"OV-{_FIRST_NUMBER + index}"
        return made

    def _swap(self, team: str, day: int, typed_by: str, rng: Generator) -> Swap:
        site = TEAM_SITE[team]
        zone = site if typed_by == "own" else typed_by
        shown = day + int(rng.integers(24)) * HOUR
        length = LENGTHS[int(rng.integers(len(LENGTHS)))]
        meant_in = zone if self._by_enterer else site
        start, end = from_wall(meant_in, shown), from_wall(meant_in, shown + length)
        created = start - int(rng.integers(_SHORTEST_LEAD, _LONGEST_LEAD))
        people = self.members(team, start)
        turn = self._turn_at(team, local(site, start))
        hour = local(site, start) % DAY
        person_out = people[(turn + (0 if DAY_FROM <= hour < NIGHT_FROM else 2)) % PER_TEAM]
        person_in = people[(turn + 4 + int(rng.integers(2))) % PER_TEAM]
        entered_by = CLERKS[zone]
        if typed_by == "own" and site != "Singapore":
            entered_by = next(one for one in (person_out, person_in, *people) if one.profile_site == site).id
        elif typed_by != "own":
            travellers = [one.id for one in people if one.profile_site == zone]
            entered_by = travellers[0] if travellers else entered_by
        in_utc = self._utc_from is not None and created >= self._utc_from
        typed = (start, end) if in_utc else (shown, shown + length)
        return Swap(team, person_out.id, person_in.id, start, end, typed, entered_by, created)

    def _hours(self, team: str) -> list[Pair]:
        """The pair of each hour: rota rows, then standing swaps in the order of their creation over the primary."""
        hours: list[Pair] = [("", "")] * ((HELD_OUT[1] + DAY - _GRID_FROM) // HOUR)
        for shift in self.shifts[team]:
            for hour in _grid(shift.start, shift.end):
                hours[hour] = (shift.primary, shift.secondary)
        for swap in self.swaps:
            if swap.team == team and not swap.cancelled_at:
                for hour in _grid(swap.start, swap.end):
                    hours[hour] = (swap.person_in, hours[hour][1])
        return hours


_GRID_FROM = VISIBLE[0] - DAY


def _grid(start: int, end: int) -> Iterable[int]:
    last = (HELD_OUT[1] + DAY - _GRID_FROM) // HOUR
    return range(max(0, (start - _GRID_FROM) // HOUR), min(last, (end - _GRID_FROM) // HOUR))


def swap_fields(swap: Swap, action: str) -> dict[str, str]:
    """What the event of a swap says besides its id and times."""
    return {
        "override_id": swap.number,
        "action": action,
        "team": swap.team,
        "person_out": swap.person_out,
        "person_in": swap.person_in,
        "start": wall(swap.typed[0]),
        "end": wall(swap.typed[1]),
        "entered_by": swap.entered_by,
    }
