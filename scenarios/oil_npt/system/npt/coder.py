"""Who stands in for a line of a report: the contractor, the operator or a third party.

Coding guide v3: the first word of ``config/keywords.csv`` that a remark contains decides, and only lines that the crew
booked as rig repair (operation code 8) are the contractor's downtime.
"""

import csv
import re
from functools import lru_cache

KEYWORDS = "config/keywords.csv"
RIG_REPAIR = 8


@lru_cache(maxsize=None)
def _keywords(table):
    with open(table, encoding="utf-8", newline="") as file:
        return [(re.compile(rf"\b{re.escape(row['word'].lower())}"), row["party"]) for row in csv.DictReader(file)]


def party_of(remark, table=KEYWORDS):
    """CONTRACTOR, OPERATOR or THIRD by the first keyword in the list's order; None if there is none."""
    text = remark.lower()
    for word, party in _keywords(table):
        if word.search(text):
            return party
    return None


def is_contractor_downtime(op_code, remark, table=KEYWORDS):
    """Whether a line counts for the monthly claim."""
    return op_code == RIG_REPAIR and party_of(remark, table) == "CONTRACTOR"
