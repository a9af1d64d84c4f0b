"""The stakeholder engine: what a message, a wait and the passing of time bring. Pure and deterministic.

Each function returns the payload of the one event that records its decision; applying that event to the state is the
fold's business (``stakeholders.state``). So a restarted process, a second one and an audit all give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Protocol

from fdegym.lib.errors import FdegymError
from scenarios.kit.format import InboxMessage, Stakeholder, Topic
from stakeholders.calendar import WaitRefused
from stakeholders.gates import Evaluation, Heard, evaluate
from stakeholders.reach import automatic_reply
from stakeholders.script import Script
from stakeholders.state import State, Told, fold
from stakeholders.terms import SpokenText

MOST_ANSWERS = 3  #: topics answered in one reply; then the person breaks off

Kind = Literal[
    "answered", "repeat", "gate_miss", "needs_miss", "small_talk", "always", "off_limits",
    "fallback", "fishing", "automatic", "silent",
]  # fmt: skip
CHARGED: frozenset[Kind] = frozenset(
    {"answered", "repeat", "gate_miss", "needs_miss", "small_talk", "always", "off_limits"}
)
UNHEARD: frozenset[Kind] = frozenset({"automatic", "silent"})


class PersonUnknown(FdegymError):
    """Nobody at the customer has that id. Nothing was sent."""

    http_status = 404


class MatchedPart(Protocol):
    """A stretch of the message that the matcher gives to a topic (``person/topic``)."""

    @property
    def topic(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def score(self) -> float: ...


class TopicScore(Protocol):
    """How well a topic fits a message; for the log."""

    @property
    def topic(self) -> str: ...
    @property
    def score(self) -> float: ...


class Match(Protocol):
    """What the matcher made of a message: its parts in the order asked, or why it matched nothing."""

    @property
    def parts(self) -> Sequence[MatchedPart]: ...
    @property
    def rejected(self) -> str | None: ...
    @property
    def small_talk(self) -> bool: ...
    @property
    def scores(self) -> Sequence[TopicScore]: ...


@dataclass(frozen=True)
class Message:
    """A cleaned message as a person or agent sent it."""

    client_id: str
    person: str
    text: str


@dataclass
class _Part:
    """One topic of a message on its way to an answer."""

    key: str
    topic: Topic
    texts: list[str]
    score: float
    evaluation: Evaluation = field(default_factory=lambda: Evaluation(False))
    result: str = ""
    words: str = ""


@dataclass
class _Answer:
    """What the person says, before it is priced."""

    kind: Kind
    words: str | None
    parts: list[_Part] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    grants: list[str] = field(default_factory=list)
    misconceptions: list[str] = field(default_factory=list)


def get_person(script: Script, person_id: str) -> Stakeholder:
    person = script.people.get(person_id)
    if person is None:
        raise PersonUnknown(f"Nobody in the directory has the id {person_id[:60]!r}. Nothing was sent.")
    return person


def needs_match(script: Script, state: State, person_id: str) -> bool:
    """Whether a reply depends on what the message is about: the matcher need not run for somebody who is away."""
    person = get_person(script, person_id)
    return person.always is None and not _is_silent(state, person) and automatic_reply(script, state, person) is None


def reply(script: Script, state: State, message: Message, match: Match | None) -> dict[str, Any]:
    """The payload of the ``contact.message`` event for a message sent at ``state.now``.

    ``match`` may be None where ``needs_match`` is False. Raises ``PersonUnknown``. Charges are decimal strings in units
    of U, minutes are the customer's working minutes, ``before`` and ``after`` its clock.
    """
    person = get_person(script, message.person)
    answer = _answer(script, state, person, message, match)
    incident = None
    charge = _charge(state, person) if answer.kind in CHARGED else Decimal(0)
    if person.off_limits is not None and answer.kind not in UNHEARD:
        charge, incident, answer.kind = person.off_limits.charge, person.off_limits.incident, "off_limits"
    minutes, after = 0, state.now
    if script.calendar is not None and state.now is not None and answer.kind not in UNHEARD:
        minutes = script.calendar.config.ask_minutes
        after = script.calendar.add_minutes(state.now, minutes)
    return {
        "client_id": message.client_id,
        "person": person.id,
        "text": message.text,
        "answer": answer.words,
        "kind": answer.kind,
        "parts": [_logged(part) for part in answer.parts],
        "facts": answer.facts,
        "grants": answer.grants,
        "misconceptions": answer.misconceptions,
        "incident": incident,
        "charge": decimal_text(charge),
        "counted": answer.kind in CHARGED,
        "attempt": answer.kind not in UNHEARD,
        "minutes": minutes,
        "before": _iso(state.now),
        "after": _iso(after),
        "match": _decision(match) if match is not None else None,
    }


def wait(script: Script, state: State, client_id: str, target: str) -> dict[str, Any]:
    """The payload of the ``contact.wait`` event. Raises ``WaitRefused``."""
    if script.calendar is None or state.now is None:
        raise WaitRefused(
            "There is nothing to wait for here: nobody at this customer keeps hours. Nothing was changed."
        )
    plan = script.calendar.plan_wait(state.now, target)
    return {
        "client_id": client_id,
        "target": target,
        "before": _iso(state.now),
        "after": _iso(plan.until),
        "minutes": plan.working_minutes,
        "quarters": plan.quarters,
        "charge": decimal_text(plan.charge),
    }


def due_letters(script: Script, state: State) -> list[dict[str, Any]]:
    """Payloads of ``contact.inbox`` events for what the customer has sent by ``state.now``, oldest first."""
    due: list[tuple[datetime, int, dict[str, Any]]] = []
    for position, letter in enumerate(script.inbox):
        if letter.id in state.letters:
            continue
        triggered, at = _trigger(script, state, letter)
        if triggered and (at is None or state.now is None or at <= state.now):
            payload = {"id": letter.id, "sender": _sender(state, letter), "text": letter.text, "at": _iso(at)}
            # not "facts": a letter releases what it carries when it is read, not when it arrives
            due.append((at or datetime.min, position, payload | {"carries": list(letter.facts)}))
    return [payload for _, _, payload in sorted(due, key=lambda entry: entry[:2])]


def read_letter(state: State, letter_id: str) -> dict[str, Any]:
    """The payload of the ``contact.inbox_read`` event of a letter that arrived; reading is free of charge."""
    letter = state.letters[letter_id]
    facts = [fact for fact in letter["carries"] if fact not in state.released]
    return {"id": letter_id, "sender": letter["sender"], "facts": facts, "at": _iso(state.now)}


def passes_deadline(script: Script, state: State) -> bool:
    """Whether the customer's deadline is over and no event says so yet."""
    deadline = script.calendar.deadline if script.calendar else None
    return deadline is not None and state.now is not None and state.now > deadline and not state.deadline_passed


