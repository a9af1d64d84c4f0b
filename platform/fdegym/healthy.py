"""``python -m fdegym.healthy site | SOCKET``: whether the site, or what listens at a unix socket, answers; status 0 or 1.

For the health checks of containers: seconds apart and by the dozen, so it starts no Django.
"""

from __future__ import annotations

import http.client
import socket
import sys
from pathlib import Path

from fdegym.env import Environment, read_or_exit

PATIENCE_S = 4.0
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what is asked, not what is bound


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or (arguments[0] != "site" and not arguments[0].startswith("/")):
        print("usage: python -m fdegym.healthy site | SOCKET", file=sys.stderr)
        return 2
    try:
        problem = _ask_site(read_or_exit()) if arguments[0] == "site" else _connect(Path(arguments[0]))
    except (OSError, http.client.HTTPException) as silence:
        problem = f"{arguments[0]} does not answer: {silence}"
    if problem:
        print(f"fdegym: {problem}", file=sys.stderr)
    return 1 if problem else 0


def _connect(path: Path) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PATIENCE_S)
        probe.connect(str(path))
    return ""


def _ask_site(environment: Environment) -> str:
    """As the proxy would ask: by a name that the site answers to. In words what is wrong, "" where nothing is."""
    bind = environment.bind.strip("[]")
    connection = http.client.HTTPConnection(ANYWHERE.get(bind, bind), environment.port, timeout=PATIENCE_S)
    name = next((host.lstrip(".") for host in environment.allowed_hosts if host != "*"), "localhost")
    try:
        connection.request("GET", "/health/", headers={"Host": name})
        status = connection.getresponse().status
    finally:
        connection.close()
    return "" if status == 200 else f"site answers {status}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
