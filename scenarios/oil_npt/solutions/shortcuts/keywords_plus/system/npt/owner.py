"""Whose item it is, by the keyword list: what it does not give to a third party is the contractor's."""

import csv
from pathlib import Path

CONFIG = Path("config")
WORDS_OF_TAG = {"MWD": "mwd", "MTR": "mud motor"}


class Owners:
    """Answers for any item, rig and day; rig and day make no difference to the list."""

    def __init__(self, db, config=CONFIG):
        with (config / "keywords.csv").open(encoding="utf-8", newline="") as file:
            self._parties = {row["word"].lower(): row["party"] for row in csv.DictReader(file)}

    def is_operators(self, rig, tag, day):
        return self._parties.get(WORDS_OF_TAG.get(tag, ""), "CONTRACTOR") != "CONTRACTOR"
