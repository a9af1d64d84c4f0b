"""Which instructions a movement settles: the one whose number, or whose quantity and amount, it bears."""

from recon import instructions, load

TOLERANCE = 0.0002


def take_over(connection, drop, rules):
    for stem, read in (("ngc_moves", load.ngc_moves), ("bdl_moves", load.bdl_moves)):
        for _, path in load.dated(drop, stem):
            for move in dict.fromkeys(read(path)):
                own = _own(connection, move)
                if own is not None and move.status == "SETT" and move.qty == own.rest:
                    instructions.settle(connection, own.trade_id, move.qty)
                elif own is not None and move.reason:
                    instructions.give_reason(connection, own.trade_id, move.reason)


def _own(connection, move):
    """The instruction that it names; without a reference, the oldest of its line, quantity and amount."""
    if move.our_ref:
        return next(iter(instructions.opened(connection, "trade_id = ?", (move.our_ref,))), None)
    line = "account = ? AND isin = ? AND side = ? AND isd <= ?"
    waiting = instructions.opened(connection, line, (move.account, move.isin, move.side, move.settle_date))
    near = (one for one in waiting if one.rest == move.qty and abs(one.amount - move.amount) <= TOLERANCE * one.amount + 0.02)
    return next(near, None)
