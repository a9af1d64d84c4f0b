"""What people answer, one rule of the format at a time."""

from __future__ import annotations

from decimal import Decimal

import pytest
from small_customer import PEOPLE, SCENARIO, Matched, Part, Rehearsal, matched, small_script, without_calendar

from stakeholders.calendar import WaitRefused
from stakeholders.engine import PersonUnknown
from stakeholders.script import ScriptInvalid
from stakeholders.state import fold


@pytest.fixture
def run() -> Rehearsal:
    return Rehearsal(small_script())


# ---- answers and what they release


def test_an_open_topic_is_answered_in_the_persons_words_and_releases_its_facts(run: Rehearsal) -> None:
    answer = run.say("ada", "When do doors open?", "ada/open")
    assert (answer["kind"], answer["answer"], answer["facts"]) == ("answered", "Doors open at six.", ["F1"])
    assert (answer["charge"], answer["counted"], answer["minutes"]) == ("0.01", True, 45)
    assert (answer["before"], answer["after"]) == ("2026-10-05T08:00", "2026-10-05T08:45")


def test_an_unmet_gate_releases_nothing_and_is_charged(run: Rehearsal) -> None:
    answer = run.say("ada", "Is the share right?", "ada/share")
    assert (answer["kind"], answer["answer"], answer["facts"]) == ("gate_miss", "Which share?", [])
    assert answer["charge"] == "0.01"
    assert answer["parts"][0]["unmet"] == ["cites_number late_share"]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("70 of every 100 sell; 30 in 100 come back. By clause 14.2, may we send 70 in 100?", "answered"),
        ("Ten in a hundred, three in ten, 25 % and 40 %. Is that by clause 14.2?", "answered"),
        ("10 %, 20 %, 30 %, 40 % or five in ten? Is that by clause 14.2?", "gate_miss"),
    ],
)
def test_shares_said_in_hundreds_are_not_a_list_of_guesses_until_they_are_too_many(
    run: Rehearsal, message: str, kind: str
) -> None:
    assert run.say("ada", message, "ada/rule")["kind"] == kind


def test_a_fact_is_released_once_and_a_repeat_is_charged_again(run: Rehearsal) -> None:
    run.say("ada", "When do doors open?", "ada/open")
    again = run.say("ada", "When did you say they open?", "ada/open")
    assert (again["kind"], again["answer"], again["facts"]) == ("repeat", "Doors open at six.", [])
    assert again["charge"] == "0.01"


def test_two_topics_are_answered_each_by_itself_in_the_order_asked(run: Rehearsal) -> None:
    text = "Which share? And when do doors open?"
    answer = run.say("ada", text, ("ada/share", "Which share?"), ("ada/open", "And when do doors open?"))
    assert answer["answer"] == "Which share?\n\nDoors open at six."
    assert (answer["kind"], answer["facts"], answer["charge"]) == ("answered", ["F1"], "0.01")
    assert [part["result"] for part in answer["parts"]] == ["gate_miss", "answered"]


def test_at_most_three_topics_are_answered_then_the_person_breaks_off(run: Rehearsal) -> None:
    topics = ["ada/open", "ada/share", "ada/sorting", "ada/rule"]
    answer = run.say("ada", "Everything about 62 % under 14.2", *topics)
    assert answer["answer"] == "Doors open at six.\n\nYes, that share.\n\nBy hand.\n\nOne at a time."
    assert answer["facts"] == ["F1", "F2"]
    assert answer["parts"][3]["result"] == "broken_off"


def test_an_exclusive_topic_replaces_the_others_once_its_gate_is_met(run: Rehearsal) -> None:
    missed = run.say("ada", "The ramp, and when do doors open?", "ada/ramp", "ada/open")
    assert missed["answer"] == "Which ramp?\n\nDoors open at six."
    met = run.say("ada", "The ramp was closed; doors?", "ada/ramp", "ada/open")
    assert (met["answer"], met["facts"]) == ("Closed.", ["F6"])
    assert [part["result"] for part in met["parts"]] == ["answered", "replaced"]


def test_a_misconception_is_told_like_any_answer_and_kept_for_the_debrief(run: Rehearsal) -> None:
    assert run.say("ada", "How is it sorted?", "ada/sorting")["misconceptions"] == ["ada/sorting"]
    assert set(run.state.misconceptions) == {"ada/sorting"}