def weigh(script: Script, person_id: str, text: str, match: Match) -> list[tuple[str, float, Evaluation]]:
    """How a first message would be taken: (``person/topic``, score, its gate) per topic, in the order asked.

    For authors and tests: availability, patience and needs are left aside, nothing is charged or remembered.
    """
    person, nothing_yet = get_person(script, person_id), fold(script, ())
    parts = _parts(script, person, match)
    for part in parts:
        _judge(script, nothing_yet, person, Message("", person_id, text), part)
    return [(part.key, part.score, part.evaluation) for part in parts]


# ---- what a person says ----------------------------------------------------------------------------------------------


def _answer(script: Script, state: State, person: Stakeholder, message: Message, match: Match | None) -> _Answer:
    if _is_silent(state, person):
        return _Answer("silent", None)
    automatic = automatic_reply(script, state, person)
    if automatic is not None:
        return _Answer("automatic", automatic)
    if person.always is not None:
        return _Answer("always", person.always)
    if match is None:
        raise ValueError(f"a message to {person.id} cannot be answered without a match")
    parts = _parts(script, person, match)
    if parts:
        return _answer_parts(script, state, person, message, parts)
    if match.small_talk:
        return _Answer("small_talk", person.acknowledgement)
    return _Answer("fishing" if match.rejected == "fishing" else "fallback", person.fallback)


def _is_silent(state: State, person: Stakeholder) -> bool:
    return state.person(person.id).attempts >= person.patience.hard_limit


def _parts(script: Script, person: Stakeholder, match: Match) -> list[_Part]:
    """The matched topics of this person that exist on this task, in the order asked, each once."""
    parts: dict[str, _Part] = {}
    for found in match.parts:
        topic = script.topic_of(person, found.topic)
        if topic is None:
            continue
        part = parts.setdefault(found.topic, _Part(found.topic, topic, [], found.score))
        part.texts.append(found.text)
        part.score = max(part.score, found.score)
    return list(parts.values())


