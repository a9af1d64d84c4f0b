"""A sandbox's specification and first files, on disk."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workspaces.runtime.base import Limits, Mount, SandboxSpec
from workspaces.runtime.errors import SandboxSpecProblem
from workspaces.runtime.layout import writable_directories

EARLIEST = 946_684_800  #: 2000-01-01: a snapshot's times are zero, and before 1980 a zip file cannot hold them


def spec_document(spec: SandboxSpec) -> dict[str, Any]:
    """``spec`` as JSON can hold it; ``parse_spec`` is the inverse."""
    return {
        "limits": asdict(spec.limits),
        "mounts": [{"source": str(m.source), "target": m.target, "read_only": m.read_only} for m in spec.mounts],
        "seed": {name: str(path) for name, path in spec.seed.items()},
        "environment": dict(spec.environment),
        "working_directory": spec.working_directory,
        "writable": list(spec.writable),
        "hostname": spec.hostname,
        "abandon_after_s": spec.abandon_after_s,
        "labels": dict(spec.labels),
    }


def write_spec(target: Path, spec: SandboxSpec) -> None:
    """Write ``spec`` as JSON, in one move."""
    document = spec_document(spec)
    temporary = target.with_suffix(".new")
    temporary.write_text(json.dumps(document, indent=1))
    temporary.replace(target)


def parse_spec(document: dict[str, Any]) -> SandboxSpec:
    """The inverse of ``spec_document``."""
    return SandboxSpec(
        limits=Limits(**document["limits"]),
        mounts=tuple(Mount(Path(m["source"]), m["target"], m["read_only"]) for m in document["mounts"]),
        seed={name: Path(path) for name, path in document["seed"].items()},
        environment=document["environment"],
        working_directory=document["working_directory"],
        writable=tuple(document["writable"]),
        hostname=document["hostname"],
        abandon_after_s=document.get("abandon_after_s", 86_400.0),
        labels=document["labels"],
    )


def _add(tar: tarfile.TarFile, name: str, source: Path, found: os.stat_result) -> None:
    info = tarfile.TarInfo(name)
    info.mtime = int(found.st_mtime)
    if stat.S_ISDIR(found.st_mode):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(info)
    elif stat.S_ISREG(found.st_mode):
        info.mode = 0o755 if found.st_mode & 0o100 else 0o644
        with source.open("rb") as content:
            info.size = os.fstat(content.fileno()).st_size
            tar.addfile(info, content)


def _add_tree(tar: tarfile.TarFile, name: str, source: Path) -> None:
    found = source.lstat()
    _add(tar, name, source, found)
    if stat.S_ISDIR(found.st_mode):
        for child in sorted(source.iterdir()):
            if child.name != "__pycache__":
                _add_tree(tar, f"{name}/{child.name}", child)


def _add_snapshot(tar: tarfile.TarFile, target: str, source: Path) -> None:
    with tarfile.open(source, "r:") as stored:
        for member in stored:
            parts = [part for part in member.name.split("/") if part not in ("", ".")]
            if not parts or ".." in parts or not (member.isdir() or member.isreg()):
                continue
            info = tarfile.TarInfo("/".join([target, *parts]))
            info.type, info.size, info.mode, info.mtime = (
                member.type,
                member.size,
                member.mode & 0o777,
                max(int(member.mtime), EARLIEST),
            )
            tar.addfile(info, stored.extractfile(member) if member.isreg() else None)


def write_seed(target: Path, spec: SandboxSpec) -> None:
    """Pack the host's seed files as the sandbox's first stored files. Links in them are left out."""
    allowed = writable_directories(spec)
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as tar:
        for inside, source in spec.seed.items():
            path = "/" + inside.strip("/")
            if not any(path == directory or path.startswith(directory + "/") for directory in allowed):
                raise SandboxSpecProblem(f"{inside} lies in no writable folder of the sandbox, so it cannot be seeded.")
            if not source.exists():
                raise SandboxSpecProblem(f"{source} does not exist, so it cannot be copied to {inside}.")
            if source.suffix == ".tar" and source.is_file():
                _add_snapshot(tar, path.strip("/"), source)
            else:
                _add_tree(tar, path.strip("/"), source)


def pack_directory(source: Path) -> bytes:
    """A host directory as a tar with names relative to it, to be compared with inside a sandbox."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for child in sorted(source.iterdir()):
            if child.name != "__pycache__":
                _add_tree(tar, child.name, child)
    return buffer.getvalue()
