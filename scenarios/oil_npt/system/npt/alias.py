"""From what crews write to the equipment tag: "No.2 pump" on HD-14 is MP-2.

The table is ``data/equipment_alias.csv``: rig or ``*``, alias, tag. Crews' own names, short forms and their usual
slips of the pen are in it.
"""

import csv
import re
from functools import lru_cache

TABLE = "data/equipment_alias.csv"


@lru_cache(maxsize=None)
def _rows(table):
    with open(table, encoding="utf-8", newline="") as file:
        return [(row["rig_id"], row["alias"].lower(), row["tag"]) for row in csv.DictReader(file)]


@lru_cache(maxsize=None)
def _pattern(table, rig):
    """One expression for all aliases of a rig, and what each stands for; a longer alias goes before a shorter one."""
    tags = {alias: tag for where, alias, tag in _rows(table) if where in ("*", rig)}
    longest_first = sorted(tags, key=lambda alias: (-len(alias), alias))
    words = "|".join(re.escape(alias) for alias in longest_first)
    return re.compile(rf"(?<![\w#])(?:{words})(?!\w)"), tags


def find_tag(rig, remark, table=TABLE):
    """The tag of the first item of ``rig`` that a remark names, or None."""
    pattern, tags = _pattern(table, rig)
    found = pattern.search(remark.lower())
    return tags[found.group()] if found else None
