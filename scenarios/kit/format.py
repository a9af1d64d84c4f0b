"""Typed models of the scenario files: the one contract between authors and the engines.

``scenario.toml`` → ``ScenarioConfig``, ``facts.toml`` → ``FactsFile``, ``stakeholders.toml`` → ``StakeholdersFile``,
``solutions/*/conversation.toml`` → ``Conversation``. Texts may hold Jinja2 that is rendered with the task's facts by
``scenarios.kit.render``. Loading is ``scenarios.kit.load``'s; gates are in ``scenarios.kit.gates``.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from scenarios.kit.gates import Gate, Strict, Text
from scenarios.kit.scalars import Charge, Identifier, exact
from scenarios.kit.trial import Trial

LEVELS = ("L0", "L1", "L2", "L3")
Level = Literal["L0", "L1", "L2", "L3"]
Angle = Literal[
    "stale_rule", "fact_holder", "rule_value", "sponsor_right", "sponsor_wrong_elsewhere", "authority", "data_regime"
]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


# ---- scenario.toml ---------------------------------------------------------------------------------------------------


class Kpi(Strict):
    name: Text
    unit: str
    direction: Literal["higher", "lower"]
    decimals: int = 0
    meaning: Text  #: one sentence in the customer's words


class RunLimits(Strict):
    """What a workspace may use; totals of the sandbox."""

    memory_mb: int = 1024
    processes: int = 128
    disk_mb: int = 512
    inodes: int = 50_000


class EntryPoint(Strict):
    """A command that production calls. ``probe`` is a harmless call that shows whether it still starts."""

    name: Identifier
    argv: Annotated[list[Text], Field(min_length=1)]
    probe: list[Text] = []


class ReplayLimits(Strict):
    """Limits of grading, stated to the player in ``system/README.md``."""

    call_cpu_s: float = 60
    call_memory_mb: int = 512
    replay_cpu_s: float = 300
    entry_points: Annotated[list[EntryPoint], Field(min_length=1)]


class CalendarConfig(Strict):
    """The customer's working time. ``utc_offset_minutes`` is fixed: no scenario changes its clocks."""

    starts_at: datetime  #: naive: the customer's local time
    utc_offset_minutes: int
    workdays: list[Weekday] = ["mon", "tue", "wed", "thu", "fri"]
    opens: time
    closes: time
    holidays: list[date] = []
    ask_minutes: int = 45
    day_price: Charge
    deadline: datetime | None = None


class GatewayAllowance(Strict):
    """What the company's model gateway allows. Tokens in and out count alike."""

    run_tokens: Annotated[int, Field(gt=0)]  #: of one run's work
    replay_tokens: Annotated[int, Field(gt=0)] | None = None  #: of one grading; None: as many
    calls_per_step: Annotated[int, Field(ge=0)] = 0  #: of one call of an entry point in production


class RecordKind(Strict):
    """How people cite a kind of record: by ``pattern`` (a regular expression; the longest match of all kinds wins),
    or by the composite ``fields`` (name → pattern; a field named ``date`` is read as a date in any usual notation).

    With both, the fields are the parts of the identifier, for those who give them apart ("line 2607-04 of OK-3").
    Identifiers and values are compared without case, spaces, dashes and strokes, so patterns may leave them free.
    """

    about: Text
    pattern: str | None = None
    fields: dict[str, str] = {}

    @model_validator(mode="after")
    def some_way(self) -> RecordKind:
        if self.pattern is None and not self.fields:
            raise ValueError("a record kind has a pattern, fields or both")
        return self


class Document(Strict):
    """A document people cite. Without ``file`` it is one that the workspace lacks."""

    file: str | None = None
    title: Text
    aliases: list[Text] = []
    clauses: list[Text] = []
    bare_clauses: bool = False  #: a clause of this list, cited without any document's name, means this document


class Incident(Strict):
    title: Text
    meaning: Text  #: what the customer suffers, one sentence
    unless_granted: str | None = None  #: reported by the replay as a candidate; an incident only without this grant


class AdmissionConfig(Strict):
    """What an author tells admission."""

    no_oracle: Text | None = None  #: why nobody can say what somebody who knows the truth would decide
    #: values that nothing visible may hold, as regular expressions; rendered with the task's facts
    hidden: list[Text] = []


class SignOff(Strict):
    """An expert of the field vouches for a release. The last table of the file, and no part of what the release hashes."""

    by: Text  #: name and what makes them an expert
    on: date
    release: Annotated[str, Field(pattern=r"^[0-9a-f]{12,64}$")]  #: as `manage.py lint` prints it, or its beginning


