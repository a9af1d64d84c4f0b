"""The same program as another machine would run it: with the least of processors, and another seed of hashes."""

from __future__ import annotations

import platform
from typing import Any

import numpy

ANOTHER_HASH_SEED = "4711"
_LEAST_CORE = {"x86_64": "Nehalem", "aarch64": "ARMV8"}  #: whose routines OpenBLAS takes
#: Vector instructions by which the C library's exp, log, sin … differ in their last digit.
_C_LIBRARY = {"x86_64": "glibc.cpu.hwcaps=-AVX2,-AVX,-FMA,-FMA4,-AVX512F"}


def another_machine() -> dict[str, str]:
    """Variables for a process that starts: they turn off what numpy, OpenBLAS and the C library choose by the processor."""
    settings: Any = numpy.show_config(mode="dicts")
    machine = platform.machine()
    variables = {
        "PYTHONHASHSEED": ANOTHER_HASH_SEED,
        "NPY_DISABLE_CPU_FEATURES": " ".join(settings["SIMD Extensions"].get("found", [])),
        "OPENBLAS_CORETYPE": _LEAST_CORE.get(machine, ""),
        "GLIBC_TUNABLES": _C_LIBRARY.get(machine, ""),
    }
    return {name: value for name, value in variables.items() if value}
