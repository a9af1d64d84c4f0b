"""A small customer with three people, for tests that need one rule at a time, and readers of what the engine says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.kit.format import ScenarioConfig, StakeholdersFile
from stakeholders.engine import Message, due_letters, needs_match, read_letter, reply, wait
from stakeholders.script import Script, compile_script
from stakeholders.state import INBOX, INBOX_READ, MESSAGE, WAIT, State

SCENARIO = """
id = "depot"
title = "Depot"
customer = "Depot"
sector = "Logistics"
stakes = "late parcels"
summary = "A depot."
engineering = "rules"
pattern = "a"
sponsor = "ada"
kpi = { name = "parcels", unit = "parcels", direction = "higher", meaning = "Parcels on time." }
[[replay.entry_points]]
name = "run"
argv = ["python", "run.py"]
[calendar]
starts_at = 2026-10-05T08:00:00
utc_offset_minutes = 60
opens = 08:00:00
closes = 17:00:00
ask_minutes = 45
day_price = 0.008
[records.parcel]
about = "a parcel"
pattern = 'PX-\\d{3}'
[records.scan]
about = "a scan: gate, date"
fields.gate = 'gate \\d'
fields.date = '\\d{4}-\\d{2}-\\d{2}'
[documents.terms]
file = "docs/terms.md"
title = "Terms of carriage"
aliases = ["terms", "运输条款"]
clauses = ["7", "14.2", "14.3", "14.4"]
bare_clauses = true
[documents.rota]
title = "Rota"
[documents.tariff]
title = "Tariff"
clauses = ["14.2"]
[incidents.talked]
title = "Talked"
meaning = "Somebody talked."
"""

PEOPLE = """
[[stakeholders]]
id = "ada"
name = "Ada"
role = "Lead"
persona = "Leads."
patience = { cost = 0.01, soft_limit = 2, over_factor = 3, hard_limit = 5 }
fallback = "What do you want decided?"
acknowledgement = "Fine."
breaks_off = "One at a time."
[[stakeholders.topics]]
id = "open"
about = "open"
answer = "Doors open at six."
facts = ["F1"]
[[stakeholders.topics]]
id = "share"
about = "share"
answer = "Yes, that share."
facts = ["F2"]
gate = { cites_number = { fact = "late_share", tolerance = 0.02 } }
gate_miss = "Which share?"
[[stakeholders.topics]]
id = "rule"
about = "rule"
answer = "That clause."
facts = ["F3"]
gate = { cites_document = { document = "terms", clauses = ["14.2", "14.3"], clause_required = true } }
gate_miss = "Which clause?"
[[stakeholders.topics]]
id = "sorting"
about = "sorting"
answer = "By hand."
misconception = true
[[stakeholders.topics]]
id = "ramp"
about = "ramp"
answer = "Closed."
exclusive = true
facts = ["F6"]
gate = { mentions = [["ramp", "坡道"], ["closed", "clos*", "关闭"]] }
gate_miss = "Which ramp?"

[[stakeholders]]
id = "ben"
name = "Ben"
role = "Clerk"
persona = "Knows parcels."
patience = { cost = 0.008, soft_limit = 3, over_factor = 2.5, hard_limit = 8 }
fallback = "Which parcel?"
[stakeholders.availability]
windows = [{ days = ["mon", "tue", "wed", "thu", "fri"], opens = 09:00:00, closes = 16:00:00 }]
[[stakeholders.topics]]
id = "parcel"
about = "parcel"
answer = "Lost at gate 4."
facts = ["F4"]
gate = { cites_record = { kinds = ["parcel", "scan"] } }
gate_miss = "Give me a number."
[[stakeholders.topics]]
id = "release"
about = "release"
answer = "Released."
facts = ["F5"]
grants = ["approval:release"]
needs = ["F1", "F4"]
gate_miss = "Not yet."
needs_miss = "Ask Ada first."
[[stakeholders.topics]]
id = "night"
about = "night"
answer = "Nobody at night."
tasks = ["other"]