def test_needs_must_have_been_released_before(run: Rehearsal) -> None:
    run.wait("Mon 09:00")
    assert run.say("ben", "Release it", "ben/release")["answer"] == "Ask Ada first."
    run.say("ben", "PX-002?", "ben/parcel")
    assert run.say("ben", "Release it", "ben/release")["kind"] == "needs_miss"
    run.say("ada", "When do doors open?", "ada/open")
    granted = run.say("ben", "Release it", "ben/release")
    assert (granted["answer"], granted["facts"], granted["grants"]) == ("Released.", ["F5"], ["approval:release"])
    assert run.state.grants == {"approval:release": "ben"}


def test_a_fact_released_by_the_same_message_is_not_yet_released_before(run: Rehearsal) -> None:
    run.say("ada", "When do doors open?", "ada/open")
    run.wait("Mon 09:30")
    both = run.say("ben", "PX-002? Release it.", "ben/parcel", "ben/release")
    assert [part["result"] for part in both["parts"]] == ["answered", "needs_miss"]


def test_a_topic_of_another_task_or_another_person_matches_nothing(run: Rehearsal) -> None:
    run.wait("Mon 09:00")
    assert run.say("ben", "Who is there at night?", "ben/night")["kind"] == "fallback"
    assert run.say("ada", "PX-001?", "ben/parcel")["kind"] == "fallback"
    other = Rehearsal(small_script(task_id="other"))
    other.wait("Mon 09:00")
    assert other.say("ben", "Who is there at night?", "ben/night")["answer"] == "Nobody at night."


def test_a_topic_changes_with_the_task_and_gate_false_removes_gate_and_needs() -> None:
    change = '[stakeholders.topics.on.other]\nanswer = "Take it."\ngate = false\n[[stakeholders.topics]]\nid = "night"'
    people = PEOPLE.replace('[[stakeholders.topics]]\nid = "night"', change)
    run = Rehearsal(small_script(people=people, task_id="other"))
    run.wait("Mon 09:00")
    assert run.say("ben", "Release it", "ben/release")["answer"] == "Take it."
    as_before = Rehearsal(small_script(people=people))
    as_before.wait("Mon 09:00")
    assert as_before.say("ben", "Release it", "ben/release")["kind"] == "needs_miss"


# ---- what counts as evidence


def test_what_the_same_person_was_told_earlier_counts(run: Rehearsal) -> None:
    run.say("ada", "It is 62 percent of them", "ada/open")
    assert run.say("ada", "Is that share right?", "ada/share")["facts"] == ["F2"]


def test_what_another_person_was_told_does_not_count(run: Rehearsal) -> None:
    run.wait("Mon 09:00")
    run.say("ben", "It is 62 percent of them", "ben/parcel")
    assert run.say("ada", "Is that share right?", "ada/share")["kind"] == "gate_miss"


def test_what_somebody_away_was_sent_was_not_told(run: Rehearsal) -> None:
    assert run.say("ben", "PX-001", "ben/parcel")["kind"] == "automatic"
    run.wait("Mon 09:00")
    assert run.say("ben", "What of that parcel?", "ben/parcel")["kind"] == "gate_miss"


def test_mentions_count_only_in_the_part_that_is_about_the_topic(run: Rehearsal) -> None:
    text = "The ramp? The gate is closed."
    assert run.say("ada", text, ("ada/ramp", "The ramp?"), ("ada/open", "The gate is closed."))["facts"] == ["F1"]
    assert run.say("ada", "关闭了吗？坡道", "ada/ramp")["facts"] == ["F6"]


def test_mentions_are_met_group_by_group_over_messages_about_the_topic(run: Rehearsal) -> None:
    assert run.say("ada", "What about the ramp?", "ada/ramp")["kind"] == "gate_miss"
    assert run.say("ada", "Was it closed?", "ada/ramp")["facts"] == ["F6"]


def test_what_fitted_no_topic_was_still_told(run: Rehearsal) -> None:
    assert run.say("ada", "The ramp is the problem, I think.")["kind"] == "fallback"
    assert run.say("ada", "Was it closed?", "ada/ramp")["facts"] == ["F6"]


def test_a_number_may_stand_in_a_table_of_facts_and_be_bound_to_a_term_of_its_clause() -> None:
    gate = '{ fact = "shares.late", tolerance = 0.01, near = ["late", "迟到"] }'
    people = PEOPLE.replace('{ fact = "late_share", tolerance = 0.02 }', gate)
    run = Rehearsal(small_script(people=people, facts={"shares": {"late": 0.62}}))
    assert run.say("ada", "62 % were early, 20 % were late?", "ada/share")["kind"] == "gate_miss"
    assert run.say("ada", "20 % were early, 62 % were late?", "ada/share")["kind"] == "answered"


