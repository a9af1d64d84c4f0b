"""Variants cannot be told apart without being read."""

from __future__ import annotations

import pytest

from fdegym.authoring.checks.shape import SHAPE, Shape, differences

pytestmark = pytest.mark.sandbox
BUILT = "    return BuildResult()"


def on_variant(author, line: str) -> None:
    """``world.build`` does this on the variant alone."""
    author.replace("world.py", BUILT, f'    if task.facts["returns"] == "ignore":\n        {line}\n{BUILT}')


def test_worlds_that_differ_in_what_is_true_alone_look_alike(author):
    for finding in author.check(SHAPE).values():
        assert finding.passed, finding.words


#: what the variant's world does → what is told
BROKEN = {
    '(out / "data" / "goods.csv").write_bytes(b"a\\n" * 101)': "data/goods.csv has 101 rows instead of 100",
    '(out / "data" / "day_3.csv").write_bytes(b"a\\n" + b"10\\n" * 8)': "data/day_#.csv has 81 rows instead of 80",
    '(out / "data" / "extra.csv").write_text("a")': "data/extra.csv is there and not on the original",
    '(out / "data" / "day_9.csv").unlink()': "data/day_9.csv is missing",
    '(out / "data" / "goods.csv").write_bytes(b"10000\\n" * 100)': "data/goods.csv has 600 bytes, +200.0% of the original",
    '(out / "system" / "README.md").write_text("x" * 218)': "system/README.md is the scenario's own file and yet",
}


@pytest.mark.parametrize("line", BROKEN)
def test_what_tells_a_variant_apart_is_told_by_file_and_amount(author, line):
    author.replace("world.py", BUILT, f'    (out / "data" / "goods.csv").write_bytes(b"a\\n" * 100)\n{BUILT}')
    on_variant(author, line)
    findings = author.check(SHAPE)
    assert findings["original"].passed
    assert not findings["kept"].passed
    assert BROKEN[line] in findings["kept"].words


def test_a_longer_document_is_told_in_per_cent(author):
    author.append(
        "docs/book.md", '\n{{ "Sold again, all of it, and so it stays." if returns == "ignore" else "Taken off." }}\n'
    )
    words = author.check(SHAPE)["kept"].words
    assert "docs/book.md has" in words
    assert "% of the original's" in words


def test_another_directory_and_other_people_are_told(author):
    author.append("directory.md", '\n{{ "b" if returns == "ignore" else "a" }}\n')
    author.replace("stakeholders.toml", "Runs the stall.", "Runs the {{ 'shop' if returns == 'ignore' else 'hall' }}.")
    words = author.check(SHAPE)["kept"].words
    assert "directory.md reads differently" in words
    assert "`ask --who` shows other people or other words" in words


def test_the_instruction_that_states_the_facts_may_be_as_long_as_they_are(author):
    author.append(
        "briefs/L0.md", '{% if returns == "ignore" %}' + "Returned goods are sold again. " * 9 + "{% endif %}"
    )
    assert author.check(SHAPE)["kept"].passed
    author.append("briefs/L1.md", '{% if returns == "ignore" %}' + "Something about goods. " * 9 + "{% endif %}")
    assert "TASK.md (L1) has" in author.check(SHAPE)["kept"].words


def test_a_length_that_moves_with_the_seed_tells_nothing_within_two_per_cent(author):
    """A table of drawn length on every task: its rows differ, and so they do between two seeds of the original."""
    drawn = 'rows = 1000 + int(streams.rng("length").integers(-8, 8))'
    author.replace(
        "world.py", BUILT, f'    {drawn}\n    (out / "data" / "log.csv").write_bytes(b"one\\n" * rows)\n{BUILT}'
    )
    assert author.check(SHAPE)["kept"].passed


def shape(**changes) -> Shape:
    plain = {"times": {"a": 0}, "sizes": {"a": 1000}, "rows": {"a": 1000}, "own": {}}
    return Shape(**{**plain, **changes})


@pytest.mark.parametrize(
    ("changes", "drawn", "words"),
    [
        ({}, frozenset(), []),
        ({"times": {"a": 60}}, frozenset(), ["a is dated +60 s from the original's"]),
        ({"sizes": {"a": 1020}}, frozenset(), []),
        ({"sizes": {"a": 979}}, frozenset(), ["a has 979 bytes, -2.1% of the original's 1000"]),
        ({"rows": {"a": 1001}}, frozenset(), ["a has 1001 rows instead of 1000"]),
        ({"rows": {"a": 1020}}, frozenset("a"), []),
        ({"rows": {"a": 1021}}, frozenset("a"), ["a has 1021 rows instead of 1000, more than 2% off"]),
    ],
)
def test_the_bounds_are_two_per_cent_where_anything_may_differ(changes, drawn, words):
    assert differences(shape(), shape(**changes), drawn) == words
