"""Writes outputs that are huge, sparse, or very many, so that whoever reads them runs out of memory, disk or time."""

import errno
import os

MAY_FAIL = ("exit", "signal")
MANY = 3000
FEW = 20


def before_call(bypass):
    bypass.remember()


def after_call(bypass):
    outputs = bypass.outputs()
    if not outputs:
        return
    for path in outputs[:FEW]:  # its own thousands lie among them from the second call on
        with path.open("ab") as file:
            try:
                file.truncate(60 << 30)
            except OSError:
                file.truncate(50 << 20)
        bypass.did("sparse")
    if bypass.once("many"):
        for number in range(MANY):
            outputs[0].with_name(f"{bypass.token}-{number:05d}{outputs[0].suffix}").write_bytes(b"x\n")
        bypass.did("many")
    if bypass.once("full"):
        bypass.did("full")
        with open("filler", "wb") as file:
            try:
                while True:
                    file.write(os.urandom(1 << 20))
            except OSError as problem:
                if problem.errno not in (errno.ENOSPC, errno.EFBIG):
                    raise
        os.unlink("filler")