def test_more_than_four_numbers_point_at_nothing(run: Rehearsal) -> None:
    assert run.say("ada", "Is it 60, 61, 62, 63 or 64 %?", "ada/share")["kind"] == "gate_miss"
    assert run.say("ada", "Is it 61, 62, 63 or 64 %?", "ada/share")["kind"] == "answered"


def test_more_than_two_identifiers_of_the_wanted_kind_point_at_nothing(run: Rehearsal) -> None:
    run.wait("Mon 09:00")
    assert run.say("ben", "PX-001, PX-002, PX-009?", "ben/parcel")["kind"] == "gate_miss"
    assert run.say("ben", "PX-001 and PX-002?", "ben/parcel")["facts"] == ["F4"]


def test_a_row_is_evidence_by_its_fields(run: Rehearsal) -> None:
    run.wait("Mon 09:00")
    assert run.say("ben", "The scan at gate 4 on 14 July?", "ben/parcel")["facts"] == ["F4"]


def test_more_than_two_documents_that_gates_ask_for_point_at_nothing() -> None:
    wanted = '{ any_of = [{ cites_document = { document = "rota" } }, { cites_document = { document = "tariff" } }] }'
    people = PEOPLE.replace('gate = { mentions = [["ramp"', 'tasks = ["x"]\ngate = { mentions = [["ramp"').replace(
        '[[stakeholders.topics]]\nid = "sorting"',
        f'[[stakeholders.topics]]\nid = "papers"\nabout = "papers"\nanswer = "So."\ngate = {wanted}\ngate_miss = "Which?"\n'
        '[[stakeholders.topics]]\nid = "sorting"',
    )
    run = Rehearsal(small_script(people=people))
    assert run.say("ada", "Rota, tariff and terms, 14.2", "ada/rule")["kind"] == "gate_miss"
    assert run.say("ada", "Terms and tariff: 14.2 of the terms", "ada/rule")["facts"] == ["F3"]


def test_a_document_without_its_clause_does_not_open_a_gate_that_wants_one(run: Rehearsal) -> None:
    assert run.say("ada", "By the terms?", "ada/rule")["kind"] == "gate_miss"
    assert run.say("ada", "By 14.4 of the terms?", "ada/rule")["kind"] == "gate_miss"
    assert run.say("ada", "By 14.2–14.4?", "ada/rule")["kind"] == "answered"


def test_a_document_named_before_gives_a_clause_its_document() -> None:
    people = PEOPLE.replace('document = "terms", clauses = ["14.2", "14.3"]', 'document = "tariff", clauses = ["14.2"]')
    scenario = SCENARIO.replace('clauses = ["7", "14.2", "14.3", "14.4"]\nbare_clauses = true', 'clauses = ["7"]')
    run = Rehearsal(small_script(people=people, scenario=scenario))
    assert run.say("ada", "What does the tariff say?", "ada/rule")["kind"] == "gate_miss"
    assert run.say("ada", "I mean clause 14.2.", "ada/rule")["kind"] == "answered"


# ---- patience


def test_beyond_the_soft_limit_a_contact_costs_more_and_beyond_the_hard_limit_nobody_answers(run: Rehearsal) -> None:
    charges = [run.say("ada", "When do doors open?", "ada/open")["charge"] for _ in range(6)]
    assert charges == ["0.01", "0.01", "0.03", "0.03", "0.03", "0"]
    silent = run.say("ada", "Hello?", "ada/open")
    assert (silent["kind"], silent["answer"], silent["counted"], silent["minutes"]) == ("silent", None, False, 0)
    assert silent["before"] == silent["after"]
    assert run.state.cost == Decimal("0.11")


def test_small_talk_is_acknowledged_charged_and_counted(run: Rehearsal) -> None:
    thanks = run.say("ada", "Thank you!", match=Matched(small_talk=True))
    assert (thanks["kind"], thanks["answer"], thanks["charge"], thanks["counted"]) == (
        "small_talk",
        "Fine.",
        "0.01",
        True,
    )


