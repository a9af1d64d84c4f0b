"""What a player sees names no task, no hidden fact, no answer and no solution, wherever and however it is packed."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile

import pytest

from fdegym.authoring.checks.leaks import LEAKS
from fdegym.authoring.checks.shown import Passage, passages

pytestmark = pytest.mark.sandbox

VARIANT = """
[variants.sold_again]
angle = "rule_value"
differs = "Returned goods are sold again and stay in the total."
facts = { returns = "ignore", return_rule = "kept_on_shelf", days_open = 6 }
key_facts = []
"""
ANSWER = "Whatever comes back in the afternoon goes straight to my sister's kitchen."


@pytest.fixture
def stall(author):
    """The tiny scenario with a variant of two words, a fact that is a code, and somebody who must be asked."""
    author.write("facts.toml", (author.folder / "facts.toml").read_text().partition("[variants")[0] + VARIANT)
    author.replace(
        "facts.toml", 'returns = "subtract"', 'returns = "subtract"\nreturn_rule = "thrown_away"\ndays_open = 5'
    )
    topic = f'[[stakeholders.topics]]\nid = "returns"\nabout = "goods brought back"\nanswer = "{ANSWER}"\n'
    author.replace("stakeholders.toml", 'always = "Just make it right."', 'fallback = "Not now."')
    author.append("stakeholders.toml", topic)
    author.write("solutions/shortcuts/all_positive/solution.toml", 'why = "Forgets what came back."\n')
    return author


def database(*rows: str, deleted: str | None = None) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE note (text)")
    connection.executemany("INSERT INTO note VALUES (?)", [(row,) for row in rows])
    if deleted:
        connection.execute("INSERT INTO note VALUES (?)", (deleted,))
        connection.commit()
        connection.execute("DELETE FROM note WHERE text = ?", (deleted,))
    connection.commit()
    return connection.serialize()


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def test_a_clean_scenario_leaks_nothing(stall):
    for task, finding in stall.check(LEAKS).items():
        assert finding.passed, finding.words
        assert finding.task == task


NAME = "sold_again, a task's name in "
#: what is planted → file, content, what is told
PLANTS = {
    "a task's name in a document": ("docs/book.md", "Kept as sold_again since May.", f"{NAME}docs/book.md"),
    "a task's name in capitals": ("docs/book.md", "SOLD_AGAIN = 1", f"{NAME}docs/book.md"),
    "a plain task's name beside its kind": (
        "docs/book.md",
        "task: original",
        "original, a task's name in docs/book.md",
    ),
    "a plain task's name as a value": ("system/n.csv", "kind\noriginal\n", "a task's name in system/n.csv, row 2"),
    "a file's name": ("system/sold_again.txt", "Nothing here.", f"{NAME}system/sold_again.txt, its name"),
    "a folder's name": ("docs/original/book.md", "Nothing here.", "original, a task's name"),
    "an angle": ("directory.md", "rule_value", "rule_value, a variant's angle in directory.md"),
    "an instruction of one level": ("briefs/L2.md", "By all_positive.", "a solution's name in TASK.md (L2)"),
    "a fact's id": ("system/f.json", json.dumps({"why": ["F1"]}), "F1, a fact's id in system/f.json"),
    "a fact's key": ("docs/book.md", "return_rule counts.", "return_rule, a fact's key"),
    "a value of the variant": ("docs/book.md", "kept_on_shelf", "kept_on_shelf, what return_rule is on some task"),
    "a fact's sentence": ("docs/book.md", "Returned goods are\ntaken off the *day's* total.", "a sentence of fact F1"),
    "an answer": ("docs/book.md", f"Ada said: {ANSWER.upper()}", "what Ada Marsh says only when asked"),
    "a database": ("system/s.sqlite", database("fine", "sold_again"), "system/s.sqlite, note"),
    "what was deleted from it": ("system/s.sqlite", database("fine", deleted="sold_again"), f"{NAME}system/s.sqlite"),
    "an archive": ("system/book.xlsx", zipped("xl/s.xml", b"<c>sold_again</c>"), f"{NAME}system/book.xlsx → xl/s.xml"),
    "one in another": ("system/a.zip", zipped("b.gz", gzip.compress(b"sold_again")), "a.zip → b.gz → content"),
    "a tar": ("system/a.tar", tarred("x/sold_again", b"1" * 99), "system/a.tar → x/sold_again, its name"),
    "escapes of JSON": ("system/f.json", '{"a": "sold\\u005fagain"}', f"{NAME}system/f.json"),
    "UTF-16": ("system/f.txt", "sold_again".encode("utf-16"), f"{NAME}system/f.txt"),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_what_is_planted_is_found_with_its_place(stall, plant):
    name, content, words = PLANTS[plant]
    stall.write(name, content)
    finding = stall.check(LEAKS, "original")["original"]
    assert not finding.passed
    assert words in finding.words
    assert finding.figures["leaks"] == 1, finding.words
    assert finding.words.endswith("Take it out there, or word it differently.")


INNOCENT = {
    "words of the trade in prose": (
        "docs/book.md",
        "The original receipt is kept; what was sold again is in the book.",
    ),
    "a key of the customer's own system": ("system/config.toml", 'return_rule = "thrown_away"\n'),
    "part of a longer name": ("docs/sold_again_2026.md", "See sold_again_2026."),
    "the facts in the instruction that states them": ("briefs/L0.md", "Returned goods are taken off the day's total."),
    "half a sentence of an answer": ("docs/book.md", "Whatever comes back in the afternoon is a return."),
    "what all tasks have in common": ("docs/book.md", "subtract, says the till"),
}


@pytest.mark.parametrize("words", INNOCENT)
def test_what_says_nothing_is_let_pass(stall, words):
    stall.write(*INNOCENT[words])
    finding = stall.check(LEAKS, "original")["original"]
    assert finding.passed, finding.words


def test_a_leak_of_one_variant_is_told_for_it_alone(stall):
    stall.append("docs/book.md", "{% if days_open == 6 %}See return_rule.{% endif %}")
    findings = stall.check(LEAKS)
    assert findings["original"].passed
    assert not findings["sold_again"].passed


def test_a_number_is_hidden_where_the_author_says_so(stall):
    stall.write("docs/book.md", "We are there on 6 days a week.")
    assert stall.check(LEAKS, "sold_again")["sold_again"].passed
    stall.append("scenario.toml", "\n[admission]\nhidden = ['on {{ days_open }} days']\n")
    finding = stall.check(LEAKS, "sold_again")["sold_again"]
    assert "what [admission] hidden asks for" in finding.words
    assert stall.check(LEAKS, "original")["original"].passed


def test_a_pattern_that_is_none_is_told_by_its_place(stall):
    from scenarios.kit.errors import ScenarioInvalid

    stall.append("scenario.toml", "\n[admission]\nhidden = ['(']\n")
    with pytest.raises(ScenarioInvalid, match=r"admission.hidden.*no regular expression"):
        stall.check(LEAKS, "original")


def test_who_is_there_is_searched_as_the_command_tells_it(stall):
    stall.replace("stakeholders.toml", 'role = "Owner"', 'role = "all_positive"')
    assert (
        "all_positive, a solution's name in ask --who, role of Ada Marsh"
        in stall.check(LEAKS, "original")["original"].words
    )


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04broken", b"\x1f\x8bbroken", b"SQLite format 3\x00broken", b"\x00" * 600, b""]
)
def test_a_file_that_is_not_what_it_seems_is_read_as_bytes(data):
    found = list(passages("system/odd.bin", data))
    assert Passage("system/odd.bin, its name", "odd.bin", alone=True) in found
