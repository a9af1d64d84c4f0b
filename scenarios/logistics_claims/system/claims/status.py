"""What the portal shows for a claim.

    python -m claims.status --claim CL26-104417
"""

import argparse
import sys


def status(claim_id):
    return f"{claim_id}: your claim is in progress."


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="claims.status", description="The portal's text for a claim.")
    parser.add_argument("--claim", required=True, help="claim id")
    print(status(parser.parse_args(arguments).claim))
    return 0


if __name__ == "__main__":
    sys.exit(main())
