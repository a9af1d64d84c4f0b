"""What must be right before the site starts, and what an operator should know: Django's system checks.

Every ``manage.py`` command runs them, `prepare` and `desk` among them; an error stops it with its sentence. They ask
nothing of database or network, and take no longer than one sandbox takes to start.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from fdegym.env import Environment

SANDBOX = "sandbox"  #: ``manage.py check --tag sandbox``


class SiteConfig(AppConfig):
    """The composition root as an app: it has no models, only these checks."""

    name = "fdegym"
    label = "fdegym_site"


def is_loopback(address: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"


def _environment() -> Environment:
    environment: Environment = settings.ENVIRONMENT
    return environment


@register(Tags.security)
def check_debug(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Tracebacks show settings and other people's data."""
    environment = _environment()
    if not environment.debug or (is_loopback(environment.bind) and not environment.secure_cookies):
        return []
    return [
        Error(
            "FDEGYM_DEBUG=1 shows tracebacks to everybody who reaches the site, and others can reach this one "
            f"(FDEGYM_BIND={environment.bind}{', FDEGYM_HTTPS=1' if environment.secure_cookies else ''}).",
            hint="Unset FDEGYM_DEBUG, or listen on 127.0.0.1.",
            id="fdegym.E001",
        )
    ]


@register(Tags.security)
def check_var_is_private(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Below it lie the database, everybody's work and the worlds that nobody may see beforehand."""
    var = _environment().var
    try:
        mode = var.stat().st_mode & 0o777
    except OSError as problem:
        return [Error(f"{var} cannot be looked at: {problem.strerror}.", hint="Set FDEGYM_VAR.", id="fdegym.E002")]
    what = f"{var} is open to %s (mode {mode:o}); in it lie the database, people's work and hidden worlds."
    if mode & 0o007:
        return [Error(what % "every user of this machine", hint=f"chmod 700 {var}", id="fdegym.E002")]
    if mode & 0o070:
        return [Warning(what % "its group", hint=f"chmod 700 {var}", id="fdegym.W002")]
    return []


@register(Tags.security)
def check_signup(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Passwords of strangers over a line that others can read."""
    environment = _environment()
    if settings.SIGNUP != "open" or is_loopback(environment.bind) or environment.secure_cookies:
        return []
    return [
        Warning(
            f"Anybody who reaches {environment.bind} may create an account, and passwords cross the network readable.",
            hint="Put the site behind https and set FDEGYM_HTTPS=1, or set FDEGYM_SIGNUP=closed.",
            id="fdegym.W003",
        )
    ]


@register(Tags.database)
def check_stores_go_together(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """PostgreSQL is there for several processes and hosts; these need Redis as well, and the other way round."""
    environment = _environment()
    if environment.database_url and not environment.redis_url:
        return [
            Warning(
                "DATABASE_URL is set and REDIS_URL is not: only processes of this machine hear of new work at once, and "
                "of several site processes each hints only at what it wrote itself.",
                hint="Set REDIS_URL; without it run one site process, with its worker on the same machine.",
                id="fdegym.W004",
            )
        ]
    if environment.redis_url and not environment.database_url:
        return [
            Warning(
                "REDIS_URL is set and DATABASE_URL is not: the data lie in SQLite, which one machine alone can use.",
                hint="Set DATABASE_URL before a process runs on another machine.",
                id="fdegym.W005",
            )
        ]
    return []


@register(SANDBOX)
def check_sandbox(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """No work is ever done outside a sandbox, so a machine that has none does not start."""
    from workspaces.services import sandbox_report

    report = sandbox_report()
    if report.usable:
        return []
    what = f"No sandbox can be made on this machine: {report.problem}"
    environment = _environment()
    if environment.database_url and environment.redis_url:
        hint = "Machines that run site processes alone need none; keeper and workers do."
        return [Warning(what, hint=hint, id="fdegym.W006")]
    return [Error(what, hint="`make system` as root installs what is missing.", id="fdegym.E006")]
