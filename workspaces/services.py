"""What other parts of the site ask of workspaces. Blocking; rights are the caller's to check (``fdegym.runs.access``).

Paths are absolute and inside the workspace. The keeper has everything done inside that run's own sandbox, so no path,
however hostile, reaches anything that does not belong to the run.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.lib.errors import ServiceUnavailable
from workspaces.keeper.client import KeeperClient
from workspaces.materials import WorkspaceMaterials
from workspaces.places import Place, Why, place_of
from workspaces.runtime.base import ExecResult, RuntimeReport, SandboxState
from workspaces.runtime.errors import HostFull
from workspaces.runtime.spec_file import pack_directory, spec_document
from workspaces.terminal.record import asciicast

START_TIMEOUT_S = 120.0
ANSWER_S = 30.0
ASK_EVERY_S = 0.5  #: by whoever cannot go on before a workspace runs
ASKED_SOON_S = 2.0
SYSTEM = "/workspace/system"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One entry of a folder. ``kind`` is ``file``, ``directory``, ``link`` or ``special``; ``size`` in bytes."""

    name: str
    kind: str
    size: int
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class FrozenSystem:
    """A frozen ``system/``: a tar with names relative to it. The same content gives the same bytes and hash."""

    path: Path
    sha256: str
    files: int
    bytes: int
    skipped: tuple[tuple[str, str], ...] = ()  #: (path, reason) of links, special files and what was too much


@dataclass(frozen=True, slots=True)
class FileChange:
    """How a file of ``system/`` differs from the original. ``kind`` is ``added``, ``changed`` or ``removed``."""

    path: str
    kind: str
    lines_added: int
    lines_removed: int
    binary: bool


def keeper() -> KeeperClient:
    """The keeper of this host."""
    return KeeperClient(Path(settings.KEEPER_SOCKET))


def sandbox_report() -> RuntimeReport:
    """Whether this host can run sandboxes, tried here and now, without the keeper."""
    from workspaces.runtime.bubblewrap import BubblewrapRuntime

    with tempfile.TemporaryDirectory() as directory:
        return BubblewrapRuntime(Path(directory)).report()


# life


def ask_for_workspace(
    run_id: str, materials: WorkspaceMaterials, *, here: bool = True, capped: bool = True, patience_s: float = 1.0
) -> Place | None:
    """Have it created, started or resumed; None: it runs. Else its place in the queue, and it starts when its turn comes.

    A place is kept for as long as somebody asks again, here or with ``place_in_queue``, every two minutes at least. Whose
    person is not ``here`` gets one only while nobody else waits. Not ``capped``, it is opened beside the workspaces that
    one person may have open. While it starts, the answer is waited for, ``patience_s`` at most. Files of a workspace that
    was lost come back from its last snapshot. Raises what the start failed with, here or since it was asked for last.
    """
    said = keeper().request(
        "open",
        run=run_id,
        spec=spec_document(materials.spec(run_id)),
        begun_at=materials.begun_at,
        here=here,
        capped=capped,
        patience_s=patience_s,
        timeout_s=patience_s + ANSWER_S,
    )[0]
    return place_of(said)


def place_in_queue(run_id: str) -> Place | None:
    """Where a workspace stands that was asked for; None for one that runs, failed, or was never asked for."""
    said = keeper().request("place", run=run_id)[0]["place"]
    return place_of(said) if said else None


def leave_queue(run_id: str) -> None:
    """Give up a place. A workspace that is being started is started."""
    keeper().request("leave", run=run_id)


