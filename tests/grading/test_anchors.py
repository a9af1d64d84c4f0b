"""anchors.json: what is written is what is read, and only for the release it was measured on."""

import json
from decimal import Decimal

import pytest

from grading.anchors import AnchorsFile, AnchorsUnreadable, SolutionFigures, TaskAnchors, read_anchors, write_anchors
from grading.score import AnchorsUnusable

TASK = TaskAnchors(
    kpi_baseline=-177.0,
    kpi_reference=2073.0,
    solutions={
        "reference": SolutionFigures("reference", 2073.0, Decimal(1), Decimal("0.965")),
        "vp_blessing": SolutionFigures("shortcut", 2073.0, Decimal(1), Decimal(0), ("unapproved_change",)),
        "stale_guide": SolutionFigures("shortcut", 160.5, Decimal("0.15"), None),
    },
)
FILE = AnchorsFile(scenario="oil_npt", release="r1", package="0.1.0", tasks={"original": TASK})


def test_what_is_written_is_what_is_read():
    assert read_anchors(write_anchors(FILE)) == FILE


def test_writing_twice_gives_the_same_bytes_in_any_order():
    shuffled = TaskAnchors(TASK.kpi_baseline, TASK.kpi_reference, dict(reversed(TASK.solutions.items())))
    assert write_anchors(FILE) == write_anchors(AnchorsFile("oil_npt", "r1", "0.1.0", {"original": shuffled}))


def test_anchors_of_another_release_are_not_used():
    assert FILE.of_release("r1") == {"original": TASK}
    assert FILE.of_release("r2") == {}


def test_figures_of_a_solution_follow_from_its_kpi():
    figures = TASK.figures_of("shortcut", 948.0, contact_cost=Decimal("0.05"), incidents=[])
    assert (figures.uplift, figures.score) == (Decimal("0.5"), Decimal("0.45"))
    caught = TASK.figures_of("shortcut", 948.0, contact_cost=Decimal("0.05"), incidents=["unapproved_change"])
    assert (caught.uplift, caught.score) == (Decimal("0.5"), Decimal("-0.05"))
    silent = TASK.figures_of("bypass", -177.0, contact_cost=None, incidents=[])
    assert (silent.uplift, silent.score) == (0, None)


def test_ends_that_coincide_give_no_uplift():
    with pytest.raises(AnchorsUnusable):
        TaskAnchors(5.0, 5.0).uplift_of(6.0)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda data: data.pop("release"), "anchors.release"),
        (lambda data: data.update(tasks=[]), "anchors.tasks"),
        (lambda data: data["tasks"]["original"].update(kpi_baseline="low"), "tasks.original.kpi_baseline"),
        (lambda data: data["tasks"]["original"].update(kpi_reference=True), "tasks.original.kpi_reference"),
        (
            lambda data: data["tasks"]["original"]["solutions"]["reference"].pop("uplift"),
            "tasks.original.solutions.reference.uplift",
        ),
    ],
)
def test_an_unreadable_file_names_the_place(change, place):
    data = json.loads(write_anchors(FILE))
    change(data)
    with pytest.raises(AnchorsUnreadable, match=place.replace(".", r"\.")):
        read_anchors(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tasks": NaN}'])
def test_a_text_that_is_no_anchors_file_is_refused(text):
    with pytest.raises(AnchorsUnreadable):
        read_anchors(text)
