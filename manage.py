#!/usr/bin/env python3
"""Django's command line; one line of it puts platform/ on sys.path.

It may be started with any Python and by anyone: it goes on with the project's own environment, and as root it goes on
as the unprivileged user that everything of the product runs as.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def settle() -> None:
    """Replace this process by one that has the right user, directory and interpreter, if it has not."""
    sys.path.insert(0, str(ROOT / "ops"))
    import place

    home = place.running_place()
    python = home / ".venv" / "bin" / "python"
    if Path(sys.prefix) == python.parents[1] and not place.is_root():
        sys.path.remove(str(ROOT / "ops"))
        return
    if not python.exists():
        sys.exit("fdegym: this checkout is not set up yet: run `make setup` first.")
    place.drop_privileges()
    os.execv(python, [str(python), str(home / "manage.py"), *sys.argv[1:]])  # noqa: S606


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")
    sys.path.insert(0, str(ROOT / "platform"))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    settle()
    main()
