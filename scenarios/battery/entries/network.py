"""Talks to a network, of every kind: the internet, the host, the cloud's metadata, other families, raw sockets."""

import errno
import socket

PLACES = [
    (socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 53)),
    (socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80)),
    (socket.AF_INET, socket.SOCK_STREAM, ("10.0.2.2", 22)),
    (socket.AF_INET, socket.SOCK_STREAM, ("172.17.0.1", 22)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700:4700::1111", 53)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("1.1.1.1", 53)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("255.255.255.255", 9)),
]
#: family, type, protocol: ICMP, packets, virtual machines, the kernel's cipher service, Bluetooth, audit, firewall.
KINDS = [(2, 3, 1), (2, 2, 1), (17, 3, 3), (40, 1, 0), (38, 5, 0), (31, 1, 3), (16, 3, 9), (16, 3, 12), (30, 1, 0)]


def talk(family, kind, address):
    with socket.socket(family, kind) as reaching:
        reaching.settimeout(2)
        reaching.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        reaching.connect(address)
        return reaching.send(b"hello") and f"reached {address}"


def resolve(name):
    try:
        return socket.getaddrinfo(name, 80)
    except socket.gaierror:
        return None


def raw(family, kind, protocol):
    with socket.socket(family, kind, protocol) as made:
        try:
            made.send(b"x" * 64)
        except OSError as problem:
            # a ping socket may be made where the kernel allows it; it must lead nowhere
            if problem.errno in (errno.EDESTADDRREQ, errno.ENOTCONN, errno.EPIPE, errno.ENETUNREACH):
                return None
            raise
        return "sent"


def in_workspace(bypass):
    here = bypass.known["port"]
    for family, kind, address in PLACES:
        bypass.attempt(f"{address[0]} {kind}", talk, family, kind, address)
    bypass.attempt("the host's own port", talk, socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", here))
    bypass.attempt("the host's own port, six", talk, socket.AF_INET6, socket.SOCK_STREAM, ("::1", here))
    bypass.attempt("the host's abstract socket", talk, socket.AF_UNIX, socket.SOCK_STREAM, bypass.known["abstract"])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as shouting:  # whether it arrives, the host's ear hears
        shouting.sendto(bypass.token.encode(), ("127.0.0.1", here))
    for family, kind, protocol in KINDS:
        bypass.attempt(f"family {family}, type {kind}, protocol {protocol}", raw, family, kind, protocol)
    bypass.attempt("a name", resolve, "example.com")


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