[[stakeholders]]
id = "cy"
name = "Cy"
role = "Carrier"
persona = "The other side."
patience = { cost = 0.01, soft_limit = 1, over_factor = 1, hard_limit = 3 }
always = "Send it over."
off_limits = { charge = 0.25, incident = "talked" }

[[stakeholders]]
id = "di"
name = "Di"
role = "Board"
persona = "On the board."
patience = { cost = 0.01, soft_limit = 1, over_factor = 1, hard_limit = 3 }
always = "No."
availability = { absent = true }

[[inbox]]
id = "after_two"
sender = "ada"
when = { after_contacts = 2 }
text = "Two contacts."
[[inbox]]
id = "next_morning"
sender = "ada"
when = { after_hours = 24 }
text = "Next morning."
[[inbox]]
id = "record"
sender = "ada"
sender_is_granter = true
when = { after_fact = "F5", delay_h = 10 }
text = "The record."
facts = ["F9"]
[[inbox]]
id = "waited"
sender = "ben"
when = { after_waits = 1 }
text = "You waited."
[inbox.on]
other = ""
"""

RECORDS: dict[str, list[str]] = {
    "parcel": ["PX-001", "PX-002", "PX-003", "PX-004"],
    "scan": ["gate 4|2026-07-14", "gate 5|2026-07-15"],
}


def small_script(
    *, people: str = PEOPLE, scenario: str = SCENARIO, task_id: str = "original", facts: Mapping[str, Any] | None = None
) -> Script:
    config = ScenarioConfig.model_validate(tomllib.loads(scenario))
    file = StakeholdersFile.model_validate(tomllib.loads(people))
    return compile_script(config, file, {"late_share": 0.62, **(facts or {})}, task_id, RECORDS, {})


def without_calendar(scenario: str = SCENARIO) -> str:
    head, _, tail = scenario.partition("[calendar]")
    return head + "[records.parcel]" + tail.partition("[records.parcel]")[2]


@dataclass(frozen=True)
class Part:
    topic: str
    text: str
    score: float = 0.9


@dataclass(frozen=True)
class Matched:
    parts: tuple[Part, ...] = ()
    rejected: str | None = None
    small_talk: bool = False
    scores: tuple[Part, ...] = ()


def matched(message: str, *topics: str | tuple[str, str]) -> Matched:
    """A match that gives each topic the whole message, or the part beside it."""
    return Matched(tuple(Part(topic, message) if isinstance(topic, str) else Part(*topic) for topic in topics))


@dataclass(frozen=True)
class Logged:
    seq: int
    kind: str
    payload: Mapping[str, Any]


class Rehearsal:
    """A run without a database: engine and fold alone, every payload kept as the log would keep it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.state = State.at_start(script)
        self.events: list[Logged] = []

    def log(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        self.events.append(Logged(len(self.events) + 1, kind, payload))
        self.state.apply(self.events[-1])
        return payload

    def say(
        self, person: str, text: str, *topics: str | tuple[str, str], match: Matched | None = None
    ) -> dict[str, Any]:
        message = Message(f"c{len(self.events)}", person, text)
        found = (match or matched(text, *topics)) if needs_match(self.script, self.state, person) else None
        return self.log(MESSAGE, reply(self.script, self.state, message, found)) | {"letters": self.arrivals()}

    def wait(self, target: str) -> dict[str, Any]:
        payload = self.log(WAIT, wait(self.script, self.state, f"c{len(self.events)}", target))
        return payload | {"letters": self.arrivals()}

    def arrivals(self) -> list[str]:
        due = due_letters(self.script, self.state)
        for letter in due:
            self.log(INBOX, letter)
        return [letter["id"] for letter in due]

    def read_inbox(self) -> Sequence[str]:
        read = [read_letter(self.state, letter) for letter in self.state.unread()]
        for payload in read:
            self.log(INBOX_READ, payload)
        return [fact for payload in read for fact in payload["facts"]]
