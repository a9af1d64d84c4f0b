"""Writing tables to the byte: delimited text and SQLite files that are the same on every machine."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_BOM = b"\xef\xbb\xbf"
_SQLITE_VERSION_OFFSET = 96  #: bytes 96–99 of the file's header name the library that wrote it


def csv_bytes(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, delimiter: str = ",", byte_order_mark: bool = False
) -> bytes:
    """A delimited table in UTF-8 with a header line and LF; None is written as an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return (_BOM if byte_order_mark else b"") + text.getvalue().encode()


def write_sqlite(path: Path, schema: str, tables: Mapping[str, Iterable[Sequence[object]]]) -> None:
    """Create the database ``path`` with ``schema`` and the rows of each table, which must fill all its columns.

    The writing library's version is blanked in the header (it is informational), so that two machines with different
    SQLite releases of the same file format write the same bytes.
    """
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA page_size = 4096")
        connection.executescript(schema)
        for table, rows in tables.items():
            _insert(connection, table, rows)
        connection.commit()
    finally:
        connection.close()
    with path.open("r+b") as database:
        database.seek(_SQLITE_VERSION_OFFSET)
        database.write(bytes(4))


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[object]]) -> None:
    columns = connection.execute("SELECT count(*) FROM pragma_table_info(?)", (table,)).fetchone()[0]
    marks = ", ".join("?" * columns)
    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)  # noqa: S608 - the name is the author's
