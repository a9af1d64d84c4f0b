#!/usr/bin/env python3
"""Django's command line; one line of it puts platform/ on sys.path.

It may be started with any Python and by anyone: it goes on with the project's own environment, and as root it goes on
as the unprivileged user that everything of the product runs as.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")
    sys.path.insert(0, str(ROOT / "platform"))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "ops"))
    import place

    place.settle("manage.py")
    sys.path.remove(str(ROOT / "ops"))
    main()
