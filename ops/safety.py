"""Rules of safe code that ruff does not know, tried on the product's source: `make check` runs this.

Ruff's own (`S`) cover SQL put together from text, shells, unsafe loading, `mark_safe` and the like in Python.

python3 ops/safety.py

Where a rule has to be broken, the place stands in ``ALLOWED`` with its reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ("platform", "workspaces", "stakeholders", "grading", "scenarios/kit")


@dataclass(frozen=True, slots=True)
class Rule:
    """``pattern`` must not occur in files of ``ends`` below ``folders``."""

    name: str
    folders: tuple[str, ...]
    ends: tuple[str, ...]
    pattern: re.Pattern[str]
    why: str


def _rule(name: str, folders: tuple[str, ...], ends: str, pattern: str, why: str) -> Rule:
    return Rule(name, folders, tuple(ends.split()), re.compile(pattern, re.IGNORECASE | re.MULTILINE), why)


TEMPLATES, SCRIPTS = ("templates",), ("static/js",)
RULES = (
    _rule("trusted-template", TEMPLATES, ".html", r"\|\s*safe(seq)?\b|{%\s*autoescape\s+off", "it is not escaped"),
    _rule("inline-handler", TEMPLATES, ".html", r"<[^>]*\son[a-z]+\s*=", "the policy refuses it: it would do nothing"),
    _rule(
        "inline-script", TEMPLATES, ".html", r"<script(?![^>]*\bnonce=)[^>]*>", "a script has the nonce of its answer"
    ),
    _rule("address", (*TEMPLATES, *SCRIPTS), ".html .js", r"javascript:", "an address that is a program"),
    _rule(
        "markup", SCRIPTS, ".js", r"(inner|outer)HTML\s*\+?=|insertAdjacentHTML|document\.write\(", "text is no markup"
    ),
    _rule("program", SCRIPTS, ".js", r"\beval\(|new Function\(|set(Timeout|Interval)\(\s*[\"'`]", "text is no program"),
    _rule("no-token", PYTHON, ".py", r"csrf_exempt", "every form and request of a page brings its token"),
    _rule(
        "silenced", PYTHON, ".py", r"#\s*noqa:\s*S(?!10)\d+(?!.* - )", "a rule of ruff's that is switched off says why"
    ),
)
#: (rule, file) → why it is right there.
ALLOWED = {
    ("markup", "static/js/workbench/files.js"): "a document, rendered and sanitised by the site (pages.markdown)",
}


def files(rule: Rule, root: Path = ROOT) -> Iterator[Path]:
    for folder in rule.folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in rule.ends and "__pycache__" not in path.parts and path.is_file():
                yield path


def broken(rule: Rule, text: str) -> Iterator[int]:
    """Lines of ``text`` that break the rule, counted from 1."""
    for found in rule.pattern.finditer(text):
        yield text.count("\n", 0, found.start()) + 1


def problems(root: Path = ROOT) -> list[str]:
    said, used = [], set()
    for rule in RULES:
        for path in files(rule, root):
            name = path.relative_to(root).as_posix()
            lines = list(broken(rule, path.read_text(encoding="utf-8")))
            if lines and (rule.name, name) in ALLOWED:
                used.add((rule.name, name))
            else:
                said += [f"{name}:{line}: {rule.name}: {rule.why}" for line in lines]
    said += [f"{name}: {rule} is allowed there and not used" for rule, name in sorted(ALLOWED.keys() - used)]
    return said


def main() -> int:
    found = problems()
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
