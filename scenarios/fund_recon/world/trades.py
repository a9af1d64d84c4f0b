"""Trades and what becomes of them, as the world knows it beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scenarios.fund_recon.world.calendars import DAYS, open_after
from scenarios.fund_recon.world.universe import Line

Story = Literal["settles", "late", "fails"]

#: a trade's prints at the custodian, each with its own number, and its own luck with the reference and the amount
PENDING, PENDING_AGAIN, SETTLED, SETTLED_REST, INSTRUCTED, SPLIT = range(6)
PRINTS = 6
CANCELLED_AFTER = 21  #: business days after the intended date: an open instruction is cancelled


@dataclass(slots=True)
class Leg:
    """A settlement: ``part`` is PAIN, PARC or blank; ``alone`` when it is not part of its block's confirmation."""

    day: int
    qty: int
    part: str = ""
    alone: bool = True


@dataclass(slots=True, eq=False)
class Block:
    """One order for several funds. The custodian confirms it as a whole."""

    block_id: str = ""
    trades: list[Trade] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Trade:
    """Days are positions in ``calendars.DAYS``; ``amount`` and ``loss`` are EUR; ``side`` is +1 for a purchase.

    ``isd`` and ``qty`` hold what counts in the end; before an amendment the book prints ``first_isd`` and ``first_qty``.
    """

    number: int
    line: Line
    traded: int
    side: int
    target: float  #: the amount in EUR that the order was for
    block: Block | None = None
    twin: Trade | None = None  #: the older trade of the same size in the same line
    cycle: int = 0  #: custodian days from trade to intended date; 0: the market's usual one
    trade_id: str = ""
    broker: str = ""
    qty: int = 0
    price: float = 0.0
    amount: float = 0.0
    isd: int = 0
    first_qty: int = 0
    first_isd: int = 0
    amended_on: int | None = None
    cancelled_on: int | None = None
    story: Story = "settles"
    lag: int = 0  #: custodian days that a late one settles after its date
    part_gap: int = 0  #: custodian days between the two parts; 0: settles in one
    partial_fail: bool = False  #: a first part settles on the date and the rest fails
    silent: bool = False  #: the custodian sends no word about it
    first_reason: str = ""
    reason: str = ""
    loss: float = 0.0
    fix_days: int = 1  #: business days from an effective query to the settlement
    first_share: int = 500  #: of the quantity, in thousandths, that the first of two parts settles
    legs: list[Leg] = field(default_factory=list)
    blank: tuple[bool, ...] = (False,) * PRINTS
    noise: tuple[int, ...] = (0,) * PRINTS  #: hundredths of a per cent by which the custodian's amount differs
    doubled: bool = False  #: its settlement is printed twice

    @property
    def failed(self) -> bool:
        """A real fail: it does not settle unless somebody acts."""
        return self.story == "fails"

    @property
    def signed(self) -> int:
        return self.side * self.qty

    def usual_isd(self) -> int:
        """The intended date of this trade's cycle, from its line's market."""
        usual = 1 if self.line.security.country == "US" and not self.line.security.is_bond else 2
        return open_after(self.line.custodian, self.traded, self.cycle or usual)

    def settled_by(self, day: int) -> int:
        """Quantity settled on ``day`` or before."""
        return sum(leg.qty for leg in self.legs if leg.day <= day)

    def open_on(self, day: int) -> int:
        """Quantity that was due on ``day`` or before and had not settled by its end; 0 for a cancelled trade."""
        if self.isd > day or (self.cancelled_on is not None and self.cancelled_on <= day):
            return 0
        return self.qty - self.settled_by(day)

    def plan_legs(self) -> None:
        """Write down when it settles if nobody acts."""
        self.legs = []
        in_block = self.block is None
        if self.cancelled_on is not None:
            return
        first = min(max(1, self.qty * self.first_share // 1000), self.qty - 1) if self.qty > 1 else 0
        if self.line.security.is_bond:
            unit = self.line.security.factor if self.line.security.amortising else 1_000
            first = first // unit * unit
        if self.story == "fails":
            if self.partial_fail and first:
                self.legs.append(Leg(self.isd, first, "PAIN"))
            return
        if self.part_gap and first:
            rest = open_after(self.line.custodian, self.isd, self.part_gap)
            self.legs = [Leg(self.isd, first, "PAIN"), Leg(rest, self.qty - first, "PARC")]
            return
        day = open_after(self.line.custodian, self.isd, self.lag) if self.lag else self.isd
        self.legs = [Leg(day, self.qty, "", in_block)]

    def move_number(self, numbers: list[int], print_: int) -> str:
        """The custodian's identifier of one of its prints."""
        letter = self.line.custodian[0]
        return f"{letter}M{DAYS[self.isd]:%y%m}-{numbers[self.number * PRINTS + print_]:05d}"
