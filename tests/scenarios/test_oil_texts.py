"""oil_npt's texts: they load, they render for every task, and they say neither too much nor too little."""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios.kit.format import LEVELS, Stakeholder, StakeholdersFile, Topic
from scenarios.kit.load import Scenario, load_fact_texts, load_scenario, load_stakeholders
from scenarios.kit.render import render_text

FOLDER = Path(scenarios.__path__[0]) / "oil_npt"
FOOTER = FOLDER.parent / "kit" / "brief_footer.md"
SCENARIO = load_scenario(FOLDER)
TASKS = SCENARIO.task_ids
DOCUMENTS = sorted((FOLDER / "docs").rglob("*.md"))

#: What the world chooses; here any values of the right form.
CHOSEN = {
    "ex_recur": "HD-11/2607-06",
    "ex_contested": "OK-5/2608-03",
    "ex_statement_rig": "VM-201",
    "ex_statement_date": "2026-07-14",
    "ex_statement_tag": "MP-1",
    "ex_month_used": "OK-5/2607-09",
    "ex_feed_report": "VM-201/2026-08-19",
}
FACT_NAMES = {
    "clock", "own_use", "job_allowance_h", "month_allowance_h", "recurrence_days", "binding", "old_terms_contractors",
    "notice_required", "operator_items", "crew_miscodes", "feed_utc_from", "amendment_2_in_force", "side_letter_signed",
    "deputy_may_approve",
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


def documents_on(task: str) -> dict[str, str]:
    return {path.relative_to(FOLDER).as_posix(): rendered(path, task) for path in DOCUMENTS}


def topic_on(person: Stakeholder, topic: Topic, task: str) -> dict[str, Any]:
    """What the topic is on this task: its own keys, and those that the task changes."""
    changes = topic.on[task].model_dump(exclude_unset=True) if task in topic.on else {}
    found = {**topic.model_dump(), **changes}
    if changes.get("gate") is False:
        found |= {"gate": None, "needs": []}
    return found


def topics_on(task: str) -> Iterator[tuple[Stakeholder, dict[str, Any]]]:
    for person in people_on(task).stakeholders:
        for topic in person.topics:
            yield person, topic_on(person, topic, task)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return SCENARIO


# ---- shape -----------------------------------------------------------------------------------------------------------


def test_there_are_the_original_and_five_variants_of_five_angles(scenario: Scenario) -> None:
    assert TASKS == ("original", "notice", "accept_test", "delegate", "side_letter", "utc")
    assert len({variant.angle for variant in scenario.facts.variants.values()}) == 5


def test_world_and_grader_find_the_facts_they_read(scenario: Scenario) -> None:
    assert set(scenario.facts.facts) == FACT_NAMES
    assert set(scenario.facts.texts) == {f"F{number}" for number in range(1, 14)}


@pytest.mark.parametrize("task", TASKS)
def test_every_text_renders_with_the_facts_of_the_task(scenario: Scenario, task: str) -> None:
    texts = [
        *documents_on(task).values(),
        rendered(FOLDER / "directory.md", task),
        rendered(FOOTER, task),
        *(rendered(FOLDER / "briefs" / f"{level}.md", task) for level in LEVELS),
        *(text.text for text in load_fact_texts(scenario, task, facts_of(task)).values()),
        people_on(task).model_dump_json(),
    ]
    assert all(text.strip() for text in texts)
    assert not [text for text in texts if "{{" in text or "{%" in text]


def test_every_document_can_be_cited_and_every_citable_file_exists(scenario: Scenario) -> None:
    files = {document.file for document in scenario.config.documents.values()}
    assert files == {path.relative_to(FOLDER).as_posix() for path in DOCUMENTS}


@pytest.mark.parametrize("task", TASKS)
def test_a_fact_is_said_to_be_visible_only_where_something_is(scenario: Scenario, task: str) -> None:
    shown = {document.file for document in scenario.config.documents.values()}
    shown |= {"data/contractor_statements.csv", "data/claims_2026.csv", "data/rental_orders.csv", "data/ddr"}
    for key, text in load_fact_texts(scenario, task, facts_of(task)).items():
        assert {place.partition(" (")[0] for place in text.visible_in} <= shown, key


def test_no_alias_means_two_documents(scenario: Scenario) -> None:
    seen: dict[str, str] = {}
    for name, document in scenario.config.documents.items():
        for alias in {document.title.casefold(), *(alias.casefold() for alias in document.aliases)}:
            assert seen.setdefault(alias, name) == name, f"{alias} is {seen[alias]} and {name}"


def test_a_bare_clause_means_the_amendment_in_force_alone(scenario: Scenario) -> None:
    bare = [name for name, document in scenario.config.documents.items() if document.bare_clauses]
    assert bare == ["amendment_2"]
    assert scenario.config.documents["amendment_2"].clauses == ["14.2", "14.3", "14.4"]


def test_a_report_number_is_longer_than_the_claim_line_it_begins_like(scenario: Scenario) -> None:
    kinds = scenario.config.records
    text = "see HD-11/2026-07-14 and HD-11/2607-04"
    reports = re.findall(kinds["report"].pattern or "", text)
    lines = re.findall(kinds["claim_line"].pattern or "", text)
    assert reports == ["HD-11/2026-07-14"]
    assert lines == ["HD-11/2026-07", "HD-11/2607-04"]
    assert re.findall(kinds["rental_order"].pattern or "", "order RO-26-017") == ["RO-26-017"]
    assert list(kinds["statement"].fields) == ["rig", "date", "tag"]


@pytest.mark.parametrize(
    "tag", ["TDS-1", "MP-3", "BOP-ANN", "BOP-RAM", "GEN-2", "SHK", "CEN-1", "CRT-1", "MWD", "CHK-1"]
)
def test_a_statement_row_is_cited_by_any_tag(scenario: Scenario, tag: str) -> None:
    assert re.fullmatch(scenario.config.records["statement"].fields["tag"], tag)


# ---- the people ------------------------------------------------------------------------------------------------------


def test_the_ten_people_are_there_with_words_of_their_own() -> None:
    people = people_on("original").stakeholders
    assert len(people) == 10
    speaking = [person for person in people if person.topics]
    for said in ("acknowledgement", "breaks_off", "fallback"):
        words = [getattr(person, said) for person in speaking]
        assert len(set(words)) == len(words), said
    assert {person.id for person in people if person.off_limits} == {"pike"}


@pytest.mark.parametrize("task", TASKS)
def test_gates_ask_for_documents_clauses_and_records_that_exist(scenario: Scenario, task: str) -> None:
    config = scenario.config
    for person in people_on(task).stakeholders:
        for topic in person.topics:
            gates = [topic.gate, *(change.gate for change in topic.on.values())]
            for gate in gates:
                for leaf in gate.leaves() if gate else []:
                    if leaf.cites_document:
                        document = config.documents[leaf.cites_document.document]
                        assert set(leaf.cites_document.clauses) <= set(document.clauses)
                    if leaf.cites_record:
                        assert set(leaf.cites_record.kinds) <= set(config.records)


def test_every_group_of_terms_has_chinese_ones() -> None:
    groups = [
        group
        for person in people_on("original").stakeholders
        for topic in person.topics
        for leaf in (topic.gate.leaves() if topic.gate else [])
        for group in leaf.mentions or []
    ]
    assert len(groups) == 8
    for group in groups:
        assert any(re.search(r"[\u4e00-\u9fff]", term) for term in group), group


def test_changes_per_task_name_tasks_that_exist() -> None:
    file = people_on("original")
    named = {task for person in file.stakeholders for topic in person.topics for task in topic.on}
    named |= {task for person in file.stakeholders for task in person.on}
    named |= {task for message in file.inbox for task in message.on}
    assert named <= set(TASKS) - {"original"}


@pytest.mark.parametrize("task", TASKS)
def test_every_key_fact_is_released_by_somebody_who_is_right(scenario: Scenario, task: str) -> None:
    released = {fact for _, topic in topics_on(task) if not topic["misconception"] for fact in topic["facts"]}
    assert set(scenario.key_facts(task)) <= released
    assert released <= set(scenario.facts.texts)


@pytest.mark.parametrize(
    ("task", "granters"),
    [
        ("original", {"carvalho", "solvang"}),
        ("accept_test", {"carvalho", "solvang"}),
        ("side_letter", {"carvalho", "solvang"}),
        ("utc", {"carvalho", "solvang"}),
        ("delegate", {"solvang"}),
        ("notice", set()),
    ],
)
def test_only_contracts_approves_and_only_who_may(task: str, granters: set[str]) -> None:
    assert {person.id for person, topic in topics_on(task) if topic["grants"]} == granters
    for person, topic in topics_on(task):
        if topic["grants"]:
            assert topic["grants"] == ["approval:claim-rules"], person.id
            assert topic["needs"] == (["F2", "F12"] if task == "side_letter" else ["F2", "F5"])


def test_solvang_rings_in_once_where_the_deputy_may_not_approve() -> None:
    solvang = next(person for person in people_on("delegate").stakeholders if person.id == "solvang")
    assert solvang.availability.reachable_while_away == []
    changed = solvang.on["delegate"].availability
    assert changed is not None
    (window,) = changed.reachable_while_away
    assert (window.on, window.opens.hour, window.opens.minute, window.closes.hour) == (date(2026, 10, 6), 9, 30, 12)
    assert changed.away_until == solvang.availability.away_until


def test_neighbours_of_one_subject_share_its_key() -> None:
    subjects: dict[str, set[str]] = {}
    for person in people_on("original").stakeholders:
        for topic in person.topics:
            if topic.subject:
                subjects.setdefault(topic.subject, set()).add(f"{person.id}/{topic.id}")
    assert subjects == {
        "sign_off": {"molefe/approve", "carvalho/approval", "solvang/approval", "achterberg/approval"},
        "side_letter": {"molefe/scope", "ferrer/side_letter"},
        "late_credit": {"achterberg/scope", "ferrer/hold"},
    }


def test_the_message_about_okanto_names_a_line_that_the_world_chose() -> None:
    message = next(message for message in people_on("original").inbox if message.id == "contested")
    assert CHOSEN["ex_contested"] in message.text
    assert CHOSEN["ex_contested"] not in message.on["notice"]


# ---- briefs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_the_instruction_is_the_same_on_every_task_unless_it_states_the_rules(level: str) -> None:
    assert len({rendered(FOLDER / "briefs" / f"{level}.md", task) for task in TASKS}) == 1


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_rules_are_withheld_below_the_complete_brief(level: str) -> None:
    text = rendered(FOLDER / "briefs" / f"{level}.md", "original")
    for hidden in (
        "1.5 h",
        "6 h",
        "12 h",
        "14 days",
        "own use",
        "both signatures",
        "rental",
        "0.25",
        "Carvalho",
        "Molefe",
    ):
        assert hidden not in text


@pytest.mark.parametrize(
    ("task", "said", "unsaid"),
    [
        (
            "original",
            ["until the interrupted operation is resumed", "1.5 h", "6 h", "14 days", "both", "Inês"],
            ["UTC**"],
        ),
        ("notice", ["12 h", "rev 0", "06:00", "± 0.5 h", "nothing to approve"], ["1.5 h", "14 days", "Inês"]),
        ("accept_test", ["tested and accepted", "6 h", "no allowance\n  for the single job"], ["1.5 h", "14 days"]),
        ("delegate", ["Tuesday 6 October between 09:30 and 12:00", "withdrawn"], ["Inês"]),
        ("side_letter", ["countersigned", "12 h", "1.5 h", "Lucía Ferrer"], []),
        ("utc", ["**UTC**", "feet", "+05:00"], ["as before: field time"]),
    ],
)
def test_the_complete_brief_states_the_rules_of_its_task(task: str, said: list[str], unsaid: list[str]) -> None:
    text = rendered(FOLDER / "briefs" / "L0.md", task)
    assert not [words for words in said if words not in text]
    assert not [words for words in unsaid if words in text]
    for always in ("0.25 h", "REVIEW", "min(hours claimed, hours creditable)", "90 days", "incident", "half rate"):
        assert always in text


# ---- no leak, no shape -----------------------------------------------------------------------------------------------

#: What only a person may say (or the data show): never in a document, on any task.
SPOKEN_ONLY = {
    "F3 own use": r"\bown (use|purposes?|work|account of time)\b|bit (change|trip)|wiper trip|come[s]? off\b|deduct",
    "F5 the fourteen days": r"\bfourteen\b|\b14 days\b|\b336\b",
    "F7 who binds the record": r"(latest|last|newest) (jointly )?(revision|version)|signed last|rev 0 counts",
    "F2 trips count": r"(trips?|tripping)[^.]{0,60}\bcounts?\b",
    "F10 six lines": r"\bsix (doubtful |review )?lines|lines of review",
    "F13 the feed": r"\bUTC\b(?!\+)|\bfeet\b|\bft\b",
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
    words = r"accept_test|sponsor.right|stale.rule|fact.holder|\bvariants?\b|\bscenario\b|key fact|held-out|FDE"
    texts = [*documents_on(task).values(), rendered(FOLDER / "directory.md", task), rendered(FOOTER, task)]
    texts += [rendered(FOLDER / "briefs" / f"{level}.md", task) for level in LEVELS]
    assert not [hit.group() for text in texts if (hit := re.search(words, text, re.IGNORECASE))]


def test_documents_are_of_one_size_on_every_task() -> None:
    sizes = {
        task: {name: (len(text.encode()), text.count("\n")) for name, text in documents_on(task).items()}
        for task in TASKS
    }
    assert all(sizes[task] == sizes["original"] for task in TASKS), sizes


def test_documents_carry_the_same_dates_on_every_task() -> None:
    heads = {name: {documents_on(task)[name].split("\n\n")[1] for task in TASKS} for name in documents_on("original")}
    assert {name for name, head in heads.items() if len(head) > 1} == set()


def test_the_directory_does_not_tell_the_tasks_apart() -> None:
    assert len({rendered(FOLDER / "directory.md", task) for task in TASKS}) == 1


@pytest.mark.parametrize(
    ("name", "fact"),
    [("contracts/amendment_2.md", "amendment_2_in_force"), ("contracts/side_letter_4.md", "side_letter_signed")],
)
def test_a_signature_block_is_filled_only_where_it_was_signed(name: str, fact: str) -> None:
    blocks = {task: documents_on(task)[f"docs/{name}"].partition("## Signatures")[2] for task in TASKS}
    assert len({len(block) for block in blocks.values()}) == 1
    for task, block in blocks.items():
        assert ("*signed*" in block) == facts_of(task)[fact]
        assert ("____" in block) != facts_of(task)[fact]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_of_a_length_that_is_read(path: Path) -> None:
    assert 40 <= rendered(path, "original").count("\n") <= 150


def test_the_coding_guide_is_what_the_keyword_list_does() -> None:
    """The code as found follows the guide to the letter: same words, same parties, in the same order."""
    with (FOLDER / "system" / "config" / "keywords.csv").open(encoding="utf-8", newline="") as file:
        keywords = [(row["word"].casefold(), row["party"]) for row in csv.DictReader(file)]
    guide = (FOLDER / "docs" / "coding_guide_v3.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (THIRD|CONTRACTOR|OPERATOR) \|", guide, re.MULTILINE)
    decided = []
    for words, party in rows:
        for word in words.casefold().split(", "):
            first = next((index for index, (known, _) in enumerate(keywords) if word.startswith(known)), None)
            assert first is not None, f"the guide's {word} is not in the list"
            assert keywords[first][1] == party, word
            decided.append((first, party))
    parties = [party for _, party in sorted(decided)]
    assert parties == sorted(parties, key=["THIRD", "CONTRACTOR", "OPERATOR"].index)
    assert len(decided) > 25
