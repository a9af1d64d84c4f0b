"""What the portal shows for a claim.

    python -m claims.status --claim CL26-104417
"""

import argparse
import contextlib
import sys

from claims import load

DATABASE = "var/claims.sqlite"
WORDS = {
    "PAY": "has been paid.",
    "REFUSE": "could not be accepted; the letter names the reason.",
    "QUEUE": "is with an assessor.",
}


def status(claim_id, database=DATABASE):
    with contextlib.closing(load.connect(database)) as connection:
        row = connection.execute("SELECT decision FROM audit WHERE claim_id = ?", (claim_id,)).fetchone()
    return f"{claim_id}: your claim {WORDS[row['decision']] if row else 'is in progress.'}"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="claims.status", description="The portal's text for a claim.")
    parser.add_argument("--claim", required=True, help="claim id")
    print(status(parser.parse_args(arguments).claim))
    return 0


if __name__ == "__main__":
    sys.exit(main())
