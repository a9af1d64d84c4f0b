"""The same bytes and the same grade on another machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from fdegym.authoring.checks import determinism
from fdegym.authoring.checks.determinism import DETERMINISM, BroughtOtherwise, Recorded, Recording
from fdegym.authoring.checks.elsewhere import another_machine
from grading.replay import GradedReplay, PathObstructed

pytestmark = pytest.mark.sandbox
WORDS = '{"bread", "cheese", "eggs", "flowers", "honey", "jam", "leeks", "plums"}'


def test_another_machine_has_no_vector_units_and_other_hashes():
    asked = "import json, numpy; print(json.dumps([hash('x'), numpy.show_config(mode='dicts')['SIMD Extensions']]))"

    def tell(more):
        environment = {**os.environ, **more}
        done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, check=True)
        return json.loads(done.stdout)

    hashed, units = tell(another_machine())
    usual, usual_units = tell({"PYTHONHASHSEED": "0"})
    assert hashed != usual
    assert units.get("found", []) == []
    assert units["baseline"] == usual_units["baseline"]


def test_a_scenario_that_draws_from_its_streams_is_the_same_elsewhere(author):
    finding = author.check(DETERMINISM, "original")["original"]
    assert finding.passed, finding.words
    assert finding.figures == {"requests": 42, "files_differing": 0, "replay_differences": 0}


def test_a_world_that_writes_in_the_order_of_a_set_is_told_by_its_file(author):
    author.replace(
        "world.py",
        "    return BuildResult()",
        f'    (out / "data" / "goods.txt").write_text(" ".join({WORDS}))\n    return BuildResult()',
    )
    finding = author.check(DETERMINISM, "original")["original"]
    assert not finding.passed
    assert "the built world differs in meta.json, visible/data/goods.txt" in finding.words
    assert "sort what comes from sets" in finding.words


def test_production_in_the_order_of_a_set_is_caught_at_the_first_request_that_differs(author):
    author.append("world.py", f"\n\nGOODS = list({WORDS})\n")
    author.replace("grader.py", 'b"currency = EUR\\n"', '" ".join(GOODS).encode()')
    author.replace("grader.py", "import DAYS, Production, as_csv", "import DAYS, GOODS, Production, as_csv")
    finding = author.check(DETERMINISM, "original")["original"]
    assert not finding.passed
    assert "request 1, put state/config.txt, holds other bytes" in finding.words


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "Outcome(float(points), tuple(incidents)",
            'Outcome(points + GOODS.index("bread") / 7, tuple(incidents)',
            "the KPI is",
        ),
        ('"note": ""}', '"note": " ".join(GOODS)}', "the breakdown differs"),
        ('"ten days of spring"', '" ".join(GOODS)', "the period differs"),
    ],
)
def test_a_grade_that_hangs_on_the_order_of_a_set_is_told_by_its_part(author, old, new, words):
    author.append("world.py", f"\n\nGOODS = list({WORDS})\n")
    author.replace("grader.py", "import DAYS, Production, as_csv", "import DAYS, GOODS, Production, as_csv")
    author.replace("grader.py", old, new)
    finding = author.check(DETERMINISM, "original")["original"]
    assert not finding.passed
    assert words in finding.words


class Stub:
    """A deployment whose files cannot be brought once."""

    def put(self, path, data):
        if path == "blocked":
            raise PathObstructed("a folder stands there")

    def read(self, path, max_bytes):
        return b"what was read"


def test_what_passed_is_answered_again_and_nothing_else():
    recording = Recording(Stub())
    recording.put("a", b"1")
    with pytest.raises(PathObstructed):
        recording.put("blocked", b"2")
    assert recording.read("b", 10) == b"what was read"
    again = Recorded(recording.exchanges)
    again.put("a", b"1")
    with pytest.raises(PathObstructed):
        again.put("blocked", b"2")
    assert again.read("b", 10) == b"what was read"
    with pytest.raises(BroughtOtherwise, match="after the last of 3 requests"):
        again.read("b", 10)
    with pytest.raises(BroughtOtherwise, match="request 1 is put c and was put a"):
        Recorded(recording.exchanges).put("c", b"1")
    with pytest.raises(BroughtOtherwise, match="request 1, put a, holds other bytes"):
        Recorded(recording.exchanges).put("a", b"2")


def test_grades_are_compared_to_the_last_digit():
    one = GradedReplay(0.1 + 0.2, (), (), "", 1.0, 1.0, 1)
    other = GradedReplay(0.3, (), (), "", 2.0, 2.0, 1)
    assert determinism.grade_differences(one, other) == ["the KPI is 0.3 and was 0.30000000000000004"]
    assert determinism.grade_differences(one, one) == []
