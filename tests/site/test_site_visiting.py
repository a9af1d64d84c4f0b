"""Home, the catalogue, a scenario's page, beginning, method and help."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.urls import reverse

from fdegym.catalog.scenarios import for_visitors, get_scenario
from fdegym.middleware import WordsForErrorsMiddleware
from fdegym.pages import news
from fdegym.pages.customer import directory, sponsors_request
from fdegym.pages.templatetags.figures import plain, signed
from fdegym.runs.models import Run
from grading.anchors import read_anchors
from scenarios.kit.errors import Problem, ScenarioInvalid, ScenarioUnknown, TaskUnknown
from tests.site.conftest import BAKERY

HERE = Path(__file__).parent


def page(browser, name, *args, **query):
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_home_leads_to_a_first_run_and_to_what_is_open(alice, visit, runs_at_bakery):
    begin = f'href="{reverse("scenario", args=[BAKERY])}"'
    assert begin in page(visit(None), "home")
    run = runs_at_bakery(alice)
    html = page(visit(alice), "home")
    assert "Ostermann Bakeries, L3, begun" in html
    assert reverse("run", args=[run.id]) in html


def test_what_is_new_is_the_latest_part_of_the_changelog_and_cannot_carry_markup(settings, tmp_path, visit, db):
    settings.ROOT = tmp_path
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 2.0\n\n- Newest <script>x</script>\n\n## 1.0\n\n- Oldest\n")
    html = page(visit(None), "home")
    assert "<h3>2.0</h3>" in html
    assert "Newest" in html
    assert "Oldest" not in html
    assert "<script>x" not in html


def test_home_stands_without_a_changelog_and_without_scenarios(settings, tmp_path, visit, db):
    settings.ROOT, settings.SCENARIO_DIRS = tmp_path, [tmp_path]
    assert news.latest_news() is None
    page(visit(None), "home")
    assert "No scenario is installed" in page(visit(None), "scenarios")


def test_the_catalogue_shows_customer_stake_engineering_and_how_first_runs_went(visit, db):
    html = page(visit(None), "scenarios")
    for words in ("Ostermann Bakeries", "Food", "Loaves returned", "Forecasting by shop", "none yet"):
        assert words in html


def test_the_catalogue_filters_on_the_server_too(visit, db):
    html = page(visit(None), "scenarios", find="BREAD food")
    assert "<tr hidden>" not in html
    assert 'id="none-found" hidden' in html
    html = page(visit(None), "scenarios", find="bread rigs")
    assert "<tr hidden>" in html
    assert 'id="none-found">' in html


def test_what_was_searched_for_is_escaped(visit, db):
    html = page(visit(None), "scenarios", find='"><script>alert(1)</script>')
    assert "<script>alert" not in html


def test_the_catalogue_says_what_i_tried_and_solved(alice, visit, graded, runs_at_bakery):
    assert "not tried" in page(visit(alice), "scenarios")
    graded(alice, kpi=800.0)
    assert "tried 1×" in page(visit(alice), "scenarios")
    graded(alice, kpi=240.0)
    assert "✓ resolved" in page(visit(alice), "scenarios")


def test_the_scenario_page_shows_customer_request_people_levels_and_rules(visit, alice):
    html = page(visit(alice), "scenario", BAKERY)
    for words in (
        "raise every order by a tenth",
        "Imogen Hale",
        "Jonas Brandt",
        "sleeps until two",
        "The task is drawn",
    ):
        assert words in html
    for level in ("L0", "L1", "L2", "L3"):
        assert f'value="{level}"' in html


def test_a_person_whose_line_depends_on_what_is_true_is_left_to_the_workspace(visit, db):
    html = page(visit(None), "scenario", BAKERY)
    assert "Okoye" not in html
    assert "cutoff_hour" not in html


def test_a_request_that_differs_between_tasks_is_not_shown_at_all(settings, tmp_path, visit, db):
    shutil.copytree(HERE / "scenarios", tmp_path / "scenarios")
    own = tmp_path / "scenarios" / BAKERY / "briefs" / "frozen_dough"
    own.mkdir()
    (own / "L3.md").write_text("Something else.")
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    html = page(visit(None), "scenario", BAKERY)
    assert "raise every order" not in html
    assert "Something else" not in html


@pytest.mark.parametrize("sleeper", ["{{ 7 * 6 }}", "{% if sponsor is not defined %}at a visit{% endif %}", "{# x #}"])
def test_no_template_of_a_scenario_is_run_by_a_visit(sleeper, settings, tmp_path, visit, db):
    """What passed where worlds are built could do something else here, without limits, and to everybody."""
    shutil.copytree(HERE / "scenarios", tmp_path / "scenarios")
    folder = tmp_path / "scenarios" / BAKERY
    (folder / "briefs" / "L3.md").write_text(f"Raise every order. {sleeper}")
    people = folder / "stakeholders.toml"
    people.write_text(people.read_text().replace('role = "', f'role = "{sleeper} ', 1))
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    assert sponsors_request(get_scenario(BAKERY)) is None
    assert "hale" not in [person.id for person in directory(get_scenario(BAKERY))]
    page(visit(None), "scenario", BAKERY)


def test_a_broken_directory_or_brief_takes_nothing_else_down(settings, tmp_path, visit, db):
    shutil.copytree(HERE / "scenarios", tmp_path / "scenarios")
    folder = tmp_path / "scenarios" / BAKERY
    (folder / "stakeholders.toml").write_text("[[stakeholders")
    (folder / "briefs" / "L3.md").unlink()
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    assert "The directory is in the workspace" in page(visit(None), "scenario", BAKERY)


def test_a_scenario_text_cannot_carry_markup(settings, tmp_path, visit, db):
    shutil.copytree(HERE / "scenarios", tmp_path / "scenarios")
    brief = tmp_path / "scenarios" / BAKERY / "briefs" / "L3.md"
    brief.write_text("<script>alert(1)</script> [x](javascript:alert(1)) **bold**")
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    html = page(visit(None), "scenario", BAKERY)
    assert "<strong>bold</strong>" in html
    assert "<script>alert" not in html
    assert 'href="javascript' not in html


def test_a_draft_is_not_on_offer(settings, tmp_path, visit, alice):
    shutil.copytree(HERE / "scenarios", tmp_path / "scenarios")
    manifest = tmp_path / "scenarios" / BAKERY / "scenario.toml"
    manifest.write_text(manifest.read_text().replace('sponsor = "hale"', 'sponsor = "hale"\nstatus = "draft"'))
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    assert visit(alice).get(reverse("scenario", args=[BAKERY])).status_code == 404
    assert visit(alice).post(reverse("scenario-begin", args=[BAKERY]), {"level": "L3"}).status_code == 404


@pytest.fixture
def private_folders(settings, tmp_path):
    """Scenarios that nobody is told of: a draft, and two that cannot be loaded."""
    for name in ("secret_draft", "secret_broken", "secret_renamed"):
        shutil.copytree(HERE / "scenarios" / BAKERY, tmp_path / "private" / name)
    for name in ("secret_draft", "secret_broken"):
        manifest = tmp_path / "private" / name / "scenario.toml"
        text = manifest.read_text().replace(f'id = "{BAKERY}"', f'id = "{name}"')
        manifest.write_text(text.replace('sponsor = "hale"', 'sponsor = "hale"\nstatus = "draft"'))
    (tmp_path / "private" / "secret_broken" / "facts.toml").write_text("merger_partner = ")
    settings.SCENARIO_DIRS = [*settings.SCENARIO_DIRS, tmp_path / "private"]


@pytest.mark.parametrize("address", ["scenario", "scenario-begin", "leaderboard-scenario"])
def test_whoever_asks_for_a_scenario_cannot_tell_which_exist_beside_those_on_offer(
    address, visit, alice, private_folders
):
    def told(browser, scenario_id, accept):
        ask = browser.post if address == "scenario-begin" else browser.get
        answer = ask(reverse(address, args=[scenario_id]), headers={"accept": accept})
        words = answer.content.decode().rpartition("<main")[2].partition("</main>")[0]
        return answer.status_code, words.replace(scenario_id, "…")

    for browser in (visit(None), visit(alice)):
        for accept in ("text/html", "application/json"):
            unknown = told(browser, "nobodys", accept)
            assert "secret" not in unknown[1]
            for name in ("secret_draft", "secret_broken", "secret_renamed"):
                assert told(browser, name, accept) == unknown


@pytest.mark.parametrize(
    "problem",
    [
        ScenarioInvalid("secret_bank", [Problem("facts.toml", "secret_fact", "secret words")]),
        ScenarioUnknown("There is no scenario 'x'; there are: secret_bank."),
        TaskUnknown("Scenario secret_bank has no task 'x'; it has secret_task."),
    ],
)
def test_what_authors_are_told_of_a_scenario_reaches_no_page(problem, rf):
    middleware = WordsForErrorsMiddleware(lambda _request: HttpResponse())
    answer = middleware.process_exception(rf.get("/", headers={"accept": "application/json"}), problem)
    assert answer is not None
    assert answer.status_code == 404
    assert "secret" not in answer.content.decode()
    assert "secret" not in str(for_visitors(problem))


def test_beginning_leads_to_the_run(alice, visit, make_run, monkeypatch):
    begun = []

    def begin(user, scenario_id, level):
        begun.append((user, scenario_id, level))
        return make_run(user, scenario_id, level=level)

    monkeypatch.setattr("fdegym.pages.visiting.begin_run", begin)
    answer = visit(alice).post(reverse("scenario-begin", args=[BAKERY]), {"level": "L2"})
    assert begun == [(alice, BAKERY, "L2")]
    assert answer.headers["Location"] == reverse("run", args=[Run.objects.get().id])


def test_beginning_with_an_open_run_goes_on_with_it_whatever_the_level(alice, visit, runs_at_bakery, monkeypatch):
    """FC-85: pressing begin twice, or in two tabs, is beginning once."""
    monkeypatch.setattr("fdegym.pages.visiting.begin_run", lambda *_: pytest.fail("a second run was begun"))
    run = runs_at_bakery(alice)
    answer = visit(alice).post(reverse("scenario-begin", args=[BAKERY]), {"level": "L0"})
    assert answer.headers["Location"] == reverse("run", args=[run.id])


@pytest.mark.parametrize("level", ["", "L9", "original", "L3 "])
def test_a_level_that_is_not_offered_is_refused_in_words(alice, visit, level):
    answer = visit(alice).post(reverse("scenario-begin", args=[BAKERY]), {"level": level})
    assert answer.status_code == 400
    assert "is offered at L0, L1, L2, L3" in answer.content.decode()
    assert not Run.objects.exists()


def test_the_methods_example_is_what_deliveries_came_to_at_admission(settings, visit, db):
    settings.SCENARIO_DIRS = [settings.ROOT / "scenarios"]
    folder = settings.ROOT / "scenarios" / "first_delivery"
    anchors = read_anchors((folder / "anchors.json").read_text()).tasks["original"]
    html = page(visit(None), "method")
    assert plain(anchors.kpi_baseline) in html
    for name in ("do_nothing", "literal", "kiosks_only", "reference"):
        figures = anchors.solutions[name]
        (row,) = (row for row in html.split("<tr>") if plain(figures.kpi) in row.partition("</tr>")[0] and "<td" in row)
        assert signed(figures.uplift) in row, name
        if figures.score is not None:
            assert signed(figures.score) in row, name


def test_the_method_stands_where_nothing_was_admitted_to_show(visit, db):
    html = page(visit(None), "method")
    assert "A worked example" not in html
    assert "resolved:  S ≥ 0.8" in html
    assert "a thank-you that is acknowledged" in html  # small talk is charged, and that is said


def test_help_names_the_keys_that_leave_the_terminal(visit, db):
    """FC-124."""
    html = page(visit(None), "help")
    assert "<kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>←</kbd>" in html
    assert "screen-reader mode" in html
    assert "Reader button" in html


def test_an_unknown_address_is_answered_in_words(visit, db):
    answer = visit(None).get("/nothing/here/")
    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.content.decode()


@pytest.mark.parametrize(
    ("cookie", "zone"), [("America/New_York", "America/New_York"), ("Middle/Earth", "UTC"), ("", "UTC")]
)
def test_times_are_in_the_browsers_zone_until_the_profile_says_otherwise(alice, visit, graded, cookie, zone):
    graded(alice)
    browser = visit(alice)
    browser.cookies["tz"] = cookie
    html = page(browser, "runs")
    assert f"<span data-zone-name>{zone}</span>" in html
    assert '<time datetime="2026-10-05T12:00:00+00:00">' in html
    assert ("08:00</time>" in html) == (zone != "UTC")
    alice.time_zone = "Asia/Tokyo"
    alice.save()
    assert "21:00</time>" in page(browser, "runs")


def test_public_words_are_read_from_the_scenarios_own_files(settings):
    from fdegym.catalog.scenarios import get_scenario

    bakery = get_scenario(BAKERY)
    assert [person.id for person in directory(bakery)] == ["hale", "brandt"]
    assert [person.is_sponsor for person in directory(bakery)] == [True, False]
    assert "<strong>Please raise" in str(sponsors_request(bakery))
