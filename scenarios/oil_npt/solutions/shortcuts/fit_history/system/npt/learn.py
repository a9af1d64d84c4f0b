"""Learn from the contractors' answers which words of a remark get a claim line accepted.

    python -m npt.learn --claims ../data/claims_2026.csv --db var/npt.sqlite

Writes ``config/word_weights.csv``: the logarithm of how much likelier a word is in accepted lines than in disputed ones.
"""

import argparse
import csv
import math
import re
import sys
from collections import Counter

from npt import store

WEIGHTS = "config/word_weights.csv"
PRIOR = ""  #: the row with what is known before any word is read
FEWEST_LINES = 8  #: a rarer word says nothing

WORD = re.compile(r"[a-z#&]{2,}|[a-z]*\d+|\w+", re.IGNORECASE)


def words(remark):
    return set(WORD.findall(remark.lower()))


def answered_remarks(claims, database):
    """(remark, accepted) of every claim line that was answered."""
    connection = store.connect(database)
    query = "SELECT remark FROM ddr_line WHERE report_id = ? AND t_from = ?"
    try:
        with open(claims, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                report = row["evidence"].partition("@")[0]
                found = connection.execute(query, (report, row["start"][11:])).fetchone()
                if found is not None:
                    yield found["remark"], row["response"] == "accepted"
    finally:
        connection.close()


def weights(examples):
    """Word → weight, and the prior."""
    lines, seen = Counter(), {True: Counter(), False: Counter()}
    for remark, accepted in examples:
        lines[accepted] += 1
        seen[accepted].update(words(remark))

    def share(word, accepted):
        return (seen[accepted][word] + 1) / (lines[accepted] + 2)

    known = sorted(word for word in {*seen[True], *seen[False]} if seen[True][word] + seen[False][word] >= FEWEST_LINES)
    found = {word: math.log(share(word, True) / share(word, False)) for word in known}
    return {PRIOR: math.log(lines[True] / lines[False]), **found}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.learn", description="Learn word weights from answered claims.")
    parser.add_argument("--claims", required=True)
    parser.add_argument("--db", required=True)
    options = parser.parse_args(arguments)
    with open(WEIGHTS, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("word", "weight"))
        table.writerows(
            (word, f"{weight:.3f}") for word, weight in weights(answered_remarks(options.claims, options.db)).items()
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
