"""One thread for matrix products.

A message is a few small products. Given several threads, OpenBLAS makes them wait for one another in busy loops, and
on a busy machine an answer that takes 15 ms takes a second (measured). The setting is the process's.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

_SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def use_one_thread() -> bool:
    """Tell the BLAS that came with numpy to use one thread. ``False`` when numpy was built on another one."""
    bundled = Path(np.__file__).resolve().parent.parent / "numpy.libs"
    for library in sorted(bundled.glob("*openblas*")):
        handle = ctypes.CDLL(str(library))
        for name in _SETTERS:
            setter = getattr(handle, name, None)
            if setter is not None:
                setter(ctypes.c_int(1))
                return True
    return False
