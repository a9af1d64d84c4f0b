"""``python -m fdegym.serve``: the site, as so many processes behind one port as the environment says.

It becomes uvicorn, whose options stand here once for `make run` and every deployment. SIGTERM: no new connections, what
is being answered is answered, and sockets are closed with 1012, upon which pages come back. SIGHUP, with several
processes: a fresh process for each, one after the other, without a moment that nobody answers in.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from typing import Any

from fdegym.env import Environment, read_or_exit

PR_SET_PDEATHSIG = 1
SLOW_ANSWER_S = 30  #: to the process above it: one on a busy machine is slow, and not to be killed for it


def command(environment: Environment) -> list[str]:
    """The command line that serves the site, without the interpreter."""
    several = environment.site_processes > 1
    line = ["-m", "uvicorn"]
    line += ["--factory", "fdegym.serve:one_of_several"] if several else ["fdegym.asgi:application"]
    line += ["--host", environment.bind.strip("[]"), "--port", str(environment.port)]
    if several:
        line += ["--workers", str(environment.site_processes), "--timeout-worker-healthcheck", str(SLOW_ANSWER_S)]
    line += ["--loop", "uvloop", "--http", "httptools", "--ws", "websockets-sansio"]
    line += ["--ws-max-size", "2097152", "--ws-per-message-deflate", "false"]
    # its line for each WebSocket would hold the ticket
    line += ["--no-access-log", "--log-level", "warning", "--lifespan", "off", "--no-server-header"]
    line += ["--timeout-graceful-shutdown", str(environment.drain_s)]
    proxies = ",".join(environment.proxies)
    return line + (["--forwarded-allow-ips", proxies] if proxies else ["--no-proxy-headers"])


def one_of_several() -> Any:
    """The application of one of several processes, which ends when the one above them is killed."""
    end_with_the_one_above()
    from fdegym.asgi import application

    return application


def end_with_the_one_above() -> None:
    """A process whose parent is killed would go on holding the port, and nothing could be started in its place."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    above = multiprocessing.parent_process()
    if above is not None and os.getppid() != above.pid:  # killed before it could be asked for
        raise SystemExit(1)


def main() -> None:
    os.execv(sys.executable, [sys.executable, *command(read_or_exit())])  # noqa: S606 - it becomes uvicorn


if __name__ == "__main__":
    main()
