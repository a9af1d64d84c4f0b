"""Reaches for the platform's own sockets: the keeper's, desk's and gateway's, those of another run, the launcher's."""

import os
import socket


def connected(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reaching:
        reaching.settimeout(3)
        reaching.connect(path)
        return f"connected to {path}"


def beyond_its_own():
    """Other sockets that the kernel names to this sandbox than the desk's, the gateway's and its own."""
    with open("/proc/net/unix") as table:
        paths = [line.split()[7] for line in table.read().splitlines()[1:] if len(line.split()) > 7]
    return [path for path in paths if not path.startswith(("/run/desk/", "/run/gateway/", "/tmp/"))]


def in_workspace(bypass):
    neighbour = bypass.known["neighbour"]
    steps = ["/run/desk/../site.sock", f"/run/desk/../{neighbour}/desk.sock", "/run/desk/../../keeper.sock"]
    steps += ["/proc/self/root/run/keeper.sock", "/run/desk/site.sock", "/run/keeper.sock", "/var/run/docker.sock"]
    steps += ["/run/gateway/../site.sock", f"/run/gateway/../{neighbour}/gateway.sock", "/run/gateway/site.sock"]
    steps += ["/run/desk/gateway.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0"]
    for path in [*steps, *bypass.known["sockets"]]:
        bypass.attempt(path, connected, path)
    bypass.attempt("what else listens", beyond_its_own)
    bypass.attempt(
        "what else lies there", lambda: [name for name in os.listdir("/run") if name not in ("desk", "gateway")]
    )
    bypass.attempt("the desk's folder", lambda: [name for name in os.listdir("/run/desk") if "desk" not in name])
    bypass.attempt(
        "the gateway's folder", lambda: [name for name in os.listdir("/run/gateway") if "gateway" not in name]
    )
    bypass.attempt("a socket in its place", lambda: os.rename("/run/desk/desk.sock", "/run/desk/x") or "moved")
    bypass.attempt("no socket at all", lambda: os.unlink("/run/desk/desk.sock") or "removed")


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
