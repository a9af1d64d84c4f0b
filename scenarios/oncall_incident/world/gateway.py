"""What happens when an alert meets a routing table: who is rung, who is woken, what it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from scenarios.oncall_incident.world.alerts import WEIGHT, Alert
from scenarios.oncall_incident.world.clock import HOUR, LISBON, is_night
from scenarios.oncall_incident.world.organisation import TEAM_SITE, Service
from scenarios.oncall_incident.world.roster import Roster
from scenarios.oncall_incident.world.tickets import Carriers

CAP_MIN = 120
WOKEN_FOR_NOTHING, NEEDLESS_WAKE, REST_BROKEN = 120, 60, 480
P_ENGAGES, S_ENGAGES = 0.95, 0.90
OFF_SHIFT_USEFUL, OFF_SHIFT_ANSWERS, OTHERS_ANSWER = 0.25, 0.80, 0.85
P_MIN, S_MIN, OFF_SHIFT_MIN, NOT_MINE_MIN, NO_ANSWER_MIN = 4, 6, 9, 12, 10
DUTY_MANAGER_FROM, RINGS_AROUND, RINGS_LONGER = 20, 28, 4


@dataclass(frozen=True, slots=True)
class Ring:
    """A row of a table that holds for an alert: level 1 or 2, whom, and after how many minutes at the earliest."""

    level: int
    person: str
    delay: int


@dataclass(frozen=True, slots=True)
class Page:
    """Somebody was rung. ``night``: at their site."""

    at: int
    level: int
    person: str
    answered_min: int | None
    outcome: str  #: engaged | not_mine | no_answer
    night: bool
    who: str  #: on duty | off shift | another team: what they are to the alert, known to nobody outside


@dataclass(slots=True)
class Played:
    """What an alert came to. ``sleep``: minutes for lost sleep by cause; ``engaged_min`` None: nobody was paged."""

    alert: Alert
    owner: str
    pages: list[Page] = field(default_factory=list)
    engaged_min: float | None = None
    duty_manager: bool = False
    held: bool = False  #: no page, and none was due
    clinical_missed: bool = False
    waiting: float = 0.0  #: weighted minutes
    sleep: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def lost(self) -> float:
        return self.waiting + sum(self.sleep.values())


class RestLedger:
    """When each person in Lisbon was last rung at night, as the compile of a table can know it."""

    def __init__(self, rest_min: int) -> None:
        self.rest_min = rest_min
        self._rung: dict[str, list[int]] = defaultdict(list)
        self._broken_by: dict[str, int] = {}

    def resting(self, person: str, at: int, known: int) -> bool:
        last = max((rung for rung in self._rung.get(person, ()) if rung < known), default=None)
        return last is not None and at - last < self.rest_min

    def rung(self, person: str, at: int, known: int) -> bool:
        """Note a night page; whether it breaks a rest. The pages of one table are one disturbance."""
        breaks = self.resting(person, at, known) and self._broken_by.get(person) != known
        if breaks:
            self._broken_by[person] = known
        self._rung[person].append(at)
        return breaks


class Gateway:
    """Plays alerts in the order of time against the tables that are in force."""

    def __init__(self, fleet: Sequence[Service], carriers: Carriers, roster: Roster, rest_hours: int) -> None:
        self._fleet, self._carriers, self._roster = fleet, carriers, roster
        self.rest = RestLedger(rest_hours * HOUR)

    def play(self, alert: Alert, rings: Sequence[Ring], known: int) -> Played:
        """``known``: the ``--asof`` of the table in force; of rests broken only those count that it could avoid."""
        service = self._fleet[alert.service]
        played = Played(alert, self._carriers.at(alert.service, alert.at))
        weight = WEIGHT[alert.severity]
        if not rings:
            self._unpaged(played, service, weight)
            return played
        clock = 0
        for ring in sorted(rings, key=lambda ring: ring.level):
            clock = max(clock, ring.delay)
            engaged, clock = self._ring(played, service, ring, clock, known)
            if engaged:
                played.engaged_min = clock
                break
        else:
            played.duty_manager = True
            played.engaged_min = max(clock, DUTY_MANAGER_FROM) + RINGS_AROUND + RINGS_LONGER * alert.luck[2]
        played.waiting = weight * min(played.engaged_min or 0, CAP_MIN)
        return played

    def _unpaged(self, played: Played, service: Service, weight: float) -> None:
        alert = played.alert
        if service.clinical:
            played.clinical_missed = True
            played.waiting = weight * CAP_MIN * 3
        elif alert.severity == 3 and is_night(TEAM_SITE[played.owner], alert.at):
            played.held = True
        else:
            played.waiting = weight * CAP_MIN

    def _ring(self, played: Played, service: Service, ring: Ring, clock: int, known: int) -> tuple[bool, int]:
        """Whether the person engages, and the minute at which the level is through."""
        alert, person = played.alert, ring.person
        at = alert.at + clock
        site = self._roster.site_of[person]
        night = is_night(site, at)
        luck = alert.luck[ring.level - 1]
        if night and site == LISBON and self.rest.rung(person, at, known):
            played.sleep["rest broken"] += REST_BROKEN
        primary, secondary = self._roster.pair(played.owner, alert.at)
        if person in (primary, secondary):
            if night and alert.severity == 3 and not service.clinical:
                played.sleep["needless at night"] += NEEDLESS_WAKE
            takes, minutes = (luck < P_ENGAGES, P_MIN) if person == primary else (luck < S_ENGAGES, S_MIN)
            outcome, who = "engaged" if takes else "no_answer", "on duty"
        elif self._roster.team_of(person, alert.at) == played.owner:
            if night and luck < OFF_SHIFT_ANSWERS:
                played.sleep["woken off shift"] += WOKEN_FOR_NOTHING
            takes, minutes = luck < OFF_SHIFT_USEFUL, OFF_SHIFT_MIN
            outcome, who = "engaged" if takes else "no_answer", "off shift"
        else:
            answers = luck < OTHERS_ANSWER
            if night and answers:
                played.sleep["woken in another team"] += WOKEN_FOR_NOTHING
            takes, minutes = False, NOT_MINE_MIN
            outcome, who = "not_mine" if answers else "no_answer", "another team"
        lasts = NO_ANSWER_MIN if outcome == "no_answer" else minutes
        answered = None if outcome == "no_answer" else lasts
        played.pages.append(Page(at, ring.level, person, answered, outcome, night, who))
        return takes, clock + lasts
