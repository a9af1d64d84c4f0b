"""The auditor finds each kind of loss, doubling and invention, in accounts and stores that differ in nothing else."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from ops.chaos.account import RunAccount, Span, Typed
from ops.chaos.auditor import Audited, audit
from ops.chaos.stored import Stored, StoredRun
from ops.chaos.terminals import LONGEST_GAP
from tests.chaos.honest import OUTPUT, RUN, honest, rechain

Change = Callable[[RunAccount, StoredRun], None]


def audited(change: Change) -> Audited:
    person, stored = honest()
    change(person.runs[RUN], stored.runs[RUN])
    return audit([person], stored)


def subjects(change: Change) -> set[str]:
    return {finding.about for finding in audited(change).findings}


def test_what_agrees_is_found_to_agree_and_all_of_it_was_looked_at():
    person, stored = honest()
    found = audit([person], stored)
    assert found.findings == []
    assert dict(found.looked_at) == {
        "runs": 1,
        "terminal bytes": len(OUTPUT),
        "lines typed": 2,
        "messages and waits": 3,
        "items of feeds": 3,
        "files saved": 3,
        "events of logs": 10,
        "submissions": 1,
        "grades": 1,
        "people": 1,
    }


# ---- the terminal ----------------------------------------------------------------------------------------------------


def lose_at_a_reconnect(account: RunAccount, _run: StoredRun) -> None:
    account.terminal.spans = [Span(0, bytearray(OUTPUT[:500])), Span(501, bytearray(OUTPUT[501:]))]


def double_at_a_reconnect(account: RunAccount, _run: StoredRun) -> None:
    account.terminal.spans = [Span(0, bytearray(OUTPUT[:500])), Span(499, bytearray(OUTPUT[499:]))]


def show_a_byte_twice_and_number_on(account: RunAccount, _run: StoredRun) -> None:
    account.terminal.spans = [Span(0, bytearray(OUTPUT[:500] + OUTPUT[499:]))]


def show_another_byte(account: RunAccount, _run: StoredRun) -> None:
    account.terminal.spans[0].data[77] ^= 1


def record_less_than_was_seen(_account: RunAccount, run: StoredRun) -> None:
    run.terminals[1].pieces[-1] = (300, OUTPUT[300:-1])


def record_nothing(_account: RunAccount, run: StoredRun) -> None:
    run.terminals.clear()


def record_with_a_jump(_account: RunAccount, run: StoredRun) -> None:
    run.terminals[1].pieces = [(0, OUTPUT[:299]), (300, OUTPUT[300:])]


def output_without(lost: bytes) -> Change:
    """The keeper read less than the program printed, and numbered on: only the program's own numbers tell."""

    def change(account: RunAccount, run: StoredRun) -> None:
        rest = OUTPUT.replace(lost, b"")
        assert len(rest) == len(OUTPUT) - len(lost)
        account.terminal.spans = [Span(0, bytearray(rest))]
        run.terminals[1].pieces = [(0, rest)]

    return change


def output_twice(doubled: bytes) -> Change:
    def change(account: RunAccount, run: StoredRun) -> None:
        more = OUTPUT.replace(doubled, doubled + doubled)
        account.terminal.spans = [Span(0, bytearray(more))]
        run.terminals[1].pieces = [(0, more)]

    return change


def type_what_nobody_typed(account: RunAccount, _run: StoredRun) -> None:
    account.terminal.typed = [each for each in account.terminal.typed if each.token != "t7"]


def lose_a_line_between_others(account: RunAccount, _run: StoredRun) -> None:
    account.terminal.typed.insert(0, Typed("t6", 1, 1699999999.0))


def keep_no_record_of_what_was_typed(_account: RunAccount, run: StoredRun) -> None:
    run.terminals[1].typed = b"stty -echo\n"


def record_twice_what_was_typed(_account: RunAccount, run: StoredRun) -> None:
    run.terminals[1].typed = b"stty -echo\nt7\nt7\n"


@pytest.mark.parametrize(
    "change",
    [
        lose_at_a_reconnect,
        double_at_a_reconnect,
        show_a_byte_twice_and_number_on,
        show_another_byte,
        record_less_than_was_seen,
        record_nothing,
        record_with_a_jump,
        output_without(b"<c1 17 1700000000.017>\r\n"),
        output_without(b"<c1 0 1700000000.000>\r\n"),
        output_twice(b"<c1 17 1700000000.017>\r\n"),
        output_twice(b"<got t7>\r\n"),
        output_without(b"<got t7>\r\n"),
        type_what_nobody_typed,
        lose_a_line_between_others,
        keep_no_record_of_what_was_typed,
        record_twice_what_was_typed,
    ],
    ids=lambda change: change.__name__,
)
def test_terminal_output_and_input_that_is_lost_doubled_or_changed_is_found(change):
    assert subjects(change) == {"terminal"}


