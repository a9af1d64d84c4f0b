"""The rules in force, from config/rules.toml."""

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent.parent / "config" / "rules.toml"
UNMATCHED = "NMAT"


class Rules(NamedTuple):
    from_day: int
    to_day: int
    parties: dict
    rest_within: int
    dividend_from_day: int
    delorme_compensates_auto: bool
    delorme_bonds_original_face: bool
    review_rows: int

    def party(self, reason):
        return self.parties.get(reason, self.parties[UNMATCHED])


def rules():
    read = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return Rules(
        read["query"]["from_day"],
        read["query"]["to_day"],
        read["party"],
        read["parts"]["rest_within"],
        read["dividends"]["from_day"],
        read["dividends"]["delorme_compensates_auto"],
        read["quantities"]["delorme_bonds_original_face"],
        read["review"]["rows"],
    )
