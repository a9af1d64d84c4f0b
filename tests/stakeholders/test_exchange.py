"""One request, one decision, one event: whoever repeats it, however many ask at once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from depot import ExactPhrasingMatcher
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fdegym.lib.errors import RunNotFound, RunStateConflict, ServiceUnavailable
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent, RunState
from fdegym.runs.services import transition
from stakeholders import services
from stakeholders.calendar import WaitRefused
from stakeholders.engine import PersonUnknown
from stakeholders.exchange import Exchange
from stakeholders.messages import MessageIdTaken, MessageRefused
from stakeholders.scripts import WorldMissing, compiled_script

SECRETS = (
    *("charge", "score", "topic", "counted", "attempt", "gate_miss", "fallback", "patience", "off_limits"),
    *("misconception", "ada/open", "incident", "0.01", "0.25", "after_two"),
)


def kinds(run: Run) -> list[str]:
    return [event.kind for event in log.events(run.id)]


def test_a_message_is_answered_and_logged_as_one_event(exchange: Exchange, alices_run: Run) -> None:
    answer = exchange.say("m-1", "ada", "When do doors open?")
    assert answer["reply"] == {
        "id": "m-1",
        "person": "ada",
        "name": "Ada",
        "text": "When do doors open?",
        "answer": "Doors open at six.",
        "automatic": False,
        "sent": "Monday 5 October, 08:00",
        "answered": "Monday 5 October, 08:45",
    }
    assert kinds(alices_run) == ["contact.message"]
    assert services.contact_cost(alices_run.id) == Decimal("0.01")
    assert services.released_facts(alices_run.id) == ["F1"]


def test_a_message_sent_twice_is_charged_once(
    exchange: Exchange, alices_run: Run, matcher: ExactPhrasingMatcher
) -> None:
    first = exchange.say("m-1", "ada", "When do doors open?")
    again = exchange.say("m-1", "ada", " When do doors open?\r\n")
    assert again == first
    assert kinds(alices_run) == ["contact.message"]
    assert len(matcher.asked) == 1


def test_a_message_sent_twice_to_two_desks_is_charged_once(
    exchange: Exchange, alices_run: Run, matcher: ExactPhrasingMatcher
) -> None:
    other = Exchange(alices_run.id, matcher)
    other.who()  # it has read the log before the first desk writes to it
    assert exchange.say("m-1", "ada", "When do doors open?") == other.say("m-1", "ada", "When do doors open?")
    other.say("m-2", "ada", "When do doors open?")
    exchange.say("m-3", "ada", "When do doors open?")
    assert [row["charge"] for row in services.contact_rows(alices_run.id)] == ["0.01", "0.01", "0.03"]


def test_a_known_id_with_another_text_is_refused(exchange: Exchange, alices_run: Run) -> None:
    exchange.say("m-1", "ada", "When do doors open?")
    for person, text in (("ada", "Is it 62 %?"), ("cy", "When do doors open?")):
        with pytest.raises(MessageIdTaken, match="Nothing was sent"):
            exchange.say("m-1", person, text)
    with pytest.raises(MessageIdTaken):
        exchange.wait("m-1", "1d")
    assert kinds(alices_run) == ["contact.message"]


def test_another_writer_between_reading_and_writing_leads_to_a_new_decision(
    exchange: Exchange, alices_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = log.append
    disturbed: list[bool] = []

    def append_late(run_id: Any, kind: str, payload: Any, **options: Any) -> RunEvent:
        if not disturbed:
            disturbed.append(True)
            append(run_id, "workspace.noted", {})
        return append(run_id, kind, payload, **options)

    monkeypatch.setattr("stakeholders.exchange.log.append", append_late)
    exchange.say("m-1", "ada", "When do doors open?")
    assert kinds(alices_run) == ["workspace.noted", "contact.message"]


def test_a_submission_while_somebody_answers_refuses_the_message(
    exchange: Exchange, alices_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = log.append

    def submit_first(run_id: Any, kind: str, payload: Any, **options: Any) -> RunEvent:
        monkeypatch.setattr("stakeholders.exchange.log.append", append)
        transition(run_id, RunState.SUBMITTED)
        return append(run_id, kind, payload, **options)

    monkeypatch.setattr("stakeholders.exchange.log.append", submit_first)
    with pytest.raises(RunStateConflict, match="This run is over"):
        exchange.say("m-1", "ada", "When do doors open?")
    assert kinds(alices_run) == ["run.state"]


def test_a_run_that_was_handed_in_still_shows_the_reply_it_was_given(exchange: Exchange, alices_run: Run) -> None:
    first = exchange.say("m-1", "ada", "When do doors open?")
    transition(alices_run.id, RunState.SUBMITTED)
    assert exchange.say("m-1", "ada", "When do doors open?") == first
    with pytest.raises(RunStateConflict):
        exchange.say("m-2", "ada", "When do doors open?")
    assert exchange.inbox()["letters"] == []
    assert len(exchange.history()["conversation"]) == 1


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\u200b", "\u202e\u2066", "\x00\x07\x1b"])
def test_an_empty_message_is_refused_in_words_and_not_charged(exchange: Exchange, alices_run: Run, text: str) -> None:
    with pytest.raises(MessageRefused, match="not sent"):
        exchange.say("m-1", "ada", text)
    assert kinds(alices_run) == []


@pytest.mark.parametrize("text", ["x" * 8_001, "x" * 100_000, "x" * 1_000_000, "\ufdfa" * 1_000])
def test_a_message_longer_than_a_page_is_refused_in_words_and_not_charged(
    exchange: Exchange, alices_run: Run, text: str
) -> None:
    """The last one is a page of a thousand characters that each stand for eighteen."""
    with pytest.raises(MessageRefused, match="Please keep it to a page"):
        exchange.say("m-1", "ada", text)
    assert kinds(alices_run) == []
    assert exchange.say("m-1", "ada", "x" * 8_000)["reply"]["answer"] == "What do you want decided?"


def test_control_and_direction_characters_are_taken_out(exchange: Exchange) -> None:
    reply = exchange.say("m-1", "ada", "When \x1b[31mdo\u202e doors\x00 open?")["reply"]
    assert reply["text"] == "When [31mdo doors open?"
    assert exchange.say("m-2", "ada", "\ud800 ok")["reply"]["text"] == "\ufffd ok"


def test_what_cannot_be_sent_says_so(exchange: Exchange, alices_run: Run) -> None:
    with pytest.raises(PersonUnknown):
        exchange.say("m-1", "zoe", "Hello")
    with pytest.raises(MessageRefused):
        exchange.say("", "ada", "Hello")
    with pytest.raises(WaitRefused):
        exchange.wait("w-1", "soon")
    assert kinds(alices_run) == []


def test_a_run_that_is_not_there_is_not_found(depot: str, db: None, matcher: ExactPhrasingMatcher) -> None:
    for run_id in ("00000000-0000-0000-0000-000000000000", "../etc"):
        with pytest.raises(RunNotFound):
            Exchange(run_id, matcher).who()


def test_a_run_being_prepared_or_without_its_world_says_so(
    exchange: Exchange, alices_run: Run, tmp_path: Any, settings: Any
) -> None:
    Run.objects.filter(pk=alices_run.id).update(state=RunState.PREPARING)
    with pytest.raises(RunStateConflict, match="being prepared"):
        exchange.say("m-1", "ada", "When do doors open?")
    compiled_script.cache_clear()
    settings.WORLD_CACHE = tmp_path / "elsewhere"
    with pytest.raises(WorldMissing) as missing:
        services.directory(alices_run.id)
    assert isinstance(missing.value, ServiceUnavailable)


def test_a_letter_is_logged_when_it_is_due_and_read_once(exchange: Exchange, alices_run: Run) -> None:
    exchange.say("m-1", "ada", "When do doors open?")
    assert exchange.say("m-2", "ada", "When do doors open?")["unread"] == 1
    (letter,) = exchange.inbox()["letters"]
    assert (letter["name"], letter["text"], letter["new"]) == ("Ada", "Two contacts.", True)
    (again,) = exchange.inbox()["letters"]
    assert (again["text"], again["new"]) == ("Two contacts.", False)
    assert kinds(alices_run)[-2:] == ["contact.inbox", "contact.inbox_read"]


def test_a_desk_killed_between_message_and_letter_sends_the_letter_later(
    exchange: Exchange, alices_run: Run, matcher: ExactPhrasingMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange.say("m-1", "ada", "When do doors open?")
    monkeypatch.setattr("stakeholders.exchange.engine.due_letters", lambda script, state: [])
    exchange.say("m-2", "ada", "When do doors open?")
    monkeypatch.undo()
    assert Exchange(alices_run.id, matcher).who()["unread"] == 1


def test_the_conversation_shows_words_and_the_customers_time_and_nothing_else(
    exchange: Exchange, alices_run: Run
) -> None:
    exchange.say("m-1", "ada", "When do doors open?")
    exchange.say("m-2", "ada", "Is it 62 %?")
    exchange.say("m-3", "ada", "Gibberish")
    exchange.say("m-4", "ben", "What about PX-001?")
    exchange.say("m-5", "cy", "What would you take?")
    exchange.say("m-6", "di", "Hello?")
    exchange.wait("w-1", "1h")
    exchange.inbox()
    items = services.conversation(alices_run.id)
    assert [item["kind"] for item in items] == [
        "message", "message", "letter", "message", "message", "message", "message", "wait", "letter", "letter", "letter",
    ]  # fmt: skip
    shown = f"{items} {exchange.history()} {exchange.who()} {services.directory(alices_run.id)}"
    assert [secret for secret in SECRETS if secret in shown] == []
    assert items[2]["text"] is None
    assert items[-2]["text"] == "Two contacts."
    assert services.conversation(alices_run.id, after=items[6]["seq"])[0] == items[7]
    assert [item["automatic"] for item in items if item["kind"] == "message"] == [
        False,
        False,
        False,
        False,
        False,
        True,
    ]


def test_the_debrief_reads_every_contact_with_its_charge_and_what_it_released(
    exchange: Exchange, alices_run: Run
) -> None:
    exchange.say("m-1", "ada", "When do doors open?")
    exchange.say("m-2", "cy", "What would you take?")
    exchange.wait("w-1", "1d")
    rows = services.contact_rows(alices_run.id)
    assert [(row["what"], row["person"], row["charge"], row["facts"]) for row in rows] == [
        ("message", "ada", "0.01", ["F1"]),
        ("message", "cy", "0.25", []),
        ("wait", None, "0.008", []),
    ]
    assert services.contact_cost(alices_run.id) == Decimal("0.268")
    assert services.contact_incidents(alices_run.id) == [{"id": "talked", "person": "cy", "at": "2026-10-05T08:45"}]
    assert services.run_state(alices_run.id).cost == Decimal("0.268")


def test_the_deadline_is_logged_once_and_nobody_answers_after_it(
    exchange: Exchange, alices_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = lambda script, state: not state.deadline_passed and bool(state.waits)  # noqa: E731
    monkeypatch.setattr("stakeholders.engine.passes_deadline", passed)
    exchange.wait("w-1", "1d")
    exchange.who()
    assert kinds(alices_run).count("contact.deadline") == 1
    with pytest.raises(RunStateConflict, match="deadline"):
        exchange.say("m-1", "ada", "When do doors open?")


def test_a_customer_without_trial_environment_says_so(exchange: Exchange) -> None:
    assert exchange.trial("t1") == {"words": "There is no trial environment here."}


MESSAGES = [
    ("ada", "When do doors open?"), ("ada", "Is it 62 %?"), ("ada", "Thanks!"), ("ada", "Gibberish"), ("cy", "Deal?"),
    ("di", "Hello?"), ("ben", "What about PX-001?"),
]  # fmt: skip


@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_pattern_of_retries_and_restarts_gives_the_same_log(
    data: st.DataObject, make_run: Any, alice: Any, depot: str
) -> None:
    order = data.draw(st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=8))
    logs = []
    for retried in (False, True):
        Run.objects.filter(user=alice).delete()
        run = make_run(alice, "depot", release=depot)
        desks = [Exchange(run.id, ExactPhrasingMatcher()) for _ in range(3)]
        for number, (person, text) in enumerate(order):
            times = data.draw(st.integers(1, 3)) if retried else 1
            for _ in range(times):
                desk = desks[data.draw(st.integers(0, 2))] if retried else desks[0]
                earlier = data.draw(st.integers(0, number)) if retried else number
                desk.say(f"m-{number}", person, text)
                desk.say(f"m-{earlier}", *order[earlier])  # a late duplicate of something said before
        logs.append([(event.kind, event.payload) for event in log.events(run.id)])
        assert log.first_broken_link(run) is None
    assert logs[0] == logs[1]
