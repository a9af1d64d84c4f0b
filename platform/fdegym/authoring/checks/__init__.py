"""Checks of admission beyond played solutions. ``CHECKS`` lists them; a check is an ``admission.findings.Check``."""

from __future__ import annotations

from fdegym.authoring.admission.findings import Check

CHECKS: tuple[Check, ...] = ()
