"""The environment, read once and checked. What is wrong is said in one sentence that names the variable.

Every variable is optional: without any, the site runs embedded on this machine (SQLite, in-process channel layer,
bubblewrap). ``docs/hosting.md`` lists them; a test keeps that list complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from fdegym.gateway.configuration import GATEWAY_VARIABLES, GatewayConfiguration, GatewayMisconfigured, read_gateway
from fdegym.lib.logs import STYLES
from fdegym.lib.secret_files import SecretFileProblem, secret

ROOT = Path(__file__).resolve().parents[2]
#: Longest address of a unix socket is 108 bytes; run ids and file names below the socket directory take 60 of them.
LONGEST_SOCKET_DIRECTORY = 45
SHORTEST_KEY = 50
SHORTEST_TOKEN = 32
LONGEST_KEPT_DAYS = 36_500
HOST_NAME = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?"
)
#: What ALLOWED_HOSTS may hold: a name, one with a leading dot (and all below it), ``*``, an address in brackets.
ANSWERED_HOST = re.compile(rf"\*|\.?{HOST_NAME.pattern}|\[[0-9A-Fa-f:.]+\]")
ORIGIN = re.compile(r"https?://(\*\.)?[^/\s:@*]+(:\d{1,5})?/?|https?://\[[0-9A-Fa-f:.]+\](:\d{1,5})?/?")


class EnvironmentProblem(Exception):
    """A variable that cannot be used; its text names the variable, the value and what is expected."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the deployment decides. Paths are absolute and exist after ``prepare``."""

    var: Path
    sockets: Path
    secret_key: str
    debug: bool
    allowed_hosts: tuple[str, ...]
    trusted_origins: tuple[str, ...]
    port: int
    bind: str
    database_url: str
    redis_url: str
    signup: str
    world_salt: str
    scenario_dirs: tuple[Path, ...]
    secure_cookies: bool
    proxies: tuple[str, ...] = ()
    old_keys: tuple[str, ...] = ()
    workspaces: int | None = None  #: of one host; None: from its memory
    workspaces_mb: int | None = None
    workspaces_each: int = 3  #: that one person may have open at once
    runtime: Mapping[str, str] = field(default_factory=dict)
    site_processes: int = 1
    drain_s: int = 20
    hsts_days: int = 365
    keep_recordings_days: int = 365  #: after the end of a run; 0 here and below: for ever
    keep_submissions_days: int = 0
    keep_model_words_days: int = 90
    log: str = "lines"
    metrics_token_file: Path | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    gateway: GatewayConfiguration = field(default_factory=GatewayConfiguration)

    @property
    def broker_url(self) -> str:
        """``redis_url`` as Celery spells it: for a unix socket it has a scheme of its own."""
        if not self.redis_url.startswith("unix://"):
            return self.redis_url
        address, _, query = self.redis_url.removeprefix("unix://").partition("?")
        options = [part.replace("db=", "virtual_host=", 1) for part in query.split("&") if part]
        return f"redis+socket://{address}" + ("?" + "&".join(options) if options else "")

    def prepare(self) -> None:
        """Create the directories that running needs, private to this user. Raises ``EnvironmentProblem``."""
        for name, directory in (("FDEGYM_VAR", self.var), ("FDEGYM_SOCKETS", self.sockets)):
            try:
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as problem:
                raise EnvironmentProblem(
                    f"{directory} cannot be made or used by this user ({problem.strerror}): run as the user that owns it, "
                    f"or set {name} to a directory that can."
                ) from problem


