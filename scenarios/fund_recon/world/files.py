"""A morning as the files that lie in the drop: the house's tables and the layouts of the two custodians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scenarios.fund_recon.world.calendars import DAYS, Custodian
from scenarios.fund_recon.world.market import Booking, Market, Morning
from scenarios.fund_recon.world.orders import price_of
from scenarios.fund_recon.world.trades import SETTLED, SETTLED_REST, SPLIT, Leg, Trade
from scenarios.fund_recon.world.universe import BLOCK_ACCOUNT, CUSTODIAN_OF, KINDS, NGC_BOND, NGC_EQUITY, Line

TRADE_COLUMNS = (
    "trade_id,fund,account,isin,asset_class,side,qty,price,net_amount,ccy,trade_date,isd,broker,block_ref,status"
)
POSITION_COLUMNS = "fund,account,isin,asset_class,traded_qty"
CASH_COLUMNS = "custodian,account,isin,event_id,gross,wht,net,ccy,value_date"
EVENT_COLUMNS = "event_id,isin,country,ex_date,record_date,pay_date,rate,ccy,comp"
NGC_HOLDING_COLUMNS = "account;isin;quantity"
NGC_MOVE_COLUMNS = "move_id;account;isin;side;qty;amount;settle_date;our_ref;status;reason;part"
#: folder of the visible data → how the names of its files begin
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "book": ("book_",),
    "ngc": ("ngc_",),
    "bdl": ("bdl_",),
    "cash": ("cash_",),
    "events": ("events_",),
}


@dataclass(frozen=True, slots=True)
class Move:
    """A row of a custodian's movements. ``qty`` is in the custodian's units."""

    move_id: str
    account: str
    isin: str
    side: str
    qty: int
    amount: float
    day: int
    our_ref: str
    status: str
    reason: str
    part: str


class Printer:
    """Writes the files of one market's mornings. ``numbers`` are those of the custodians' movements."""

    def __init__(self, market: Market, numbers: list[int]) -> None:
        self._market, self._numbers = market, numbers
        self.printed: list[tuple[Trade, str]] = []
        lines = market.universe.lines
        self._book = [f"{line.fund},{line.account},{line.security.isin},{_asset_class(line)}," for line in lines]
        self._of_kind = [[line for line in lines if line.kind == kind] for kind in range(len(KINDS))]

    def files(self, now: Morning) -> dict[str, bytes]:
        """File name → content, as they are made; what is late is somebody else's business."""
        day = DAYS[now.day].isoformat()
        moves = self._moves(now)
        by_house: dict[Custodian, list[Move]] = {"NGC": [], "BDL": []}
        for move in moves:
            by_house["NGC" if move.account.startswith("NG") else "BDL"].append(move)
        reported = self._market.reported(now.day)
        return {
            f"book_trades_{day}.csv": _table(TRADE_COLUMNS, self._bookings(now)),
            f"book_positions_{day}.csv": _table(
                POSITION_COLUMNS, map(str.__add__, self._book, map(str, self._market.traded))
            ),
            f"ngc_holdings_{day}.csv": self._ngc_holdings(now, reported),
            f"bdl_holdings_{day}.txt": self._bdl_holdings(now, reported),
            f"ngc_moves_{day}.csv": _ngc_moves(day, by_house["NGC"]),
            f"bdl_moves_{day}.txt": _bdl_moves(day, by_house["BDL"]),
            f"cash_{day}.csv": _table(CASH_COLUMNS, self._cash(now)),
            f"events_{day}.csv": _table(EVENT_COLUMNS, self._events(now)),
        }

    # ---- the house ----

    def _bookings(self, now: Morning) -> list[str]:
        rows = []
        for booking in now.bookings:
            rows.append(_booking(booking))
            if booking.status == "NEW" and booking.trade.doubled:
                rows.append(_booking(booking))
        return rows

    def _cash(self, now: Morning) -> list[str]:
        rows = []
        for paid in now.payments:
            line, event = paid.entitlement.line, paid.entitlement.event
            rows.append(
                f"{line.custodian},{line.account},{line.security.isin},{event.event_id},{paid.gross:.2f},"
                f"{paid.withheld:.2f},{paid.net:.2f},EUR,{DAYS[paid.value_day].isoformat()}"
            )
            if (line.number + event.ex) % 97 == 0:
                rows.append(rows[-1])
        return rows

    def _events(self, now: Morning) -> list[str]:
        return [
            f"{event.event_id},{event.security.isin},{event.security.country},{DAYS[event.ex].isoformat()},"
            f"{DAYS[event.record].isoformat()},{DAYS[event.pay].isoformat()},{event.rate:.4f},EUR,{event.comp}"
            for event in now.announced
        ]

    # ---- quantities ----

    def _ngc_holdings(self, now: Morning, reported: Sequence[int]) -> bytes:
        market, day = self._market, DAYS[now.day].isoformat()
        traded = market.facts["ngc_equity_basis"] != "settled_only" and now.day >= market.basis_from
        rows = []
        for kind, basis in ((NGC_EQUITY, "T" if traded else "S"), (NGC_BOND, "S")):
            rows += [f"H|NGC|{day}|STBA={basis}", NGC_HOLDING_COLUMNS]
            rows += [f"{line.account};{line.security.isin};{reported[line.number]}" for line in self._of_kind[kind]]
        return ("\n".join(rows) + "\n").encode()

    def _bdl_holdings(self, now: Morning, reported: Sequence[int]) -> bytes:
        market = self._market
        rows = [f"H|BDL|{DAYS[now.day].isoformat()}|STBA=S|Relevé arrêté à la clôture"]
        for line in (*self._of_kind[2], *self._of_kind[3]):
            security = line.security
            units = market.as_reported(line, reported[line.number], now.day)
            factor = ""
            if security.is_bond:
                face = security.factor if market.reports_original_face(line, now.day) else 10_000
                factor = f"{face // 10_000},{face % 10_000:04d}"
            rows.append(f"{line.account:<10}{security.isin:<12}{f'{units},00':>18}{factor:>8}")
        return ("\r\n".join(rows) + "\r\n").encode("cp1252")

    # ---- movements ----

    def _moves(self, now: Morning) -> list[Move]:
        moves: list[Move] = []
        blocks: dict[str, list[tuple[Trade, Leg]]] = {}
        for trade, leg in now.settled:
            if leg.alone:
                move = self._settlement(trade, leg)
                moves += [move, move] if trade.doubled else [move]
            elif trade.block is not None:
                blocks.setdefault(trade.block.block_id, []).append((trade, leg))
        for pairs in blocks.values():
            moves.append(self._block(pairs[0][0], [trade for trade, _ in pairs], now.day, SETTLED_REST, "SETT", ""))
        for trade, leg in now.split:
            units = self._market.as_reported(trade.line, leg.qty, now.day)
            number = self._number(trade, SPLIT)
            account, isin = trade.line.account, trade.line.security.isin
            moves.append(Move(number, account, isin, _side(trade), units, 0.0, leg.day, "", "SETT", "", ""))
        moves += self._pending(now)
        return sorted(moves, key=lambda move: move.move_id)

    def _settlement(self, trade: Trade, leg: Leg) -> Move:
        slot = SETTLED_REST if leg.part == "PARC" else SETTLED
        blank = trade.blank[slot] and not leg.part
        amount = round(price_of(trade, leg.qty) * (1 + trade.noise[slot] / 10_000), 2)
        return self._move(trade, slot, leg.qty, amount, leg.day, "" if blank else trade.trade_id, "SETT", "", leg.part)

    def _pending(self, now: Morning) -> list[Move]:
        moves: list[Move] = []
        blocks: dict[tuple[str, int], list[Trade]] = {}
        for trade, print_ in now.pending:
            if trade.block is not None:
                blocks.setdefault((trade.block.block_id, print_), []).append(trade)
                continue
            ref = "" if trade.blank[print_] else trade.trade_id
            rest = trade.qty - trade.settled_by(now.day)
            amount = round(price_of(trade, rest) * (1 + trade.noise[print_] / 10_000), 2)
            reason = _reason(trade, print_)
            moves.append(self._move(trade, print_, rest, amount, trade.isd, ref, "PEND", reason, ""))
        for (_, print_), trades in blocks.items():
            moves.append(self._block(trades[0], trades, trades[0].isd, print_, "PEND", _reason(trades[0], print_)))
        return moves

    def _move(
        self,
        trade: Trade,
        print_: int,
        qty: int,
        amount: float,
        day: int,
        ref: str,
        status: str,
        reason: str,
        part: str,
    ) -> Move:
        units = self._market.as_reported(trade.line, qty, day)
        number = self._number(trade, print_)
        account, isin = trade.line.account, trade.line.security.isin
        return Move(number, account, isin, _side(trade), units, amount, day, ref, status, reason, part)

    def _number(self, trade: Trade, print_: int) -> str:
        number = trade.move_number(self._numbers, print_)
        self.printed.append((trade, number))
        return number

    def _block(self, first: Trade, trades: Sequence[Trade], day: int, print_: int, status: str, reason: str) -> Move:
        units = sum(self._market.as_reported(trade.line, trade.qty, day) for trade in trades)
        amount = round(sum(trade.amount for trade in trades) * (1 + first.noise[print_] / 10_000), 2)
        account = BLOCK_ACCOUNT[CUSTODIAN_OF[first.line.kind]]
        ref = first.block.block_id if first.block is not None and not first.blank[print_] else ""
        number = self._number(first, print_)
        self.printed += [(trade, number) for trade in trades[1:]]
        isin = first.line.security.isin
        return Move(number, account, isin, _side(first), units, amount, day, ref, status, reason, "")


