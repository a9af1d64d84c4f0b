"""fund_recon's texts: they load, they render for every task, and they say neither too much nor too little."""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios.kit.format import LEVELS, StakeholdersFile
from scenarios.kit.load import load_fact_texts, load_scenario, load_stakeholders
from scenarios.kit.phrasings import load_phrasings
from scenarios.kit.render import render_text

FOLDER = Path(scenarios.__path__[0]) / "fund_recon"
SCENARIO = load_scenario(FOLDER)
TASKS = SCENARIO.task_ids
DOCUMENTS = sorted((FOLDER / "docs").rglob("*.md"))


def facts_of(task: str) -> dict[str, Any]:
    return SCENARIO.facts_of(task)


@functools.cache
def people_on(task: str) -> StakeholdersFile:
    return load_stakeholders(SCENARIO, facts_of(task))


@functools.cache
def rendered(source: Path, task: str) -> str:
    texts = {**facts_of(task), "config": SCENARIO.config, "people": people_on(task).stakeholders}
    return render_text(source.read_text(encoding="utf-8"), texts, file=source.name)


def documents_on(task: str) -> dict[str, str]:
    return {path.relative_to(FOLDER).as_posix(): rendered(path, task) for path in DOCUMENTS}


def brief(level: str, task: str) -> str:
    return rendered(FOLDER / "briefs" / f"{level}.md", task)


# ---- shape -----------------------------------------------------------------------------------------------------------


def test_there_are_the_original_and_four_variants_of_four_angles() -> None:
    assert TASKS == ("original", "backed_out", "orig_face", "broker_window", "depositary")
    assert len({variant.angle for variant in SCENARIO.facts.variants.values()}) == 4


@pytest.mark.parametrize("task", TASKS)
def test_every_text_renders_with_the_facts_of_the_task(task: str) -> None:
    texts = [
        *documents_on(task).values(),
        rendered(FOLDER / "directory.md", task),
        *(brief(level, task) for level in LEVELS),
        *(text.text for text in load_fact_texts(SCENARIO, task, facts_of(task)).values()),
        people_on(task).model_dump_json(),
    ]
    assert all(text.strip() for text in texts)
    assert not [text for text in texts if "{{" in text or "{%" in text]


def test_every_document_but_the_monthly_advices_can_be_cited() -> None:
    files = {document.file for document in SCENARIO.config.documents.values()}
    shown = {path.relative_to(FOLDER).as_posix() for path in DOCUMENTS}
    assert shown - files == {f"docs/penalty_advices/2026-{month:02d}.md" for month in range(4, 10)}
    assert not files - shown


def test_no_alias_means_two_documents() -> None:
    seen: dict[str, str] = {}
    for name, document in SCENARIO.config.documents.items():
        for alias in {document.title.casefold(), *(alias.casefold() for alias in document.aliases)}:
            assert seen.setdefault(alias, name) == name, f"{alias} is {seen[alias]} and {name}"


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("trade", "T2609-14833"),
        ("move", "NM2609-40213"),
        ("move", "BM2609-07155"),
        ("block", "BK2609-0417"),
        ("event", "DV-5521"),
        ("query", "Q26-01877"),
    ],
)
def test_an_identifier_is_of_one_kind(kind: str, written: str) -> None:
    patterns = {name: record.pattern or "" for name, record in SCENARIO.config.records.items()}
    assert [name for name, pattern in patterns.items() if re.fullmatch(pattern, written)] == [kind]


# ---- the people ------------------------------------------------------------------------------------------------------


def test_everybody_who_speaks_has_words_of_their_own() -> None:
    people = people_on("original").stakeholders
    speaking = [person for person in people if person.topics]
    assert (len(people), len(speaking)) == (10, 9)
    for said in ("acknowledgement", "breaks_off", "fallback"):
        assert len({getattr(person, said) for person in speaking}) == len(speaking), said
    assert {person.id for person in people if person.off_limits} == {"kwan"}


def test_each_gated_topic_has_a_miss_of_its_own() -> None:
    topics = [topic for person in people_on("depositary").stakeholders for topic in person.topics]
    misses = [topic.gate_miss for topic in topics if topic.gate]
    assert len(misses) == len(set(misses)) == 6


@pytest.mark.parametrize("task", TASKS)
def test_every_key_fact_is_released_by_somebody_who_is_right(task: str) -> None:
    released: set[str] = set()
    for person in people_on(task).stakeholders:
        for topic in person.topics:
            change = topic.on.get(task)
            wrong = topic.misconception if change is None or change.misconception is None else change.misconception
            released |= set() if wrong else set(topic.facts)
    assert set(SCENARIO.key_facts(task)) <= released <= set(SCENARIO.facts.texts)


def test_neighbours_of_one_subject_share_its_key() -> None:
    subjects: dict[str, set[str]] = {}
    for person in people_on("original").stakeholders:
        for topic in person.topics:
            if topic.subject:
                subjects.setdefault(topic.subject, set()).add(f"{person.id}/{topic.id}")
    assert subjects == {
        "who_gets_it": {"seshadri/codes", "wieczorek/process"},
        "what_quantity": {"okoro/basis", "marchal/quantity", "belkacem/nav"},
    }


def test_no_test_phrasing_is_learnt_under_another_topic() -> None:
    phrasings = load_phrasings(FOLDER / "phrasings.toml")
    learnt = {text for topic in phrasings.topics.values() for text in (*topic.examples, *topic.examples_zh)}
    learnt |= {text for texts in phrasings.negatives.examples().values() for text in texts}
    held_back = [text for topic in phrasings.topics.values() for text in (*topic.tests, *topic.tests_zh)]
    held_back += [text for texts in phrasings.negatives.tests().values() for text in texts]
    assert not learnt & set(held_back)
    assert len(held_back) == len(set(held_back))


