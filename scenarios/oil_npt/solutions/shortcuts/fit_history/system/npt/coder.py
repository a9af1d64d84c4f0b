"""Who stands in for a line of a report, by what the contractors have accepted so far (``npt.learn``)."""

import csv
from functools import lru_cache

from npt.learn import PRIOR, WEIGHTS, words

RIG_REPAIR = 8


@lru_cache(maxsize=None)
def _weights(table):
    with open(table, encoding="utf-8", newline="") as file:
        return {row["word"]: float(row["weight"]) for row in csv.DictReader(file)}


def is_contractor_downtime(op_code, remark, table=WEIGHTS):
    """Whether a line counts for the monthly claim: booked as a repair, and likelier to be accepted than not."""
    known = _weights(table)
    return op_code == RIG_REPAIR and known[PRIOR] + sum(known.get(word, 0.0) for word in words(remark)) > 0
