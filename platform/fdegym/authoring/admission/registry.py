"""Every check of admission, in the order in which they are reported."""

from __future__ import annotations

import functools

from fdegym.authoring.admission.findings import Check
from fdegym.authoring.battery.checks import battery_checks
from fdegym.authoring.checks import CHECKS
from fdegym.authoring.checks.matcher import MATCHER_FIGURES


@functools.cache
def all_checks() -> tuple[Check, ...]:
    return (MATCHER_FIGURES, *CHECKS, *battery_checks())


def check_named(name: str) -> Check:
    return next(check for check in all_checks() if check.name == name)