def with_a_gap(at: int, count: int, *, seen: bool, digest: str | None) -> Change:
    def change(account: RunAccount, run: StoredRun) -> None:
        run.terminals[1].pieces = [(0, OUTPUT[:at]), (at + count, OUTPUT[at + count :])]
        run.terminals[1].gaps = [(at, count, digest)]
        if not seen:
            account.terminal.left_out = [(at, at + count)]
            spans = [Span(0, bytearray(OUTPUT[:at])), Span(at + count, bytearray(OUTPUT[at + count :]))]
            account.terminal.spans = spans

    return change


def test_a_gap_that_the_record_notes_is_none_of_what_is_lost_unless_it_is_not_what_was_noted():
    """FC-62: 64 KiB may be missing when the keeper dies, and the record says so."""
    right = hashlib.sha256(OUTPUT[100:200]).hexdigest()
    wrong = hashlib.sha256(OUTPUT[100:201]).hexdigest()
    assert subjects(with_a_gap(100, 100, seen=True, digest=right)) == set()
    assert subjects(with_a_gap(100, 100, seen=False, digest=right)) == set()
    assert subjects(with_a_gap(100, 100, seen=True, digest=None)) == set()
    assert subjects(with_a_gap(100, 100, seen=True, digest=wrong)) == {"terminal"}


def test_a_gap_hides_nothing_that_is_missing_elsewhere():
    def change(account: RunAccount, run: StoredRun) -> None:
        with_a_gap(100, 100, seen=False, digest=None)(account, run)
        rest = OUTPUT[200:].replace(b"<c1 17 1700000000.017>\r\n", b"")
        run.terminals[1].pieces[1] = (200, rest)
        account.terminal.spans[1] = Span(200, bytearray(rest))

    assert subjects(change) == {"terminal"}


def test_a_gap_of_more_than_64_kib_is_found():
    def change(_account: RunAccount, run: StoredRun) -> None:
        run.terminals[1].gaps = [(len(OUTPUT), LONGEST_GAP + 1, None)]

    assert subjects(change) == {"terminal"}


def test_what_was_typed_while_nothing_could_be_written_may_be_missing_in_the_record_and_only_then():
    person, stored = honest()
    stored.runs[RUN].terminals[1].typed = b""
    typed_at = person.runs[RUN].terminal.typed[0].at
    assert audit([person], stored, [(typed_at - 1, typed_at + 1)]).findings == []
    assert audit([person], stored, [(typed_at + 60, typed_at + 70)]).findings != []


# ---- people, files, submissions, grades ------------------------------------------------------------------------------


def in_log(change: Callable[[list[Any]], None]) -> Change:
    return lambda _account, run: rechain(run, change)


def without_export(change: Change) -> Change:
    """The person took nothing along: what is tried is not the comparison with that."""

    def both(account: RunAccount, run: StoredRun) -> None:
        account.export = None
        change(account, run)

    return both


def entry(number: int, **changes: Any) -> Callable[[list[Any]], None]:
    return lambda events: events[number - 1][1].update(changes)


def again(number: int) -> Callable[[list[Any]], None]:
    return lambda events: events.insert(number - 1, copy.deepcopy(events[number - 1]))


def drop(number: int) -> Callable[[list[Any]], None]:
    return lambda events: events.pop(number - 1)


def forget_message(account: RunAccount, _run: StoredRun) -> None:
    del account.sent["m-3"]


def feed_without(number: int) -> Change:
    return lambda account, _run: account.feed.pop(number)


def feed_twice(account: RunAccount, _run: StoredRun) -> None:
    account.feed.insert(1, account.feed[0])


def feed_out_of_order(account: RunAccount, _run: StoredRun) -> None:
    account.feed.reverse()


def feed_with_another_answer(account: RunAccount, _run: StoredRun) -> None:
    account.feed[0]["answer"] = "Ask Denzil."


def feed_with_what_is_not_there(account: RunAccount, _run: StoredRun) -> None:
    account.feed.append({"seq": 7, "kind": "message", "id": "m-9", "answer": None})


def reply_otherwise(account: RunAccount, _run: StoredRun) -> None:
    account.sent["m-1"].reply = {"answer": "Ask Denzil."}


def kept_file(text: str | None) -> Change:
    def change(_account: RunAccount, run: StoredRun) -> None:
        run.kept_file = text

    return change


def no_submission(_account: RunAccount, run: StoredRun) -> None:
    run.submissions.clear()


def two_submissions(_account: RunAccount, run: StoredRun) -> None:
    run.submissions.append({"id": 2, "state": "graded", "cause": "person"})


def submission_of_nobody(account: RunAccount, _run: StoredRun) -> None:
    account.submit_tries, account.submit_answers = 0, []


