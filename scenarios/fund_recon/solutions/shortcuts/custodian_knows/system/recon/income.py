"""Dividends are checked as they always were."""

from recon import cashdiv


def short(connection, drop, day, rules):
    return cashdiv.short(connection, drop, day)