def open_workspace(
    run_id: str,
    materials: WorkspaceMaterials,
    *,
    room_within_s: float = 0.0,
    told: Callable[[Place], None] = lambda place: None,
) -> None:
    """The same for who cannot do anything before it runs: a command, a worker. Not capped.

    ``told`` is called with each place that it comes to. Raises ``HostFull`` where no room is found within
    ``room_within_s``, ``ServiceUnavailable`` where it does not start for two minutes though there is.
    """
    begun, known = time.monotonic(), None
    while place := ask_for_workspace(run_id, materials, capped=False, patience_s=ASK_EVERY_S):
        if place != known:
            told(place)
            known = place
        waited_s = time.monotonic() - begun
        if place.waits_for_host and waited_s >= room_within_s:
            leave_queue(run_id)
            raise HostFull(f"{place.problem_words} Nothing of yours is lost; try again in a few minutes.")
        if waited_s > max(START_TIMEOUT_S, room_within_s):
            leave_queue(run_id)
            raise ServiceUnavailable(
                "The workspace has not been started for minutes. Nothing is lost; try again later."
            )
        if place.why is not Why.STARTING:
            time.sleep(ASK_EVERY_S)


def workspace_state(run_id: str) -> SandboxState:
    """``running``, ``stopped``, ``created`` or ``gone``."""
    return SandboxState(keeper().request("state", run=run_id)[0]["state"])


def stop_workspace(run_id: str) -> None:
    """Save the files, end everything inside. Opening resumes."""
    keeper().request("stop", run=run_id, timeout_s=START_TIMEOUT_S)


def destroy_workspace(run_id: str) -> None:
    """Remove it with its files, from any state; the records of its terminals stay. Idempotent."""
    keeper().request("destroy", run=run_id, timeout_s=START_TIMEOUT_S)


def touch(run_id: str) -> None:
    """Count something outside the workspace, a message to a person say, as activity in it."""
    keeper().request("touch", run=run_id)


def reconcile(live_run_ids: Sequence[str], *, grace_s: float = 60.0) -> list[str]:
    """Remove every workspace on this host that is not among the live ones; return their run ids.

    What was opened within ``grace_s`` stays: its run may have begun after the live ones were listed.
    """
    live = [str(run_id) for run_id in live_run_ids]
    answer = keeper().request("reconcile", live=live, grace_s=grace_s, timeout_s=START_TIMEOUT_S)[0]
    return list(answer["removed"])


def recorded_runs(*, older_than_s: float = 0.0) -> list[str]:
    """Run ids of which this host has records of terminals, none of them begun within that time."""
    return list(keeper().request("recorded", older_than_s=older_than_s)[0]["runs"])


def forget_records(run_ids: Sequence[str]) -> None:
    """Remove the records of terminals of runs that are gone. One whose workspace is known here keeps them."""
    keeper().request("forget_records", runs=list(run_ids), timeout_s=START_TIMEOUT_S)


# commands


def run_in_workspace(
    run_id: str,
    argv: Sequence[str],
    stdin: bytes = b"",
    *,
    timeout_s: float = 30.0,
    working_directory: str | None = None,
    environment: Mapping[str, str] | None = None,
    output_bytes: int = 1_000_000,
) -> ExecResult:
    """Run a command inside and wait for it."""
    answer, content = keeper().request(
        "exec",
        body=stdin,
        run=run_id,
        argv=list(argv),
        working_directory=working_directory,
        environment=dict(environment or {}),
        output_bytes=output_bytes,
        timeout=timeout_s,
        timeout_s=timeout_s + 30,
    )
    cut = answer["stdout_bytes"]
    return ExecResult(
        answer["exit_status"],
        content[:cut],
        content[cut:],
        answer["wall_s"],
        answer["timed_out"],
        answer["truncated"],
    )


# files


def put_file(run_id: str, path: str, data: bytes) -> None:
    """Write a file in one move; folders above it are made."""
    keeper().request("put", body=data, run=run_id, path=path, timeout_s=90)


def read_file(run_id: str, path: str, *, max_bytes: int = 16 << 20) -> bytes:
    """A whole regular file. Raises ``SandboxFileProblem``; no link is followed."""
    return keeper().request("read", run=run_id, path=path, max_bytes=max_bytes, timeout_s=90)[1]


def read_beginning(run_id: str, path: str, *, max_bytes: int) -> tuple[bytes, bool]:
    """The beginning of a regular file, and whether that is all of it."""
    data = keeper().request("read", run=run_id, path=path, max_bytes=max_bytes + 1, beginning=True, timeout_s=90)[1]
    return data[:max_bytes], len(data) <= max_bytes


