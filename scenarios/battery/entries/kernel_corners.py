"""Knocks at the kernel's rarely used doors: keys, io_uring, memory files, queues, performance events, foreign calls."""

import ctypes

from bypass import syscall

BUFFER = ctypes.create_string_buffer(256)
DOORS = {
    "keyctl": (250, 219, 0, -3, 1, 0, 0),
    "add_key": (248, 217, b"user", b"bypass", b"x", 1, -3),
    "request_key": (249, 218, b"user", b"bypass", None, -3),
    "bpf": (321, 280, 0, BUFFER, 120),
    "perf_event_open": (298, 241, BUFFER, 0, -1, -1, 0),
    "io_uring_setup": (425, 425, 8, BUFFER),
    "userfaultfd": (323, 282, 1),
    "memfd_create": (319, 279, b"x", 0),
    "memfd_secret": (447, 447, 0),
    "mq_open": (240, 180, b"bypass", 0o102, 0o600, None),
    "shmget": (29, 194, 4242, 1 << 20, 0o1600),
    "semget": (64, 190, 4242, 1, 0o1600),
    "msgget": (68, 186, 4242, 0o1600),
    "name_to_handle_at": (303, 264, -100, b"/", BUFFER, BUFFER, 0),
    "open_by_handle_at": (304, 265, -100, BUFFER, 0),
    "kexec_load": (246, 104, 0, 0, None, 0),
    "init_module": (175, 105, BUFFER, 1, b""),
    "syslog": (103, 116, 3, BUFFER, 256),
    "fanotify_init": (300, 262, 0, 0),
    "acct": (163, 89, b"/tmp/acct"),
    "swapon": (167, 224, b"/tmp/x", 0),
    "quotactl": (179, 60, 0, None, 0, None),
    "iopl": (172, None, 3),
    "ioperm": (173, None, 0, 1, 1),
    "sethostname": (170, 161, b"bypass", 6),
    "vhangup": (153, 58),
    "pidfd_getfd": (438, 438, 0, 0, 0),
    "move_pages": (279, 239, 1, 0, None, None, None, 0),
    "set_mempolicy": (238, 237, 0, None, 0),
}


def in_workspace(bypass):
    import platform

    column = ("x86_64", "aarch64").index(platform.machine())
    for name, (first, second, *arguments) in DOORS.items():
        number = (first, second)[column]
        if number is not None:
            call = {platform.machine(): number}
            bypass.attempt(name, lambda call=call, arguments=arguments: f"returned {syscall(call, *arguments)}")
    if platform.machine() == "x86_64":
        # the same calls under their second numbers
        bypass.attempt("keyctl, x32", lambda: f"returned {syscall({'x86_64': 0x40000000 | 250}, 0, -3, 1)}")
        bypass.attempt("unshare, x32", lambda: f"returned {syscall({'x86_64': 0x40000000 | 272}, 0x10000000)}")
    bypass.did("knocked")


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
