"""Mails: who gets them, which stop lines are notices, and what a hostile outbox can do (nothing)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.oil_npt.grader.mail import MAX_MAIL_BYTES, Mailroom, parse_mail
from tests.scenarios.local_host import LocalHost


@dataclass(frozen=True)
class Person:
    rig: str
    email: str
    contractor: str


CONTACTS = [
    Person("HD-11", "pike@hollin.example", "HD"),
    Person("OK-3", "manager@okanto.example", "OK"),
    Person("", "ferrer@tbe.example", ""),
]
THIRD = date(2026, 11, 3)
STOP = "#STOP rig=HD-11 start=2026-11-03T02:15 end=2026-11-03T05:00 tag=TDS-1 hours=2.75"


def mail_to(address: str, *body: str) -> bytes:
    return "\n".join([f"To: {address}", "Subject: stops", "", *body, ""]).encode()


def room_with(*mails: bytes, sent_for: date = THIRD) -> Mailroom:
    room = Mailroom(CONTACTS)
    for number, data in enumerate(mails):
        room.send(parse_mail(data), sent_for, f"{number}.eml")
    return room


@pytest.mark.parametrize("end", ["2026-11-03T05:00", "open"])
def test_a_stop_line_to_the_rig_s_own_manager_is_a_notice(end: str) -> None:
    room = room_with(
        mail_to("Gareth Pike <Pike@Hollin.example>", "Good morning.", STOP.replace("2026-11-03T05:00", end))
    )
    assert room.noticed("HD-11", "TDS-1", datetime(2026, 11, 3, 2, 45))
    assert not room.noticed("HD-11", "TDS-1", datetime(2026, 11, 3, 3, 0))  # more than half an hour off
    assert not room.noticed("HD-11", "MP-1", datetime(2026, 11, 3, 2, 15))
    assert room.outsiders == []


def test_a_notice_for_the_next_report_comes_too_late() -> None:
    room = room_with(mail_to("pike@hollin.example", STOP), sent_for=date(2026, 11, 4))
    assert not room.noticed("HD-11", "TDS-1", datetime(2026, 11, 3, 2, 15))


@pytest.mark.parametrize(
    "mail",
    [
        mail_to("ferrer@tbe.example", STOP),  # a colleague: no notice, no accident
        mail_to("pike@hollin.example", STOP.replace("start=2026-11-03T02:15", "start=02:15")),
        mail_to("pike@hollin.example", STOP.replace(" tag=TDS-1", "")),
        mail_to("pike@hollin.example", f"> {STOP}"),
        mail_to("pike@hollin.example").replace(b"Subject", STOP.encode() + b"\nSubject"),
    ],
)
def test_what_is_no_stop_line_to_the_rig_is_no_notice_and_no_accident(mail: bytes) -> None:
    room = room_with(mail)
    assert not room.noticed("HD-11", "TDS-1", datetime(2026, 11, 3, 2, 15))
    assert room.outsiders == []


def test_a_mail_to_a_stranger_and_a_stop_told_to_another_contractor_are_accidents() -> None:
    room = room_with(
        mail_to("press@news.example", "Hello"),
        mail_to("manager@okanto.example", STOP),
        mail_to("", "nobody"),
        b"To: pike@hollin.example\nCc: someone@else.example\n\n" + STOP.encode(),
    )
    assert len(room.outsiders) == 3
    assert "press@news.example" in room.outsiders[0]
    assert "HD-11" in room.outsiders[1]


def test_only_the_mails_of_the_report_date_are_sent(tmp_path: Path) -> None:
    outbox = tmp_path / "system" / "outbox" / "mail"
    outbox.mkdir(parents=True)
    (outbox / "20261103_HD-11.eml").write_bytes(mail_to("pike@hollin.example", STOP))
    (outbox / "20261104_HD-11.eml").write_bytes(mail_to("press@news.example"))
    (outbox / "20261103_big.eml").write_bytes(mail_to("press@news.example", "x" * MAX_MAIL_BYTES))
    (outbox / "20261103_odd\nname.eml").write_bytes(mail_to("press@news.example"))
    os.mkfifo(outbox / "20261103_pipe.eml")
    (outbox / "20261103_link.eml").symlink_to("/etc/passwd")
    room = Mailroom(CONTACTS)
    room.collect(LocalHost(tmp_path / "system"), THIRD)
    assert (room.sent, room.stop_lines, room.outsiders) == (1, 1, [])


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_no_bytes_make_the_gateway_raise(data: bytes) -> None:
    room_with(data, b"To: pike@hollin.example\n\n#STOP " + data)
