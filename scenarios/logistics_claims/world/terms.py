"""What is true on a day: the task's facts as the world and the judges read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

NEW_SCANNERS = date(2026, 3, 2)  #: where R means refused, since this day
ANNEX_SIGNED = date(2026, 7, 1)  #: where hauliers answer for what they took over clean, since this day
_LETTER_DAYS_BEFORE = 14
KG_PER_POUND = 1 / 2.2046


@dataclass(frozen=True, slots=True)
class Terms:
    """``notice_days``: class → days for damage not noted on delivery. Money in EUR; ``silence`` and ``complaint`` in
    working days after receipt."""

    notice_days: Mapping[str, int]
    delay_days: int
    r_refused: bool
    sdr_per_kg: float
    letter_on_clean: bool
    letter_days: int
    letter_share: float
    letter_fee: float
    mandate: float
    silence: int
    complaint: int
    decisions_a_day: int
    consent_needed: bool
    pounds_from: date | None
    live_from: date

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Terms:
        pounds = str(facts["pounds_from"])
        return cls(
            notice_days={name: int(facts[f"notice_days_{name}"]) for name in ("spot", "frame", "key")},
            delay_days=int(facts["delay_notice_days"]),
            r_refused=facts["r_means"] == "refused",
            sdr_per_kg=float(facts["sdr_per_kg"]),
            letter_on_clean=facts["recourse_on"] == "clean",
            letter_days=int(facts["recourse_days"]),
            letter_share=float(facts["recourse_share"]),
            letter_fee=float(facts["unfounded_letter_eur"]),
            mandate=float(facts["mandate_eur"]),
            silence=int(facts["silence_days"]),
            complaint=int(facts["complaint_days"]),
            decisions_a_day=int(facts["decisions_a_day"]),
            consent_needed=bool(facts["refusal_consent_needed"]),
            pounds_from=date.fromisoformat(pounds) if pounds else None,
            live_from=date.fromisoformat(str(facts["warehouse_from"])),
        )

    def refused_at_door(self, delivered: date) -> bool:
        """Whether code R on a receipt of that day says that the consignee refused the goods."""
        return self.r_refused and delivered >= NEW_SCANNERS

    def letter(self, received: date) -> tuple[bool, int]:
        """(whether a haulier answers for what it took over clean, days for the letter) for a claim of that day."""
        if self.letter_on_clean and received < ANNEX_SIGNED:
            return False, _LETTER_DAYS_BEFORE
        return self.letter_on_clean, self.letter_days