def _reason(trade: Trade, print_: int) -> str:
    """PENDING_AGAIN tells what it is in the end; what is merely instructed has a reason now and then."""
    if print_ == 0:
        return trade.first_reason
    if print_ == 1:
        return trade.reason
    return "NMAT" if trade.number % 3 == 0 else ""


def _side(trade: Trade) -> str:
    return "B" if trade.side > 0 else "S"


def _asset_class(line: Line) -> str:
    return "BOND" if line.security.is_bond else "EQUITY"


def _booking(booking: Booking) -> str:
    trade = booking.trade
    line, block = trade.line, trade.block.block_id if trade.block is not None else ""
    amount = trade.amount if booking.qty == trade.qty else round(trade.amount * booking.qty / trade.qty, 2)
    return (
        f"{trade.trade_id},{line.fund},{line.account},{line.security.isin},{_asset_class(line)},{_side(trade)},"
        f"{booking.qty},{trade.price:.4f},{amount:.2f},EUR,{DAYS[trade.traded].isoformat()},"
        f"{DAYS[booking.isd].isoformat()},{trade.broker},{block},{booking.status}"
    )


def _table(columns: str, rows: object) -> bytes:
    return ("\n".join([columns, *rows]) + "\n").encode()  # type: ignore[misc]


def _ngc_moves(day: str, moves: Sequence[Move]) -> bytes:
    rows = [f"H|NGC|{day}|MOVES", NGC_MOVE_COLUMNS]
    rows += [
        f"{one.move_id};{one.account};{one.isin};{one.side};{one.qty};{one.amount:.2f};{DAYS[one.day].isoformat()};"
        f"{one.our_ref};{one.status};{one.reason};{one.part}"
        for one in moves
    ]
    return ("\n".join(rows) + "\n").encode()


def _bdl_moves(day: str, moves: Sequence[Move]) -> bytes:
    rows = [f"H|BDL|{day}|Mouvements réglés et en attente"]
    for one in moves:
        qty, amount = f"{one.qty},00", f"{one.amount:.2f}".replace(".", ",")
        rows.append(
            f"{one.move_id:<12}{one.account:<10}{one.isin:<12}{one.side}{qty:>18}{amount:>18}"
            f"{DAYS[one.day]:%Y%m%d}{one.our_ref:<12}{one.status:<4}{one.reason:<4}{one.part:<4}"
        )
    return ("\r\n".join(rows) + "\r\n").encode("cp1252")