# ---- briefs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_the_instruction_is_the_same_on_every_task_unless_it_states_the_rules(level: str) -> None:
    assert len({brief(level, task) for task in TASKS}) == 1


def test_the_vague_request_is_the_sponsors_own() -> None:
    assert SCENARIO.config.l2_is_l3
    assert brief("L2", "original") == brief("L3", "original")


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_rules_are_withheld_below_the_complete_brief(level: str) -> None:
    told = r"STBA|CLAC|NMAT|LACK|PAIN|AUTO|relief|oversight|250,000|business day \d|day 20|original face|block"
    assert not re.search(told, brief(level, "original"))


@pytest.mark.parametrize(
    ("task", "said", "unsaid"),
    [
        (
            "original",
            ["`STBA=T`", "day 3 to business day 20", "`LACK`", "need no consent", "/ 18)"],
            ["buy-in", "Aubry"],
        ),
        ("backed_out", ["taken out on the next business day", "`CUSTODIAN` on every row", "never started"], ["`CLAC`"]),
        ("orig_face", ["`STBA=S`", "original face", "pool factor"], ["`STBA=T`"]),
        ("broker_window", ["day 1 to business day 5", "buy-in", "/ 5)", "Until 30 June"], ["/ 18)"]),
        ("depositary", ["requires its consent", "250,000 EUR", "between 09:00 and 12:00"], ["need no consent"]),
    ],
)
def test_the_complete_brief_states_the_rules_of_its_task(task: str, said: list[str], unsaid: list[str]) -> None:
    text = brief("L0", task)
    assert not [words for words in said if words not in text]
    assert not [words for words in unsaid if words in text]
    for always in (
        "−120 EUR",
        "REVIEW",
        "35 EUR",
        "three times at",
        "`PARC`",
        "AMND",
        "older intended date",
        "incident",
    ):
        assert always in text


# ---- no leak, no shape -----------------------------------------------------------------------------------------------

#: What only people may say (or the data show): never in a document, on any task.
SPOKEN_ONLY = {
    "F1 the quantity since June": r"STBA=T|`T` (is|means|stands)|traded (quantity|balance)|failed? .{0,30}stays in",
    "F2 the days": r"\b(third|fifth|twentieth) (business )?day after|ISD ?\+|too early|\b20 (business )?days",
    "F3 the parties": r"(CLAC|NMAT|LACK)[^|\n]{0,40}(broker|treasury|custodian)",
    "F4 twins": r"older (one|trade|intended)|oldest first",
    "F6 the lag": r"(four|fifth|five|[45]) (business )?days? (after|from) (the )?pay",
    "F8 five rows": r"\b(five|5) (REVIEW|rows|a day)",
    "F10 face": r"original face",
    "the consent": r"DO-118",
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("fact", SPOKEN_ONLY)
def test_documents_do_not_say_what_only_people_know(task: str, fact: str) -> None:
    texts = {**documents_on(task), "directory.md": rendered(FOLDER / "directory.md", task)}
    found = {name: hit[0] for name, text in texts.items() if (hit := re.search(SPOKEN_ONLY[fact], text, re.IGNORECASE))}
    assert not found


@pytest.mark.parametrize("task", TASKS)
def test_nothing_names_a_task_or_the_instrument(task: str) -> None:
    words = r"backed.out|orig_face|broker_window|sponsor.right|\bvariants?\b|\bscenario\b|key fact|held-out|FDE"
    texts = [*documents_on(task).values(), rendered(FOLDER / "directory.md", task)]
    texts += [brief(level, task) for level in LEVELS]
    assert not [hit[0] for text in texts if (hit := re.search(words, text, re.IGNORECASE))]


@pytest.mark.parametrize("task", TASKS)
def test_documents_are_of_nearly_one_size_and_of_one_date_on_every_task(task: str) -> None:
    for name, text in documents_on(task).items():
        original = documents_on("original")[name]
        assert abs(len(text.encode()) - len(original.encode())) <= 0.015 * len(original.encode()), name
        assert text.count("\n") == original.count("\n"), name
        dates = r"\d{1,2} (?:January|May|June|July|August|September|October|December) 20\d\d"
        assert re.findall(dates, text) == re.findall(dates, original), name


def test_the_directory_does_not_tell_the_tasks_apart() -> None:
    assert len({rendered(FOLDER / "directory.md", task) for task in TASKS}) == 1


@pytest.mark.parametrize("task", TASKS)
def test_the_july_letter_asks_for_consent_where_it_is_required_alone(task: str) -> None:
    letter = documents_on(task)["docs/oversight_letter.md"]
    assert ("require the prior consent" in letter) == facts_of(task)["consent_required"]
    assert ("without prior consent" in letter) != facts_of(task)["consent_required"]


def test_the_tax_papers_are_what_the_tables_say() -> None:
    with (FOLDER / "system" / "config" / "wht_2024.csv").open(encoding="utf-8", newline="") as file:
        table = {row["country"]: round(100 * float(row["rate"]), 3) for row in csv.DictReader(file)}
    memo = documents_on("original")["docs/wht_memo_2024.md"]
    rates = {country: float(rate) for country, rate in re.findall(r"^\| ([A-Z]{2}) \| ([\d.]+) %", memo, re.MULTILINE)}
    assert len(rates) > 10
    assert rates == {country: table[country] for country in rates}
    relief = documents_on("original")["docs/relief_at_source_2026.md"]
    statutory = re.findall(r"^\| ([A-Z]{2}) \| ([\d.]+) % \| [\d.]+ % ", relief, re.MULTILINE)
    assert len(statutory) == 10
    assert {country: float(rate) for country, rate in statutory}.items() <= table.items()