def led_to_two_places(account: RunAccount, _run: StoredRun) -> None:
    account.submit_answers.append("/runs/")


def no_grade(_account: RunAccount, run: StoredRun) -> None:
    run.grades.clear()


def two_grades(_account: RunAccount, run: StoredRun) -> None:
    run.grades.append({**run.grades[0], "number": 2})


def another_score(_account: RunAccount, run: StoredRun) -> None:
    run.grades[0]["score"] = "0.994000"


def another_cost(_account: RunAccount, run: StoredRun) -> None:
    run.grades[0]["contact_cost"] = "0.013000"


def objection(_account: RunAccount, run: StoredRun) -> None:
    run.objections.append("signatures: event 3 carries none")


def edited_event(_account: RunAccount, run: StoredRun) -> None:
    run.events[1]["payload"] = {"release": "6" * 64}


def renumbered_event(_account: RunAccount, run: StoredRun) -> None:
    run.events[5]["seq"] = 7


def still_grading(_account: RunAccount, run: StoredRun) -> None:
    run.submissions[0]["state"] = "grading"


def another_state(_account: RunAccount, run: StoredRun) -> None:
    run.state = "open"


CHANGES: list[tuple[str, Change]] = [
    # the log is right, the account knows otherwise
    ("messages", forget_message),
    ("messages", reply_otherwise),
    ("feed", feed_without(0)),
    ("feed", feed_without(1)),
    ("feed", feed_twice),
    ("feed", feed_out_of_order),
    ("feed", feed_with_another_answer),
    ("feed", feed_with_what_is_not_there),
    # the account is right, what is stored is not
    ("messages", in_log(drop(4))),
    ("messages", in_log(drop(5))),
    ("messages", in_log(again(4))),
    ("messages", in_log(again(5))),
    ("messages", in_log(entry(4, text="Another question"))),
    ("messages", in_log(entry(4, person="merryn"))),
    ("messages", in_log(entry(4, answer="Something else"))),
    ("messages", in_log(entry(5, target="2h"))),
    ("charges", in_log(entry(4, charge="0.012"))),
    ("charges", in_log(entry(6, charge="0.001"))),
    ("charges", another_cost),
    ("files", kept_file(None)),
    ("files", kept_file("1")),
    ("files", kept_file("4")),
    ("files", kept_file("33 3")),
    ("submissions", no_submission),
    ("submissions", two_submissions),
    ("submissions", submission_of_nobody),
    ("submissions", led_to_two_places),
    ("submissions", in_log(drop(7))),
    ("submissions", in_log(again(7))),
    ("grades", no_grade),
    ("grades", two_grades),
    ("grades", another_score),
    ("grades", in_log(drop(9))),
    ("grades", in_log(again(9))),
    ("states", in_log(drop(10))),
    ("states", in_log(entry(10, to="open"))),
    ("states", in_log(again(8))),
    ("states", still_grading),
    ("states", another_state),
    ("chain", edited_event),
    ("chain", renumbered_event),
    ("audit", objection),
]


@pytest.mark.parametrize(("about", "change"), CHANGES, ids=[f"{about}{at}" for at, (about, _) in enumerate(CHANGES)])
def test_everything_else_that_is_lost_doubled_or_changed_is_found(about, change):
    assert about in subjects(without_export(change))


def never_handed_in(account: RunAccount, run: StoredRun) -> None:
    """Stored without a fault, as far as it went: only that nobody leaves so tells it."""
    account.submit_answers, run.state, run.submissions, run.grades, run.kept_file = [], "open", [], [], None
    rechain(run, lambda kinds: kinds.__delitem__(slice(6, None)))


def test_a_run_that_nobody_could_hand_in_is_found_though_nothing_of_it_was_lost():
    assert subjects(without_export(never_handed_in)) == {"ends"}


def test_a_log_that_was_taken_along_tells_of_one_that_was_changed_afterwards():
    assert subjects(in_log(entry(2, release="6" * 64))) == {"grades"}


def test_an_attempt_that_got_no_answer_may_have_happened_or_not_and_never_twice():
    """The message without a reply, the save without a confirmation: both courses are right."""
    assert subjects(kept_file("2")) == set()
    assert "messages" not in subjects(without_export(in_log(drop(6))))
    assert "messages" in subjects(without_export(in_log(again(6))))


def test_runs_that_are_gone_or_were_never_begun_are_found():
    person, stored = honest()
    gone = audit([person], Stored())
    invented = audit([type(person)("alice")], stored)
    assert {finding.about for finding in gone.findings} == {finding.about for finding in invented.findings} == {"runs"}


def test_orphans_are_told():
    person, stored = honest()
    stored.orphans = ["workspace 12 without a run, for 61 s"]
    assert [finding.about for finding in audit([person], stored).findings] == ["orphans"]
