"""My runs, grading as it happens, the debrief, exports, giving up."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse
from django.utils import timezone

from fdegym.pages.debrief import cell
from fdegym.pages.outcomes import steps_of
from fdegym.runs import log
from grading.models import Grade, Submission
from tests.site.conftest import BAKERY, NOON, OTHER_TASK

HTMX = {"HTTP_HX_REQUEST": "true"}
CRASH = """secret row
Traceback (most recent call last):
  File "/workspace/system/shop.py", line 7, in <module>
    {}["secret row"]
KeyError: 'secret row'
"""
INCIDENT = {
    "id": "shop_left_empty",
    "title": "A shop opened without bread",
    "meaning": "The shop turned its first customers away.",
    "detail": "Shop 17 on 3 March <b>twice</b>.",
    "count": 2,
    "source": "replay",
}


def page(browser, name, *args, **query):
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return answer.content.decode()


# ---- my runs ---------------------------------------------------------------------------------------------------------


def test_my_runs_show_state_score_and_what_they_count_as(alice, visit, graded, submitted, runs_at_bakery):
    graded(alice, kpi=300.0)
    submitted(alice)
    runs_at_bakery(alice)
    html = page(visit(alice), "runs")
    for words in ("graded, resolved", "being graded", "open", "+0.88", "ranked", "informed", "1 h 00 min"):
        assert words in html


def test_my_runs_are_mine_alone(alice, bob, visit, graded):
    run = graded(alice)
    assert str(run.id) not in page(visit(bob), "runs")
    assert "No run yet" in page(visit(bob), "runs")


def test_a_run_of_a_scenario_that_was_withdrawn_stays_in_the_list(alice, visit, graded, settings, tmp_path):
    graded(alice)
    settings.SCENARIO_DIRS = [tmp_path]
    assert BAKERY in page(visit(alice), "runs")


def test_the_list_takes_a_fixed_number_of_queries(alice, visit, graded, django_assert_max_num_queries):
    for _ in range(12):
        graded(alice)
    browser = visit(alice)
    with django_assert_max_num_queries(5):
        page(browser, "runs")


# ---- grading ---------------------------------------------------------------------------------------------------------


def test_who_waits_sees_their_place_and_that_they_may_leave(alice, bob, visit, submitted):
    """FC-89."""
    submitted(bob)
    html = page(visit(alice), "grading", submitted(alice).id)
    assert "place 2" in html
    assert "You may leave this page" in html
    assert 'hx-trigger="every 2s"' in html
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in html


def test_the_steps_show_what_is_done_at_work_and_ahead(alice, visit, submitted):
    progress = {"step": "replay", "done": 312, "total": 831, "what": "morning of <14> April"}
    run = submitted(alice, progress=progress, submission_state="grading")
    html = page(visit(alice), "grading", run.id)
    assert "312 of 831" in html
    assert "morning of &lt;14&gt; April" in html
    assert 'max="100" value="38"' in html
    steps, _ = steps_of(run.submission)
    assert [step.state for step in steps] == ["done", "done", "done", "now", "ahead"]


def test_where_both_ends_are_measured_first_their_order_is_told(alice, visit, submitted):
    """The count begins again with the second of them."""
    run = submitted(alice, progress={"step": "anchors", "done": 56, "total": 156}, submission_state="grading")
    html = page(visit(alice), "grading", run.id)
    assert (
        "First the system as found, then the reference, each counted from the start; once per task and release" in html
    )
    assert "56 of 156" in html


@pytest.mark.parametrize("progress", [{}, {"step": "dancing"}, {"step": None, "done": None, "total": None}])
def test_a_step_the_page_does_not_know_breaks_nothing(alice, visit, submitted, progress):
    html = page(visit(alice), "grading", submitted(alice, progress=progress).id)
    assert "In the queue" in html


def test_htmx_gets_the_moving_part_alone_and_is_sent_to_the_debrief_in_the_end(alice, visit, submitted, graded):
    browser = visit(alice)
    part = browser.get(reverse("grading", args=[submitted(alice).id]), **HTMX).content.decode()
    assert part.lstrip().startswith('<div id="progress"')
    done = graded(alice)
    answer = browser.get(reverse("grading", args=[done.id]), **HTMX)
    assert answer.headers["HX-Redirect"] == reverse("debrief", args=[done.id])
    assert browser.get(reverse("grading", args=[done.id])).headers["Location"] == reverse("debrief", args=[done.id])


def test_a_session_that_ends_while_waiting_leads_to_sign_in_and_back(alice, visit, submitted):
    """FC-38: the poll neither goes on for ever nor puts a sign-in form into the page."""
    address = reverse("grading", args=[submitted(alice).id])
    answer = visit(None).get(address, **HTMX)
    assert answer.headers["HX-Redirect"] == f"{reverse('account_login')}?next={address.replace('/', '%2F')}"
    assert answer.content == b""


def test_a_wait_that_is_too_long_says_why(alice, visit, submitted):
    """FC-89."""
    run = submitted(alice)
    Submission.objects.filter(run=run).update(created_at=timezone.now() - timedelta(minutes=11))
    assert "no grader has taken it yet" in page(visit(alice), "grading", run.id)
    Submission.objects.filter(run=run).update(attempts=2)
    assert "at try 2 of 3" in page(visit(alice), "grading", run.id)


def test_a_void_run_is_our_fault_and_no_score(alice, visit, submitted):
    """FC-98."""
    run = submitted(alice, state="void", submission_state="void", void_reason="The host ran out of disk.")
    html = page(visit(alice), "grading", run.id)
    assert "The host ran out of disk. This is not your score and counts nowhere." in html
    assert "hx-get" not in html


def test_a_run_that_is_not_handed_in_has_no_grading(alice, visit, runs_at_bakery):
    run = runs_at_bakery(alice)
    assert visit(alice).get(reverse("grading", args=[run.id])).headers["Location"] == reverse("run", args=[run.id])


# ---- debrief ---------------------------------------------------------------------------------------------------------


def full_grade():
    return {
        "period": "52 weeks",
        "breakdown": [
            {
                "kind": "series",
                "title": "Loaves returned by week",
                "unit": "loaves",
                "x": ["w1", "w2", "w3"],
                "series": [
                    {"name": "yours", "values": [300, 310.5, None]},
                    {"name": "as found", "values": [900, 905, 910]},
                ],
            },
            {
                "kind": "facts",
                "title": "In all",
                "items": [["Shops <i>", 41], ["in ALL", 7], ["Returned", -1234.5], ["Worst", None]],
            },
            {
                "kind": "table",
                "title": "By reason",
                "columns": ["Reason", "Loaves"],
                "rows": [["late", 12], ["stale", -3]],
            },
            {"kind": "unheard of", "title": "ignored"},
        ],
        "key_facts": [
            {
                "id": "F1",
                "title": "When orders close",
                "text": "At 19:00.",
                "released": True,
                "visible_in": ["docs/ordering.md"],
            },
            {
                "id": "F2",
                "title": "Who may change",
                "text": "The night lead.",
                "released": False,
                "visible_in": ["docs/plan.md"],
            },
        ],
        "contacts": {
            "people": {"hale": {"contacts": 2, "cost": "0.02"}, "brandt": {"contacts": 1, "cost": "0"}},
            "waiting": "0.008",
        },
        "replay": {
            "calls": 365,
            "cpu_s": 12.0,
            "wall_s": 20.0,
            "failures": {"order": {"calls": 365, "failures": {"exit": 3}, "first": {"stderr": CRASH}}},
        },
        "environment": {"python": "3.11.2", "sandbox": "bubblewrap"},
    }


@pytest.fixture
def told(graded, alice):
    """A graded run with a conversation in its log."""
    run = graded(alice, cost="0.028", grade=full_grade())
    message = {
        "client_id": "1",
        "person": "hale",
        "text": "When do orders close? <b>",
        "answer": "At seven.",
        "kind": "answered",
        "facts": ["F1"],
        "grants": [],
        "misconceptions": [],
        "charge": "0.01",
        "before": "2026-10-05T08:00",
        "after": "2026-10-05T08:45",
    }
    log.append(run.id, "run.begun", {"level": "L3"})
    log.append(run.id, "contact.message", message)
    wrong = {"client_id": "2", "kind": "gate_miss", "facts": [], "misconceptions": ["hale/scope"], "text": "And why?"}
    log.append(run.id, "contact.message", message | wrong)
    log.append(
        run.id,
        "contact.message",
        message | {"client_id": "3", "person": "brandt", "kind": "silent", "answer": None, "charge": "0", "facts": []},
    )
    log.append(
        run.id,
        "contact.wait",
        {"client_id": "4", "before": "2026-10-05T09:00", "after": "2026-10-06T09:30", "charge": "0.008"},
    )
    return run


def test_the_debrief_begins_with_the_score_and_says_why(told, alice, visit):
    html = page(visit(alice), "debrief", told.id)
    assert html.index("+0.88") < html.index("Why this score") < html.index("Timeline")
    for words in (
        "Loaves returned went from 900\u202floaves/day as found to 300\u202floaves/day; the reference reaches 240",
        "lower is better",
        "52 weeks",
        "−0.028",
        "✓ resolved",
    ):
        assert words.lower() in html.lower()


def test_the_debrief_shows_incidents_and_that_nothing_gained_counts(alice, visit, graded):
    html = page(visit(alice), "debrief", graded(alice, incidents=[INCIDENT]).id)
    for words in (
        "A shop opened without bread",
        "2 times",
        "turned its first customers away",
        "nothing that was gained counts",
    ):
        assert words in html
    assert "&lt;b&gt;twice" in html
    assert "−0.91" in html  # what the incident took: all of U


def test_the_debrief_draws_and_lists_the_breakdown(told, alice, visit):
    html = page(visit(alice), "debrief", told.id)
    assert '<path class="series" d="M0 ' in html
    assert '<path class="baseline"' in html
    assert "310.50" in html
    assert "Shops &lt;i&gt;" in html
    assert "−1,234.50" in html
    assert '<td class="num">−3</td>' in html
    assert "<dt>in all</dt><dd>7</dd>" in html  # "In all: in ALL" says nothing twice
    assert "ignored" not in html


@pytest.mark.parametrize("text", ["229.05 h", "-1,204", "-12 %", "3.5", "8kEUR"])
def test_a_figure_with_its_unit_is_set_as_a_figure(text):
    assert cell(text)["numeric"]
    assert "-" not in cell(text)["text"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1197", "1,197"),
        ("-12345.5 h", "−12,345.5 h"),
        ("1197, 3 failed", "1,197, 3 failed"),
        ("1197 of 8760", "1,197 of 8,760"),
        ("8,760 h", "8,760 h"),
    ],
)
def test_thousands_are_grouped_in_what_graders_wrote_as_text(text, shown):
    assert cell(text)["text"] == shown


@pytest.mark.parametrize(
    "text", ["2026-11-24 19:30", "5 October 2026", "Nov 2026", "HD-11", "8 of 78", "10 sample lines", "", "1.2.3", "-"]
)
def test_a_text_that_is_no_figure_stays_as_it_is(text):
    assert cell(text) == {"text": text, "numeric": False}


def test_every_contact_stands_there_with_its_charge_and_what_it_brought(told, alice, visit):
    html = page(visit(alice), "debrief", told.id)
    for words in (
        "When do orders close? &lt;b&gt;",
        "At seven.",
        "−0.01",
        "Told: When orders close.",
        "Not opened: this person wanted to be shown something first.",
        "Believes this sincerely, and is wrong.",
        "No reply: this person’s patience was over.",
        "Until Tue 6 Oct, 09:30.",
        "Mon 5 Oct, 08:00",
    ):
        assert words in html


def test_a_fact_that_nobody_told_is_never_called_missed(told, alice, visit):
    html = page(visit(alice), "debrief", told.id)
    assert "By Imogen Hale" in html
    assert "not told to you" in html
    assert "Nobody told you; visible in docs/plan.md." in html
    assert "not asked" not in html.lower()
    assert "missed" not in html.lower()


def test_a_fact_that_was_asked_for_and_not_told_says_so_with_the_persons_words(told, alice, visit, monkeypatch):
    from types import SimpleNamespace

    topic = SimpleNamespace(facts=["F1", "F2"], gate_miss="Show me <the plan> first.", needs_miss=None)
    script = SimpleNamespace(topics=lambda: [("hale/changes", None, topic)])
    monkeypatch.setattr("fdegym.pages.debrief.script_played", lambda run, scenario: script)
    part = {"topic": "hale/changes", "text": "Who may change?", "result": "gate_miss"}
    asked = {"client_id": "9", "person": "hale", "kind": "gate_miss", "parts": [part], "before": "2026-10-06T10:00"}
    log.append(told.id, "contact.message", asked)
    html = page(visit(alice), "debrief", told.id)
    assert "Asked, and not told: Imogen Hale, Tue 6 Oct, 10:00, said" in html
    assert html.count("Show me &lt;the plan&gt; first.") == 1  # F1 was told: what was said before no longer matters
    assert "Visible in docs/plan.md." in html
    assert "Nobody told you" not in html


def test_letters_stand_in_the_debrief_with_sender_day_and_text_read_or_not(told, alice, visit):
    for key, sender, text, carries in (
        ("plan", "brandt", "The <ovens> stop at four.", []),
        ("lead", "hale", "Write to the night lead.", ["F2"]),
    ):
        letter = {"id": key, "sender": sender, "text": text, "at": "2026-10-06T07:15", "carries": carries}
        log.append(told.id, "contact.inbox", letter)
    log.append(told.id, "contact.inbox_read", {"id": "plan", "sender": "brandt", "facts": [], "at": "2026-10-06T09:40"})
    html = page(visit(alice), "debrief", told.id)
    assert "The &lt;ovens&gt; stop at four." in html
    assert "Came unasked; read Tue 6 Oct, 09:40. Free of charge." in html
    assert "Write to the night lead." in html
    assert "Came unasked and was not read. Free of charge." in html
    assert '<strong>Jonas Brandt</strong> <span class="muted small">Tue 6 Oct, 07:15</span>' in html
    assert "a message that came unasked and was not read: Imogen Hale, Tue 6 Oct, 07:15." in html


def test_failed_calls_show_where_the_delivered_code_ended_and_nothing_it_printed(told, alice, visit):
    html = page(visit(alice), "debrief", told.id)
    assert "3 × ended with an error (of 365 calls)" in html
    assert "the first at <code>system/shop.py, line 7: KeyError</code>" in html
    assert "secret row" not in html


def test_the_debrief_names_the_task_and_how_it_differs(alice, visit, graded):
    html = page(visit(alice), "debrief", graded(alice, task_id=OTHER_TASK).id)
    assert "frozen_dough" in html
    assert "The night lead is gone" in html


def test_a_grade_with_nothing_but_figures_still_has_a_debrief(alice, visit, graded):
    html = page(visit(alice), "debrief", graded(alice).id)
    assert "Nobody was asked" in html


def test_a_random_delivery_is_called_random(alice, visit, graded):
    run = graded(alice)
    first = Grade.objects.get(submission__run=run)
    first.pk, first.number, first.differs = None, 2, True
    first._state.adding = True
    first.save()
    assert "it is random" in page(visit(alice), "debrief", run.id)


def test_a_run_without_a_grade_has_no_debrief(alice, visit, submitted):
    run = submitted(alice)
    assert visit(alice).get(reverse("debrief", args=[run.id])).headers["Location"] == reverse("run", args=[run.id])


# ---- exports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_exported_times_are_iso_8601_with_the_offset_of_the_page(alice, visit, graded, zone):
    """FC-116."""
    alice.time_zone = zone
    alice.save()
    graded(alice)
    (row,) = csv.DictReader(io.StringIO(page(visit(alice), "profile-export-csv")))
    (record,) = json.loads(page(visit(alice), "profile-export-json"))["runs"]
    assert row["begun_at"] == record["begun_at"]
    begun = datetime.fromisoformat(row["begun_at"])
    assert begun == NOON
    assert begun.utcoffset() == NOON.astimezone(ZoneInfo(zone)).utcoffset()
    assert (row["score"], record["score"], record["time_used_s"]) == ("0.879091", "0.879091", 3600)


def test_the_score_can_be_recomputed_from_the_export_alone(told, alice, visit):
    from grading.score import score_run, uplift

    grade = json.loads(page(visit(alice), "run-export", told.id))["grade"]
    gained = uplift(grade["kpi"], grade["kpi_baseline"], grade["kpi_reference"])
    counted = score_run(gained, contact_cost=Decimal(grade["contact_cost"]), incident=bool(grade["incidents"]))
    assert str(counted.score) == grade["score"]
    assert counted.resolved == grade["resolved"]


def test_the_exported_log_is_a_chain_that_a_stranger_can_check(told, alice, visit):
    import hashlib

    record = json.loads(page(visit(alice), "run-export", told.id))
    run = record["run"]
    link = hashlib.sha256(f"fdegym run log 1\n{run['id']}\n{run['release']}".encode()).hexdigest()
    for event in record["log"]:
        body = {key: event[key] for key in ("seq", "kind", "payload", "at")}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        link = hashlib.sha256(link.encode() + text.encode()).hexdigest()
        assert link == event["hash"]
    assert link == record["head"]
    assert log.signature_fits(told, record["head"], record["signature"])


@pytest.mark.parametrize("state", ["open", "submitted", "void"])
def test_a_run_is_exported_only_after_its_debrief_may_be_read(alice, visit, runs_at_bakery, submitted, state):
    run = runs_at_bakery(alice) if state == "open" else submitted(alice, state=state)
    answer = visit(alice).get(reverse("run-export", args=[run.id]))
    assert answer.status_code == 409
    assert "once it is graded" in answer.content.decode()


# ---- giving up -------------------------------------------------------------------------------------------------------


def test_giving_up_is_asked_for_once_more_and_then_final(alice, visit, runs_at_bakery, monkeypatch):
    ended = []
    monkeypatch.setattr("fdegym.pages.outcomes.abandon_run", ended.append)
    run = runs_at_bakery(alice)
    browser = visit(alice)
    assert "graded as it stands now" in page(browser, "run-give-up", run.id)
    assert ended == []
    answer = browser.post(reverse("run-give-up", args=[run.id]))
    assert ended == [run.id]
    assert answer.headers["Location"] == reverse("grading", args=[run.id])


def test_what_is_handed_in_cannot_be_given_up(alice, visit, submitted, monkeypatch):
    monkeypatch.setattr("fdegym.pages.outcomes.abandon_run", lambda _: pytest.fail("given up"))
    run = submitted(alice)
    assert visit(alice).post(reverse("run-give-up", args=[run.id])).headers["Location"] == reverse("run", args=[run.id])