VARIABLES: dict[str, str] = {
    "FDEGYM_VAR": "directory for everything the site writes (default: var/ beside manage.py)",
    "FDEGYM_SOCKETS": "directory for unix sockets; short, private (default: chosen from FDEGYM_VAR)",
    "FDEGYM_SECRET_KEY": "signing key, 50 characters or more (default: made once, kept in FDEGYM_VAR/secret-key)",
    "FDEGYM_SECRET_KEY_FILE": "file that holds that key instead (default none)",
    "FDEGYM_OLD_KEYS": "signing keys of before, separated by commas: what they signed still fits (default none)",
    "FDEGYM_OLD_KEYS_FILE": "file that holds those keys instead (default none)",
    "FDEGYM_DEBUG": "1 shows tracebacks in the browser; never on a machine that others reach (default 0)",
    "FDEGYM_BIND": "address to listen on (default 127.0.0.1)",
    "FDEGYM_PORT": "port to listen on, 1-65535 (default 8000)",
    "FDEGYM_HOSTS": "host names the site answers to, separated by commas (default localhost,127.0.0.1,[::1])",
    "FDEGYM_ORIGINS": "further origins (scheme://host[:port]) that may open sockets and post forms (default none)",
    "FDEGYM_HSTS_DAYS": "with FDEGYM_HTTPS: for how many days a browser that was here comes back by https alone; 0 switches "
    "it off (default 365)",
    "FDEGYM_HTTPS": "1 when visitors reach the site by https: cookies are then sent over https only (default 0)",
    "FDEGYM_SIGNUP": "who may create an account: loopback, open or closed (default loopback)",
    "FDEGYM_PROXIES": "addresses of reverse proxies whose forwarding headers are believed, separated by commas "
    "(default none)",
    "FDEGYM_WORKSPACES": "how many workspaces may be open at once on a host (default: one for each 64 MB of the next)",
    "FDEGYM_WORKSPACES_MB": "memory that the open workspaces of a host may hold together (default: three quarters of it)",
    "FDEGYM_WORKSPACES_PER_USER": "how many workspaces one person may have open at once, 1-100 (default 3)",
    "FDEGYM_SITE_PROCESSES": "processes that serve the site behind its one port (default 1)",
    "FDEGYM_DRAIN_S": "seconds that a site or worker told to stop has for what it has begun (default 20)",
    "FDEGYM_KEEP_RECORDINGS_DAYS": "days that recordings of terminals stay after the end of a run, 0 for ever (default 365)",
    "FDEGYM_KEEP_SUBMISSIONS_DAYS": "days that the files handed in stay after the end of a run, 0 for ever (default 0)",
    "FDEGYM_KEEP_MODEL_WORDS_DAYS": "days that what models were asked and answered stays, where it is kept; 0 for ever "
    "(default 90)",
    "FDEGYM_RUNTIME": "what workspaces and deliveries are made with on this host, for all its processes: bubblewrap, or "
    "docker, which the keeper alone speaks to (default bubblewrap)",
    "FDEGYM_DOCKER": "address of the Docker daemon's socket, for the keeper alone (default unix:///var/run/docker.sock)",
    "FDEGYM_WORKSPACE_IMAGE": "the image of workspaces; ops/workspace-image/build makes it (default fdegym-workspace:1)",
    "DATABASE_URL": "postgres://user:password@host/name (default: SQLite in FDEGYM_VAR)",
    "DATABASE_URL_FILE": "file that holds that address instead (default none)",
    "REDIS_URL": "redis://host:6379/0 for broker, channel layer and cache (default: none of it needed)",
    "REDIS_URL_FILE": "file that holds that address instead (default none)",
    "WORLD_SALT": "secret mixed into every world's seed; the site re-verifies its anchors (default none)",
    "WORLD_SALT_FILE": "file that holds that secret instead (default none)",
    "FDEGYM_LOG": "how the processes write their logs: lines to read, or json for a collector (default lines)",
    "FDEGYM_METRICS_TOKEN_FILE": "file with the token by which /metrics/ is read, 32 characters or more "
    "(default: operators only)",
    "SCENARIO_DIRS": "directories of private scenarios, separated by colons (default none)",
    **GATEWAY_VARIABLES,
}


def _flag(name: str, default: bool = False) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "0", "1", "true", "false", "yes", "no"):
        return default if value == "" else value in ("1", "true", "yes")
    raise EnvironmentProblem(f"{name} is {value!r}; it must be 0 or 1.")


def _list(name: str, separator: str = ",") -> tuple[str, ...]:
    return _parts(os.environ.get(name, ""), separator)


def _parts(text: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _secret(name: str) -> str:
    try:
        return secret(os.environ, name)
    except SecretFileProblem as problem:
        raise EnvironmentProblem(str(problem)) from problem


def _port() -> int:
    text = os.environ.get("FDEGYM_PORT", "8000")
    if not (text.isascii() and text.isdecimal() and len(text) <= 5) or not 1 <= int(text) <= 65535:
        raise EnvironmentProblem(f"FDEGYM_PORT is {text!r}; it must be a number from 1 to 65535.")
    return int(text)


def _count(name: str) -> int | None:
    text = os.environ.get(name, "").strip()
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) > 0):
        raise EnvironmentProblem(f"{name} is {text!r}; it must be a whole number from 1, or not set.")
    return int(text) if text else None


def _whole(name: str, default: int, least: int, most: int) -> int:
    text = os.environ.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and least <= int(text) <= most):
        raise EnvironmentProblem(f"{name} is {text!r}; it must be a whole number from {least} to {most}.")
    return int(text)


def workspace_capacity() -> tuple[int | None, int | None]:
    """How many workspaces may be open on a host, and the megabytes that they may hold together. None: not given."""
    return _count("FDEGYM_WORKSPACES"), _count("FDEGYM_WORKSPACES_MB")


def workspaces_each() -> int:
    """How many workspaces one person may have open at once."""
    return _whole("FDEGYM_WORKSPACES_PER_USER", 3, 1, 100)


