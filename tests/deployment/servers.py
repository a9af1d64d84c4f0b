"""A private PostgreSQL and a private Redis: unix sockets in a directory of the test session, nothing of the machine's."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.waiting import until

ROLE = "fdegym"
#: Nothing here must survive a power cut: the durability that costs time is off, the semantics stay.
POSTGRES_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "deadlock_timeout": "200ms",
}


def postgres_programs() -> Path | None:
    """The newest of Debian's PostgreSQL installations; its programs are not in PATH."""
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    return max(found, key=lambda path: float(path.parent.name), default=None)


class Server:
    """A server process in a short directory of its own. PostgreSQL refuses to run as root: then it is ``fdegym``'s."""

    def __init__(self, prefix: str) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
        self.process: subprocess.Popen[bytes] | None = None
        self.within: Sequence[
            str
        ] = ()  #: a command that starts another in its place: on a host of its own, as this user
        self.user: dict[str, object] = {}
        if os.geteuid() == 0:
            entry = pwd.getpwnam("fdegym")
            os.chown(self.directory, entry.pw_uid, entry.pw_gid)
            self.user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}

    def _spawn(self, command: Sequence[object]) -> None:
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(  # type: ignore[call-overload]
                [*self.within, *(str(part) for part in command)],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **({} if self.within else self.user),
            )

    def _asked(self, command: Sequence[object]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            [str(part) for part in command],
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            **self.user,
        )

    def _until_it_answers(self, answers: Callable[[], bool]) -> None:
        process = self.process
        assert process is not None

        def ready() -> bool:
            assert process.poll() is None, (self.directory / "log").read_text()
            return answers()

        until(ready, f"{process.args} answers")

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def restart(self) -> None:
        self.stop()
        self.start()

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(20)
        self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


class Postgres(Server):
    """A cluster that trusts whoever reaches its socket, which lies in a directory of this user."""

    def __init__(self, programs: Path) -> None:
        super().__init__("fdpg-")
        self.programs = programs
        self.settings: dict[str, str] = dict(POSTGRES_SETTINGS)
        made = self._asked(
            f"{programs}/initdb -D {self.directory}/data -A trust -U {ROLE} -E UTF8 --locale C.UTF-8 --no-sync".split()
        )
        assert made.returncode == 0, made.stdout + made.stderr

    def start(self) -> None:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        self._spawn([self.programs / "postgres", "-D", self.directory / "data", "-k", self.directory, *options])
        self._until_it_answers(
            lambda: self._asked([self.programs / "pg_isready", "-q", "-h", self.directory]).returncode == 0
        )

    def listen(self) -> None:
        """To every address as well, and trust whoever comes; before it is started."""
        self.settings["listen_addresses"] = "*"
        with (self.directory / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all trust\n")

    def stop(self) -> None:
        """At once, as an administrator in a hurry does it: sessions are cut off, what was committed stays."""
        self._end(signal.SIGINT)

    def url(self, database: str) -> str:
        return f"postgres://{ROLE}@/{self.directory}/{database}"

    def create_database(self, name: str) -> str:
        """A new empty database; gives its URL."""
        made = self._asked([self.programs / "createdb", "-h", self.directory, "-U", ROLE, name])
        assert made.returncode == 0, made.stderr
        return self.url(name)

    def ask(self, database: str, sql: str) -> str:
        """The rows that a query gives, as psql prints them bare."""
        command = [self.programs / "psql", "-h", self.directory, "-U", ROLE, "-d", database, "-AtqX", "-c", sql]
        asked = self._asked(command)
        assert asked.returncode == 0, asked.stderr
        return asked.stdout.strip()


class Redis(Server):
    """Memory only: stopped, it forgets everything, which is the harshest broker there is."""

    def __init__(self, port: int = 0) -> None:
        super().__init__("fdrd-")
        self.port = port  #: at every address, for whoever comes; 0: by its socket alone

    @property
    def socket(self) -> Path:
        return self.directory / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        command = ["redis-server", "--port", self.port, "--protected-mode", "no"]
        command += ["--unixsocket", self.socket, "--unixsocketperm", "777"]
        self._spawn([*command, "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", self.directory])
        self._until_it_answers(lambda: self.ask("PING") == "PONG")

    def stop(self) -> None:
        self._end(signal.SIGKILL)
        self.socket.unlink(missing_ok=True)

    def ask(self, *command: str) -> str:
        return self._asked(["redis-cli", "-s", self.socket, *command]).stdout.strip()