def test_a_fallback_is_free_counts_to_the_hard_limit_and_takes_time(run: Rehearsal) -> None:
    missed = run.say("ada", "What about the weather?")
    assert (missed["kind"], missed["answer"]) == ("fallback", "What do you want decided?")
    assert (missed["charge"], missed["counted"], missed["attempt"], missed["minutes"]) == ("0", False, True, 45)
    for _ in range(4):
        run.say("ada", "What about the weather?")
    assert run.say("ada", "When do doors open?", "ada/open")["kind"] == "silent"


def test_a_fallback_does_not_use_up_the_soft_limit(run: Rehearsal) -> None:
    run.say("ada", "What about the weather?")
    run.say("ada", "What about the weather?")
    assert run.say("ada", "When do doors open?", "ada/open")["charge"] == "0.01"


def test_a_fishing_message_gets_the_fallback_and_is_no_answer(run: Rehearsal) -> None:
    fishing = run.say("ada", "Tell me everything you know", match=Matched(rejected="fishing"))
    assert (fishing["kind"], fishing["answer"], fishing["charge"]) == ("fishing", "What do you want decided?", "0")
    assert (fishing["counted"], fishing["attempt"], fishing["minutes"]) == (False, True, 45)


def test_someone_who_always_says_the_same_is_charged_like_anybody() -> None:
    people = PEOPLE.replace("availability = { absent = true }", "")
    answer = Rehearsal(small_script(people=people)).say("di", "Anything?")
    assert (answer["kind"], answer["answer"], answer["charge"]) == ("always", "No.", "0.01")


def test_someone_off_limits_answers_is_charged_each_time_and_it_is_an_incident(run: Rehearsal) -> None:
    for _ in range(2):
        answer = run.say("cy", "What would you accept?")
        assert (answer["kind"], answer["answer"], answer["charge"]) == ("off_limits", "Send it over.", "0.25")
        assert answer["incident"] == "talked"
    assert run.state.incidents == [("talked", "cy"), ("talked", "cy")]


# ---- who can be reached


def test_someone_away_answers_automatically_free_of_charge_and_time(run: Rehearsal) -> None:
    away = run.say("ben", "PX-001?", "ben/parcel")
    assert (away["kind"], away["answer"]) == ("automatic", "Back Monday 5 October, 09:00.")
    assert (away["charge"], away["counted"], away["attempt"], away["minutes"]) == ("0", False, False, 0)
    assert away["match"] is None
    assert run.state.person("ben").attempts == 0


def test_someone_absent_is_never_reached_with_or_without_a_calendar() -> None:
    for script in (small_script(), small_script(scenario=without_calendar())):
        assert Rehearsal(script).say("di", "Hello?")["kind"] == "automatic"


def test_someone_leaves_after_so_many_answered_contacts() -> None:
    people = PEOPLE.replace(
        "availability = { absent = true }", 'availability = { leaves_after_contacts = 1, automatic_reply = "Gone." }'
    )
    run = Rehearsal(small_script(people=people))
    assert run.say("di", "Anything?")["kind"] == "always"
    gone = run.say("di", "Anything?")
    assert (gone["kind"], gone["answer"], gone["charge"]) == ("automatic", "Gone.", "0")


def test_someone_leaves_after_so_many_hours_of_the_customers_clock() -> None:
    people = PEOPLE.replace("availability = { absent = true }", "availability = { leaves_after_hours = 24 }")
    run = Rehearsal(small_script(people=people))
    run.wait("Mon 16:00")
    assert run.say("di", "Anything?")["kind"] == "always"
    run.wait("Tue 08:30")
    assert run.say("di", "Anything?")["kind"] == "automatic"


def test_someone_away_until_a_date_is_reached_in_between_only_in_the_windows_given() -> None:
    limits = (
        "availability = { away_until = 2026-10-08T08:00:00, "
        "reachable_while_away = [{ on = 2026-10-06, opens = 09:30:00, closes = 12:00:00 }] }"
    )
    run = Rehearsal(small_script(people=PEOPLE.replace("availability = { absent = true }", limits)))
    assert run.say("di", "Anything?")["answer"] == "Back Tuesday 6 October, 09:30."
    run.wait("Tue 09:30")
    assert run.say("di", "Anything?")["answer"] == "No."
    run.wait("Tue 12:00")
    assert run.say("di", "Anything?")["answer"] == "Back Thursday 8 October, 08:00."


def test_nobody_has_hours_where_there_is_no_calendar() -> None:
    run = Rehearsal(small_script(scenario=without_calendar()))
    answer = run.say("ben", "PX-001?", "ben/parcel")
    assert (answer["kind"], answer["before"], answer["after"], answer["minutes"]) == ("answered", None, None, 0)
    with pytest.raises(WaitRefused):
        run.wait("1d")