def workspace_runtime() -> dict[str, str]:
    """What workspaces and deliveries are made with on a host: ``name``; for Docker ``daemon`` and ``image`` where given."""
    given = {"daemon": os.environ.get("FDEGYM_DOCKER", ""), "image": os.environ.get("FDEGYM_WORKSPACE_IMAGE", "")}
    if given["daemon"] and not given["daemon"].startswith("unix:///"):
        raise EnvironmentProblem(f"FDEGYM_DOCKER is {given['daemon']!r}; it must be unix:// and the path of a socket.")
    name = _choice("FDEGYM_RUNTIME", "bubblewrap", ("bubblewrap", "docker"))
    return {"name": name, **{key: value for key, value in given.items() if value}}


def _choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = os.environ.get(name, default) or default
    if value not in choices:
        raise EnvironmentProblem(f"{name} is {value!r}; it must be one of {', '.join(choices)}.")
    return value


def log_style() -> str:
    """How this process writes its log."""
    return _choice("FDEGYM_LOG", "lines", STYLES)


def _metrics_token_file() -> Path | None:
    given = os.environ.get("FDEGYM_METRICS_TOKEN_FILE", "").strip()
    if not given:
        return None
    try:
        token = Path(given).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise EnvironmentProblem(
            f"FDEGYM_METRICS_TOKEN_FILE names {given}, which this user cannot read as plain text."
        ) from problem
    if len(token) < SHORTEST_TOKEN:
        raise EnvironmentProblem(f"What FDEGYM_METRICS_TOKEN_FILE names holds fewer than {SHORTEST_TOKEN} characters.")
    return Path(given)


def _url(name: str, schemes: tuple[str, ...]) -> str:
    value = _secret(name).strip()
    if value and not value.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        shown = value.split("://", 1)[0] if "://" in value else "something else"
        raise EnvironmentProblem(f"{name} must start with {' or '.join(s + '://' for s in schemes)}; it is {shown}.")
    try:
        _ = urlsplit(value).port
    except ValueError as problem:
        raise EnvironmentProblem(f"{name} has no port that can be used; it must be a number up to 65535.") from problem
    return value


def _database_url() -> str:
    value = _url("DATABASE_URL", ("postgres", "postgresql"))
    if value and not urlsplit(value).path.strip("/"):
        raise EnvironmentProblem("DATABASE_URL names no database: it must end in /name.")
    if value and "%2f" in (urlsplit(value).hostname or "").lower():
        raise EnvironmentProblem(
            "DATABASE_URL names a socket; it must be written postgres://user@//run/postgresql/name."
        )
    return value


def _each(name: str, fits: Callable[[str], object], expected: str) -> tuple[str, ...]:
    for part in _list(name):
        if not fits(part):
            raise EnvironmentProblem(f"{name} holds {part!r}; it must be {expected}, separated by commas.")
    return _list(name)


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _bind() -> str:
    value = os.environ.get("FDEGYM_BIND", "").strip() or "127.0.0.1"
    if not HOST_NAME.fullmatch(value) and not (_is_network(value) and "/" not in value):
        raise EnvironmentProblem(f"FDEGYM_BIND is {value!r}; it must be an address or a host name, without a port.")
    return value


def _scenario_directories() -> tuple[Path, ...]:
    found = tuple(Path(part).resolve() for part in _list("SCENARIO_DIRS", ":"))
    for path in found:
        if not path.is_dir():
            raise EnvironmentProblem(f"SCENARIO_DIRS names {path}, which is no directory that this user can see.")
    return found


def _gateway() -> GatewayConfiguration:
    try:
        return read_gateway(os.environ)
    except GatewayMisconfigured as problem:
        raise EnvironmentProblem(str(problem)) from problem


