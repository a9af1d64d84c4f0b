"""Whether this host can run bubblewrap sandboxes, and what to do if it cannot."""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from workspaces.runtime import seccomp

TOOLS = {"bwrap": "bubblewrap", "unshare": "util-linux", "prlimit": "util-linux", "mount": "mount"}


@functools.cache
def problem_with_bubblewrap(skeleton: Path) -> str | None:
    """``None`` if sandboxes work here, else a sentence that says what to install or to allow. Tried once a process."""
    if sys.platform != "linux":
        return "Sandboxes need Linux: run the site in a Linux machine, or use the Docker runtime."
    if platform.machine() not in seccomp.ARCHITECTURES:
        return f"Sandboxes need x86-64 or aarch64; this machine is {platform.machine()}."
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            return f"The command {tool} is missing: install the package {package}."
    if not Path("/usr/bin/python3").exists():
        return "The system's own Python is missing: install the package python3 (/usr/bin/python3)."
    storage = skeleton / "empty"
    inner = f"mount -n -t tmpfs -o size=1m,nr_inodes=16 probe {storage} && exec bwrap --unshare-all --unshare-user " + (
        "--disable-userns --uid 1000 --gid 1000 --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 "
        "--proc /proc --dev /dev --remount-ro / /usr/bin/true"
    )
    command = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "sh", "-c", inner]
    try:
        tried = subprocess.run(command, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Sandboxes cannot be tried on this host: {error}"
    if tried.returncode == 0:
        return None
    said = tried.stderr.decode(errors="replace").strip()[-300:]
    return (
        f"Sandboxes do not work for this user: {said or 'no reason given'}. Allow unprivileged user namespaces "
        "(kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, and on Ubuntu "
        "kernel.apparmor_restrict_unprivileged_userns=0), bubblewrap 0.8 or newer."
    )
