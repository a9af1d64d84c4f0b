"""How a message is read: numbers, dates, identifiers, rows, documents and clauses, terms."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from small_customer import RECORDS, SCENARIO, small_script

from stakeholders.evidence import Evidence, EvidenceReader
from stakeholders.plain_text import normalise
from stakeholders.quantities import find_quantities
from stakeholders.terms import SpokenText, Term
from stakeholders.written_dates import find_dates


def read(text: str) -> Evidence:
    return small_script(scenario=SCENARIO).reader.read(text)


@pytest.mark.parametrize(
    "text",
    [
        "0.62",
        "62 %",
        "62%",
        "62 percent",
        "62 per cent",
        "六成二",
        "百分之六十二",
        "0,62",
        "sixty-two percent",
        "zero point six two",
    ],
)
def test_a_share_is_a_share_in_every_notation(text: str) -> None:
    (number,) = find_quantities(normalise(text))
    assert number.means(0.62, 0.0, None, unit_required=False, signed=False)
    assert number.means(62, 0.0, "%", unit_required=False, signed=False)
    assert not number.means(0.63, 0.005, None, unit_required=False, signed=False)


@pytest.mark.parametrize(
    "text",
    [
        "30 in 100",
        "30 in a hundred",
        "30 of every 100",
        "30 pieces of a hundred",
        "thirty out of a hundred",
        "30 per hundred",
        "three in ten",
        "3 out of 10",
        "three of every ten",
    ],
)
def test_so_many_in_a_hundred_or_in_ten_is_one_number_and_a_share(text: str) -> None:
    (number,) = find_quantities(normalise(text))
    assert number.means(30, 0.0, "%", unit_required=True, signed=False)
    assert number.means(0.3, 0.0, None, unit_required=False, signed=False)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3 of 10 parcels", [3, 10]), ("4 in ten minutes", [4, 10]), ("3 hours per 100 m", [3, 100]),
        ("120 in 100", [120, 100]), ("2 in ten thousand", [2, 10_000]), ("5 in 100,000", [5, 100_000]),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_share_of_ten_or_a_hundred_is_two_numbers(text: str, values: list[float]) -> None:
    assert [float(number.value) for number in find_quantities(normalise(text))] == values


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("they sell 70 of every 100; 30 in 100 come back; may we send 70 in 100?", 2),
        ("it was 12, and 12 again, and a third time 12", 1),
        ("12, 13, 14, 15 or 16", 5),
        ("12 h, 12 days and 12", 3),
    ],
)
def test_a_number_given_again_is_no_further_guess(text: str, count: int) -> None:
    assert read(text).counted_numbers() == count


@pytest.mark.parametrize(
    "text",
    [
        "1.5 h",
        "1.5 hours",
        "90 minutes",
        "1 h 30",
        "1:30 h",
        "an hour and a half",
        "one and a half hours",
        "一个半小时",
    ],
)
def test_an_hour_and_a_half_is_that_in_every_notation(text: str) -> None:
    (number,) = find_quantities(normalise(text))
    assert number.means(1.5, 0.0, "h", unit_required=True, signed=False)
    assert not number.means(1.5, 0.0, "%", unit_required=False, signed=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("eleven", 11), ("十一", 11), ("twenty-five", 25), ("one hundred and five", 105), ("31,200 USD", 31200),
        ("31.2k", 31200), ("两万", 20000), ("1.2万", 12000), ("three quarters", 0.75), ("二十五条", 25), ("a dozen", 12),
        ("-403 h", -403), ("负403", -403), ("minus 403", -403), ("−403", -403), (".010", 0.01), ("1 210", 1210),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text: str, value: float) -> None:
    (number,) = find_quantities(normalise(text))
    assert float(number.value) == value


@pytest.mark.parametrize("text", ["HD-11", "MP-3", "A2", "at 09:30", "the 14th", "第三", "周一", "一下子", "1.2.3"])
def test_names_ordinals_and_clock_times_are_no_numbers(text: str) -> None:
    assert find_quantities(normalise(text)) == []


def test_numbers_joined_by_and_stay_apart() -> None:
    assert [float(number.value) for number in find_quantities("between three and four hours, one or two lines")] == [
        3,
        4,
        1,
        2,
    ]


def test_a_unit_is_optional_unless_the_script_wants_it_and_so_is_a_sign() -> None:
    (bare,) = find_quantities("403")
    assert bare.means(-403, 0, "h", unit_required=False, signed=False)
    assert not bare.means(-403, 0, "h", unit_required=True, signed=False)
    assert not bare.means(-403, 0, "h", unit_required=False, signed=True)
    (signed,) = find_quantities("-403 h")
    assert signed.means(-403, 0, "h", unit_required=True, signed=True)


@pytest.mark.parametrize(
    "text",
    [
        "14 July", "14 July 2026", "July 14", "July 14th, 2026", "14th of July", "2026-07-14", "2026/07/14", "14/07",
        "07/14/2026", "14.07.2026", "20260714", "7月14日", "2026年7月14日", "七月十四日", "7月14号", "14-Jul-2026",
    ],
)  # fmt: skip
def test_a_date_is_a_date_in_every_usual_notation(text: str) -> None:
    (written,) = find_dates(normalise(text))
    assert written.means(date(2026, 7, 14))
    assert not written.means(date(2026, 7, 15))


@pytest.mark.parametrize("text", ["line 4 may be wrong", "14.2", "2/3 of them", "99/99", "in July"])
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert find_dates(normalise(text)) == []


def test_an_identifier_is_of_the_longest_form_that_fits() -> None:
    scenario = SCENARIO + "[records.report]\nabout = 'a report'\npattern = 'PX-\\d{3}/\\d{4}'\n"
    evidence = small_script(scenario=scenario).reader.read("why does PX-001/2026 differ from px-002?")
    assert [(found.kind, found.record) for found in evidence.identifiers] == [("report", None), ("parcel", "PX-002")]


def test_an_identifier_stands_beside_chinese_and_odd_dashes() -> None:
    assert read("包裹PX‑003为什么丢了？").records() == {("parcel", "PX-003")}


def test_an_identifier_that_does_not_exist_is_given_but_cites_nothing() -> None:
    evidence = read("PX-999 and PX-0011")
    assert evidence.records() == frozenset()
    assert evidence.identifiers_given() == {"parcel": 1}


@pytest.mark.parametrize("text", ["gate 4 on 14 July", "14/07, Gate 4", "July 14th / gate 4", "gate 4 7月14日"])
def test_a_row_is_cited_by_its_fields_in_any_order_and_notation(text: str) -> None:
    assert read(text).records() == {("scan", RECORDS["scan"][0])}


def test_a_row_is_not_cited_by_some_of_its_fields_or_by_fields_of_different_rows() -> None:
    assert read("gate 4").records() == frozenset()
    assert read("gate 4 on 15 July").records() == frozenset()


@pytest.mark.parametrize(
    "text", ["the Terms of Carriage", "terms.md", "docs/terms.md", "TERMS", "运输条款第七条", "see terms"]
)
def test_a_document_is_cited_by_any_of_its_names(text: str) -> None:
    assert read(text).documents.named == {"terms"}


def test_a_word_that_holds_a_name_is_not_the_document() -> None:
    assert read("the termsheet and a short rotation").documents.named == frozenset()


def test_a_range_of_clauses_is_clauses_and_no_number() -> None:
    evidence = read("Please use 14.2–14.4 of the terms")
    assert evidence.documents.clauses == {("terms", "14.2"), ("terms", "14.3"), ("terms", "14.4")}
    assert evidence.numbers == ()


def test_a_clause_without_a_document_is_that_of_the_document_that_allows_it() -> None:
    assert read("what does 14.3 mean").documents.clauses == {("terms", "14.3")}


def test_a_clause_beside_another_document_is_that_documents() -> None:
    assert read("what does 14.2 of the tariff say?").documents.clauses == {("tariff", "14.2")}
    assert read("Under the terms, not the tariff, 14.2.").documents.clauses == {("terms", "14.2"), ("tariff", "14.2")}


def test_a_bare_seven_is_a_number_and_clause_seven_is_a_clause() -> None:
    assert read("7 parcels under the terms").documents.clauses == frozenset()
    assert read("clause 7 of the terms").documents.clauses == {("terms", "7")}
    assert read("运输条款第7条").documents.clauses == {("terms", "7")}


def test_fourteen_point_two_hours_is_no_clause() -> None:
    evidence = read("it took 14.2 hours under the terms")
    assert evidence.documents.clauses == frozenset()
    assert [float(number.value) for number in evidence.numbers] == [14.2]


def test_dates_identifiers_and_clauses_are_not_counted_as_numbers() -> None:
    evidence = read("PX-001, gate 4, 14 July 2026, clause 14.2 of the terms at 09:30: 5 hours, not one")
    assert evidence.counted_numbers() == 1


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("revis*", "after it was revised"),
        ("own use", "for our OWN USE."),
        ("re-issue*", "the re‑issued one"),
        ("co. man", "at Co. man's request"),
        ("change* the bit", "while they changed the bit"),
        ("confirm*", "she comfirmed it"),
        ("wireline", "we ran wirelin"),
        ("wiper trip", "a wipper trip"),
        ("signature", "whose signatrue counts"),
        ("自用", "中间 自 用 的时间"),
        ("换钻头", "修泵的时候换了个钻头"),
        ("eleven", "11 h each"),
        ("rev 1", "or is it rev 1"),
    ],
)
def test_a_term_is_found_with_its_stem_and_one_wrong_letter(term: str, text: str) -> None:
    assert Term(term).found_in(SpokenText.of(text))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("own use", "your own"),
        ("rest", "restart"),
        ("OPR", "OPS"),
        ("our time", "your time"),
        ("wiper trip", "a wipper strip"),
        ("bit trip", "a bit grip"),
        ("back", "bank"),
        ("confirm*", "comformed"),
        ("eleven", "11 days before the 12th, 110"),
        ("signature", "singatrue"),
    ],
)
def test_a_term_is_not_found_in_what_only_resembles_it(term: str, text: str) -> None:
    if term == "eleven":
        assert Term("11 h").found_in(SpokenText.of("eleven"))
        assert not Term("11 h").found_in(SpokenText.of(text))
    else:
        assert not Term(term).found_in(SpokenText.of(text))


def test_a_number_goes_with_the_words_of_its_own_clause() -> None:
    evidence = read("In STX 62 % were late, in PTX 20 %.")
    first, second = evidence.numbers
    assert "STX" in evidence.clause_around(first)
    assert "PTX" not in evidence.clause_around(first)
    assert "PTX" in evidence.clause_around(second)


READER: EvidenceReader = small_script(scenario=SCENARIO).reader
PIECES = [
    "14.2", "-", "–", "/", ".", ",", " ", "PX-001", "gate 4", "14 July", "terms", "clause", "第", "条", "点", "成", "半",
    "一", "十", "万", "个", "小时", "月", "日", "年", "half", "and", "a", "point", "hundred", "%", "$", "1", "9", "00",
    "h", ":", "²", "٣", "½", "①", "Ⅻ", "\u202e", "😀", "\n", "to", "May", "31", "of", "minus", "负", "(", ")",
]  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
@example("٣٤ / ٣٤ / ٣٤")
@example("1/0 of 0/0")
@example("一百百千万亿亿点")
def test_no_text_at_all_confuses_the_reader(text: str) -> None:
    evidence = READER.read(text)
    assert evidence.counted_numbers() <= len(evidence.text)
    for number in evidence.numbers:
        assert evidence.text[number.span.start : number.span.end].strip()
        assert evidence.clause_around(number)
    SpokenText.of(text)


def test_a_page_of_anything_is_read_in_no_time() -> None:
    for page in (
        "1 " * 4000,
        "a " * 4000,
        "一" * 8000,
        "14.2-" * 1600,
        "-" * 8000,
        "half and " * 900,
        "1," * 4000,
        "9" * 8000,
    ):
        started = time.process_time()
        READER.read(page)
        SpokenText.of(page)
        assert time.process_time() - started < 2.0, page[:20]