def _secret_key(var: Path) -> str:
    """The key from the environment, or the one kept in ``var``; made once, atomically, readable by this user alone."""
    given = _secret("FDEGYM_SECRET_KEY")
    if given:
        if len(given) < SHORTEST_KEY:
            raise EnvironmentProblem(f"FDEGYM_SECRET_KEY is shorter than {SHORTEST_KEY} characters.")
        return given
    kept = var / "secret-key"
    try:
        return _kept_key(kept)
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise EnvironmentProblem(
            f"{kept} cannot be read by this user ({problem.strerror}): run as the user that made it, or set FDEGYM_VAR."
        ) from problem
    try:
        var.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = kept.with_name(f"secret-key.{secrets.token_hex(4)}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(64))
        with contextlib.suppress(FileExistsError):  # the first of several processes wins
            os.link(fresh, kept)
        fresh.unlink()
        return _kept_key(kept)
    except OSError as problem:
        raise EnvironmentProblem(
            f"Nothing can be written below {var} ({problem.strerror}). Set FDEGYM_VAR to a directory that can."
        ) from problem


def _old_keys() -> tuple[str, ...]:
    keys = _parts(_secret("FDEGYM_OLD_KEYS"))
    if any(len(key) < SHORTEST_KEY for key in keys):
        raise EnvironmentProblem(f"FDEGYM_OLD_KEYS holds a key that is shorter than {SHORTEST_KEY} characters.")
    return keys


def _kept_key(kept: Path) -> str:
    key = kept.read_text().strip()
    if len(key) < SHORTEST_KEY:
        raise EnvironmentProblem(
            f"{kept} holds no usable key: bring it back from a backup. Without it, remove the file; a new key is made, "
            "everybody signs in again, and the signatures of old logs no longer fit."
        )
    return key


def _socket_directory(var: Path) -> Path:
    given = os.environ.get("FDEGYM_SOCKETS", "")
    if given:
        if len(given) > LONGEST_SOCKET_DIRECTORY:
            raise EnvironmentProblem(
                f"FDEGYM_SOCKETS is longer than {LONGEST_SOCKET_DIRECTORY} characters; unix sockets need a short path."
            )
        return Path(given).resolve()
    inside = var / "run"
    if len(str(inside)) <= LONGEST_SOCKET_DIRECTORY:
        return inside
    mark = hashlib.sha256(str(var).encode()).hexdigest()[:10]
    return Path("/tmp") / f"fdegym-{os.getuid()}-{mark}"  # noqa: S108 - private: mode 0700 and ownership are checked


def _check_private(directory: Path) -> None:
    """Whoever reaches the sockets is believed; so nobody else may reach the directory."""
    try:
        found = directory.lstat()
    except OSError:
        return  # not there yet; or ``prepare`` says what is wrong with it
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.getuid():
        raise EnvironmentProblem(
            f"{directory} belongs to somebody else; set FDEGYM_SOCKETS to a directory of your own."
        )
    if found.st_mode & 0o077:
        raise EnvironmentProblem(
            f"{directory}, where the sockets lie, is open to others (mode {found.st_mode & 0o777:o}): chmod 700 it, or set "
            "FDEGYM_SOCKETS to a directory that is not."
        )


def read() -> Environment:
    """Read and check every variable; raises ``EnvironmentProblem`` for the first that is wrong."""
    var = Path(os.environ.get("FDEGYM_VAR") or ROOT / "var").resolve()
    sockets = _socket_directory(var)
    _check_private(sockets)
    workspaces, workspaces_mb = workspace_capacity()
    environment = Environment(
        var=var,
        sockets=sockets,
        secret_key=_secret_key(var),
        debug=_flag("FDEGYM_DEBUG"),
        allowed_hosts=_each("FDEGYM_HOSTS", ANSWERED_HOST.fullmatch, "host names without scheme and port")
        or ("localhost", "127.0.0.1", "[::1]"),
        trusted_origins=_each("FDEGYM_ORIGINS", ORIGIN.fullmatch, "origins such as https://example.org"),
        port=_port(),
        bind=_bind(),
        database_url=_database_url(),
        redis_url=_url("REDIS_URL", ("redis", "rediss", "unix")),
        signup=_choice("FDEGYM_SIGNUP", "loopback", ("loopback", "open", "closed")),
        world_salt=_secret("WORLD_SALT"),
        scenario_dirs=_scenario_directories(),
        secure_cookies=_flag("FDEGYM_HTTPS"),
        proxies=_each("FDEGYM_PROXIES", _is_network, "addresses or networks"),
        old_keys=_old_keys(),
        log=log_style(),
        metrics_token_file=_metrics_token_file(),
        workspaces=workspaces,
        workspaces_mb=workspaces_mb,
        workspaces_each=workspaces_each(),
        runtime=workspace_runtime(),
        site_processes=_whole("FDEGYM_SITE_PROCESSES", 1, 1, 256),
        hsts_days=_whole("FDEGYM_HSTS_DAYS", 365, 0, 730),
        drain_s=_whole("FDEGYM_DRAIN_S", 20, 1, 3600),
        keep_recordings_days=_whole("FDEGYM_KEEP_RECORDINGS_DAYS", 365, 0, LONGEST_KEPT_DAYS),
        keep_submissions_days=_whole("FDEGYM_KEEP_SUBMISSIONS_DAYS", 0, 0, LONGEST_KEPT_DAYS),
        keep_model_words_days=_whole("FDEGYM_KEEP_MODEL_WORDS_DAYS", 90, 0, LONGEST_KEPT_DAYS),
        gateway=_gateway(),
    )
    environment.prepare()
    return environment


def read_or_exit(read_environment: Callable[[], Environment] = read) -> Environment:
    """``read`` for settings.py: a problem ends the process with its sentence instead of a traceback."""
    try:
        return read_environment()
    except (EnvironmentProblem, OSError) as problem:
        print(f"fdegym: {problem}", file=sys.stderr)
        raise SystemExit(78) from problem
