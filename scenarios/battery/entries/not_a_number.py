"""Writes NaN, infinities and other numbers that are none wherever its outputs hold a number."""

import re

MAY_FAIL = ("exit",)
NUMBER = re.compile(rb"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-])")
STRANGE = [
    b"NaN",
    b"Infinity",
    b"-inf",
    b"1e999",
    b"-0.0",
    b"0x7fffffff",
    b"1_000",
    "٣".encode(),
    b"9" * 400,
    b"1e-999",
]


def before_call(bypass):
    bypass.remember()


def after_call(bypass):
    count = iter(range(10**9))
    bypass.rewrite(lambda data: NUMBER.sub(lambda found: STRANGE[next(count) % len(STRANGE)], data))
