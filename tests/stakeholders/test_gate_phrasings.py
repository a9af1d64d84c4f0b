"""Gates open for those who point at what is asked for and stay shut for others: the figure, and oil_npt's own messages."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

import scenarios
from fdegym.authoring.checks.matcher import GATES_RIGHT
from scenarios.kit.load import load_scenario, load_stakeholders
from scenarios.kit.phrasings import PLACEHOLDER, Phrasings, TopicPhrasings, load_phrasings
from stakeholders.gate_phrasings import Records, measure_gates
from stakeholders.matcher.figures import Figures
from stakeholders.script import Script, compile_script

FOLDER = Path(scenarios.__path__[0]) / "oil_npt"
SCENARIO = load_scenario(FOLDER)
CHOSEN = {
    "ex_recur": "HD-11/2607-06",
    "ex_contested": "OK-3/2608-03",
    "ex_statement_rig": "VM-204",
    "ex_statement_date": "2026-07-14",
    "ex_statement_tag": "MP-1",
    "ex_month_used": "OK-3/2607-09",
    "ex_feed_report": "VM-204/2026-08-19",
}
RIGS = ("HD-11", "HD-14", "OK-3", "VM-204")
DAYS = [date(2026, 6, 25) + timedelta(days=day) for day in range(60)]
RECORDS = {
    "report": [f"{rig}/{day}" for rig in RIGS for day in DAYS],
    "claim_line": [f"{rig}/26{month:02}-{line:02}" for rig in RIGS for month in (6, 7, 8) for line in range(1, 31)],
    "rental_order": ["RO-26-014"],
    "statement": [f"{rig}|{day}|{tag}" for rig in RIGS for day in DAYS for tag in ("MP-1", "TDS-1", "SHK", "BOP-ANN")],
}
GROUPS = {
    "hd_vm_since_july": {
        "statement": [row for row in RECORDS["statement"] if row[:2] != "OK" and "2026-07" in row],
        "claim_line": [line for line in RECORDS["claim_line"] if line[:2] != "OK" and "/2607" in line],
    },
    "hd_vm_since_august": {
        "report": [report for report in RECORDS["report"] if report[:2] != "OK" and "-08-" in report]
    },
}


@pytest.fixture(scope="module")
def script() -> Script:
    facts = {**SCENARIO.facts_of("original"), **CHOSEN}
    return compile_script(SCENARIO.config, load_stakeholders(SCENARIO, facts), facts, "original", RECORDS, GROUPS)


@pytest.fixture(scope="module")
def records() -> Records:
    return Records(SCENARIO.config.records, RECORDS)


def counted(script: Script, records: Records, topic: str, **messages: list[str]) -> Figures:
    figures = Figures()
    told = TopicPhrasings(examples=["a"], tests=["b"], **messages)
    measure_gates(figures, Phrasings(topics={topic: told}), records, script)
    return figures


def opens(script: Script, records: Records, topic: str, message: str) -> bool:
    return counted(script, records, topic, gate_met=[message]).gates.hits == 1


def test_gates_open_and_stay_shut_as_their_writers_meant(script: Script, records: Records) -> None:
    figures = Figures()
    measure_gates(figures, load_phrasings(FOLDER / "phrasings.toml"), records, script)
    assert figures.gates.of > 250
    assert figures.gates.value >= GATES_RIGHT, figures.misses


def test_a_gate_that_opens_for_the_wrong_message_counts_against_the_figure(script: Script, records: Records) -> None:
    figures = counted(
        script, records, "molefe/allowance", gate_met=["How many are free?"], gate_unmet=["And of <claim_line>?"]
    )
    assert (figures.gates.hits, figures.gates.of) == (0, 2)
    assert [miss.got for miss in figures.misses] == ["gate unmet: cites_record claim_line/statement", "gate met"]


def test_a_placeholder_is_a_record_that_the_gate_accepts(script: Script, records: Records) -> None:
    gate = script.topic_of(script.people["ferrer"], "ferrer/side_letter")
    assert gate is not None
    assert gate.gate is not None
    for turn in range(50):
        written = records.filled_in("<statement.rig>, <statement.date:%-d %B>", gate.gate, script.gates, turn)
        assert re.fullmatch(r"(?:HD-1[14]|VM-204), \d{1,2} July", written)


@pytest.mark.parametrize("text", ["a < b", "<b>", "<claim_line", "< claim_line >", "<Claim>", "<statement.date:>"])
def test_what_is_no_placeholder_stays(text: str) -> None:
    assert [found["kind"] for found in PLACEHOLDER.finditer(text)] == (["b"] if text == "<b>" else [])


@pytest.mark.parametrize(
    "text",
    [
        "HD-11/2607-06",
        "hd-11/2607-06",
        "HD 11 / 2607-06",
        "HD11, line 2607-06",
        "line 2607-06 of HD-11",
        "HD-11's 2607-06",
        "钻机HD-11的2607-06",
    ],
)
def test_a_claim_line_is_cited_whole_or_by_its_parts(script: Script, text: str) -> None:
    assert script.reader.read(text).records() == {("claim_line", "HD-11/2607-06")}


@pytest.mark.parametrize(
    "text",
    [
        "VM-204 / 14 July / MP-1",
        "VM-204/2026-07-14/MP-1",
        "VM-204|2026-07-14|MP-1",
        "the MP-1 of VM-204 on 14/07",
        "VM204, July 14th, MP1",
        "VM-204 7月14日 MP-1",
    ],
)
def test_a_statement_row_is_cited_in_any_order_and_notation(script: Script, text: str) -> None:
    assert ("statement", "VM-204|2026-07-14|MP-1") in script.reader.read(text).records()


@pytest.mark.parametrize(
    "text", ["VM-204/2026-08-06", "VM-204 / 2026-08-06", "VM-204's report of 6 August", "VM-204 8月6日的日报"]
)
def test_a_report_is_cited_by_number_or_by_rig_and_day(script: Script, text: str) -> None:
    assert script.reader.read(text).records() == {("report", "VM-204/2026-08-06")}


def test_beside_an_identifier_the_rigs_and_days_of_a_message_are_no_further_records(script: Script) -> None:
    evidence = script.reader.read("HD-11, HD-14 and VM-204 changed on 1 August. Is VM-204/2026-08-06 in feet?")
    assert evidence.identifiers_given() == {"report": 1}


@pytest.mark.parametrize(
    "text",
    [
        "Amendment 2 cl.14.4",
        "A2 cl. 14.4",
        "A2 cl14.4",
        "A2, §14.4",
        "14.4 of the second amendment",
        "amendment_2.md, section 14.4",
        "第二号修正案14.4条",
    ],
)
def test_a_clause_is_cited_as_contract_people_write_it(script: Script, text: str) -> None:
    assert ("amendment_2", "14.4") in script.reader.read(text).documents.clauses


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("carvalho/approval", "Please approve the change of the claim rules by 14.2 of A2."),
        ("carvalho/approval", "Thandeka has confirmed the reading. Please approve the change of the claim rules."),
        ("carvalho/approval", "请批准按修正案二14.2修改索赔规则。"),
        ("solvang/approval", "A2 14.2-14.4: please sign the change of the claims, Henrik. It is the right thing."),
        ("solvang/approval", "Would you sign on Molefe's word? It is about the claims."),
        ("molefe/own_use", "What of the time in between?"),
        ("molefe/own_use", "And our own stuff, how is that handled?"),
        ("molefe/own_use", "那段时间如果是我们自己的呢，怎么处理？"),
        ("molefe/allowance", "HD-11 in July: which hours are free?"),
        ("molefe/allowance", "In 2607-06, which hours are free?"),
        ("ferrer/side_letter", "OK-3/2607-06: old terms or new?"),
        ("ferrer/side_letter", "HD-11/2606-06: old terms or new?"),
        ("karaca/changeover", "VM-204/2026-07-02: in feet?"),
        ("karaca/changeover", "The VM-204 reports since August: in feet?"),
        ("pruett/record", "Which report counts?"),
    ],
)
def test_who_points_at_half_of_it_is_asked_for_the_rest(
    script: Script, records: Records, topic: str, message: str
) -> None:
    assert not opens(script, records, topic, message)
