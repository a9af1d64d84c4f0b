"""What Corvane holds: funds, accounts, securities, and the lines of the book (a security in an account)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import Generator

from scenarios.fund_recon.world.calendars import Custodian

FUNDS = tuple(f"CF{number:02d}" for number in range(1, 10))
#: kinds of account in this order: share of the trades, and securities of that kind
KINDS = ("ngc_equity", "ngc_bond", "bdl_equity", "bdl_bond")
KIND_SHARES = (0.45, 0.12, 0.26, 0.17)
NGC_EQUITY, NGC_BOND, BDL_EQUITY, BDL_BOND = range(4)
_SECURITIES = (118, 62, 76, 56)
CUSTODIAN_OF: tuple[Custodian, ...] = ("NGC", "NGC", "BDL", "BDL")
_ACCOUNT_LETTERS = ("NG-E", "NG-B", "BD-E", "BD-B")
BLOCK_ACCOUNT: Mapping[Custodian, str] = {"NGC": "NG-X9000", "BDL": "BD-X9000"}

#: country → (rate of 2024, rate at source in 2026) in thousandths of a per cent; where they differ relief began with 2026
WITHHOLDING: Mapping[str, tuple[int, int]] = {
    "AT": (27_500, 15_000), "AU": (15_000, 15_000), "BE": (30_000, 15_000), "BR": (15_000, 15_000),
    "CA": (25_000, 25_000), "CH": (35_000, 35_000), "CL": (35_000, 35_000), "CN": (10_000, 10_000),
    "CY": (0, 0), "CZ": (15_000, 15_000), "DE": (26_375, 15_000), "DK": (27_000, 27_000), "EE": (0, 0),
    "ES": (19_000, 15_000), "FI": (35_000, 15_000), "FR": (25_000, 0), "GB": (0, 0), "GR": (5_000, 5_000),
    "HK": (0, 0), "HU": (0, 0), "ID": (20_000, 20_000), "IE": (25_000, 25_000), "IL": (25_000, 25_000),
    "IN": (20_000, 20_000), "IT": (26_000, 11_000), "JP": (15_315, 15_315), "KR": (22_000, 22_000),
    "LT": (15_000, 15_000), "LU": (15_000, 15_000), "LV": (0, 0), "MX": (10_000, 10_000), "MY": (0, 0),
    "NL": (15_000, 15_000), "NO": (25_000, 15_000), "NZ": (15_000, 15_000), "PL": (19_000, 19_000),
    "PT": (35_000, 35_000), "SE": (30_000, 0), "SG": (0, 0), "SI": (15_000, 15_000), "TH": (10_000, 10_000),
    "TW": (21_000, 21_000), "US": (30_000, 15_000), "ZA": (20_000, 20_000),
}  # fmt: skip
#: equities at each custodian: countries in which nothing changed, and those in which relief began
_EQUITY_COUNTRIES: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    NGC_EQUITY: (("GB", "GB", "CH", "JP", "JP", "CA", "AU", "DK"), ("US", "US", "SE", "NO")),
    BDL_EQUITY: (("NL", "NL", "NL", "PT", "IE", "LU"), ("FR", "FR", "DE", "DE", "IT", "ES", "BE", "AT", "FI")),
}
_BOND_COUNTRIES = ("XS", "US", "DE", "FR", "IT", "NL", "GB")
_RELIEF_SHARE = 0.3  #: of the equities: countries in which relief began
AMORTISING_SHARE = 0.6  #: of the bonds at Delorme
ORIGINAL_FACE_UNIT = 10_000
NOMINAL_UNIT = 1_000


@dataclass(frozen=True, slots=True)
class Security:
    isin: str
    kind: int
    country: str
    price: float  #: EUR for a share, per cent of nominal for a bond
    factor: int  #: current face in ten-thousandths of the original; 10,000 where nothing is amortised

    @property
    def is_bond(self) -> bool:
        return self.kind in (NGC_BOND, BDL_BOND)

    @property
    def amortising(self) -> bool:
        return self.factor != ORIGINAL_FACE_UNIT

    @property
    def relief_began(self) -> bool:
        old, new = WITHHOLDING.get(self.country, (0, 0))
        return old != new


@dataclass(frozen=True, slots=True)
class Line:
    """A security in an account; its position in ``Universe.lines`` is ``number``."""

    number: int
    fund: str
    account: str
    security: Security

    @property
    def kind(self) -> int:
        return self.security.kind

    @property
    def custodian(self) -> Custodian:
        return CUSTODIAN_OF[self.security.kind]


@dataclass(slots=True)
class Universe:
    lines: list[Line] = field(default_factory=list)
    securities: list[Security] = field(default_factory=list)
    by_isin: dict[str, list[Line]] = field(default_factory=dict)
    opening: list[int] = field(default_factory=list)  #: quantity of each line before the first day shown

    def of_kind(self, kind: int) -> list[Line]:
        return [line for line in self.lines if line.kind == kind]


def account_of(fund: str, kind: int) -> str:
    return f"{_ACCOUNT_LETTERS[kind]}{300 + 17 * int(fund[2:])}"


def make_universe(rng: Generator, facts: Mapping[str, Any]) -> Universe:
    """The same lines for the visible history and for production; nine funds, two custodians, about 900 lines."""
    universe = Universe()
    for kind, count in enumerate(_SECURITIES):
        amortising = _choose(rng, count, AMORTISING_SHARE) if kind == BDL_BOND else frozenset()
        relief = _choose(rng, count, _RELIEF_SHARE)
        holding = rng.permutation([2 + number % 3 for number in range(count)])  #: funds that hold it; as many in all
        for number in range(count):
            security = _security(rng, kind, number in relief, number in amortising and original_face(facts))
            universe.securities.append(security)
            holders = sorted(int(fund) for fund in rng.choice(len(FUNDS), int(holding[number]), replace=False))
            for fund in (FUNDS[holder] for holder in holders):
                line = Line(len(universe.lines), fund, account_of(fund, kind), security)
                universe.lines.append(line)
                universe.by_isin.setdefault(security.isin, []).append(line)
                universe.opening.append(quantity(security, float(rng.integers(1_200, 6_000)) * 1_000.0))
    return universe


def original_face(facts: Mapping[str, Any]) -> bool:
    return bool(facts["bdl_bond_quantity"] == "original_face")


def quantity(security: Security, amount: float) -> int:
    """The quantity nearest to an amount in EUR, in units that can be held; at least one."""
    if not security.is_bond:
        return max(1, round(amount / security.price))
    nominal = amount / security.price * 100
    if not security.amortising:
        return NOMINAL_UNIT * max(1, round(nominal / NOMINAL_UNIT))
    return security.factor * max(1, round(nominal / security.factor))


def amount_of(security: Security, units: int) -> float:
    """EUR, to the cent."""
    return round(units * security.price / (100 if security.is_bond else 1), 2)


def _choose(rng: Generator, count: int, share: float) -> frozenset[int]:
    return frozenset(int(one) for one in rng.permutation(count)[: round(count * share)])


def _security(rng: Generator, kind: int, relief: bool, amortises: bool) -> Security:
    if kind in _EQUITY_COUNTRIES:
        country = _pick(rng, _EQUITY_COUNTRIES[kind][relief])
        price = int(rng.integers(900, 24_000)) / 100
    else:
        country = _pick(rng, _BOND_COUNTRIES)
        price = int(rng.integers(9_000, 10_800)) / 100
    factor = int(rng.integers(3_500, 9_500)) if amortises else ORIGINAL_FACE_UNIT
    return Security(_isin(rng, country), kind, country, price, factor)


def _pick(rng: Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]


def _isin(rng: Generator, country: str) -> str:
    body = f"{country}{int(rng.integers(10**8, 10**9))}"
    digits = "".join(str(int(letter, 36)) for letter in body)
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled // 10 + doubled % 10
    return f"{body}{-total % 10}"
