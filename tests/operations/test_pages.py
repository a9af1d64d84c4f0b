"""The operators' pages: whose they are, what stands there, and that they cost the same however much there is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from fdegym.operations import readiness, views
from fdegym.operations.models import OperatorAct

PAGES = ["operations", "operations-runs", "operations-queues", "operations-hosts", "operations-log"]


@pytest.fixture(autouse=True)
def _all_is_ready(monkeypatch):
    """The checks ask from threads of their own; they have their own tests."""
    monkeypatch.setattr(readiness, "look", lambda: [readiness.Checked("database", "")])
    monkeypatch.setattr("fdegym.operations.stuck.unbuilt_worlds", list)


def every_page(run):
    yield from (reverse(name) for name in PAGES)
    yield reverse("operations-run", args=[run.pk])
    yield reverse("operations-act", args=["stop", str(run.pk)])


def test_only_operators_open_them_and_only_operators_see_the_link(alice, olivia, visit, make_run):
    """FC-44: for everybody else there is no such page."""
    run = make_run(alice)
    for address in every_page(run):
        assert visit(None).get(address).headers["Location"].startswith(reverse("account_login"))
        assert visit(alice).get(address).status_code == 404
        assert visit(alice).post(address).status_code == 404
        assert visit(olivia).get(address).status_code == 200, address
    link = f'href="{reverse("operations")}"'
    assert link in visit(olivia).get(reverse("home")).content.decode()
    assert link not in visit(alice).get(reverse("home")).content.decode()


def test_every_page_says_something_where_there_is_nothing(olivia, visit):
    empty = {"operations": "Nothing is stuck", "operations-runs": "No run yet", "operations-queues": "Nothing waits"}
    empty |= {"operations-hosts": "No process has been heard of", "operations-log": "No operator has done anything"}
    for name, words in empty.items():
        assert words in visit(olivia).get(reverse(name)).content.decode()


def test_runs_are_found_by_state_person_customer_and_age(alice, bob, olivia, visit, make_run):
    from fdegym.runs.models import Run

    old = make_run(alice, "oil_npt")
    Run.objects.filter(pk=old.pk).update(begun_at=timezone.now() - timedelta(days=10))
    make_run(alice, "first_delivery", state="graded")
    make_run(bob, "first_delivery", state="void")

    def found(**asked):
        answer = visit(olivia).get(reverse("operations-runs"), asked)
        return sorted((run.user.username, run.scenario_id) for run in answer.context["page"].object_list)

    assert len(found()) == 3
    assert found(state="void") == [("bob", "first_delivery")]
    assert found(person="ALI", scenario="first_delivery") == [("alice", "first_delivery")]
    assert found(age="older-week") == [("alice", "oil_npt")]
    assert found(age="day", person="alice") == [("alice", "first_delivery")]
    assert found(state="no such state", age="ever") == found()
    assert found(person="nobody\x00") == []


def test_a_page_of_runs_is_fifty_and_its_links_keep_what_was_looked_for(alice, olivia, visit, make_run):
    for number in range(51):
        make_run(alice, state="graded", attempt=number + 1)
    page = visit(olivia).get(reverse("operations-runs"), {"state": "graded", "person": "alice"})
    assert len(page.context["page"].object_list) == 50
    assert "?state=graded&amp;person=alice&amp;page=2" in page.content.decode()
    last = visit(olivia).get(reverse("operations-runs"), {"state": "graded", "page": "99"})
    assert len(last.context["page"].object_list) == 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_costs_the_same_number_of_queries_however_much_there_is(
    name, alice, bob, olivia, visit, submit, make_run
):
    long_ago = timezone.now() - timedelta(hours=3)

    def more():
        for user in (alice, bob):
            submit(user, "void", void_reason="The sandbox was lost while grading.")
            submit(user, "queued", created_at=long_ago)
            submit(user, "grading", lease_until=long_ago, heartbeat_at=long_ago, lease_owner="host/1/abc")
            OperatorAct.objects.create(operator=olivia, act="wake", subject="1", run_id=None, words="Done.")

    browser = visit(olivia)
    more()
    browser.get(reverse(name))
    with CaptureQueriesContext(connection) as few:
        browser.get(reverse(name))
    for _ in range(4):
        more()
    with CaptureQueriesContext(connection) as many:
        browser.get(reverse(name))
    assert len(many) == len(few)


def test_what_people_wrote_is_on_no_page_of_a_run(alice, olivia, visit, make_run):
    from fdegym.runs import log

    run = make_run(alice)
    log.append(run.id, "contact.message", {"text": "my private question", "charge": "0"})
    html = visit(olivia).get(reverse("operations-run", args=[run.pk])).content.decode()
    assert "contact.message" in html
    assert "my private question" not in html


def test_without_a_database_the_first_page_still_says_so(olivia, visit, monkeypatch):
    monkeypatch.setattr(readiness, "look", lambda: [readiness.Checked("database", "The database does not answer.")])
    monkeypatch.setattr(views, "stuck_things", lambda: pytest.fail("asked a database that is away"))
    html = visit(olivia).get(reverse("operations")).content.decode()
    assert "The database does not answer." in html
    assert "Nobody knows" in html
