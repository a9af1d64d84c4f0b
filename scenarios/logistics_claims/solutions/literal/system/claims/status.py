"""What the portal shows for a claim: the assistant's answer.

    python -m claims.status --claim CL26-104417
"""

import argparse
import contextlib
import sys

from claims import load
from claims.gateway import GatewayUnavailable, complete

DATABASE = "var/claims.sqlite"
WORDS = {
    "paid": "Your claim has been approved, and the money is on its way.",
    "refused": "Your claim could not be accepted. The letter explains why.",
    "queued": "Your claim is with one of our assessors, who will be in touch.",
    "decided": "Your claim has been decided. The letter is in the post.",
}
UNKNOWN = "We are looking into your claim."
TONE = "You answer customers of a parcel carrier: friendly, two sentences, no promise that is not in the facts."


def facts(claim_id, database=DATABASE):
    """The desk's own words on where the claim stands."""
    with contextlib.closing(load.connect(database)) as connection:
        row = connection.execute("SELECT state FROM claim WHERE claim_id = ?", (claim_id,)).fetchone()
    return WORDS.get(row["state"], UNKNOWN) if row else UNKNOWN


def status(claim_id):
    words = facts(claim_id)
    try:
        return complete(f"Claim {claim_id}. Facts: {words}", max_tokens=120, system=TONE)
    except GatewayUnavailable:
        return f"{claim_id}: {words}"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="claims.status", description="The portal's text for a claim.")
    parser.add_argument("--claim", required=True, help="claim id")
    print(status(parser.parse_args(arguments).claim))
    return 0


if __name__ == "__main__":
    sys.exit(main())
