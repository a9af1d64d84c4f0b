"""Trial runs as the customer sees them: which words can come out, who may have one, what it costs, what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from small_customer import SCENARIO, Rehearsal, small_script, without_calendar

from scenarios.kit.format import Say
from scenarios.kit.trial import Said, Trial, TrialMisworded, TrialWords, count_in_words, rounded
from stakeholders.redecide import first_difference
from stakeholders.state import TRIAL_REPORTED, TRIAL_REQUESTED, fold
from stakeholders.trials import TrialOutcome, TrialRefused, TrialResult, ask_for_trial, report_trial
from stakeholders.visible import shown_items

TRIAL = """
[trial]
prices = [0.03, 0.05]
quiet = "A quiet week."
names.team = ["Ledger", "Intake", "Harbor"]
names.site = ["Toronto", "{{ home }}"]
[trial.sentences]
not_mine = "About {pages} pages went to teams that said not mine, worst for {team}."
off_shift = "{people} people in {site} were rung off shift."
slow = "A clinical alert waited."
woken = "Somebody was woken twice."
late = "The report was late."
"""
SCRIPT = small_script(scenario=SCENARIO + TRIAL, facts={"home": "Lisbon"})


def trial(**changes: Any) -> Trial:
    values = {"prices": [0.03], "quiet": "Quiet.", "sentences": {"slow": "It was slow."}}
    return Trial.model_validate({**values, **changes})


def words(facts: Mapping[str, Any] | None = None, **changes: Any) -> TrialWords:
    return TrialWords.of(trial(**changes), facts or {})


def texts(found: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    assert SCRIPT.trial is not None
    return [said.text for said in SCRIPT.trial.words.report(found)]


# ---- what an author may write


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prices": [0.05, 0.03]}, "costs as much as the one before, or more"),
        ({"prices": []}, "at least 1 item"),
        ({"sentences": {}}, "at least 1 item"),
        ({"sentences": {"odd": "It took {3} hours."}}, "sentences.odd: a brace that is neither"),
        ({"sentences": {"odd": "It took {hours hours."}}, "sentences.odd: a brace that is neither"),
        ({"names": {"team": ["Ledger"]}}, "no sentence has a place {team}"),
        ({"quiet": "Quiet at {site}."}, "it has no places"),
        ({"surprise": 1}, "Extra inputs"),
    ],
)
def test_a_trial_that_cannot_be_told_is_refused_with_the_reason(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        trial(**changes)


def test_prices_may_stay_the_same_and_are_the_decimals_that_were_typed() -> None:
    assert trial(prices=[0.03, 0.03, 0.1]).prices == [Decimal("0.03"), Decimal("0.03"), Decimal("0.1")]


@pytest.mark.parametrize(
    ("step", "fits"),
    [
        ({"trial": True}, True),
        ({"trial": True, "reports": ["quiet"]}, True),
        ({"trial": True, "wait": "1d"}, False),
        ({"trial": True, "to": "ada", "text": "Well?"}, False),
        ({"trial": False}, False),
        ({"to": "ada", "text": "Well?", "reports": ["quiet"]}, False),
    ],
)
def test_a_step_of_a_conversation_is_one_act(step: dict[str, Any], fits: bool) -> None:
    if fits:
        assert Say.model_validate(step).trial
    else:
        with pytest.raises(ValidationError, match=r"either|only a trial"):
            Say.model_validate(step)


# ---- what people say


def test_facts_names_and_rounded_counts_fill_a_sentence() -> None:
    assert texts(
        [("not_mine", {"pages": 21, "team": ["Ledger", "Intake"]}), ("off_shift", {"people": 2, "site": "Lisbon"})]
    ) == [
        "About twenty pages went to teams that said not mine, worst for Ledger and Intake.",
        "Two people in Lisbon were rung off shift.",
    ]


def test_nothing_found_is_said_as_such_and_of_much_the_first_four() -> None:
    assert texts([]) == ["A quiet week."]
    found = [("slow", {}), ("woken", {}), ("late", {}), ("slow", {}), ("not_mine", {"pages": 3, "team": "Harbor"})]
    found.append(("off_shift", {"people": 5, "site": "Toronto"}))
    assert texts(found) == [
        "A clinical alert waited.",
        "Somebody was woken twice.",
        "The report was late.",
        "About three pages went to teams that said not mine, worst for Harbor.",
    ]


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("answer", {}, "has no 'answer'"),
        ("slow", {"pages": 3}, "has the places none, the grader filled pages"),
        ("not_mine", {"pages": 3}, "has the places pages, team"),
        ("not_mine", {"pages": 3, "team": "Cedar"}, "'Cedar' is not among trial.names.team"),
        ("not_mine", {"pages": 3, "team": ["Ledger", "Intake", "Harbor"]}, "one or two names"),
        ("not_mine", {"pages": 3, "team": []}, "one or two names"),
        ("not_mine", {"pages": "the answer is Cedar", "team": "Ledger"}, "takes a count"),
        ("not_mine", {"pages": 0.62, "team": "Ledger"}, "takes a count"),
        ("not_mine", {"pages": -1, "team": "Ledger"}, "takes a count"),
        ("not_mine", {"pages": True, "team": "Ledger"}, "takes a count"),
    ],
)
def test_a_grader_can_say_nothing_that_the_scenario_has_no_words_for(
    name: str, values: dict[str, Any], problem: str
) -> None:
    with pytest.raises(TrialMisworded, match=problem):
        texts([("slow", {}), ("woken", {}), ("late", {}), ("slow", {}), (name, values)])


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "no"), (1, "one"), (12, "twelve"), (13, "fifteen"), (17, "fifteen"), (18, "twenty"), (24, "twenty-five"),
     (28, "thirty"), (34, "thirty"), (96, "100"), (147, "150"), (512, "510"), (1_234, "1,200"), (98_765, "99,000")],
)  # fmt: skip
def test_a_count_is_told_as_people_remember_it(count: int, said: str) -> None:
    assert count_in_words(count) == said


@given(st.integers(0, 10**9))
def test_a_rounded_count_is_near_and_tells_no_exact_number(count: int) -> None:
    near = rounded(count)
    assert abs(near - count) <= max(0.2 * count, 0)
    assert rounded(near) == near
    assert count <= 12 or near % 5 == 0


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("not_mine"), st.fixed_dictionaries({
                "pages": st.integers(0, 10**6),
                "team": st.lists(st.sampled_from(["Ledger", "Intake", "Harbor"]), min_size=1, max_size=2),
            })),
            st.tuples(st.sampled_from(["slow", "woken", "late"]), st.just({})),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_an_auditor_knows_every_sentence_that_can_be_said_and_no_other(found: list[Any]) -> None:
    assert SCRIPT.trial is not None
    told = SCRIPT.trial.words
    for said in told.report(found):
        assert told.could_say(said.id, said.text)
        assert not told.could_say(said.id, said.text.replace("pages", "Cedar pages") + " Cedar owns it.")
        assert not told.could_say("not_there", said.text)


def test_a_missing_fact_is_named_with_its_place() -> None:
    from stakeholders.script import ScriptInvalid

    with pytest.raises(ScriptInvalid, match=r"trial.names.site\[1\].*home"):
        small_script(scenario=SCENARIO + TRIAL)


# ---- the engine


class TriedRehearsal(Rehearsal):
    """A run in which trials are asked for and reported, as desk and worker would log them."""

    def ask(self, client_id: str) -> dict[str, Any]:
        return self.log(TRIAL_REQUESTED, ask_for_trial(self.script, self.state, client_id))

    def report(self, client_id: str, outcome: TrialOutcome = TrialOutcome.REPORTED, words: str = "") -> dict[str, Any]:
        said = (Said("slow", "A clinical alert waited."),) if outcome == TrialOutcome.REPORTED else ()
        result = TrialResult(outcome, said, words, "ab" * 32, 56, {"run": {"calls": 56, "failed": 2}})
        return self.log(TRIAL_REPORTED, report_trial(self.script, self.state, client_id, result))

    def tried(self, client_id: str, outcome: TrialOutcome = TrialOutcome.REPORTED) -> dict[str, Any]:
        self.ask(client_id)
        return self.report(client_id, outcome, words="It did not run." if outcome != TrialOutcome.REPORTED else "")


@pytest.fixture
def run() -> TriedRehearsal:
    return TriedRehearsal(SCRIPT)


def test_each_trial_costs_its_price_and_after_the_last_price_none_is_left(run: TriedRehearsal) -> None:
    assert [run.tried(one)["charge"] for one in ("t1", "t2")] == ["0.03", "0.05"]
    assert run.state.cost == Decimal("0.08")
    with pytest.raises(TrialRefused, match="no trial left"):
        run.ask("t3")


def test_a_trial_takes_no_calendar_time_and_is_no_contact_of_anybody(run: TriedRehearsal) -> None:
    before = run.state.now
    run.tried("t1")
    assert run.state.now == before
    assert run.state.contacts == []
    assert run.arrivals() == []  # "after two contacts" has not come
    assert run.say("ada", "When do doors open?", "ada/open")["charge"] == "0.01"  # patience is as it was


def test_a_failure_of_ours_is_free_and_does_not_count_to_the_limit(run: TriedRehearsal) -> None:
    for number in range(3):
        void = run.tried(f"void-{number}", TrialOutcome.VOID)
        assert (void["charge"], void["counted"]) == ("0", False)
    assert [run.tried(one)["charge"] for one in ("t1", "t2")] == ["0.03", "0.05"]


def test_a_system_that_does_not_run_is_told_so_and_charged(run: TriedRehearsal) -> None:
    broken = run.tried("t1", TrialOutcome.DID_NOT_RUN)
    assert (broken["charge"], broken["counted"], broken["said"], broken["words"]) == (
        "0.03",
        True,
        [],
        "It did not run.",
    )


def test_one_trial_at_a_time(run: TriedRehearsal) -> None:
    run.ask("t1")
    with pytest.raises(TrialRefused, match="one at a time"):
        run.ask("t2")
    with pytest.raises(TrialRefused, match="Nobody waits"):
        run.report("t2")
    run.report("t1")
    assert run.ask("t2")["number"] == 2
    with pytest.raises(TrialRefused, match="Nobody waits"):
        run.report("t1")


def test_a_customer_without_trial_environment_refuses() -> None:
    plain = TriedRehearsal(small_script())
    with pytest.raises(TrialRefused, match="no trial environment"):
        plain.ask("t1")


def test_a_trial_needs_no_calendar() -> None:
    timeless = TriedRehearsal(small_script(scenario=without_calendar() + TRIAL, facts={"home": "Lisbon"}))
    assert timeless.tried("t1")["at"] is None
    assert first_difference(timeless.script, timeless.events) is None


def test_what_is_shown_of_a_trial_is_its_sentences_and_never_its_price(run: TriedRehearsal) -> None:
    run.ask("t1")
    assert shown_items(SCRIPT, run.events) == [
        {
            "kind": "trial",
            "id": "t1",
            "running": True,
            "said": [],
            "words": "",
            "sent": "Monday 5 October, 08:00",
            "seq": 1,
        }
    ]
    run.report("t1")
    last = shown_items(SCRIPT, run.events, after=1)[0]
    assert (last["running"], last["said"]) == (False, ["A clinical alert waited."])
    assert not {"charge", "counted", "number", "calls", "failures", "system", "outcome"} & set(last)


# ---- an auditor


def test_an_auditor_decides_every_trial_again(run: TriedRehearsal) -> None:
    run.tried("t1")
    run.tried("t2", TrialOutcome.VOID)
    run.say("ada", "When do doors open?", "ada/open")
    run.tried("t3", TrialOutcome.DID_NOT_RUN)
    assert first_difference(SCRIPT, run.events) is None
    assert fold(SCRIPT, run.events) == run.state


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"charge": "0.01"}, "the charge in the log is '0.01', by the rules it is '0.03'"),
        ({"counted": False}, "whether it counts"),
        ({"outcome": "void"}, "the charge in the log is '0.03', by the rules it is '0'"),
        ({"said": [{"id": "slow", "text": "Cedar owns it."}]}, "no such sentence"),
        ({"said": [{"id": "owner", "text": "A clinical alert waited."}]}, "no such sentence"),
        ({"said": []}, "does not fit how the trial ended"),
        ({"client_id": "t2"}, "Nobody waits"),
        ({"outcome": "wonderful"}, "not written as such an event is"),
    ],
)
def test_a_forged_report_is_found(run: TriedRehearsal, change: dict[str, Any], words: str) -> None:
    run.ask("t1")
    run.log(TRIAL_REPORTED, {**report_trial(SCRIPT, run.state, "t1", _slow()), **change})
    difference = first_difference(SCRIPT, run.events)
    assert difference is not None
    assert difference.seq == 2
    assert words in difference.words


def _slow() -> TrialResult:
    return TrialResult(TrialOutcome.REPORTED, (Said("slow", "A clinical alert waited."),))


def test_a_trial_beyond_the_last_one_is_found(run: TriedRehearsal) -> None:
    run.tried("t1")
    run.tried("t2")
    run.log(TRIAL_REQUESTED, {"client_id": "t3", "number": 3, "at": "2026-10-05T08:00"})
    difference = first_difference(SCRIPT, run.events)
    assert difference is not None
    assert "no trial left" in difference.words
