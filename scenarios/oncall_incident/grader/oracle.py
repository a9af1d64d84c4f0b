"""What somebody would decide who knows the truth at each compile: who carries, who is on duty, who must rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from scenarios.kit.world import CallOutcome, Outcome, Streams, TaskView
from scenarios.oncall_incident.grader.replay import OUT, replay
from scenarios.oncall_incident.grader.tables import HEADER, USUAL_DELAY
from scenarios.oncall_incident.world.alerts import Alert
from scenarios.oncall_incident.world.clock import STEP, SWAPPED_IN, from_stamp, is_night, stamp
from scenarios.oncall_incident.world.organisation import TEAM_SITE
from scenarios.oncall_incident.world.production import Production

DONE = CallOutcome(0, None, b"", b"")


def oracle(task: TaskView, streams: Streams) -> Outcome:
    """The truth through the replay, as tables."""
    production = Production(task, streams)
    return replay(production, DecidedHost(production))


class DecidedHost:
    """A deployment whose tables are the truth's: for each alert to come, the rows of its minute. A ``DeploymentHost``."""

    def __init__(self, production: Production) -> None:
        self._production = production
        self._files: dict[str, bytes] = {}
        self._to_come: dict[int, list[Alert]] = defaultdict(list)
        for alert in production.alerts:
            self._to_come[(alert.at - SWAPPED_IN) // STEP * STEP].append(alert)

    def put(self, path: str, data: bytes) -> None:
        self._files[path] = data

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        return f"/{name}"

    def call(self, argv: list[str]) -> CallOutcome:
        asof = from_stamp(argv[argv.index("--asof") + 1])
        lines = [line for alert in self._to_come[asof] for line in self._rows(alert, asof)]
        self.put(OUT, "\n".join([HEADER, *lines, ""]).encode())
        return DONE

    def _rows(self, alert: Alert, asof: int) -> list[str]:
        truth = self._production.truth
        team = truth.carriers.at(alert.service, alert.at)
        waits = is_night(TEAM_SITE[team], alert.at) and not truth.fleet[alert.service].clinical
        if alert.severity == 3 and waits:
            return []
        pair = truth.roster.pair(team, alert.at)
        first, second = (self._production.resting(person, alert.at, asof) for person in pair)
        if first and not second:
            pair = pair[1], pair[0]
        service = self._production.service_id(alert.service, alert.at)
        minute = f"{stamp(alert.at)},{stamp(alert.at + 1)}"
        return [
            f"{service},{alert.severity},{minute},{level},{person},{USUAL_DELAY[level]}"
            for level, person in enumerate(pair, 1)
        ]

    def read(self, path: str, max_bytes: int) -> bytes | None:
        data = self._files.get(path)
        return data if data is not None and len(data) <= max_bytes else None

    def list(self, path: str, max_entries: int) -> list[str]:
        return []

    def progress(self, done: int, total: int, what: str) -> None:
        """Nobody waits."""