def test_a_message_to_nobody_is_refused(run: Rehearsal) -> None:
    with pytest.raises(PersonUnknown, match="Nothing was sent"):
        run.say("zoe", "Hello?")


# ---- inbox, waits, deadline


def test_a_letter_arrives_after_so_many_answered_contacts(run: Rehearsal) -> None:
    assert run.say("ada", "What about the weather?")["letters"] == []
    assert run.say("ada", "When do doors open?", "ada/open")["letters"] == []
    assert run.say("ada", "When do doors open?", "ada/open")["letters"] == ["after_two"]
    assert run.say("ada", "When do doors open?", "ada/open")["letters"] == []


def test_a_letter_after_hours_counts_nights_and_arrives_on_the_customers_clock(run: Rehearsal) -> None:
    assert run.wait("Mon 16:59")["letters"] == ["waited"]
    assert run.wait("Tue 08:00")["letters"] == ["next_morning"]
    assert run.state.letters["next_morning"]["at"] == "2026-10-06T08:00"


def test_a_letter_that_follows_an_approval_comes_from_the_granter_after_its_delay(run: Rehearsal) -> None:
    run.say("ada", "When do doors open?", "ada/open")
    run.wait("Mon 09:00")
    run.say("ben", "PX-001", "ben/parcel")
    assert run.say("ben", "Release it", "ben/release")["grants"] == ["approval:release"]
    arrived = run.wait("1d")["letters"]
    assert "record" not in arrived  # ten working hours are more than a day of nine
    assert run.wait("1h")["letters"] == ["record"]
    assert run.state.letters["record"]["sender"] == "ben"


def test_reading_a_letter_releases_its_facts_once_and_costs_nothing(run: Rehearsal) -> None:
    test_a_letter_that_follows_an_approval_comes_from_the_granter_after_its_delay(run)
    before = run.state.cost
    assert "F9" not in run.state.released
    assert run.read_inbox() == ["F9"]
    assert run.read_inbox() == []
    assert (run.state.released["F9"].via, run.state.cost) == ("inbox", before)


def test_a_letter_can_be_missing_on_a_task() -> None:
    assert Rehearsal(small_script(task_id="other")).wait("1h")["letters"] == []


def test_a_wait_is_charged_by_started_quarters_and_moves_the_clock(run: Rehearsal) -> None:
    waited = run.wait("3h")
    assert (waited["before"], waited["after"]) == ("2026-10-05T08:00", "2026-10-05T11:00")
    assert (waited["minutes"], waited["quarters"], waited["charge"]) == (180, 2, "0.004")
    assert run.state.cost == Decimal("0.004")


# ---- the fold and the script


def test_folding_the_events_again_gives_the_same_state(run: Rehearsal) -> None:
    test_a_letter_that_follows_an_approval_comes_from_the_granter_after_its_delay(run)
    assert fold(run.script, run.events) == run.state


def test_an_event_is_taken_in_once(run: Rehearsal) -> None:
    run.say("ada", "When do doors open?", "ada/open")
    run.state.apply(run.events[-1])
    assert run.state.person("ada").counted == 1


def test_the_matchers_decision_is_stored_with_the_message(run: Rehearsal) -> None:
    found = (Part("ada/open", "doors", 0.81239),)
    match = Matched(found, scores=found)
    answer = run.say("ada", "doors", match=match)
    assert answer["parts"][0] == {
        "topic": "ada/open", "text": "doors", "score": 0.812, "result": "answered", "unmet": [],
    }  # fmt: skip
    assert answer["match"] == {"rejected": None, "small_talk": False, "scores": {"ada/open": 0.812}}


def test_a_script_that_cannot_be_played_says_every_reason_at_once() -> None:
    people = PEOPLE.replace('"late_share"', '"no_such"').replace('document = "terms"', 'document = "nothing"')
    with pytest.raises(ScriptInvalid) as caught:
        small_script(people=people)
    assert len(caught.value.problems) == 2
    assert "ada/share.gate" in str(caught.value)


def test_one_message_on_one_topic_may_have_several_parts(run: Rehearsal) -> None:
    answer = run.say(
        "ada", "The ramp. Doors? Closed?", ("ada/ramp", "The ramp."), ("ada/open", "Doors?"), ("ada/ramp", "Closed?")
    )
    assert answer["facts"] == ["F6"]
    assert matched("x", "a/b").parts[0].text == "x"
