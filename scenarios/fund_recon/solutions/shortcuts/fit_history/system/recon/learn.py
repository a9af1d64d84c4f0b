"""Learn from the history of queries which ones were worth their money, and with whom.

    python -m recon.learn --data ../data

Writes ``config/learned.toml``: the kinds of account whose queries were settled often enough, and the party that settled each
reason code.
"""

import argparse
import csv
from collections import Counter
from pathlib import Path

from recon import load

LEARNED = Path(__file__).parent.parent / "config" / "learned.toml"
OFTEN_ENOUGH = 0.1
KIND = 4  # letters of an account that say custodian and kind


def answered(data):
    """(kind of account, reason, party, outcome) of each past query on a trade."""
    accounts, reasons = {}, {}
    for _, path in load.dated(data / "book", "book_trades"):
        accounts |= {trade.trade_id: trade.account for trade in load.book_trades(path)}
    for folder, stem, read in (("ngc", "ngc_moves", load.ngc_moves), ("bdl", "bdl_moves", load.bdl_moves)):
        for day, path in load.dated(data / folder, stem):
            for move in read(path):
                if move.our_ref and move.reason:
                    reasons.setdefault(move.our_ref, []).append((day, move.reason))
    with (data / "queries_history.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["ref"] in accounts:
                known = [reason for day, reason in reasons.get(row["ref"], ()) if day <= row["sent_on"]]
                yield accounts[row["ref"]][:KIND], known[-1] if known else "unknown", row["party"], row["outcome"]


def learn(examples):
    """The kinds worth a query, and reason → party."""
    sent, settled, by_party = Counter(), Counter(), {}
    for kind, reason, party, outcome in examples:
        sent[kind] += 1
        if outcome == "settled":
            settled[kind] += 1
            by_party.setdefault(reason, Counter())[party] += 1
    kinds = sorted(kind for kind in sent if settled[kind] >= OFTEN_ENOUGH * sent[kind])
    return kinds, {reason: parties.most_common(1)[0][0] for reason, parties in sorted(by_party.items())}


def main():
    parser = argparse.ArgumentParser(prog="recon.learn", description="Learn from the history of queries.")
    parser.add_argument("--data", type=Path, required=True)
    kinds, parties = learn(answered(parser.parse_args().data))
    lines = ["# Written by recon.learn.", f"kinds = {kinds}".replace("'", '"'), "", "[party]"]
    lines += [f'{reason} = "{party}"' for reason, party in parties.items()]
    LEARNED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
