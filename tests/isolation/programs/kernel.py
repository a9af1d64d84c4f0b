"""To reach the kernel: its devices, its settings in /proc and /sys, and its rarely used parts."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import socket
import stat
import struct
import time

from tests.isolation.programs.attempt import HOST, NAMESPACE, Facts, any_of, attempt, beginning_of, call, opened

BLOCK, CHARACTER = stat.S_IFBLK | 0o600, stat.S_IFCHR | 0o600
KEYRING_OF_THE_PROCESS, KEYRING_OF_THE_USER = -2, -4
CAD_OFF = 0  #: of reboot: what Ctrl-Alt-Del does; it ends nothing where it should be let through


# devices


@attempt("devices")
def make_device_nodes(facts: Facts) -> str | None:
    """Make a node of its own for the host's disk, memory and ports."""
    numbers = [
        (BLOCK, 8, 0),
        (BLOCK, 254, 0),
        (BLOCK, 7, 0),
        (CHARACTER, 1, 1),
        (CHARACTER, 1, 4),
        (CHARACTER, 10, 200),
    ]
    folders = ("/tmp", "/dev/shm", "/workspace/system", "/dev")
    return any_of(
        lambda f=f, n=n: os.mknod(f"{f}/device", n[0], os.makedev(*n[1:]))
        for f, n in itertools.product(folders, numbers)
    )


@attempt("devices")
def open_devices(facts: Facts) -> str | None:
    """Open the devices by which a host is read, or by which containers were left before."""
    names: tuple[str, ...] = (
        "mem",
        "kmem",
        "port",
        "sda",
        "vda",
        "nvme0n1",
        "loop0",
        "loop-control",
        "fuse",
        "kvm",
        "kmsg",
        "mapper/control",
    )
    names += (
        "snapshot",
        "uinput",
        "vhost-vsock",
        "dri/card0",
        "nvidia0",
        "hpet",
        "cpu/0/msr",
        "btrfs-control",
    )
    flags = (os.O_RDONLY, os.O_RDWR)
    return any_of(lambda n=n, f=f: opened(f"/dev/{n}", f | os.O_NONBLOCK) for n in names for f in flags)


@attempt("devices", HOST)
def find_a_device_that_is_not_expected(facts: Facts) -> str | None:
    """Open every device below /dev that not every program expects."""
    expected = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts/ptmx")}
    for folder, _, names in os.walk("/dev"):
        for path in (f"{folder}/{name}" for name in names):
            mode = os.lstat(path).st_mode
            if (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) and path not in expected and not path.startswith("/dev/pts/"):
                return f"{path} is there"
    return None


@attempt("devices")
def read_the_kernels_memory(facts: Facts) -> str | None:
    """Read memory, addresses and messages of the kernel."""
    for name in (
        "kcore",
        "kallsyms",
        "kmsg",
        "keys",
        "timer_list",
        "sched_debug",
        "iomem",
        "ioports",
        "vmallocinfo",
        "slabinfo",
    ):
        with contextlib.suppress(OSError):
            said = beginning_of(f"/proc/{name}")
            if said.strip() and any(digit in said.partition(b" ")[0] for digit in b"123456789abcdef"):
                return f"{name}: {said!r}"
    return None


# settings of the kernel


@attempt("settings of the kernel")
def write_settings_of_the_kernel(facts: Facts) -> str | None:
    """Open for writing whatever lies in /proc/sys: the program that takes core dumps, above all, runs outside."""
    refused = 0
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            try:
                os.close(os.open(f"{folder}/{name}", os.O_WRONLY))
            except OSError:
                refused += 1
            else:
                return f"{folder}/{name} can be written"
    return None if refused > 100 else f"only {refused} settings were found"


@attempt("settings of the kernel")
def press_the_system_request_key(facts: Facts) -> str | None:
    """Open the file by which the machine is restarted, and others of /proc that steer it."""
    names: tuple[str, ...] = (
        "sysrq-trigger",
        "mtrr",
        "irq/default_smp_affinity",
        "scsi/scsi",
        "acpi/wakeup",
        "bus/pci/00/00.0",
        "fs/nfsd",
    )
    names += ("1/oom_score_adj", "1/coredump_filter", "1/clear_refs", "1/sched")

    def slowed() -> str:
        with open("/proc/1/timerslack_ns", "w") as file:  # everybody may open it
            file.write("1000000000")
        return "the first process wakes late"

    return any_of([*(lambda n=n: opened(f"/proc/{n}", os.O_WRONLY) for n in names), slowed])


@attempt("settings of the kernel")
def write_to_sys(facts: Facts) -> str | None:
    """Find anything of /sys at all that can be read or written: control groups run programs of the host's."""
    for folder, _, names in os.walk("/sys"):
        for name in names:
            with contextlib.suppress(OSError):
                os.close(os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NONBLOCK))
                return f"{folder}/{name} can be read"
    steering = ("kernel/uevent_helper", "fs/cgroup/release_agent", "fs/cgroup/memory/release_agent", "power/state")
    return any_of(
        [*(lambda n=n: os.open(f"/sys/{n}", os.O_WRONLY) for n in steering), lambda: os.mkdir("/sys/fs/cgroup/x")]
    )


@attempt("settings of the kernel", NAMESPACE)
def rename_the_host(facts: Facts) -> str | None:
    """Change the machine's name and domain."""
    return any_of([lambda: socket.sethostname("planted"), lambda: call(facts, "setdomainname", b"planted", 7)])


