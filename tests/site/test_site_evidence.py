"""The evidence section of a scenario's page, and the report that says the same as Markdown and CSV."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from datetime import date
from pathlib import Path

import pytest
from django.urls import reverse

from grading.anchors import AnchorsFile, TaskAnchors, write_anchors
from grading.evidence import Bound, Evidence, Held
from scenarios.kit.load import load_scenario
from tests.site.conftest import BAKERY

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "ops"))
import evidence as report  # noqa: E402

FOUND = Evidence(
    date(2026, 11, 30),
    2,
    (Held("The reference delivery reaches 0.95", 2, 2), Held("Doing nothing scores 0 exactly", 1, 2)),
    {"shortcuts": 9, "attempts to cheat": 4},
    (
        Held("The span exceeds 10 times its deviation", 2, 2),
        Held("Nothing visible names an answer", 2, 2),
        Held("Ways to break out, withstood", 39, 40),
    ),
    (Bound("gates right", 0.981, 52, least=0.97), Bound("answered though fishing", 0.02, 50, most=0.05)),
)


@pytest.fixture
def bakery(settings, tmp_path: Path) -> Path:
    shutil.copytree(HERE / "scenarios", tmp_path / "scenarios")
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    folder: Path = tmp_path / "scenarios" / BAKERY
    (folder / "SOURCES.md").write_text(
        "# What it rests on\n\n## Sources\n\nBread law.\n\n## Figures\n\nThe frozen one.\n"
    )
    return folder


def admit(folder: Path, release: str = "", **changes) -> AnchorsFile:
    scenario = load_scenario(folder)
    tasks = {"frozen_dough": TaskAnchors(1234.5, 10.0)}
    anchors = AnchorsFile(BAKERY, release or scenario.release, "0.1.0", tasks, FOUND)
    (folder / "anchors.json").write_text(write_anchors(anchors))
    return anchors


def page(visit, who=None) -> str:
    answer = visit(who).get(reverse("scenario", args=[BAKERY]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_anybody_reads_what_was_demanded_and_on_how_many_tasks_it_holds(bakery, visit, db):
    admit(bakery)
    html = page(visit)
    for words in (
        "30 November 2026",
        "2 of 2 tasks",
        "1 of 2 tasks",
        "39 of 40",
        "Also played: 9 shortcuts",
        "Gates right",
        "0.981",
    ):
        assert words in html
    assert html.count("The span is how far the reference moves") == 1


def test_no_task_and_no_figure_of_a_task_is_on_the_page(bakery, visit, db, alice):
    admit(bakery)
    for who in (None, alice):
        html = page(visit, who)
        assert "frozen_dough" not in html
        assert "1,234" not in html
        assert "1234" not in html


def test_evidence_of_an_earlier_release_is_not_shown_for_this_one(bakery, visit, db):
    admit(bakery, release="0" * 64)
    html = page(visit)
    assert "Not admitted in this release" in html
    assert "9 shortcuts" not in html


def test_anchors_that_cannot_be_read_take_nothing_else_down(bakery, visit, db):
    (bakery / "anchors.json").write_text('{"evidence": 3')
    assert "Not admitted in this release" in page(visit)


def test_only_the_public_sources_are_shown(bakery, visit, db):
    html = page(visit)
    assert "Bread law." in html
    assert "The frozen one." not in html


def test_who_signed_it_off_is_shown_and_for_which_release(bakery, visit, db):
    assert "No expert of the field has signed it off" in page(visit)
    manifest = bakery / "scenario.toml"
    release = load_scenario(bakery).release
    manifest.write_text(
        f'{manifest.read_text()}\n[signoff]\nby = "Ilse Brot"\non = 2026-11-29\nrelease = "{release}"\n'
    )
    assert "Signed off by Ilse Brot on 29 November 2026, for this release" in page(visit)
    (bakery / "docs").mkdir(exist_ok=True)
    (bakery / "docs" / "new.md").write_text("new")
    assert "for an earlier release" in page(visit)


def test_the_report_says_the_same_as_the_page(bakery, visit, db):
    anchors = admit(bakery)
    html, text = page(visit), report.as_markdown([anchors])
    lines = list(csv.DictReader(io.StringIO(report.as_csv([anchors]))))
    for one in (*FOUND.anchors, *FOUND.checks):
        assert one.what in html
        assert f"| {one.what} | {one.holds} of {one.of} |" in text
        assert [(row["value"], row["of"]) for row in lines if row["what"] == one.what] == [
            (str(one.holds), str(one.of))
        ]
    assert {row["admitted_on"] for row in lines} == {"2026-11-30"}
    assert "frozen_dough" not in text


def test_the_published_report_is_of_what_was_admitted():
    """If this fails: `python3 ops/evidence.py`, after the admission that changed it."""
    found = report.admitted(ROOT)
    assert (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8") == report.as_markdown(found)
    assert (ROOT / "docs" / "evidence.csv").read_text(encoding="utf-8") == report.as_csv(found)
