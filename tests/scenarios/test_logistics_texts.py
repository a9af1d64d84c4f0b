"""logistics_claims' texts: they load, they render for every task, and they say neither too much nor too little."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios.kit.format import LEVELS, Stakeholder, StakeholdersFile, Topic
from scenarios.kit.load import load_fact_texts, load_scenario, load_stakeholders
from scenarios.kit.phrasings import load_phrasings
from scenarios.kit.render import render_text

FOLDER = Path(scenarios.__path__[0]) / "logistics_claims"
FOOTER = FOLDER.parent / "kit" / "brief_footer.md"
SCENARIO = load_scenario(FOLDER)
TASKS = SCENARIO.task_ids
DOCUMENTS = sorted((FOLDER / "docs").rglob("*.md"))
#: What the world chooses; here any values of the right form.
CHOSEN = {"ex_r": "QF-7741203", "ex_haulier": "QF-7719950", "ex_heavy": "QF-7802611"}
DATA = {
    "data/claims.csv", "data/decisions.csv", "data/shipments.csv", "data/scans.txt", "data/pod.csv", "data/customers.csv",
    "data/hauliers.csv", "data/recourse.csv", "data/sdr.csv", "system/data/depots.csv",
}  # fmt: skip


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
    own = FOLDER / "briefs" / task / f"{level}.md"
    return rendered(own if own.is_file() else FOLDER / "briefs" / f"{level}.md", task)


def documents_on(task: str) -> dict[str, str]:
    return {path.relative_to(FOLDER).as_posix(): rendered(path, task) for path in DOCUMENTS}


def topics_on(task: str) -> Iterator[tuple[Stakeholder, Topic, dict[str, Any]]]:
    """Every topic with its keys as they are on the task."""
    for person in people_on(task).stakeholders:
        for topic in person.topics:
            changes = topic.on[task].model_dump(exclude_unset=True) if task in topic.on else {}
            yield person, topic, {**topic.model_dump(), **changes}


# ---- shape -----------------------------------------------------------------------------------------------------------


def test_there_are_the_original_and_five_variants_of_five_angles() -> None:
    assert TASKS == ("original", "r_returned", "haulier_terms", "counsel", "pounds", "fraud_brief")
    assert len({variant.angle for variant in SCENARIO.facts.variants.values()}) == 5


def test_what_differs_on_a_variant_is_no_more_than_its_facts() -> None:
    changed = {name: set(variant.facts) for name, variant in SCENARIO.facts.variants.items()}
    assert changed == {
        "r_returned": {"r_means"},
        "haulier_terms": {"recourse_on", "recourse_days"},
        "counsel": {"refusal_consent_needed"},
        "pounds": {"pounds_from"},
        "fraud_brief": {
            "notice_days_spot", "notice_days_frame", "notice_days_key", "recourse_days", "terms_reissued",
        },
    }  # fmt: skip
    assert set(SCENARIO.facts.texts) == {f"F{number}" for number in range(1, 12)}


@pytest.mark.parametrize("task", TASKS)
def test_every_text_renders_with_the_facts_of_the_task(task: str) -> None:
    texts = [
        *documents_on(task).values(),
        rendered(FOLDER / "directory.md", task),
        rendered(FOOTER, task),
        *(brief(level, task) for level in LEVELS),
        *(text.text for text in load_fact_texts(SCENARIO, task, facts_of(task)).values()),
        people_on(task).model_dump_json(),
    ]
    assert all(text.strip() for text in texts)
    assert not [text for text in texts if "{{" in text or "{%" in text]


def test_every_document_can_be_cited_and_every_citable_file_exists() -> None:
    files = {document.file for document in SCENARIO.config.documents.values()}
    assert files == {path.relative_to(FOLDER).as_posix() for path in DOCUMENTS}


def test_no_alias_means_two_documents() -> None:
    seen: dict[str, str] = {}
    for name, document in SCENARIO.config.documents.items():
        for alias in {document.title.casefold(), *(alias.casefold() for alias in document.aliases)}:
            assert seen.setdefault(alias, name) == name, f"{alias} is {seen[alias]} and {name}"


def test_clauses_that_can_be_cited_stand_in_their_document() -> None:
    for document in SCENARIO.config.documents.values():
        text = (FOLDER / str(document.file)).read_text(encoding="utf-8")
        for clause in document.clauses:
            assert re.search(rf"^(## )?{re.escape(clause)}[. ]", text, re.MULTILINE), f"{document.title}, {clause}"


@pytest.mark.parametrize("task", TASKS)
def test_a_fact_is_said_to_be_visible_only_where_something_is(task: str) -> None:
    shown = DATA | {document.file for document in SCENARIO.config.documents.values()}
    for key, text in load_fact_texts(SCENARIO, task, facts_of(task)).items():
        assert set(text.visible_in) <= shown, key


# ---- the people ------------------------------------------------------------------------------------------------------


def test_the_ten_people_are_there_with_words_of_their_own() -> None:
    people = people_on("original").stakeholders
    assert len(people) == 10
    speaking = [person for person in people if person.topics]
    for said in ("acknowledgement", "breaks_off", "fallback"):
        words = [getattr(person, said) for person in speaking]
        assert len(set(words)) == len(words), said
    assert {person.id for person in people if person.off_limits} == {"dvorsky"}


def test_every_topic_says_what_it_covers_and_a_near_neighbour_is_named() -> None:
    for person, topic, _ in topics_on("original"):
        assert topic.about.count(" ") > 8, topic.id
        others = [other.id for other in person.topics if other.id != topic.id]
        assert not others or any(f": {other}" in topic.about for other in others), f"{person.id}/{topic.id}"


def test_every_group_of_terms_has_chinese_ones() -> None:
    groups = [
        group
        for _, topic, _ in topics_on("original")
        for gate in (topic.gate, *(change.gate for change in topic.on.values()))
        for leaf in (gate.leaves() if gate else [])
        for group in leaf.mentions or []
    ]
    assert len(groups) == 5
    for group in groups:
        assert any(re.search(r"[\u4e00-\u9fff]", term) for term in group), group


@pytest.mark.parametrize("task", TASKS)
def test_every_key_fact_is_released_by_somebody_who_is_right(task: str) -> None:
    released = {fact for _, _, topic in topics_on(task) if not topic["misconception"] for fact in topic["facts"]}
    assert set(SCENARIO.key_facts(task)) <= released
    assert released <= set(SCENARIO.facts.texts)


@pytest.mark.parametrize("task", TASKS)
def test_only_general_counsel_consents_and_only_where_it_takes_a_consent(task: str) -> None:
    granters = {person.id: topic["grants"] for person, _, topic in topics_on(task) if topic["grants"]}
    assert granters == ({"achebe": ["approval:auto-refusal"]} if task == "counsel" else {})


def test_neighbours_of_one_subject_share_its_key() -> None:
    subjects: dict[str, set[str]] = {}
    for person, topic, _ in topics_on("original"):
        if topic.subject:
            subjects.setdefault(topic.subject, set()).add(f"{person.id}/{topic.id}")
    assert subjects == {
        "haulier_damage": {"haugland/exc", "wolny/recourse"},
        "small_claims": {"thorne/small", "seo/line47"},
        "sign_off": {"achebe/refusals", "thorne/legal"},
    }


def test_every_topic_has_phrasings_enough_in_both_languages() -> None:
    phrasings = load_phrasings(FOLDER / "phrasings.toml").topics
    assert set(phrasings) == {f"{person.id}/{topic.id}" for person, topic, _ in topics_on("original")}
    for name, told in phrasings.items():
        assert len(told.examples) >= 28, name
        assert len(told.examples_zh) >= 10, name
        assert len(told.tests) >= 8, name
        assert len(told.tests_zh) >= 4, name


# ---- instructions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_the_instruction_is_the_same_on_every_task_but_where_the_sponsor_asks_for_something_else(level: str) -> None:
    assert len({brief(level, task) for task in TASKS if task != "fraud_brief"}) == 1
    assert (brief(level, "fraud_brief") == brief(level, "original")) == (level != "L3")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_rules_are_withheld_below_the_complete_brief(level: str, task: str) -> None:
    text = brief(level, task)
    for hidden in (
        "8.33",
        "800",
        "30 working",
        "reservation",
        "EXC",
        "PK2",
        "P1",
        "pounds",
        "consent",
        "7 days",
        "14 days",
    ):
        assert hidden not in text


@pytest.mark.parametrize(
    ("task", "said", "unsaid"),
    [
        (
            "original",
            ["7 days", "30 (key)", "**received with reservation**", "**on receipt from it**", "**14 calendar"],
            [],
        ),
        ("r_returned", ["**refused** by the consignee", "a sixth reason"], ["received with reservation"]),
        ("haulier_terms", ["**clean**", "**5 calendar days"], ["**on receipt from it**"]),
        ("counsel", ["Rosalind Achebe-Stone", "without General Counsel's consent"], ["Nobody's consent"]),
        ("pounds", ["**pounds**", "from 2026-02-02"], ["are kilograms in every depot"]),
        ("fraud_brief", ["21 days after delivery (spot)", "14 (frame)", "7 (key)", "**21 calendar"], []),
    ],
)
def test_the_complete_brief_states_the_rules_of_its_task(task: str, said: list[str], unsaid: list[str]) -> None:
    text = " ".join(brief("L0", task).split())
    assert not [words for words in said if words not in text]
    assert not [words for words in unsaid if words in text]
    for always in (
        "8.33 SDR",
        "12 more",
        "*E* + 320",
        "130",
        "800 EUR",
        "20 claims a day",
        "**`P1`**",
        "80 %",
        "incident",
    ):
        assert always in text


# ---- no leak, no shape -----------------------------------------------------------------------------------------------

#: What only people (or the data) say: in no paper, on any task.
SPOKEN_ONLY = {
    "F1 the key accounts' period": r"key accounts?[^.|]{0,60}\b(30|thirty|seven|7) (calendar )?days",
    "F2 what R means": r"reservation|under reserve|\bR\b[^.|]{0,40}again",
    "F4 the letter's days": r"letter[^.]{0,40}\b(14|fourteen|five|5|21) (calendar )?days|(two|three) weeks|four fifths|80 %",
    "F8 the echo": r"come[s]? back (again )?within|a month later|breed",
    "F11 the unit": r"\bpounds?\b|\blbs?\b",
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("fact", SPOKEN_ONLY)
def test_papers_do_not_say_what_only_people_know(task: str, fact: str) -> None:
    texts = {**documents_on(task), "directory.md": rendered(FOLDER / "directory.md", task)}
    found = {
        name: hit.group() for name, text in texts.items() if (hit := re.search(SPOKEN_ONLY[fact], text, re.IGNORECASE))
    }
    assert not found


@pytest.mark.parametrize("task", TASKS)
def test_nothing_names_a_task_or_the_instrument(task: str) -> None:
    words = (
        r"r_returned|haulier_terms\b(?!_2026)|fraud_brief|stale.rule|\bvariants?\b|\bscenario\b|key fact|held-out|FDE"
    )
    texts = [*documents_on(task).values(), rendered(FOLDER / "directory.md", task), rendered(FOOTER, task)]
    texts += [brief(level, task) for level in LEVELS]
    assert not [hit.group() for text in texts if (hit := re.search(words, text, re.IGNORECASE))]


def test_papers_are_of_one_size_on_every_task() -> None:
    sizes = {
        task: {name: (len(text.encode()), text.count("\n")) for name, text in documents_on(task).items()}
        for task in TASKS
    }
    assert all(sizes[task] == sizes["original"] for task in TASKS), sizes


def test_papers_carry_the_same_dates_and_heads_on_every_task() -> None:
    heads = {name: {documents_on(task)[name].split("\n\n")[1] for task in TASKS} for name in documents_on("original")}
    assert {name for name, head in heads.items() if len(head) > 1} == set()


def test_the_directory_does_not_tell_the_tasks_apart() -> None:
    assert len({rendered(FOLDER / "directory.md", task) for task in TASKS}) == 1


def test_the_terms_of_2019_are_what_the_script_follows() -> None:
    values = tomllib.loads((FOLDER / "system" / "config" / "claims.toml").read_text(encoding="utf-8"))
    terms = (FOLDER / "docs" / "terms_2019.md").read_text(encoding="utf-8")
    assert f"**{values['notice_days']} days**" in terms
    resolution = (FOLDER / "docs" / "board_resolution_2026-01.md").read_text(encoding="utf-8")
    assert f"up to {values['auto_limit_eur']:g} EUR" in resolution
