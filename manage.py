#!/usr/bin/env python3
"""Django's command line. The second line of main() is the one place that puts platform/ on sys.path."""

import os
import sys
from pathlib import Path


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")
    sys.path.insert(0, str(Path(__file__).resolve().parent / "platform"))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