class ScenarioConfig(Strict):
    id: Identifier
    title: Text
    customer: Text
    sector: Text
    stakes: Text  #: one line for the catalogue
    summary: Text  #: a paragraph for the scenario page, without any hidden fact
    engineering: Text
    held_out: str = ""  #: what a delivery is graded on, for the catalogue: "130 business days, 7,150 trades"
    pattern: Literal["a", "b", "c", "d", "e", "f", "g", "h"]
    sponsor: Identifier
    #: drafts are not offered; training is, and is never ranked nor counted among the others
    status: Literal["ready", "draft", "training"] = "ready"
    l2_is_l3: bool = False
    offered: Annotated[list[Identifier], Field(min_length=1)] = [
        "original"
    ]  #: complete tasks: admitted, and drawn for runs
    kpi: Kpi
    limits: RunLimits = RunLimits()
    replay: ReplayLimits
    calendar: CalendarConfig | None = None
    trial: Trial | None = None  #: see ``scenarios.kit.trial``
    gateway: GatewayAllowance | None = None
    records: dict[Identifier, RecordKind] = {}
    documents: dict[Identifier, Document] = {}
    incidents: dict[Identifier, Incident] = {}
    admission: AdmissionConfig = AdmissionConfig()
    signoff: SignOff | None = None


# ---- facts.toml ------------------------------------------------------------------------------------------------------


class FactText(Strict):
    """One fact as the debrief words it. ``visible_in`` names documents or data that also show it."""

    title: Text
    text: Text  #: rendered with the task's facts
    visible_in: list[Text] = []


class Variant(Strict):
    angle: Angle
    differs: Text  #: one sentence
    facts: dict[Identifier, Any]
    key_facts: list[Text]
    texts: dict[str, FactText] = {}  #: fact texts that read differently on this task


class FactsFile(Strict):
    facts: dict[Identifier, Any]
    texts: dict[str, FactText]
    key_facts: list[Text]  #: of the original task
    variants: dict[Identifier, Variant] = {}

    @model_validator(mode="after")
    def variants_change_known_facts(self) -> FactsFile:
        for name, variant in self.variants.items():
            unknown = sorted(set(variant.facts) - set(self.facts))
            if unknown:
                raise ValueError(f"variants.{name}.facts changes facts that the original lacks: {', '.join(unknown)}")
        for where, keys in [("key_facts", self.key_facts)] + [
            (f"variants.{name}.key_facts", variant.key_facts) for name, variant in self.variants.items()
        ]:
            unknown = sorted(set(keys) - set(self.texts))
            if unknown:
                raise ValueError(f"{where} names facts without a text: {', '.join(unknown)}")
        return self


# ---- stakeholders.toml -----------------------------------------------------------------------------------------------


class TopicChange(Strict):
    """What differs for a topic on one task. Only the keys given differ; ``gate = false`` removes gate and needs."""

    answer: Text | None = None
    facts: list[Text] | None = None
    grants: list[Text] | None = None
    gate: Gate | Literal[False] | None = None
    gate_miss: Text | None = None
    needs: list[Text] | None = None
    needs_miss: Text | None = None
    misconception: bool | None = None


class Topic(Strict):
    id: Identifier
    about: Text  #: what it covers and, where a neighbour is near, what it does not
    answer: Text
    facts: list[Text] = []
    grants: list[Text] = []
    gate: Gate | None = None
    gate_miss: Text | None = None
    needs: list[Text] = []  #: facts or approvals released before
    needs_miss: Text | None = None
    misconception: bool = False
    exclusive: bool = False
    subject: Identifier | None = None  #: topics of other people with the same subject do not compete with this one
    tasks: list[Identifier] | None = None  #: the tasks on which it exists; None: all
    on: dict[Identifier, TopicChange] = {}  #: per task

    @model_validator(mode="after")
    def a_gate_has_its_miss(self) -> Topic:
        if (self.gate or self.needs) and not self.gate_miss:
            raise ValueError("a topic with a gate or needs has a gate_miss")
        return self


class Patience(Strict):
    cost: Charge
    soft_limit: int
    over_factor: Decimal = Field(ge=1)
    hard_limit: int

    @field_validator("over_factor", mode="before")
    @classmethod
    def typed_decimal(cls, value: Any) -> Any:
        return exact(value)


class Window(Strict):
    """When a person can be reached, on the customer's calendar: weekly (``days``), or once (``on`` a date)."""

    days: list[Weekday] = []
    on: date | None = None
    opens: time
    closes: time


