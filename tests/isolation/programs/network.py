"""To reach anything over a network, or through a socket that is somebody else's. FC-50."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import socket
import struct

from tests.isolation.programs.attempt import HOST, NAMESPACE, NEIGHBOUR, Facts, any_of, attempt, in_every_way

SIOCSIFADDR, TUNSETIFF = 0x8916, 0x400454CA
BRIDGES = ("172.17.0.1", "172.18.0.1", "10.0.2.2", "10.88.0.1", "192.168.122.1", "192.168.65.2")
SERVERS = (5432, 6379, 2375, 8000, 80, 22)
WAIT_S = 2.0


def connected(address: tuple[str, int]) -> str:
    with socket.create_connection(address, WAIT_S) as stream:
        return str(stream.getpeername())


def met(path: str | bytes) -> str:
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(WAIT_S)
        stream.connect(path)
        return f"a connection to {path!r}"


@attempt("network")
def ask_the_metadata_address(facts: Facts) -> str | None:
    """Ask the addresses at which clouds tell their machines who they are, and with which keys."""
    addresses = ("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254")
    return any_of(lambda a=address: connected((a, 80)) for address in addresses)


@attempt("network", HOST)
def connect_to_the_hosts_loopback(facts: Facts) -> str | None:
    """Connect to a server that listens on the host's 127.0.0.1."""
    return any_of([lambda: connected(("127.0.0.1", facts.tcp_port)), lambda: connected(("localhost", facts.tcp_port))])


@attempt("network")
def connect_to_the_host_or_its_bridge(facts: Facts) -> str | None:
    """Connect to that server by the host's own addresses, and by those of the bridges that hosts of containers have."""
    return any_of(lambda a=address: connected((a, facts.tcp_port)) for address in (*facts.addresses, *BRIDGES))


@attempt("network", HOST)
def connect_to_databases_and_brokers(facts: Facts) -> str | None:
    """Connect to the ports of PostgreSQL, Redis, Docker and the site on every address that could be the host's."""
    addresses = ("127.0.0.1", *facts.addresses, *BRIDGES)
    ports = (facts.tcp_port, *SERVERS)
    return any_of(lambda a=a, p=p: connected((a, p)) for a, p in itertools.product(addresses, ports))


@attempt("network")
def resolve_names_of_the_host(facts: Facts) -> str | None:
    """Have the names resolved by which containers find their host, and services each other."""
    for name in ("host.docker.internal", "gateway.docker.internal", "metadata.google.internal", "redis", "postgres"):
        with contextlib.suppress(socket.gaierror):
            return f"{name} is {socket.getaddrinfo(name, 80)}"
    return None


@attempt("network")
def ask_a_name_server(facts: Facts) -> str | None:
    """Send a question to name servers, which carries data out even where no answer comes back."""
    question = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + b"\x06secret\x07example\0" + struct.pack(">2H", 1, 1)
    servers = [*facts.addresses, "8.8.8.8", "1.1.1.1", "169.254.169.253"]
    with contextlib.suppress(OSError), open("/etc/resolv.conf") as file:
        servers += [line.split()[1] for line in file if line.startswith("nameserver")]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        return any_of(lambda s=server: probe.sendto(question, (s, 53)) for server in servers)


@attempt("network", HOST)
def send_a_datagram_to_the_host(facts: Facts) -> str | None:
    """Send datagrams to a port of the host's loopback: it alone knows whether they came."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for address in ("127.0.0.1", "127.255.255.255"):
            with contextlib.suppress(OSError):
                probe.sendto(b"leak", (address, facts.udp_port))
    return None


@attempt("network")
def send_to_everybody(facts: Facts) -> str | None:
    """Send to the broadcast and multicast addresses of the network, by IPv4 and IPv6."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as four,
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as six,
    ):
        four.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        acts = [lambda a=a: four.sendto(b"x", (a, 9)) for a in ("255.255.255.255", "224.0.0.1", "239.1.2.3")]
        return any_of([*acts, lambda: six.sendto(b"x", ("2001:db8::1", 9))])


@attempt("network", HOST)
def connect_by_ipv6(facts: Facts) -> str | None:
    """Connect to a server that listens on the host's ::1, and by addresses that mean IPv4 ones."""
    addresses = ("::1", "::ffff:127.0.0.1")
    return any_of(lambda a=a, p=p: connected((a, p)) for a in addresses for p in (facts.tcp6_port, facts.tcp_port))


@attempt("network", NAMESPACE)
def open_a_raw_socket(facts: Facts) -> str | None:
    """Read and write packets as they are, below TCP and UDP."""
    kinds = [(socket.AF_PACKET, socket.SOCK_RAW, 0x0300), (socket.AF_INET, socket.SOCK_RAW, 1)]
    kinds += [(socket.AF_INET6, socket.SOCK_RAW, 58), (socket.AF_PACKET, socket.SOCK_DGRAM, 0x0300)]
    return any_of(lambda k=kind: socket.socket(*k) for kind in kinds)


@attempt("network")
def ping_the_world(facts: Facts) -> str | None:
    """Send an echo request through the datagram socket that the kernel has for ping."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1) as probe:
        return any_of(
            lambda a=a: probe.sendto(b"\x08\0\xf7\xff\0\0\0\0", (a, 1)) for a in ("8.8.8.8", *facts.addresses)
        )


@attempt("network")
def talk_to_the_hypervisor(facts: Facts) -> str | None:
    """Open a socket of the virtual machine's host, which no network namespace holds."""
    family = 40  # AF_VSOCK
    return any_of(lambda k=kind: socket.socket(family, k) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM))