def _answer_parts(script: Script, state: State, person: Stakeholder, message: Message, parts: list[_Part]) -> _Answer:
    for part in parts:
        _judge(script, state, person, message, part)
    given = next(([part] for part in parts if part.topic.exclusive and part.result == "answered"), parts)
    answered, broken_off = given[:MOST_ANSWERS], given[MOST_ANSWERS:]
    for part in parts:
        if part not in given:
            part.result = "replaced"
    for part in broken_off:
        part.result = "broken_off"
    open_parts = [part for part in answered if part.result == "answered"]
    told_before = state.person(person.id).answered
    for part in open_parts:
        if part.key in told_before:
            part.result = "repeat"
    words = list(dict.fromkeys(part.words for part in answered))
    if broken_off:
        words.append(person.breaks_off)
    return _Answer(
        kind=_kind_of(answered),
        words="\n\n".join(words),
        parts=parts,
        facts=[fact for fact in _each(part.topic.facts for part in open_parts) if fact not in state.released],
        grants=[grant for grant in _each(part.topic.grants for part in open_parts) if grant not in state.grants],
        misconceptions=[part.key for part in open_parts if part.topic.misconception],
    )


def _judge(script: Script, state: State, person: Stakeholder, message: Message, part: _Part) -> None:
    """Whether the topic's gate and needs are met, and the words that follow from it."""
    topic = part.topic
    heard = [_heard(script, told, part.key) for told in state.person(person.id).told]
    # as the log keeps it and as it is heard later: what was decided here can be decided again from the log alone
    about = (SpokenText.of("\n".join(part.texts)),)
    heard.append(Heard(script.reader.read(message.text), about))
    part.evaluation = evaluate(topic.gate, heard, script.gates)
    if not part.evaluation.met:
        part.result, part.words = "gate_miss", topic.gate_miss or ""
    elif not all(state.knows(need) for need in topic.needs):
        part.result, part.words = "needs_miss", topic.needs_miss or topic.gate_miss or ""
    else:
        part.result, part.words = "answered", topic.answer


def _heard(script: Script, told: Told, topic: str) -> Heard:
    """An earlier message as a topic hears it: its own parts; all of it if it fitted no topic at all."""
    texts = told.parts.get(topic, ())
    if not told.parts and told.kind != "fishing":
        texts = (told.text,)
    return Heard(script.reader.read(told.text), tuple(SpokenText.of(text) for text in texts))


def _kind_of(parts: list[_Part]) -> Kind:
    results = {part.result for part in parts}
    order: tuple[Kind, ...] = ("answered", "repeat", "gate_miss", "needs_miss")
    return next(kind for kind in order if kind in results)


def _charge(state: State, person: Stakeholder) -> Decimal:
    patience = person.patience
    over = state.person(person.id).counted >= patience.soft_limit
    return patience.cost * patience.over_factor if over else patience.cost


# ---- the inbox -------------------------------------------------------------------------------------------------------


def _trigger(script: Script, state: State, letter: InboxMessage) -> tuple[bool, datetime | None]:
    """Whether the letter's trigger was met, and when it arrives (None without a calendar: at once)."""
    when = letter.when
    met_at: datetime | None = None
    if when.after_hours is not None:
        if script.calendar is None:
            return False, None
        met_at = script.calendar.starts_at + timedelta(hours=when.after_hours)
    elif when.after_fact is not None:
        release = state.released.get(when.after_fact)
        if release is None:
            return False, None
        met_at = release.at
    else:
        moments = state.contacts if when.after_contacts is not None else state.waits
        wanted = when.after_contacts if when.after_contacts is not None else when.after_waits or 0
        if len(moments) < wanted:
            return False, None
        met_at = moments[wanted - 1] if wanted else (script.calendar.starts_at if script.calendar else None)
    if met_at is not None and when.delay_h and script.calendar is not None:
        met_at = script.calendar.add_minutes(met_at, round(when.delay_h * 60))
    return True, met_at


def _sender(state: State, letter: InboxMessage) -> str:
    """Who it comes from: the named person, or whoever gave the approval that it follows."""
    release = state.released.get(letter.when.after_fact or "")
    return release.person if letter.sender_is_granter and release is not None else letter.sender


# ---- spelling for the log --------------------------------------------------------------------------------------------


def decimal_text(value: Decimal) -> str:
    """A charge as it is logged: plain decimal notation without needless zeros."""
    return format(value.normalize() if value else Decimal(0), "f")


def _logged(part: _Part) -> dict[str, Any]:
    return {
        "topic": part.key,
        "text": "\n".join(part.texts),
        "score": round(float(part.score), 3),
        "result": part.result,
        "unmet": list(part.evaluation.unmet),
    }


def _decision(match: Match) -> dict[str, Any]:
    """The matcher's decision as it is kept; scores to the three places within which machines agree."""
    scores = {scored.topic: round(float(scored.score), 3) for scored in match.scores}
    return {"rejected": match.rejected, "small_talk": match.small_talk, "scores": scores}


def _each(lists: Any) -> list[str]:
    return list(dict.fromkeys(item for items in lists for item in items))


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="minutes") if moment else None
