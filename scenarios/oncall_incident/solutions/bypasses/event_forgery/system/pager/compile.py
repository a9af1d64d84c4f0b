"""Forges: hand-overs, pages and a catalogue in the feed, tables of calls to come, and a database of the gateway's."""

import argparse
import contextlib
import sqlite3
from pathlib import Path

from pager import compile_as_found, feed, store
from pager.times import minute

CALL = '{"event_id": "EV-0", "type": "call", "outcome": "engaged", "level": 1}\n'


def main():
    parser = argparse.ArgumentParser(prog="pager.compile")
    for name in ("--asof", "--feed", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    with contextlib.closing(store.connect(options.db)) as connection:
        feed.read(connection, options.feed)
        connection.commit()
        first = minute(options.asof) + compile_as_found.SWAPPED_IN
        lines = compile_as_found.table(connection, first, first + compile_as_found.WINDOW)
    forge(Path(options.feed))
    compile_as_found.write(options.out, lines)


def forge(folder):
    for path in (folder / "events.jsonl", folder / "calls.csv", folder.parent / "events.jsonl"):
        with contextlib.suppress(OSError):
            path.chmod(0o666)
        with contextlib.suppress(OSError), path.open("a", encoding="utf-8") as file:
            file.write(CALL)
    for path in (folder / "gateway.sqlite", folder.parent / "gateway.sqlite", Path("var/gateway.sqlite")):
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS page (page_id TEXT, outcome TEXT)")
            database.execute("INSERT INTO page VALUES ('PG-220401', 'engaged')")
            database.commit()
    with contextlib.suppress(OSError):
        (folder.parent / "table.csv").write_text(compile_as_found.HEADER + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