@attempt("network", HOST)
def open_a_socket_of_another_family(facts: Facts) -> str | None:
    """Open sockets of every family, kind and protocol but local ones, IP, and the routes of netlink."""
    found = set()
    for family, kind, protocol in itertools.product(range(64), (1, 2, 3, 5), (0, 9, 15, 16)):
        if family not in (1, 2, 10) and (family, protocol) != (16, 0):
            with contextlib.suppress(OSError):
                socket.socket(family, kind, protocol).close()
                found.add((family, protocol))
    return f"sockets of {sorted(found)}" if found else None


@attempt("network", HOST)
def listen_to_the_kernels_events(facts: Facts) -> str | None:
    """Listen to what the kernel tells of devices of the host as they come and go, and to its audit."""

    def listening(protocol: int) -> str:
        stream = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        stream.bind((0, 1))
        return f"events of protocol {protocol}"

    return any_of(lambda p=p: listening(p) for p in (15, 9))


@attempt("network", NAMESPACE)
def give_the_loopback_an_address(facts: Facts) -> str | None:
    """Configure a network device: the beginning of every way to make one that leads out."""
    address = struct.pack("16sH2s4s8s", b"lo", socket.AF_INET, b"", socket.inet_aton("10.9.8.7"), b"")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        return any_of([lambda: fcntl.ioctl(any_socket, SIOCSIFADDR, address)])


@attempt("network")
def make_a_tunnel(facts: Facts) -> str | None:
    """Make a network device whose other end is a program."""
    return any_of(lambda p=p: os.open(p, os.O_RDWR) for p in ("/dev/net/tun", "/dev/tun", "/dev/ppp", "/dev/vhost-net"))


# sockets of others


@attempt("sockets of others", HOST)
def meet_an_abstract_socket_of_the_host(facts: Facts) -> str | None:
    """Connect to a socket of the host that has a name in no folder."""
    return any_of([lambda: met(f"\0{facts.abstract}")])


@attempt("sockets of others", NEIGHBOUR)
def meet_an_abstract_socket_of_a_neighbour(facts: Facts) -> str | None:
    """Connect to such a socket of a neighbour's."""
    return any_of([lambda: met(f"\0{facts.neighbour_abstract}")])


@attempt("sockets of others", NEIGHBOUR)
def connect_to_a_neighbours_server(facts: Facts) -> str | None:
    """Connect to a server that a neighbour runs."""
    addresses = ("127.0.0.1", *facts.addresses, *BRIDGES)
    return any_of(lambda a=address: connected((a, facts.neighbour_port)) for address in addresses)


@attempt("sockets of others")
def connect_to_every_socket_that_the_kernel_names(facts: Facts) -> str | None:
    """Connect to whatever /proc/net/unix lists."""
    with open("/proc/net/unix") as file:
        names = [line.split()[7] for line in file.readlines()[1:] if len(line.split()) > 7]
    return any_of(lambda n=name: met(n.replace("@", "\0", 1)) for name in names)


@attempt("sockets of others", HOST)
def reach_the_desk_of_another_run(facts: Facts) -> str | None:
    """Connect to the socket at which the people of somebody else's run answer."""
    return any_of(lambda p=p: met(p) for p in in_every_way(facts.sockets["desk"]))


@attempt("sockets of others", HOST)
def reach_the_gateway_of_another_run(facts: Facts) -> str | None:
    """Connect to the model gateway at somebody else's cost."""
    return any_of(lambda p=p: met(p) for p in in_every_way(facts.sockets["gateway"]))


@attempt("sockets of others", HOST)
def step_from_its_own_gateway_to_anothers(facts: Facts) -> str | None:
    """Go up from the folder of its own socket, and down into that of another run."""
    folder = os.open(facts.own_gateway, os.O_RDONLY)
    beside = f"../{os.path.basename(os.path.dirname(facts.sockets['gateway']))}/gateway.sock"
    return any_of(
        [lambda: os.stat(beside, dir_fd=folder), lambda: met(f"{facts.own_gateway}/{beside}")],
    )


@attempt("sockets of others", HOST)
def reach_the_keeper(facts: Facts) -> str | None:
    """Connect to the process that owns everybody's terminals."""
    return any_of(lambda p=p: met(p) for p in in_every_way(facts.sockets["keeper"]))


@attempt("sockets of others")
def reach_its_own_launcher_from_inside(facts: Facts) -> str | None:
    """Connect to the socket by which the runtime commands this very sandbox, or a neighbour's."""
    paths = [facts.sockets["launcher"], facts.sockets["neighbours launcher"], "/opt/fdegym/handoff/handoff.sock"]
    return any_of(lambda p=p: met(p) for path in paths for p in in_every_way(path))


@attempt("sockets of others")
def reach_services_of_the_system(facts: Facts) -> str | None:
    """Connect to the sockets of Docker, containerd, D-Bus, the journal and the name service of the host."""
    names = ["docker.sock", "containerd/containerd.sock", "dbus/system_bus_socket", "systemd/private", "nscd/socket"]
    names += ["systemd/journal/socket", "systemd/resolve/io.systemd.Resolve", "podman/podman.sock", "udev/control"]
    paths = [f"{folder}/{name}" for folder in ("/run", "/var/run") for name in names]
    return any_of(lambda p=p: met(p) for path in paths for p in in_every_way(path))
