"""The kit's tables: the same rows give the same bytes, whatever library wrote them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from scenarios.kit.tables import csv_bytes, write_sqlite

SCHEMA = "CREATE TABLE item (tag TEXT PRIMARY KEY, hours REAL NOT NULL); CREATE INDEX by_hours ON item (hours);"


def test_a_table_is_utf8_with_line_feeds_and_quotes_where_needed() -> None:
    data = csv_bytes(("well", "note"), [("Kell 2, Slot 3", 'bit 8"'), ("停机", None)])
    assert data == 'well,note\n"Kell 2, Slot 3","bit 8"""\n停机,\n'.encode()


def test_a_byte_order_mark_comes_only_when_asked_for() -> None:
    assert csv_bytes(("a",), [], byte_order_mark=True) == b"\xef\xbb\xbfa\n"
    assert csv_bytes(("a", "b"), [(1, 2)], delimiter=";") == b"a;b\n1;2\n"


def test_a_database_can_be_read_and_has_the_same_bytes_twice(tmp_path: Path) -> None:
    rows = [("TDS-1", 2.25), ("MP-1", 0.5)]
    for name in ("one", "two"):
        write_sqlite(tmp_path / name, SCHEMA, {"item": rows})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    connection = sqlite3.connect(tmp_path / "one")
    assert connection.execute("SELECT * FROM item ORDER BY hours").fetchall() == [("MP-1", 0.5), ("TDS-1", 2.25)]
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.execute("INSERT INTO item VALUES ('DW-1', 1.0)")
    connection.commit()
    connection.close()


def test_the_writing_librarys_version_is_not_in_the_file(tmp_path: Path) -> None:
    write_sqlite(tmp_path / "items", SCHEMA, {"item": []})
    assert (tmp_path / "items").read_bytes()[96:100] == bytes(4)


def test_an_old_file_is_replaced_and_rows_must_fill_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_bytes(b"something else")
    write_sqlite(path, SCHEMA, {"item": [("A", 1.0)]})
    with pytest.raises(sqlite3.ProgrammingError):
        write_sqlite(path, SCHEMA, {"item": [("A",)]})
