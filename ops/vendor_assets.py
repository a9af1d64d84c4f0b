"""The browser's libraries, kept in static/vendor with versions, licences and checksums.

    python3 ops/vendor_assets.py            fetch again with npm (a maintainer's act) and write the lock
    python3 ops/vendor_assets.py --check    compare static/vendor with the lock (no network; part of `make check`)

A user's machine needs neither npm nor a network: what is served lies in the repository. ``static/vendor/lock.json``
records the pinned npm version, npm's own integrity value of each package and a SHA-384 of each file, and no address.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENDOR = ROOT / "static" / "vendor"
LOCK = VENDOR / "lock.json"
EDITOR = ROOT / "ops" / "editor"

#: npm package → (version, files to keep: path in the package → name in static/vendor)
PACKAGES: dict[str, tuple[str, dict[str, str]]] = {
    "@xterm/xterm": (
        "6.0.0",
        {"lib/xterm.js": "xterm/xterm.js", "css/xterm.css": "xterm/xterm.css", "LICENSE": "xterm/LICENSE"},
    ),
    "@xterm/addon-fit": ("0.11.0", {"lib/addon-fit.js": "xterm/addon-fit.js"}),
    "@xterm/addon-search": ("0.16.0", {"lib/addon-search.js": "xterm/addon-search.js"}),
    "@xterm/addon-unicode11": ("0.9.0", {"lib/addon-unicode11.js": "xterm/addon-unicode11.js"}),
    "@xterm/addon-web-links": ("0.12.0", {"lib/addon-web-links.js": "xterm/addon-web-links.js"}),
}
_SOURCE_MAP = re.compile(rb"^//# sourceMappingURL=.*$", re.MULTILINE)


def digest(path: Path) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()


def integrity(path: Path) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def known_lock() -> dict[str, dict[str, str]]:
    return json.loads(LOCK.read_text()) if LOCK.exists() else {"packages": {}, "files": {}}


def fetch(name: str, version: str, files: dict[str, str], scratch: Path, lock: dict[str, dict[str, str]]) -> None:
    """One package by ``npm pack``; refused if npm's content differs from what the lock remembers of this version."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{name}@{version}"], cwd=scratch, check=True, capture_output=True, text=True
    )
    archive = scratch / packed.stdout.strip().splitlines()[-1]
    value, key = integrity(archive), f"{name}@{version}"
    if lock["packages"].setdefault(key, value) != value:
        sys.exit(f"{key} is not what it was when it was locked: {value}. Nothing was changed for it.")
    with tarfile.open(archive) as package:
        for source, target in files.items():
            member = package.extractfile(f"package/{source}")
            if member is None:
                sys.exit(f"{key} has no file {source}.")
            place = VENDOR / target
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(_SOURCE_MAP.sub(b"", member.read()).rstrip() + b"\n")


def build_editor(scratch: Path) -> None:
    """CodeMirror as one file, from the pinned packages of ops/editor."""
    for name in ("package.json", "package-lock.json", "editor.js"):
        if (EDITOR / name).exists():
            shutil.copy(EDITOR / name, scratch / name)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=scratch, check=True)
    out = VENDOR / "editor" / "editor.js"
    out.parent.mkdir(parents=True, exist_ok=True)
    bundle = [
        "node_modules/.bin/esbuild",
        "editor.js",
        "--bundle",
        "--minify",
        "--format=iife",
        "--legal-comments=none",
    ]
    subprocess.run([*bundle, f"--outfile={out}", "--log-level=warning"], cwd=scratch, check=True)
    shutil.copy(scratch / "node_modules" / "codemirror" / "LICENSE", VENDOR / "editor" / "LICENSE")


def write() -> int:
    lock = known_lock()
    wanted = {f"{name}@{version}" for name, (version, _files) in PACKAGES.items()}
    lock["packages"] = {key: value for key, value in lock["packages"].items() if key in wanted}
    with tempfile.TemporaryDirectory() as directory:
        for name, (version, files) in PACKAGES.items():
            fetch(name, version, files, Path(directory), lock)
    with tempfile.TemporaryDirectory() as directory:
        build_editor(Path(directory))
    lock["editor"] = json.loads((EDITOR / "package.json").read_text())["dependencies"]
    lock["files"] = {path.relative_to(VENDOR).as_posix(): digest(path) for path in vendored_files()}
    LOCK.write_text(json.dumps(lock, indent=2, sort_keys=True) + "\n")
    print(f"vendored {len(lock['files'])} files")
    return 0


def vendored_files() -> list[Path]:
    return sorted(path for path in VENDOR.rglob("*") if path.is_file() and path != LOCK)


def check() -> int:
    """Every file is as locked, none is missing, none is extra."""
    locked = known_lock()["files"]
    found = {path.relative_to(VENDOR).as_posix(): digest(path) for path in vendored_files()}
    wrong = sorted(name for name in locked.keys() | found.keys() if locked.get(name) != found.get(name))
    for name in wrong:
        print(f"static/vendor/{name} is not what the lock says", file=sys.stderr)
    return 1 if wrong or not locked else 0


if __name__ == "__main__":
    sys.exit(check() if "--check" in sys.argv[1:] else write())