def list_directory(run_id: str, path: str) -> list[FileEntry]:
    """Entries of a folder by name, at most 10,000."""
    entries = keeper().request("list", run=run_id, path=path)[0]["entries"]
    return [
        FileEntry(each["name"], each["kind"], each["size"], datetime.fromtimestamp(_sane(each["modified_at"]), UTC))
        for each in entries
    ]


def _sane(epoch_s: float) -> float:
    """A file may claim any time; one that no calendar holds becomes the beginning of the epoch."""
    return epoch_s if 0 <= epoch_s < 4_000_000_000 else 0.0


def make_directory(run_id: str, path: str) -> None:
    keeper().request("make_directory", run=run_id, path=path)


def delete_path(run_id: str, path: str) -> None:
    """Delete a file, a link itself, or a folder with all it holds."""
    keeper().request("delete", run=run_id, path=path, timeout_s=90)


def rename_path(run_id: str, path: str, target: str) -> None:
    """Rename or move. Refuses to replace anything."""
    keeper().request("rename", run=run_id, path=path, target=target)


# delivery


def freeze_system(run_id: str, target: Path) -> FrozenSystem:
    """End all processes of the run and write ``system/`` to ``target``, a tar on this host. The workspace goes on."""
    return _packed("freeze", run_id, target)


def copy_system(run_id: str, target: Path) -> FrozenSystem:
    """Write ``system/`` as it stands now to ``target``, as ``freeze_system`` does; every process of the run goes on."""
    return _packed("copy", run_id, target)


def _packed(request: str, run_id: str, target: Path) -> FrozenSystem:
    target = Path(target)
    answer = keeper().request(request, run=run_id, path=SYSTEM, target=str(target), timeout_s=180)[0]
    skipped = tuple((path, reason) for path, reason in answer["skipped"])
    return FrozenSystem(target, answer["sha256"], answer["files"], answer["bytes"], skipped)


def changes(run_id: str, original: Path) -> list[FileChange]:
    """How ``system/`` differs from the pristine directory ``original`` of the host. Computed inside the sandbox."""
    answer = keeper().request("changes", body=pack_directory(Path(original)), run=run_id, path=SYSTEM, timeout_s=90)[0]
    return [FileChange(**change) for change in answer["changes"]]


# terminals


def open_terminals(run_id: str) -> list[int]:
    """Numbers of the terminals whose shells live."""
    return list(keeper().request("terminals", run=run_id)[0]["terminals"])


def close_terminal(run_id: str, number: int) -> None:
    """End a terminal's shell and everything of its session, also while it is flooded with output."""
    keeper().request("close_terminal", run=run_id, number=number)


def terminal_record(run_id: str, number: int) -> Iterator[str]:
    """A terminal's record as asciicast v2, line by line."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "record"
        with path.open("wb") as file:
            for part in keeper().parts("record", run=run_id, number=number):
                file.write(part)
        yield from asciicast(path)


def keeper_answers() -> dict[str, Any]:
    """For health checks: the keeper's pid. Raises ``ServiceUnavailable``."""
    return keeper().request("ping", timeout_s=5)[0]


def keeper_figures() -> dict[str, Any]:
    """What the keeper counts and holds (``workspaces.keeper.telling``). Raises ``ServiceUnavailable``, soon."""
    figures: dict[str, Any] = keeper().request("figures", timeout_s=ASKED_SOON_S)[0]["figures"]
    return figures


def keeper_workspaces() -> list[dict[str, Any]]:
    """Every workspace on this host, as the keeper finds it there."""
    return list(keeper().request("workspaces", timeout_s=10)[0]["workspaces"])


def keeper_report() -> RuntimeReport:
    """Whether the keeper's host runs sandboxes, and what enforces their limits there."""
    return RuntimeReport(**keeper().request("report", timeout_s=10)[0]["report"])