@attempt("settings of the kernel")
def set_the_clock(facts: Facts) -> str | None:
    """Set the clock, which all share."""
    parts = ctypes.create_string_buffer(struct.pack("=2q", int(time.time()), 0))
    adjust = ctypes.create_string_buffer(struct.pack("=I", 0x8000) + bytes(252))  # the rate at which it ticks
    calls = [("settimeofday", ctypes.byref(parts), 0), ("adjtimex", ctypes.byref(adjust))]
    calls += [("clock_adjtime", 0, ctypes.byref(adjust))]
    return any_of(
        [lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()), *(lambda c=c: call(facts, *c) for c in calls)]
    )


# rarely used parts


@attempt("calls of the kernel")
def load_code_into_the_kernel(facts: Facts) -> str | None:
    """Load a module, a program for the kernel's own machine, or another kernel."""
    image, empty = ctypes.create_string_buffer(b"\x7fELF" + bytes(60)), ctypes.create_string_buffer(128)
    calls = [
        ("init_module", ctypes.byref(image), 64, b""),
        ("delete_module", b"loop", 0o4000),
        ("bpf", 0, ctypes.byref(empty), 128),
    ]
    calls += [("bpf", 5, ctypes.byref(empty), 128), ("kexec_load", 0, 0, 0, 0)]
    return any_of(lambda c=c: call(facts, *c) for c in calls)


@attempt("calls of the kernel")
def stop_or_starve_the_machine(facts: Facts) -> str | None:
    """Restart the machine, swap on a file of its own, or have its accounts written there."""
    with open("/tmp/swap", "wb") as file:
        file.write(bytes(4096))
    calls = [("reboot", 0xFEE1DEAD, 672274793, CAD_OFF, 0), ("swapon", b"/tmp/swap", 0), ("acct", b"/tmp/swap")]
    calls += [("swapoff", b"/tmp/swap"), ("vhangup",), ("quotactl", 0x800001, b"/dev/sda", 0, 0)]
    return any_of(lambda c=c: call(facts, *c) for c in calls)


@attempt("calls of the kernel")
def read_the_kernels_log(facts: Facts) -> str | None:
    """Read what the kernel said since the machine started."""
    room = ctypes.create_string_buffer(4096)
    return any_of(
        [lambda: call(facts, "syslog", 3, ctypes.byref(room), 4096), lambda: os.open("/dev/kmsg", os.O_RDONLY)]
    )


@attempt("calls of the kernel")
def watch_the_processors(facts: Facts) -> str | None:
    """Count events of all processors, by which keys of neighbours were guessed before."""
    attributes = ctypes.create_string_buffer(struct.pack("=2I", 1, 128) + bytes(120))
    acts = [
        lambda p=p, c=c: call(facts, "perf_event_open", ctypes.byref(attributes), p, c, -1, 0)
        for p, c in ((-1, 0), (0, -1))
    ]
    ports = [lambda: call(facts, "iopl", 3), lambda: call(facts, "ioperm", 0x70, 2, 1)] if "iopl" in facts.calls else []
    return any_of([*acts, *ports])


@attempt("calls of the kernel", HOST)
def keep_keys_with_the_kernel(facts: Facts) -> str | None:
    """Put something into the keys of its user, which no namespace divides, or read what lies there."""
    return any_of(
        [
            lambda: call(facts, "add_key", b"user", b"planted", b"x", 1, KEYRING_OF_THE_PROCESS),
            lambda: call(facts, "add_key", b"user", b"planted", b"x", 1, KEYRING_OF_THE_USER),
            lambda: call(facts, "keyctl", 0, KEYRING_OF_THE_USER, 0),
            lambda: call(facts, "request_key", b"user", b"planted", 0, KEYRING_OF_THE_USER),
        ]
    )


@attempt("calls of the kernel", HOST)
def use_queues_that_no_filter_sees(facts: Facts) -> str | None:
    """Have calls done by a queue in memory, past every filter."""
    room = ctypes.create_string_buffer(120)
    return any_of([lambda: call(facts, "io_uring_setup", 4, ctypes.byref(room))])


@attempt("calls of the kernel", HOST)
def hold_up_the_kernel(facts: Facts) -> str | None:
    """Handle faults of its own memory, which stops the kernel in the middle of a call."""
    return any_of(lambda f=flags: call(facts, "userfaultfd", f) for flags in (0, 1))


@attempt("calls of the kernel", HOST)
def keep_memory_that_no_file_system_counts(facts: Facts) -> str | None:
    """Keep files that lie in no folder, and messages that no process holds: no limit of the storage counts them."""
    return any_of(
        [
            lambda: os.memfd_create("uncounted"),
            lambda: call(facts, "memfd_secret", 0),
            lambda: call(facts, "shmget", 0x5EC, 1 << 20, 0o1600),
            lambda: call(facts, "msgget", 0x5EC, 0o1600),
            lambda: call(facts, "semget", 0x5EC, 1, 0o1600),
        ]
    )


@attempt("calls of the kernel")
def move_memory_of_others(facts: Facts) -> str | None:
    """Move pages, of whomever, between the parts of the machine's memory."""
    calls = [("migrate_pages", 1, 64, 0, 0), ("move_pages", 1, 0, 0, 0, 0, 0), ("kcmp", 1, 1, 0, 0, 0)]
    calls += [("process_madvise", -1, 0, 0, 20, 0), ("lookup_dcookie", 0, 0, 0)]
    return any_of(lambda c=c: call(facts, *c) for c in calls)
