"""Secrets that lie in files of their own, as secret stores hand them out: `X_FILE` names the file that holds `X`."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

LONGEST_BYTES = 64 * 1024
SUFFIX = "_FILE"


class SecretFileProblem(ValueError):
    """A secret that cannot be taken from its file. The text names the variable, never what the file holds."""


def secret(variables: Mapping[str, str], name: str, *, may_be_empty: bool = False) -> str:
    """What ``name`` says, or what the file says that ``name``\\ ``_FILE`` names; "" where neither is set.

    White space around it is no part of it. An emptied file must not quietly mean "none", unless it may.
    Raises ``SecretFileProblem``.
    """
    given, file = variables.get(name, ""), variables.get(name + SUFFIX, "").strip()
    if given.strip() and file:
        raise SecretFileProblem(f"{name} and {name}{SUFFIX} are both set; one must go.")
    return _content(name + SUFFIX, Path(file), may_be_empty) if file else given


def _content(variable: str, path: Path, may_be_empty: bool) -> str:
    try:
        with path.open("rb") as stream:
            _refuse_what_others_read(variable, path, stream.fileno())
            content = stream.read(LONGEST_BYTES + 1)
    except OSError as problem:
        raise SecretFileProblem(f"{variable} cannot be read: {path}: {problem.strerror}.") from problem
    try:
        text = content.decode().strip()
    except UnicodeDecodeError:
        text = ""
    empty = may_be_empty and not content.strip()
    if not (text or empty) or len(content) > LONGEST_BYTES:
        raise SecretFileProblem(f"{variable} names {path}, which holds no secret: it must be a short text.")
    return text


def _refuse_what_others_read(variable: str, path: Path, descriptor: int) -> None:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and mode & 0o007:
        raise SecretFileProblem(
            f"{variable} names {path}, which every user of this machine can reach (mode {mode & 0o777:o}): chmod 600 it, or "
            "640 where its group has to read it."
        )
