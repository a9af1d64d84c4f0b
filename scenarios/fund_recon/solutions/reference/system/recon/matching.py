"""Which instructions a movement of a custodian settles.

In this order: the trade it names; the block it names, all of its allocations together; without a reference, the oldest
instruction of its account, security and side with that quantity and amount, a block with that sum, or a few
instructions that add up to it. A movement of no amount is a custodian's own booking of a split, and settles nothing.
"""

from itertools import combinations

from recon import instructions, load

TOLERANCE = 0.0002
TOGETHER = 4  # at most so many instructions under one movement without a reference


def take_over(connection, drop, rules):
    """Match the movements that have come, oldest file first; a number that was seen is a repeated line."""
    if rules.delorme_bonds_original_face:
        _remember_factors(connection, drop)
    for stem, read in (("ngc_moves", load.ngc_moves), ("bdl_moves", load.bdl_moves)):
        for day, path in load.dated(drop, stem):
            for move in read(path):
                if move.amount and not _seen(connection, move):
                    matched = _settled(connection, move, rules) if move.status == "SETT" else _pending(connection, move, rules)
                    connection.execute("INSERT INTO move VALUES (?,?,?)", (move.move_id, day, ",".join(matched)))


def _seen(connection, move):
    return connection.execute("SELECT 1 FROM move WHERE move_id = ?", (move.move_id,)).fetchone() is not None


def _remember_factors(connection, drop):
    for _, path in load.dated(drop, "bdl_holdings"):
        factors = {row.isin: float(row.pf.replace(",", ".")) for row in load.bdl_holdings(path) if row.pf}
        connection.executemany("INSERT OR REPLACE INTO pool_factor VALUES (?,?)", factors.items())


def _quantity(connection, move, rules):
    """In units of the book: current face, where Delorme writes original face."""
    if not rules.delorme_bonds_original_face or not move.account.startswith("BD-"):
        return move.qty
    row = connection.execute("SELECT factor FROM pool_factor WHERE isin = ?", (move.isin,)).fetchone()
    return round(move.qty * row[0]) if row else move.qty


def _settled(connection, move, rules):
    qty = _quantity(connection, move, rules)
    named = instructions.opened(connection, "trade_id = ?", (move.our_ref,)) if move.our_ref else []
    if named:
        instructions.settle(connection, named[0].trade_id, qty)
        return [named[0].trade_id]
    found = _fitting(connection, move, qty)
    for one in found:
        instructions.settle(connection, one.trade_id, one.rest)
    return [one.trade_id for one in found]


def _pending(connection, move, rules):
    """A pending instruction settles nothing; its reason is kept for whoever is asked."""
    if not move.reason:
        return []
    named = instructions.opened(connection, "trade_id = ?", (move.our_ref,)) if move.our_ref else []
    found = named or _fitting(connection, move, _quantity(connection, move, rules), isd=move.settle_date)
    for one in found:
        instructions.give_reason(connection, one.trade_id, move.reason)
    return [one.trade_id for one in found]


def _fitting(connection, move, qty, isd=None):
    """The instructions that a movement without a trade's reference means. ``isd``: only those of that date."""
    if move.our_ref:
        return _summing(instructions.opened(connection, "block_ref = ?", (move.our_ref,)), qty, None)
    when, date = ("isd = ?", isd) if isd else ("isd <= ?", move.settle_date)
    candidates = instructions.opened(
        connection, f"account = ? AND isin = ? AND side = ? AND {when}", (move.account, move.isin, move.side, date)
    )
    if candidates:
        alone = next((one for one in candidates if one.rest == qty and _near(one.amount, move.amount)), None)
        return [alone] if alone else _summing(candidates, qty, move.amount)
    blocks = {}
    for one in instructions.opened(
        connection, f"isin = ? AND side = ? AND block_ref <> '' AND {when}", (move.isin, move.side, date)
    ):
        blocks.setdefault(one.block_ref, []).append(one)
    return next((found for block in blocks.values() if (found := _summing(block, qty, move.amount))), [])


def _summing(candidates, qty, amount):
    """All of them if they add up to the quantity, else the first few that do."""
    if sum(one.rest for one in candidates) == qty and (amount is None or _near(sum(one.amount for one in candidates), amount)):
        return candidates
    for size in range(min(TOGETHER, len(candidates)), 0, -1):
        for few in combinations(candidates, size):
            if sum(one.rest for one in few) == qty and (amount is None or _near(sum(one.amount for one in few), amount)):
                return list(few)
    return []


def _near(ours, theirs):
    return abs(ours - theirs) <= abs(ours) * TOLERANCE + 0.02
