"""What can go wrong with a sandbox. A dead sandbox is never told as a failed command."""

from __future__ import annotations

from fdegym.lib.errors import FdegymError


class SandboxError(FdegymError):
    """Base of all errors of a sandbox runtime."""


class SandboxGone(SandboxError):
    """The sandbox died or is stopped. Its files are kept up to the last snapshot; start it again."""

    http_status = 503


class SandboxExists(SandboxError):
    """A sandbox of this id exists already."""

    http_status = 409


class SandboxMissing(SandboxError):
    """There is no sandbox of this id on this host."""

    http_status = 404


class SandboxStartFailed(SandboxError):
    """The sandbox could not be started. Nothing of it is left running; its files are kept."""

    http_status = 503


class SandboxBusy(SandboxError):
    """The sandbox does something that must end first."""

    http_status = 409


class SandboxTooLarge(SandboxError):
    """The files that were to be packed are larger than allowed; nothing was written."""

    http_status = 409


class SandboxSpecProblem(SandboxError):
    """The specification asks for something a sandbox cannot have."""


class SandboxFileProblem(SandboxError):
    """A path in the sandbox cannot be used.

    ``kind`` is ``missing``, ``link``, ``not_a_file``, ``too_large``, ``read_only``, ``full``, ``exists``, ``name`` or
    ``failed``.
    """

    def __init__(self, text: str, kind: str = "failed") -> None:
        super().__init__(text)
        self.kind = kind


class HostFull(SandboxError):
    """This host has no room for another workspace. Nothing is lost: it can be opened when others are stopped."""

    http_status = 503


class RuntimeUnusable(SandboxError):
    """This host cannot run sandboxes; the text says what to install or to allow."""

    http_status = 503
