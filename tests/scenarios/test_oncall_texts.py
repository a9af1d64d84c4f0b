"""oncall_incident's texts: they load, they render for every task, and they say neither too much nor too little."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios.kit.format import LEVELS, Stakeholder, StakeholdersFile, Topic, TopicChange
from scenarios.kit.load import load_fact_texts, load_scenario, load_stakeholders
from scenarios.kit.render import render_text

FOLDER = Path(scenarios.__path__[0]) / "oncall_incident"
FOOTER = FOLDER.parent / "kit" / "brief_footer.md"
SCENARIO = load_scenario(FOLDER)
TASKS = SCENARIO.task_ids
DOCUMENTS = sorted((FOLDER / "docs").rglob("*.md"))

#: What the world chooses; here any values of the right form.
CHOSEN = {
    "not_mine_pct": 14,
    "noise": {
        "all": ["all", 2565, 775, 31],
        "severities": [["severity 1", 333, 123, 30], ["severity 2", 1415, 559, 31], ["severity 3", 817, 93, 30]],
        "classes": [["export / 2", 144, 68, 35]] * 10,
    },
    "ex_moved_service": "pharmacy-intake",
    "ex_moved_from": "Harbor",
    "ex_moved_to": "Cedar",
}


def facts_of(task: str) -> dict[str, Any]:
    return {**SCENARIO.facts_of(task), **CHOSEN}


@functools.cache
def people_on(task: str) -> StakeholdersFile:
    return load_stakeholders(SCENARIO, facts_of(task))


@functools.cache
def rendered(source: Path, task: str) -> str:
    texts = {**facts_of(task), "config": SCENARIO.config, "people": people_on(task).stakeholders}
    return render_text(source.read_text(encoding="utf-8"), texts, file=source.name)


def brief(level: str, task: str) -> str:
    return " ".join(rendered(FOLDER / "briefs" / f"{level}.md", task).split())


def documents_on(task: str) -> dict[str, str]:
    return {path.name: rendered(path, task) for path in DOCUMENTS}


def topics_on(task: str) -> Iterator[tuple[Stakeholder, Topic, TopicChange]]:
    for person in people_on(task).stakeholders:
        for topic in person.topics:
            yield person, topic, topic.on.get(task, TopicChange())


# ---- people ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_every_key_fact_can_be_learnt_from_somebody_who_is_right(task: str) -> None:
    released: set[str] = set()
    for _, topic, change in topics_on(task):
        wrong = topic.misconception if change.misconception is None else change.misconception
        if not wrong:
            released |= set(topic.facts if change.facts is None else change.facts)
    assert set(SCENARIO.key_facts(task)) <= released
    assert released <= set(load_fact_texts(SCENARIO, task, facts_of(task)))


def test_only_the_works_council_grants_and_only_where_the_agreement_runs_out() -> None:
    granters = {
        (task, person.id, tuple(change.grants or topic.grants))
        for task in TASKS
        for person, topic, change in topics_on(task)
        if change.grants or topic.grants
    }
    assert granters == {("works_council", "figueira", ("approval:lisbon-night",))}
    assert SCENARIO.config.incidents["lisbon_night_without_consent"].unless_granted == "approval:lisbon-night"


def test_everybody_has_words_of_their_own() -> None:
    people = [person for person in people_on("original").stakeholders if person.always is None]
    for attribute in ("fallback", "acknowledgement", "breaks_off"):
        assert len({getattr(person, attribute) for person in people}) == len(people), attribute


def test_topics_of_one_person_say_what_separates_them() -> None:
    for person in people_on("original").stakeholders:
        abouts = [topic.about for topic in person.topics]
        assert len(set(abouts)) == len(abouts)
        assert all(len(about) > 40 for about in abouts), person.id


def test_neighbours_of_one_subject_share_its_key() -> None:
    subjects: dict[str, set[str]] = {}
    for person, topic, _ in topics_on("original"):
        if topic.subject:
            subjects.setdefault(topic.subject, set()).add(f"{person.id}/{topic.id}")
    assert subjects == {
        "catalogue": {"reinholt/catalogue", "raghunathan/catalogue"},
        "export": {"reinholt/export", "lim/export"},
        "consent": {"brandao/agreement", "figueira/consent", "osei/approval"},
    }


# ---- briefs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_the_instruction_is_the_same_on_every_task_unless_it_states_the_rules(level: str) -> None:
    assert len({brief(level, task) for task in TASKS}) == 1


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
@pytest.mark.parametrize(
    "hidden",
    ["ticket", "28", "weeks of", "profile", "UTC", " 11 ", "eleven", "30 minutes", "consent", "ops", "rest period"],
)
def test_rules_are_withheld_below_the_complete_brief(level: str, hidden: str) -> None:
    text = brief(level, "original").replace("open a ticket instead", "")
    assert hidden not in text


@pytest.mark.parametrize(
    ("task", "said", "unsaid"),
    [
        (
            "original",
            [
                "scope **ops** decide",
                "28 days, to the minute",
                "the person who entered it**",
                "until 30 September 2027",
            ],
            ["hr_sync", "exports rota rows and swaps in UTC", "without consent"],
        ),
        (
            "cmdb_fresh",
            ["hr_sync", "acceptance moves nothing", "the person who entered it**"],
            ["28 days", "scope **ops**"],
        ),
        (
            "immediate",
            ["at the moment of the acceptance", "**team's site**"],
            ["28 days", "the person who entered it**"],
        ),
        (
            "works_council",
            ["28 days", "runs out on 30 September 2026", "Duarte Figueira", "§ 4 or § 6", "without consent"],
            ["Nobody anew"],
        ),
        (
            "rota_utc",
            ["2026-09-14 the new scheduler exports rota rows and swaps in UTC", "28 days"],
            ["same local times"],
        ),
    ],
)
def test_the_complete_brief_states_the_rules_of_its_task(task: str, said: list[str], unsaid: list[str]) -> None:
    text = brief("L0", task)
    assert not [words for words in said if words not in text]
    assert not [words for words in unsaid if words in text]
    for always in ("0.95", "0.90", "0.85", "0.80", "+ 480", "+ 120", "+ 60", "11 h", "`event_id`", "within 30 minutes"):
        assert always in text, always


def test_the_sponsors_request_points_at_noise_and_away_from_ownership() -> None:
    text = brief("L3", "original")
    assert "noise filter" in text
    assert "Leave both alone" in text
    assert 150 <= len(text.split()) <= 190


# ---- no leak, no shape -----------------------------------------------------------------------------------------------

#: What only a person may say (or the data show): never in a document, on any task.
SPOKEN_ONLY = {
    "F1 which scope": r"ops[^.|]{0,40}\b(pager|decides?|counts?)\b|(code|cost)[^.|]{0,40}\bpager\b",
    "F2 four weeks": r"\b(four|4) weeks\b|\b28\b(?! September)|\bfour-week",
    "F3 whose clock": r"zone of (the|who|their)|enterer|Singapore time|converted to",
    "F8 not recorded": r"nobody writes|half an hour",
    "F10 the new export": r"\bUTC\b|\bZulu\b|\bGMT\b",
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("fact", SPOKEN_ONLY)
def test_documents_do_not_say_what_only_people_know(task: str, fact: str) -> None:
    texts = {**documents_on(task), "directory.md": rendered(FOLDER / "directory.md", task)}
    found = {
        name: hit.group() for name, text in texts.items() if (hit := re.search(SPOKEN_ONLY[fact], text, re.IGNORECASE))
    }
    assert not found


@pytest.mark.parametrize("task", TASKS)
def test_nothing_names_a_task_or_the_instrument(task: str) -> None:
    words = r"cmdb_fresh|works_council|rota_utc|stale.rule|\bvariants?\b|\bscenario\b|key fact|held-out|FDE"
    texts = [*documents_on(task).values(), rendered(FOLDER / "directory.md", task), rendered(FOOTER, task)]
    texts += [rendered(FOLDER / "briefs" / f"{level}.md", task) for level in LEVELS]
    assert not [hit.group() for text in texts if (hit := re.search(words, text, re.IGNORECASE))]


def test_documents_are_of_one_size_on_every_task() -> None:
    original = documents_on("original")
    for task in TASKS:
        for name, text in documents_on(task).items():
            assert text.count("\n") == original[name].count("\n"), (task, name)
            assert abs(len(text.encode()) - len(original[name].encode())) <= 0.01 * len(original[name].encode()), (
                task,
                name,
            )


def test_documents_differ_only_in_their_last_line_and_only_where_the_fact_is_theirs() -> None:
    changed = {
        (task, name)
        for task in TASKS
        for name, text in documents_on(task).items()
        if text.rstrip().splitlines()[-1] != documents_on("original")[name].rstrip().splitlines()[-1]
    }
    assert changed == {("cmdb_fresh", "service_catalogue_policy.md"), ("works_council", "lisbon_oncall_agreement.md")}
    for task in TASKS:
        for name, text in documents_on(task).items():
            assert text.rstrip().splitlines()[:-1] == documents_on("original")[name].rstrip().splitlines()[:-1], name


def test_the_directory_does_not_tell_the_tasks_apart() -> None:
    assert len({rendered(FOLDER / "directory.md", task) for task in TASKS}) == 1


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_dated_and_of_a_length_that_is_read(path: Path) -> None:
    text = rendered(path, "original")
    assert 40 <= text.count("\n") <= 150
    assert re.search(r"\*\*Date\*\*|of 2 June 2025", text.partition("\n## ")[0])


def test_every_document_that_people_cite_is_there() -> None:
    listed = {document.file for document in SCENARIO.config.documents.values()}
    assert listed == {f"docs/{path.name}" for path in DOCUMENTS}
