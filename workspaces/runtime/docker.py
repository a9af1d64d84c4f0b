"""The Docker runtime: one container for each sandbox, for deployments whose host runs a Docker daemon.

The container is as closed as Docker makes one (no network, no capability, no new privileges, read-only root, Docker's
system-call filter) and runs as a user id of its own, so that what the kernel counts for each user is counted for each
sandbox. Its first process is our launcher, which adds the filter that bubblewrap sandboxes have and hands out terminals
over the socket that the runtime made outside: the daemon is asked to create, start and remove, never for a stream.

Beside what ``launched`` keeps of each sandbox, ``<id>/uid`` holds its user id. Files lie in memory file systems, as with
bubblewrap, and are saved to ``storage.tar``. Containers carry labels; one whose folder is gone is removed.
"""

# docker-py has no annotations:
# mypy: disallow-untyped-calls=false

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docker.api.client import APIClient
from docker.errors import APIError, DockerException, NotFound
from docker.types.containers import LogConfig, Ulimit
from requests.exceptions import RequestException

from workspaces.launcher import handoff, wire
from workspaces.runtime import layout, seccomp
from workspaces.runtime.base import Mount, RuntimeReport, SandboxSpec
from workspaces.runtime.control import Control, listen
from workspaces.runtime.errors import (
    RuntimeUnusable,
    SandboxError,
    SandboxStartFailed,
)
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.limits import MIB, SPARE_PROCESSES
from workspaces.runtime.sandbox import limits_for_children

API_VERSION = "1.41"  #: of Docker 20.10, the oldest that is tried
CALL_TIMEOUT_S = 30.0
START_TIMEOUT_S = 30.0
LABEL = "org.fdegym"
#: User ids of sandboxes: above every account, and above what accounts lend to containers of their own.
FIRST_UID, UIDS = 1_900_000_000, 1_000_000
LOG_BYTES = "64k"
ALWAYS_MASKED = ("/sys", "/dev/mqueue", "/proc/sysrq-trigger", "/proc/timer_stats", "/proc/asound")
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys")
#: Instead of Docker's own, which have no limit: a machine has a few thousand for all. The volume has no name, and goes
#: with its container.
OWN_TERMINALS = {
    "Type": "volume",
    "Target": "/dev/pts",
    "VolumeOptions": {
        "NoCopy": True,
        "DriverConfig": {
            "Name": "local",
            "Options": {
                "type": "devpts",
                "device": "devpts",
                "o": f"nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,max={layout.TERMINALS_MAX}",
            },
        },
    },
}


