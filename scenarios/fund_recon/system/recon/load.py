"""Reads the files of a drop. Every reader returns rows as they stand in the file, with numbers as numbers.

The custodians' layouts are theirs: Northgate writes semicolons and a line that begins with H before each section, Banque
Delorme writes fixed columns in Windows-1252 with comma decimals.
"""

import csv
from datetime import date
from pathlib import Path
from typing import NamedTuple


class Trade(NamedTuple):
    trade_id: str
    fund: str
    account: str
    isin: str
    asset_class: str
    side: int  # +1 bought, -1 sold
    qty: int
    amount: float
    trade_date: str
    isd: str
    broker: str
    block_ref: str
    status: str


class Position(NamedTuple):
    fund: str
    account: str
    isin: str
    asset_class: str
    qty: int


class Holding(NamedTuple):
    account: str
    isin: str
    qty: int
    basis: str
    pf: str


class Move(NamedTuple):
    move_id: str
    account: str
    isin: str
    side: int
    qty: int
    amount: float
    settle_date: str
    our_ref: str
    status: str
    reason: str
    part: str


class Payment(NamedTuple):
    account: str
    isin: str
    event_id: str
    net: float
    value_date: str


class Event(NamedTuple):
    event_id: str
    isin: str
    country: str
    ex_date: str
    pay_date: str
    rate: float
    comp: str


def dated(drop, stem):
    """(day, path) of the files of one kind in the drop, oldest first. A late file comes with a later drop."""
    found = []
    for path in Path(drop).glob(f"{stem}_*"):
        day = path.stem[len(stem) + 1 :]
        date.fromisoformat(day)
        found.append((day, path))
    return sorted(found)


def of_day(drop, stem, day):
    """The file of that day, or None while it is late."""
    return next((path for found, path in dated(drop, stem) if found == day), None)


def _rows(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter)
        next(rows)
        return [row for row in rows if row]


def book_trades(path):
    return [
        Trade(r[0], r[1], r[2], r[3], r[4], 1 if r[5] == "B" else -1, int(r[6]), float(r[8]), r[10], r[11], r[12], r[13], r[14])
        for r in _rows(path)
    ]


def book_positions(path):
    return [Position(r[0], r[1], r[2], r[3], int(r[4])) for r in _rows(path)]


def events(path):
    return [Event(r[0], r[1], r[2], r[3], r[5], float(r[6]), r[8]) for r in _rows(path)]


def cash(path):
    """A booking that stands twice in a file is one booking."""
    return [Payment(r[1], r[2], r[3], float(r[6]), r[8]) for r in dict.fromkeys(map(tuple, _rows(path)))]


def ngc_holdings(path):
    basis, found = "S", []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("H|"):
            basis = line.split("STBA=")[1][:1]
        elif line and not line.startswith("account;"):
            account, isin, qty = line.split(";")
            found.append(Holding(account, isin, int(qty), basis, ""))
    return found


def ngc_moves(path):
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("H|", "move_id;")) or not line:
            continue
        r = line.split(";")
        side = 1 if r[3] == "B" else -1
        found.append(Move(r[0], r[1], r[2], side, int(r[4]), float(r[5]), r[6], r[7], r[8], r[9], r[10]))
    return found


def _number(text):
    return float(text.strip().replace(",", "."))


def bdl_holdings(path):
    found = []
    for line in path.read_text(encoding="cp1252").splitlines():
        if line.startswith("H|") or not line:
            continue
        account, isin, qty, pf = line[:10], line[10:22], line[22:40], line[40:48]
        found.append(Holding(account.strip(), isin.strip(), int(_number(qty)), "S", pf.strip()))
    return found


def bdl_moves(path):
    found = []
    for line in path.read_text(encoding="cp1252").splitlines():
        if line.startswith("H|") or not line:
            continue
        day = line[71:79]
        found.append(
            Move(
                line[:12].strip(), line[12:22].strip(), line[22:34].strip(), 1 if line[34] == "B" else -1,
                int(_number(line[35:53])), _number(line[53:71]), f"{day[:4]}-{day[4:6]}-{day[6:]}",
                line[79:91].strip(), line[91:95].strip(), line[95:99].strip(), line[99:103].strip(),
            )
        )
    return found
