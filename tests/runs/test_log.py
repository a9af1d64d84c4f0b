"""The log of a run: append-only, numbered, chained."""

from __future__ import annotations

import pytest

from fdegym.lib.errors import RunNotFound, RunStateConflict
from fdegym.runs import log
from fdegym.runs.access import get_run_for_user
from fdegym.runs.models import Run, RunEvent, RunState
from fdegym.runs.services import transition

pytestmark = pytest.mark.django_db


def test_events_are_numbered_from_one_without_a_gap(alice, make_run):
    run = make_run(alice)
    assert [log.append(run.id, "note", {"n": n}).seq for n in range(5)] == [1, 2, 3, 4, 5]


def test_a_writer_who_expected_another_number_is_told_and_writes_nothing(alice, make_run):
    run = make_run(alice)
    log.append(run.id, "note", {}, expected_seq=1)
    with pytest.raises(log.LogMoved):
        log.append(run.id, "note", {}, expected_seq=1)
    assert len(log.events(run.id)) == 1


def test_the_chain_can_be_recomputed_from_public_values(alice, make_run):
    run = make_run(alice)
    for text in ("one", "zwei", "三"):
        log.append(run.id, "contact.message", {"text": text, "charge": "0.008"})
    assert log.first_broken_link(run) is None


@pytest.mark.parametrize("change", [{"payload": {"charge": "0"}}, {"kind": "other"}, {"seq": 9}])
def test_an_edited_event_breaks_the_chain_where_it_was_edited(alice, make_run, change):
    run = make_run(alice)
    for n in range(3):
        log.append(run.id, "note", {"n": n})
    RunEvent.objects.filter(run=run, seq=2).update(**change)
    assert log.first_broken_link(run) == 2


def test_a_removed_event_breaks_the_chain(alice, make_run):
    run = make_run(alice)
    for n in range(3):
        log.append(run.id, "note", {"n": n})
    RunEvent.objects.filter(run=run, seq=2).delete()
    assert log.first_broken_link(run) == 2


def test_the_signature_of_a_head_fits_no_other_run_and_no_other_head(alice, bob, make_run):
    run, other = make_run(alice), make_run(bob)
    log.append(run.id, "note", {})
    digest, signature = log.sign_head(run)
    assert log.signature_fits(run, digest, signature)
    assert not log.signature_fits(other, digest, signature)
    assert not log.signature_fits(run, "0" * 64, signature)
    assert not log.signature_fits(run, digest, signature[:-1] + "x")


def test_events_can_be_asked_for_by_number_and_by_kind(alice, make_run):
    run = make_run(alice)
    for kind in ("contact.message", "run.state", "contact.wait"):
        log.append(run.id, kind, {})
    assert [event.kind for event in log.events(run.id, after=1)] == ["run.state", "contact.wait"]
    assert [event.seq for event in log.events(run.id, kinds=["contact."])] == [1, 3]


def test_a_run_moves_only_where_its_state_allows(alice, make_run):
    run = make_run(alice)
    transition(run.id, RunState.SUBMITTED)
    with pytest.raises(RunStateConflict):
        transition(run.id, RunState.SUBMITTED)
    with pytest.raises(RunStateConflict):
        transition(run.id, RunState.PREPARING)
    run = Run.objects.get(pk=run.id)
    assert run.submitted_at is not None
    assert log.signature_fits(run, run.sealed_head, run.sealed_signature)


def test_a_stranger_and_a_cohort_mate_do_not_learn_that_a_run_exists(alice, bob, charlie, make_run):
    run = make_run(alice)
    assert get_run_for_user(alice, run.id) == run
    for person in (bob, charlie):
        with pytest.raises(RunNotFound):
            get_run_for_user(person, run.id)
    with pytest.raises(RunNotFound):
        get_run_for_user(alice, "not-a-uuid")


def test_every_event_is_signed_for_its_run_and_its_content(alice, bob, make_run):
    run, other = make_run(alice), make_run(bob)
    event, twin = log.append(run.id, "note", {"n": 1}), log.append(other.id, "note", {"n": 1})
    assert log.event_is_signed(event)
    assert log.event_is_signed(RunEvent.objects.get(pk=event.pk))
    for change in ({"signature": ""}, {"signature": twin.signature}, {"hash": twin.hash}, {"run_id": other.id}):
        altered = RunEvent.objects.get(pk=event.pk)
        for name, value in change.items():
            setattr(altered, name, value)
        assert not log.event_is_signed(altered)


def test_a_signature_made_with_another_key_fits_only_while_that_key_is_kept(alice, make_run, settings):
    run = make_run(alice)
    event = log.append(run.id, "note", {})
    old, settings.SECRET_KEY = settings.SECRET_KEY, "n" * 60
    assert not log.event_is_signed(event)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert log.event_is_signed(event)
