"""What the site decided about the gateway, and where its sockets lie: each run and each grade has a directory of its own."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from django.conf import settings

from fdegym.gateway.configuration import GatewayConfiguration

SOCKET_NAME = "gateway.sock"
CONTROL_NAME = "site.sock"  #: for our own processes alone; lies beside the directories, so no sandbox sees it
INSIDE = "/run/gateway"  #: where a sandbox sees its directory
ENVIRONMENT = {"GATEWAY_SOCKET": f"{INSIDE}/{SOCKET_NAME}"}
GRADE = re.compile(r"g-[0-9a-f]{8}-(\d+-\d+)")


def configuration() -> GatewayConfiguration:
    """What this site decided about its gateway."""
    found: GatewayConfiguration = settings.GATEWAY
    return found


def gateway_root() -> Path:
    return Path(settings.GATEWAY_DIR)


def run_directory(run_id: uuid.UUID | str) -> Path:
    """The directory of a run's own socket; the gateway serves a run as soon as it is there."""
    return gateway_root() / str(run_id)


def make_directory(directory: Path) -> Path:
    directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.parent.chmod(0o700)  # what lies below may be entered by a sandbox's user, but only from inside it
    directory.mkdir(mode=0o711, exist_ok=True)
    directory.chmod(0o711)
    return directory


def grade_name(process: str) -> str:
    """A new name for a grade's account; ``process`` names who grades (``pid-start``), so that leftovers can be told."""
    return f"g-{uuid.uuid4().hex[:8]}-{process}"


def grading_process(name: str) -> str | None:
    """Who made this grade's directory; None where the name is no grade's."""
    found = GRADE.fullmatch(name)
    return found[1] if found else None
