"""`docs/security.md` is found, and its figures are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from fdegym.accounts import buckets
from fdegym.accounts.buckets import Bucket
from fdegym.delivery.begin import RUNS_AN_HOUR

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text()
PERIODS = {60: "a minute", 600: "ten minutes", 3600: "an hour"}
LINES = {
    "SIGN_UPS": "accounts made from one address",
    "FAILED_SIGN_INS": "wrong passwords from one address, whatever the names",
    "PASSWORD_CHECKS": "wrong passwords on deleting the account",
    "RUN_STARTS": "runs begun by all together",
    "MESSAGES": "messages by one person",
    "TICKETS": "tickets for sockets, by one person",
    "EXPORTS": "exports by one person",
}


@pytest.mark.parametrize(("page", "link"), [("README.md", "docs/security.md"), ("docs/hosting.md", "security.md")])
def test_it_is_linked_from(page: str, link: str) -> None:
    text = (ROOT / page).read_text()
    if page == "README.md":
        text = text.partition("## Host it")[2].partition("\n## ")[0]
    assert f"]({link})" in text


def test_every_limit_stands_there_as_it_is() -> None:
    assert {name for name, value in vars(buckets).items() if isinstance(value, Bucket)} == set(LINES)
    for name, what in LINES.items():
        bucket: Bucket = getattr(buckets, name)
        assert f"| {what} | {bucket.size} in {PERIODS[bucket.period_s]} |" in TEXT
    assert f"| runs begun by one person | {RUNS_AN_HOUR} in an hour;" in TEXT
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() / 60)
    assert f"from one address | {settings.AXES_FAILURE_LIMIT}, then {minutes} minutes of nothing" in TEXT


def test_it_says_what_is_not_protected_and_how_to_report_a_weakness() -> None:
    sections = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert {"Reporting a weakness", "What is not protected"} <= set(sections)
