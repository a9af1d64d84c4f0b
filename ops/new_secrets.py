"""Make the secrets of a deployment, each in a file of its own; those that are there stay.

    sudo python3 ops/new_secrets.py [DIRECTORY]      (default /etc/fdegym/secrets)

Standard library only. As root each file belongs to the user that its service runs as in ``ops/compose.yaml``; without
containers, give them to nobody but root: systemd hands them on.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

SITE, POSTGRES = 10001, 999  #: user ids in the containers
DATABASE, REDIS = "postgres:5432/fdegym", "redis:6379/0"


def keep(directory: Path, name: str, content: str, owner: int = SITE) -> str:
    """What the file says; it is made with ``content`` where it is not there."""
    path = directory / name
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o400)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{content}\n" if content else "")
    if os.geteuid() == 0:
        os.chown(path, owner, owner)
    print(f"fdegym: made {path}")
    return content


def main(directory: Path) -> int:
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    keep(directory, "secret-key", secrets.token_urlsafe(64))
    keep(directory, "world-salt", secrets.token_urlsafe(32))
    password = keep(directory, "database-password", secrets.token_urlsafe(32), POSTGRES)
    keep(directory, "database-url", f"postgres://fdegym:{password}@{DATABASE}")
    word = keep(directory, "redis-users", f"user default on >{secrets.token_urlsafe(32)} ~* &* +@all")
    password = word.split(">", 1)[1].split()[0]
    keep(directory, "redis-url", f"redis://:{password}@{REDIS}")
    keep(directory, "model-key", "")  # empty until a model is connected
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "/etc/fdegym/secrets")))
