"""The system as found once more: its rules, written down independently, on the same feed.

Used where a delivery is held against what would have been without it, for the table in force before the first one is
accepted, and by the world for the pages of the visible weeks.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from scenarios.oncall_incident.world.clock import DAY, HOUR, STEP, SWAPPED_IN, VISIBLE, minute
from scenarios.oncall_incident.world.gateway import Ring
from scenarios.oncall_incident.world.truth import ROTA_KNOWN_UNTIL, Truth

CONFIG = Path(__file__).parent.parent / "system" / "config" / "sites.toml"
NIGHT_FROM, NIGHT_UNTIL = 22 * HOUR, 7 * HOUR
SECOND_AFTER = 10
#: a shift or swap that ended so long ago is in no table any more; those of a window are looked for over two days back
FORGOTTEN = 3 * DAY


class AsFound:
    """Takes in the feed as ``pager`` does and says which rows its table would have for an alert."""

    def __init__(self) -> None:
        settings = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
        offsets: Mapping[str, int] = settings["offset_min"]
        self._offset = {team: offsets[site] for team, site in settings["team_site"].items()}
        self._owner: dict[str, tuple[str, bool]] = {}
        self._rota: dict[str, dict[tuple[str, str], tuple[int, int, str, str]]] = defaultdict(dict)
        self._swaps: dict[str, list[tuple[int, int, str, str]]] = defaultdict(list)

    def start(self, truth: Truth) -> None:
        """What the system knows when production begins: everything that was delivered in the visible weeks."""
        self.rota(table_rows(truth.roster.rota_csv(VISIBLE[0] - DAY, ROTA_KNOWN_UNTIL)))
        self.catalogue(table_rows(truth.catalog_csv(VISIBLE[1])))
        for asof in range(VISIBLE[0], VISIBLE[1], STEP):
            self.events(truth.feed.lines(asof, asof + STEP, "override"))
        self.forget(VISIBLE[1])

    def ingest(self, files: Mapping[str, bytes]) -> None:
        """The files of a feed directory."""
        if "events.jsonl" in files:
            self.events(files["events.jsonl"].decode().splitlines())
        if "catalog.csv" in files:
            self.catalogue(table_rows(files["catalog.csv"]))
        if "rota.csv" in files:
            self.rota(table_rows(files["rota.csv"]))

    def events(self, lines: Iterable[str]) -> None:
        for line in lines:
            if '"override"' in line:
                self._swap(json.loads(line))

    def _swap(self, event: Mapping[str, Any]) -> None:
        team, number = event["team"], event["override_id"]
        swaps = self._swaps[team]
        if event["action"] == "cancel":
            swaps[:] = [swap for swap in swaps if swap[3] != number]
        else:
            offset = self._offset[team]
            start, end = (minute(datetime.fromisoformat(event[name])) - offset for name in ("start", "end"))
            swaps.append((start, end, event["person_in"], number))

    def catalogue(self, rows: Iterable[Mapping[str, str]]) -> None:
        self._owner = {row["service_id"]: (row["owner_team"], row["tier"] == "clinical") for row in rows}

    def rota(self, rows: Iterable[Mapping[str, str]]) -> None:
        for row in rows:
            offset = self._offset[row["team"]]
            opens, closes = (
                minute(datetime.fromisoformat(f"{row['date']}T{row[name]}")) - offset for name in ("start", "end")
            )
            closes += DAY if closes <= opens else 0
            self._rota[row["team"]][row["date"], row["shift"]] = (opens, closes, row["primary"], row["secondary"])

    def rings(self, service_id: str, severity: int, at: int) -> list[Ring]:
        """The rows that hold for an alert at ``at``, within the window of the table that the feed was for."""
        if service_id not in self._owner:
            return []
        team, clinical = self._owner[service_id]
        clock = (at + self._offset[team]) % DAY
        if severity == 3 and not clinical and not NIGHT_UNTIL <= clock < NIGHT_FROM:
            return []
        shifts = [shift for shift in self._rota[team].values() if shift[0] <= at < shift[1]]
        if not shifts:
            return []
        *_, primary, secondary = max(shifts)
        for start, end, person_in, _ in self._swaps[team]:
            if start <= at < end:
                primary = person_in
        return [Ring(1, primary, 0), Ring(2, secondary, SECOND_AFTER)]

    def table(self, asof: int) -> FrozenTable:
        """Its table of ``asof``, which stays in force as it is."""
        return FrozenTable(copy.deepcopy(self), asof + SWAPPED_IN + STEP - 1)

    def forget(self, before: int) -> None:
        """Drop what ended well before an instant; nothing of it is looked for any more."""
        for team in self._offset:
            self._swaps[team] = [swap for swap in self._swaps[team] if swap[1] > before - FORGOTTEN]
            rota = self._rota[team]
            self._rota[team] = {key: shift for key, shift in rota.items() if shift[1] > before - FORGOTTEN}


class FrozenTable:
    """A table of the system as found; after its window it goes on with what held at its end."""

    def __init__(self, rules: AsFound, last: int) -> None:
        self._rules, self._last = rules, last

    def rings(self, service_id: str, severity: int, at: int) -> list[Ring]:
        return self._rules.rings(service_id, severity, min(at, self._last))


def table_rows(data: bytes) -> list[dict[str, str]]:
    """The rows of a table of the feed."""
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))