class Availability(Strict):
    """Empty ``windows`` means always. Someone ``absent`` cannot be reached in the whole run."""

    windows: list[Window] = []
    away_until: datetime | None = None
    reachable_while_away: list[Window] = []
    leaves_after_contacts: int | None = None
    leaves_after_hours: float | None = None
    absent: bool = False
    automatic_reply: Text | None = None  #: None: the engine says when they are back


class OffLimits(Strict):
    charge: Charge
    incident: Identifier | None = None


class PersonChange(Strict):
    """What differs for a person on one task. Who ``always`` says the same there has no topics there."""

    fallback: Text | None = None
    always: Text | None = None
    availability: Availability | None = None


class Stakeholder(Strict):
    id: Identifier
    name: Text
    role: Text
    persona: Text  #: the line of the directory
    patience: Patience
    fallback: Text | None = None
    acknowledgement: Text = "Right."  #: to thanks and small talk
    breaks_off: Text = "One thing at a time, please."  #: when more than three topics are asked at once
    always: Text | None = None  #: answers anything with the same words
    availability: Availability = Availability()
    off_limits: OffLimits | None = None
    topics: list[Topic] = []
    on: dict[Identifier, PersonChange] = {}

    @model_validator(mode="after")
    def has_words_for_everything(self) -> Stakeholder:
        if self.always is None and not self.fallback:
            raise ValueError("a person has a fallback, or `always` and no topics")
        if self.always is not None and self.topics:
            raise ValueError("a person with `always` has no topics")
        return self


class InboxTrigger(Strict):
    """Exactly one of the first four, with an optional delay in working hours."""

    after_hours: float | None = None
    after_contacts: int | None = None
    after_fact: str | None = None
    after_waits: int | None = None
    delay_h: float = 0

    @model_validator(mode="after")
    def exactly_one(self) -> InboxTrigger:
        given = [self.after_hours, self.after_contacts, self.after_fact, self.after_waits]
        if sum(value is not None for value in given) != 1:
            raise ValueError("an inbox trigger is one of after_hours, after_contacts, after_fact, after_waits")
        return self


class InboxMessage(Strict):
    id: Identifier
    sender: Identifier  #: a person's id; with ``sender_is_granter`` the person who gave the approval
    sender_is_granter: bool = False
    when: InboxTrigger
    text: Text
    facts: list[Text] = []
    on: dict[Identifier, str] = {}  #: text on other tasks; an empty text: not sent there


class StakeholdersFile(Strict):
    stakeholders: Annotated[list[Stakeholder], Field(min_length=1)]
    inbox: list[InboxMessage] = []

    @model_validator(mode="after")
    def ids_are_unique(self) -> StakeholdersFile:
        seen: set[str] = set()
        for index, person in enumerate(self.stakeholders):
            if person.id in seen:
                raise ValueError(f"stakeholders[{index}].id: {person.id} is used twice")
            seen.add(person.id)
        for index, message in enumerate(self.inbox):
            if message.sender not in seen:
                raise ValueError(f"inbox[{index}].sender: nobody has the id {message.sender}")
        return self


# ---- solutions/<name>/conversation.toml ------------------------------------------------------------------------------


class Say(Strict):
    """One step of a conversation: a message to a person, a wait (``wait = "Tue 09:30"``) or ``trial = true``.

    A trial runs the solution's own system; ``reports`` are ids of sentences (or ``quiet``) that it must give.
    """

    to: Identifier | None = None
    text: Text | None = None
    wait: Text | None = None
    trial: bool = False
    releases: list[Text] = []  #: facts that this step must release
    grants: list[Text] = []
    reports: list[Identifier] = []

    @model_validator(mode="after")
    def one_act(self) -> Say:
        acts = [self.to is not None, self.wait is not None, self.trial]
        if sum(acts) != 1 or (self.to is None) != (self.text is None):
            raise ValueError("a step has either `to` and `text`, or `wait`, or `trial = true`")
        if self.reports and not self.trial:
            raise ValueError("only a trial has `reports`")
        return self


class Conversation(Strict):
    steps: list[Say] = []


class SolutionNote(Strict):
    """``solution.toml`` in a solution's folder.

    An ablation lies over the reference *of the task* (that of the original, then what differs on the variant); of other
    solutions those that extend the reference lie over the original's.
    """

    why: Text  #: one line: what it skips, or why it is plausible
    conversation: Literal["own", "reference", "none"] = "none"
    right_on: list[Identifier] = []  #: tasks where a shortcut is legitimately right
    #: its files lie over the original's reference, not over the system alone
    extends: Literal["reference"] | None = None
    ablates: str | None = None  #: the key fact whose rule it lacks, being otherwise the reference
    on: list[Identifier] = []  #: the tasks it is played on; empty: all
