"""Checks of admission beyond played solutions. ``CHECKS`` lists them; a check is an ``admission.findings.Check``."""

from __future__ import annotations

from fdegym.authoring.admission.findings import Check
from fdegym.authoring.checks.catalogue import PATTERNS, STRATEGIES
from fdegym.authoring.checks.determinism import DETERMINISM
from fdegym.authoring.checks.ends import CHANCE, ORACLE, SPREAD
from fdegym.authoring.checks.isolation import ISOLATION
from fdegym.authoring.checks.leaks import LEAKS
from fdegym.authoring.checks.levels import LEVELS_CHECK
from fdegym.authoring.checks.shape import SHAPE
from fdegym.authoring.checks.understanding import UNDERSTANDING

CHECKS: tuple[Check, ...] = (
    ORACLE,
    SPREAD,
    CHANCE,
    DETERMINISM,
    UNDERSTANDING,
    LEAKS,
    SHAPE,
    LEVELS_CHECK,
    ISOLATION,
    STRATEGIES,
    PATTERNS,
)
