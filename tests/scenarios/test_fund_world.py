"""fund_recon's world: what the files show on each task, and that what is hidden is nowhere printed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scenarios.fund_recon.world import build
from scenarios.fund_recon.world.calendars import DAYS, GRADED, HISTORY, WARM_UP
from scenarios.fund_recon.world.dividends import Entitlement, withholding
from scenarios.fund_recon.world.level import LENGTHS, Lengths, Table, level
from scenarios.fund_recon.world.market import Market
from scenarios.fund_recon.world.production import make_market
from scenarios.fund_recon.world.rules import Rules
from scenarios.fund_recon.world.trades import CANCELLED_AFTER, Trade
from scenarios.fund_recon.world.universe import BDL_BOND, KINDS, NGC_EQUITY
from tests.scenarios import fund_worlds
from tests.scenarios.fund_worlds import TASKS, built, production, streams, view

BEFORE, AFTER = "2026-06-12", "2026-06-15"
LATE_SUMMER = "2026-09-10"


@pytest.fixture(scope="module", autouse=True)
def _worlds() -> Iterator[None]:
    yield
    fund_worlds.remove_built()


def digest(folder: Path) -> str:
    content = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return content.hexdigest()


# ---- what is true on each task ----


def test_the_periods_have_the_days_of_the_calendar() -> None:
    assert HISTORY[1] - HISTORY[0] + 1 == 126
    assert WARM_UP[1] - WARM_UP[0] + 1 == 22
    assert GRADED[1] - GRADED[0] + 1 == 130
    assert WARM_UP[1] + 1 == GRADED[0]


@pytest.mark.parametrize("task", TASKS)
def test_the_code_in_the_first_line_changes_with_the_quantities_and_only_where_they_do(task: str) -> None:
    world = built(task)
    changes = task != "orig_face"
    assert world.ngc_holdings(BEFORE)[0] == "S"
    assert world.ngc_holdings(AFTER)[0] == ("T" if changes else "S")
    assert "STBA=S" in world.text(f"ngc/ngc_holdings_{LATE_SUMMER}.csv")  # the bonds' section
    book, (_, theirs) = world.book(LATE_SUMMER), world.ngc_holdings(LATE_SUMMER)
    equities = [line for line in theirs if line[0].startswith("NG-E")]
    differing = sum(theirs[line] != book[line] for line in equities)
    if task == "backed_out":
        assert 0 < differing < 0.1 * len(equities)
    elif changes:
        assert differing == 0
    else:
        assert differing > 20


@pytest.mark.parametrize("task", TASKS)
def test_the_last_column_at_delorme_is_one_unless_quantities_are_original_face(task: str) -> None:
    world = built(task)
    for day in (BEFORE, LATE_SUMMER):
        factors = {pf for _, pf in world.bdl_holdings(day).values()}
        original_face = task == "orig_face" and day == LATE_SUMMER
        assert {"1,0000", ""} <= factors
        assert (len(factors) > 5) == original_face
    book, quiet = world.book(LATE_SUMMER), 0
    for line, (quantity, pf) in world.bdl_holdings(LATE_SUMMER).items():
        factor = int(pf.replace(",", "")) if pf else 10_000
        quiet += quantity * factor == book[line] * 10_000
    assert quiet > 0.9 * len(book) * 0.35  # all but the lines with open trades


def test_tasks_cannot_be_told_apart_by_names_or_sizes_of_files() -> None:
    listings = {}
    for task in TASKS:
        folder = built(task).folder / "data"
        listings[task] = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*.*")}
    assert len({frozenset(listing) for listing in listings.values()}) == 1
    folders = ("book", "ngc", "bdl", "cash", "events", "queries_history.csv", "tax_relief_2026.csv")
    for start in folders:
        sizes = [sum(size for name, size in listing.items() if name.startswith(start)) for listing in listings.values()]
        assert max(sizes) < 1.02 * min(sizes), (start, sizes)


@pytest.mark.parametrize("task", TASKS)
def test_the_book_and_the_movements_have_as_many_rows_on_every_task(task: str) -> None:
    rows: Counter[str] = Counter()
    for path in (built(task).folder / "data").rglob("*.*"):
        rows[path.name.rpartition("_")[0]] += path.read_bytes().count(b"\n")
    for table, length in LENGTHS.items():
        assert abs(rows[table] - length) < 0.006 * length, (table, rows[table])


def test_trades_are_called_off_where_the_book_is_short_and_none_that_hides_a_fail() -> None:
    too_many: dict[Table, int] = {"book_trades": -100, "ngc_moves": 60, "bdl_moves": 40}
    lengths = Lengths()
    lengths.add({f"{table}_2026-09-14": b"\n" * (LENGTHS[table] + rows) for table, rows in too_many.items()})
    whole = range(HISTORY[0], HISTORY[1] + 1)

    def drawn(change: Callable[[list[Trade]], None] | None = None) -> Market:
        return make_market(streams("original"), "history", HISTORY, [whole], view("original").facts, change)

    before = {trade.number for trade in drawn().trades if trade.cancelled_on is not None}
    market = drawn(lambda trades: level(streams("original").rng("history:level"), trades, lengths))
    called_off = [one for one in market.trades if one.cancelled_on is not None and one.number not in before]
    assert Counter(trade.line.custodian for trade in called_off) == {"NGC": 60, "BDL": 40}
    fails = [trade for trade in market.trades if trade.failed]
    for trade in called_off:
        assert not trade.legs
        assert not any(fail.line is trade.line and abs(fail.isd - trade.isd) < 5 for fail in fails)


@pytest.mark.parametrize("task", TASKS)
def test_the_history_of_queries_bears_out_the_rules_of_its_days(task: str) -> None:
    world = built(task)
    rows = world.table("queries_history.csv")
    assert len(rows) == 2_600
    isd = {
        row["trade_id"]: row["isd"]
        for path in sorted((world.folder / "data" / "book").glob("book_trades_*"))
        for row in world.table(f"book/{path.name}")
    }
    days = [day.isoformat() for day in DAYS]
    first: dict[bool, set[int]] = {True: set(), False: set()}
    for row in rows:
        if row["ref"] in isd and row["outcome"] in ("too early", "settled", "wrong party"):
            after = days.index(row["sent_on"]) - days.index(isd[row["ref"]])
            since_july = task == "broker_window" and row["sent_on"] >= "2026-07-01"
            first[since_july].add(after if row["outcome"] != "too early" else after + 100)
    for since_july, low in ((False, 3), (True, 1)):
        taken = {after for after in first[since_july] if after < 60}
        refused = {after - 100 for after in first[since_july] if after > 60}
        assert all(after >= low for after in taken)
        assert all(after < low for after in refused)
    compensated = [row for row in rows if row["outcome"] == "already compensated"]
    assert bool(compensated) == (task != "backed_out")


@pytest.mark.parametrize("task", TASKS)
def test_people_can_be_shown_a_fail_that_is_still_pending_and_in_the_quantity(task: str) -> None:
    result = built(task).result
    facts, groups = result.facts, result.record_groups
    assert facts["ex_trade"] in groups["northgate_equity_since_june"]["trade"]
    assert facts["ex_event"] in result.records["event"]
    assert facts["ex_bond_move"] in groups["delorme_bond_since_june"]["move"]
    assert set(groups["block_or_part"]) == {"trade", "move", "block"}
    printed = [move for day in ("2026-09-14", "2026-09-15") for move in built(task).ngc_moves(day)]
    assert any(move["status"] == "PEND" and move["reason"] for move in printed)


def test_the_same_task_gives_the_same_bytes_and_another_salt_others(tmp_path: Path) -> None:
    for name, salt in (("again", fund_worlds.SALT), ("other", "other")):
        (tmp_path / name / "data").mkdir(parents=True)
        build(view("original"), streams("original", salt), tmp_path / name)
    assert digest(tmp_path / "again") == digest(built("original").folder)
    assert digest(tmp_path / "other") != digest(built("original").folder)


def test_no_file_has_a_column_for_what_nobody_knows() -> None:
    folder = built("original").folder / "data"
    for stem in ("book/book_trades", "cash/cash", "events/events"):
        header = (folder / f"{stem}_{LATE_SUMMER}.csv").read_text().splitlines()[0]
        assert not {"loss", "story", "fails", "short", "value"} & set(header.split(","))


# ---- production ----


@pytest.mark.parametrize("task", TASKS)
def test_fails_come_in_exact_shares_of_trades_and_reasons(task: str) -> None:
    period = production(task)
    first = period.rules(period.first_graded).first
    days = range(period.first_graded - first, period.last_graded + 1 - first)
    graded = [trade for trade in period.trades.values() if trade.isd in days]
    for kind in range(len(KINDS)):
        of_kind = [trade for trade in graded if trade.line.kind == kind]
        fails = [trade for trade in of_kind if trade.failed]
        assert abs(len(fails) - 0.035 * len(of_kind)) <= 3
    reasons = Counter(trade.reason for trade in graded if trade.failed)
    assert reasons["CLAC"] > reasons["NMAT"] > reasons["LACK"] > 30
    assert 230 <= sum(reasons.values()) <= 270


def test_a_fail_that_is_queried_settles_and_one_that_is_not_is_cancelled() -> None:
    period = production("original")
    fails = [
        trade
        for trade in period.trades.values()
        if trade.failed and trade.block is None and not trade.partial_fail and trade.line.kind == NGC_EQUITY
    ]
    queried, left = fails[0], fails[1]
    until = max(queried.isd, left.isd) + CANCELLED_AFTER
    settled: list[int] = []
    cancelled: list[int] = []
    for day in range(period.indices[0], until + 1):
        files = period.drop(day)
        if day == queried.isd + 3:
            period.react((day, [queried], []))
        date = DAYS[day].isoformat()
        moves, book = files.get(f"ngc_moves_{date}.csv", b"").decode(), files[f"book_trades_{date}.csv"].decode()
        settled += [day for line in moves.splitlines() if "SETT" in line and _is(queried, line)]
        cancelled += [day for line in book.splitlines() if line.startswith(left.trade_id) and "CANC" in line]
    assert queried.isd + 4 <= settled[0] <= queried.isd + 7
    assert cancelled == [left.isd + CANCELLED_AFTER]


def _is(trade: Trade, line: str) -> bool:
    fields = line.split(";")
    return fields[1:3] == [trade.line.account, trade.line.security.isin] and fields[4] == str(trade.qty)


def test_a_short_dividend_is_paid_when_claimed_and_a_claim_at_delorme_stops_its_own_payment() -> None:
    period = production("original")
    shorts = [one for one in period.entitlements.values() if one.short and one.event.pay < period.indices[0] + 60]
    northgate = next(one for one in shorts if one.line.custodian == "NGC")
    delorme = [one for one in shorts if one.line.custodian == "BDL" and one.event.comp == "AUTO"]
    claimed, left = delorme[0], delorme[1]
    last = max(one.event.pay for one in (northgate, claimed, left)) + 14
    booked: dict[str, float] = {one.ref: 0.0 for one in (northgate, claimed, left)}
    for day in range(period.indices[0], last):
        for text in (data.decode() for name, data in period.drop(day).items() if name.startswith("cash_")):
            for fields in (line.split(",") for line in text.splitlines()[1:]):
                for one in (northgate, claimed, left):
                    if fields[1] == one.line.account and fields[3] == one.event.event_id:
                        booked[one.ref] += float(fields[6])
        asked = [one for one in (northgate, claimed) if day == one.event.pay + 5]
        period.react((day, [], asked))
    for one, short in ((northgate, 0.0), (claimed, claimed.value), (left, 0.0)):
        paid_twice = 1 + (one.line.number + one.event.ex) % 97 // 97
        due = one.entitled * one.event.rate * (1 - _rate(one)) * paid_twice
        assert due - booked[one.ref] == pytest.approx(short, abs=1.0)


def _rate(one: Entitlement) -> float:
    return withholding(one.line.security.country, view("original").facts)


def test_a_value_falls_from_the_first_accepted_day_to_the_last() -> None:
    rules = Rules(3, 20, frozenset({"CLAC"}), frozenset({"LACK"}), 4)
    assert [rules.value_share(day) for day in (2, 3, 21)] == [0.0, 1.0, 0.0]
    assert rules.value_share(20) == pytest.approx(1 - 0.85 * 17 / 18)
    assert [rules.party(reason) for reason in ("CLAC", "NMAT", "LACK", "")] == [
        "BROKER", "CUSTODIAN", "INTERNAL", "CUSTODIAN",
    ]  # fmt: skip


def test_amortising_bonds_trade_in_whole_units_of_original_face() -> None:
    period = production("orig_face")
    bonds = [
        trade for trade in period.trades.values() if trade.line.kind == BDL_BOND and trade.line.security.amortising
    ]
    assert len(bonds) > 500
    assert all(leg.qty % trade.line.security.factor == 0 for trade in bonds for leg in trade.legs)