class DockerRuntime(LauncherRuntime):
    """Implements ``workspaces.runtime.base.SandboxRuntime``. ``daemon`` is the address of Docker's socket."""

    name = "docker"

    def __init__(self, state_dir: Path, *, image: str, daemon: str, first_uid: int = FIRST_UID) -> None:
        super().__init__(state_dir)
        self.image = image
        self.daemon = daemon
        self._first_uid = first_uid  #: runtimes of one keeper give out different ones
        #: Several runtimes of a host share its daemon, and may use the same ids.
        self.mark = hashlib.sha256(os.fsencode(self.state_dir)).hexdigest()[:12]

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Any]:
        """A client of the daemon with time limits. Its own failures become ours."""
        client = APIClient(base_url=self.daemon, version=API_VERSION, timeout=CALL_TIMEOUT_S)
        try:
            yield client
        except APIError:  # it answered
            raise
        except RequestException as error:
            raise RuntimeUnusable(f"Docker does not answer at {self.daemon}: {error}") from error
        finally:
            client.close()

    # the contract

    def report(self) -> RuntimeReport:
        problem = self._problem()
        held = dict.fromkeys(("memory", "processes", "cpu"), "docker's cgroup")
        stored = dict.fromkeys(("disk", "inodes", "shm"), "file system")
        return RuntimeReport(self.name, problem is None, problem, {**held, **stored, "open_files": "rlimit"})

    def _problem(self) -> str | None:
        try:
            with self._asking() as client:
                client.inspect_image(self.image)
        except RuntimeUnusable as problem:
            return f"{problem} Start the daemon, and let this user reach its socket (the group docker)."
        except NotFound:
            return f"The image {self.image} is missing on this host: ops/workspace-image/build makes it."
        except (DockerException, OSError) as error:
            return f"Docker at {self.daemon} cannot be used: {error}"
        return None

    def _uid_of(self, directory: Path) -> int:
        """The sandbox's user id; one that was made by another runtime, or never started, gets one now."""
        with (self.state_dir / "_uids.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            own = range(self._first_uid, self._first_uid + UIDS)
            if (uid := _uid_in(directory)) not in own:
                taken = {_uid_in(other) for other in self.state_dir.glob("*/")}
                uid = next(uid for uid in own if uid not in taken)
                (directory / "uid").write_text(str(uid))
        return uid

    # more than the contract

    def remove_half_made(self, *, older_than_s: float = 0.0) -> None:
        """Remove also the containers that no folder here knows."""
        super().remove_half_made(older_than_s=older_than_s)
        self.remove_unknown()

    def remove_unknown(self) -> None:
        """Remove the containers that no folder here knows."""
        with self._asking() as client:
            for row in client.containers(all=True, filters={"label": f"{LABEL}.state={self.mark}"}):
                sandbox_id = row["Labels"].get(f"{LABEL}.sandbox", "")
                if not (self.state_dir / sandbox_id / "spec.json").exists():
                    _remove(client, row["Id"])

    # how

    def _container(self, sandbox_id: str) -> str:
        return f"fdegym-{self.mark}-{sandbox_id}"

    def _launch(self, sandbox_id: str, directory: Path, spec: SandboxSpec) -> None:
        for unfinished in directory.glob(".storage.tar.*"):  # of a saving that was killed
            unfinished.unlink(missing_ok=True)
        uid = self._uid_of(directory)
        layout.write_etc(directory / "etc", spec.hostname, uid=uid)
        (directory / "etc" / "resolv.conf").touch()  # else Docker shows the host's
        for file in (directory / "etc").iterdir():
            file.chmod(0o644)  # who reads them inside is another user than this one, whose umask may be narrow
        listening = listen(directory / "control")
        try:
            with _handoff_socket(directory / "handoff") as handing, self._asking() as client:
                try:
                    made = client.create_container_from_config(
                        self._configuration(client, sandbox_id, directory, spec, uid), self._container(sandbox_id)
                    )
                    client.start(made["Id"])
                    self._hand_over(client, made["Id"], handing, listening, directory, sandbox_id, spec)
                except (APIError, OSError, wire.WireBroken) as error:
                    if isinstance(error, RequestException) and not isinstance(error, APIError):
                        raise  # no answer, or none in time: what is at fault is the daemon, not this sandbox
                    said = _last_words(client, self._container(sandbox_id)) or _explained(error)
                    raise SandboxStartFailed(f"The sandbox could not be started: {said}") from error
            with Control(directory / "control") as control:
                control.request({"op": "hello"}, timeout_s=START_TIMEOUT_S)
        except BaseException:
            self._kill(sandbox_id)
            raise
        finally:
            listening.close()

    def _configuration(
        self, client: Any, sandbox_id: str, directory: Path, spec: SandboxSpec, uid: int
    ) -> dict[str, Any]:
        limits = spec.limits
        total = (limits.memory_mb + limits.disk_mb + limits.shm_mb) * MIB
        mounts = [*spec.mounts, layout.launcher_mount(), Mount(directory / "handoff", str(Path(handoff.SOCKET).parent))]
        mounts += [Mount(path, f"/etc/{path.name}") for path in sorted((directory / "etc").iterdir())]
        owner = f"exec,uid={uid},gid={uid}"
        shares = layout.storage_shares(spec)
        host = client.create_host_config(
            network_mode="none",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            read_only=True,
            ipc_mode="none",
            init=False,  # the launcher is one
            pids_limit=limits.processes + SPARE_PROCESSES,
            mem_limit=total,
            memswap_limit=total,
            nano_cpus=int(limits.cpus * 1e9),
            oom_score_adj=layout.FIRST_TO_GO,
            ulimits=[
                Ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
                Ulimit(name="core", soft=0, hard=0),
            ],
            log_config=LogConfig(type=LogConfig.types.JSON, config={"max-size": LOG_BYTES, "max-file": "1"}),
            tmpfs={
                **{
                    folder: f"size={share.kib}k,nr_inodes={share.inodes},mode={layout.mode_of(folder):o},{owner}"
                    for folder, share in shares.items()
                },
                layout.SHM: f"size={limits.shm_mb}m,nr_inodes={layout.SHM_INODES},mode=1777,{owner}",
            },
        )
        host["Mounts"] = [*_binds(mounts), OWN_TERMINALS]
        masked = (*layout.MASKED_FILES, *layout.MASKED_FOLDERS)
        host["MaskedPaths"] = [*ALWAYS_MASKED, *(f"/proc/{name}" for name in masked)]
        host["ReadonlyPaths"] = list(READ_ONLY)
        own = {f"{LABEL}.label.{name}": value for name, value in spec.labels.items()}
        return dict(
            client.create_container_config(
                self.image,
                layout.launcher_command(None),
                hostname=spec.hostname.partition(".")[0][:63],
                user=f"{uid}:{uid}",
                environment=layout.environment(spec),
                working_dir="/",
                entrypoint=[],
                labels={**own, f"{LABEL}.state": self.mark, f"{LABEL}.sandbox": sandbox_id},
                host_config=host,
            )
        )

    def _hand_over(
        self,
        client: Any,
        container: str,
        handing: socket.socket,
        listening: socket.socket,
        directory: Path,
        sandbox_id: str,
        spec: SandboxSpec,
    ) -> None:
        """Give the launcher its settings and descriptors; from then on it is reached by its own socket alone."""
        handing.settimeout(0.1)
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                stream, _ = handing.accept()
                break
            except TimeoutError:
                if time.monotonic() > deadline or not client.inspect_container(container)["State"]["Running"]:
                    raise
        given = {"listening": listening.fileno(), "stored": os.open(directory / "storage.tar", os.O_RDONLY)}
        try:
            given["filter"] = seccomp.filter_descriptor()
            events = _memory_events(int(client.inspect_container(container)["State"]["Pid"]))
            if events is not None:
                given["memory_events"] = events
            settings = {
                "id": sandbox_id,
                "descriptors": list(given),
                "writable": layout.writable_directories(spec),
                "bounds": limits_for_children(spec),
                "watch_memory_mb": spec.limits.memory_mb,
                "abandon_after_s": spec.abandon_after_s,
                "environment": layout.environment(spec),
            }
            message = wire.encode(settings)
            with stream:
                stream.settimeout(START_TIMEOUT_S)
                sent = socket.send_fds(stream, [message], list(given.values()))
                if sent < len(message):  # it hangs up when it has all, and even nothing cannot be sent then
                    stream.sendall(message[sent:])
        finally:
            for name, descriptor in given.items():
                if name != "listening":
                    os.close(descriptor)

    def _kill(self, sandbox_id: str) -> None:
        with self._guard:
            known = self._sandboxes.get(sandbox_id)
        if known is not None:
            known.close_connections()
        with self._asking() as client:
            _remove(client, self._container(sandbox_id))
        shutil.rmtree(self._directory(sandbox_id) / "handoff", ignore_errors=True)

    def _wait_gone(self, sandbox_id: str, wait_s: float) -> bool:
        deadline = time.monotonic() + wait_s
        while self._living(sandbox_id):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _living(self, sandbox_id: str) -> list[int]:
        """The host's pid of the launcher, which takes all others with it."""
        with self._asking() as client:
            try:
                state = client.inspect_container(self._container(sandbox_id))["State"]
            except NotFound:
                return []
        return [int(state["Pid"])] if state["Running"] else []


def _uid_in(directory: Path) -> int:
    try:
        return int((directory / "uid").read_text())
    except (OSError, ValueError):
        return 0


@contextlib.contextmanager
def _handoff_socket(directory: Path) -> Iterator[socket.socket]:
    """A listening socket in a directory that is shown inside; the sandbox's user is another one, and may connect."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    directory.chmod(0o711)
    path = directory / Path(handoff.SOCKET).name
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # by way of its directory: a socket's path may have 107 bytes at most
            listening.bind(f"/proc/self/fd/{descriptor}/{path.name}")
        finally:
            os.close(descriptor)
        path.chmod(0o666)
        listening.listen(1)
        try:
            yield listening
        finally:
            path.unlink(missing_ok=True)


def _binds(mounts: Sequence[Mount]) -> list[dict[str, Any]]:
    """What is shown of the host, as Docker is told it. Raises ``SandboxSpecProblem``."""
    return [
        {
            "Type": "bind",
            "Source": str(mount.source.resolve()),
            "Target": mount.target,
            "ReadOnly": mount.read_only,
            "BindOptions": {"Propagation": "rprivate"},
        }
        for mount in layout.checked_mounts(mounts)
    ]


def _remove(client: Any, container: str) -> None:
    """With its processes, from any state. Quiet where there is none."""
    try:
        client.remove_container(container, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != 409:  # being removed already
            raise SandboxError(f"Docker could not remove a container: {_explained(error)}") from error


def _last_words(client: Any, container: str) -> str:
    """The last line that the first process wrote, if it ran at all."""
    with contextlib.suppress(APIError):
        said = client.logs(container, stdout=True, stderr=True, tail=5)
        return str(said.decode(errors="replace").strip().rpartition("\n")[2][-300:])
    return ""


def _explained(error: Exception) -> str:
    return str(getattr(error, "explanation", None) or error)[-300:]


def _memory_events(pid: int) -> int | None:
    """A descriptor of the count of kills for memory in the cgroup of a container's first process, if this host shows it."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            number, controllers, path = line.split(":", 2)
            for base, name in (("", "memory.events"), ("memory", "memory.oom_control")):
                if (number == "0") == (base == "") and base in controllers.split(","):
                    with contextlib.suppress(OSError):
                        file = Path("/sys/fs/cgroup") / base / path.lstrip("/") / name
                        return os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    return None
