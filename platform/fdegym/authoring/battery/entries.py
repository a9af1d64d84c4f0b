"""The entries of the battery: a file each below ``scenarios/battery/entries``, read as text and never imported here.

An entry is Python for the sandbox's own interpreter. Its docstring says in a line what it tries; functions and constants
that it may have::

    in_workspace(bypass)   done in the workspace, as a person would
    before_call(bypass)    done in each of production's calls, before the system's own code
    after_call(bypass)     the same, after it
    TYPED                  text typed into a terminal of the workspace
    PLANTED                files laid into system/: path -> text
    FAILS                  how calls must end: one of these words, at least once
    MAY_FAIL               how calls may end besides
    SLOW                   runs into a time limit of a call on purpose: its calls get shorter ones than the scenario's
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scenarios
from fdegym.lib.errors import FdegymError

FOLDER = Path(scenarios.__file__).parent / "battery"
HOOKS = ("in_workspace", "before_call", "after_call")
CALL_HOOKS = HOOKS[1:]
_CONSTANTS = ("TYPED", "PLANTED", "FAILS", "MAY_FAIL", "SLOW")


class EntryInvalid(FdegymError):
    """An entry's file says what cannot be read; the text names file and place."""


class EntryUnknown(FdegymError):
    """There is no such entry."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Entry:
    """One bypass. ``source`` is its whole text; ``hooks`` those it has."""

    name: str
    why: str
    source: str
    hooks: frozenset[str]
    typed: str
    planted: Mapping[str, str]
    fails: frozenset[str]
    may_fail: frozenset[str]
    slow: bool

    @property
    def in_calls(self) -> bool:
        """Whether it acts within production's calls."""
        return any(hook in self.hooks for hook in CALL_HOOKS)


def _value(name: str, node: ast.expr, module_constants: Mapping[str, Any]) -> Any:
    """A literal; names of other literals of the file, f-strings excluded, may stand in it."""

    class Named(ast.NodeTransformer):
        def visit_Name(self, found: ast.Name) -> ast.expr:
            if found.id not in module_constants:
                raise ValueError(f"{found.id} is no literal")
            return ast.Constant(module_constants[found.id])

    return ast.literal_eval(Named().visit(node))


def read_entry(name: str, source: str) -> Entry:
    """An entry from its text. Raises ``EntryInvalid``."""
    try:
        tree = ast.parse(source)
    except SyntaxError as problem:
        raise EntryInvalid(f"{name}.py, line {problem.lineno}: {problem.msg}") from problem
    why = (ast.get_docstring(tree) or "").partition("\n")[0]
    if not why:
        raise EntryInvalid(f"{name}.py: the first line of its docstring says what it tries; there is none.")
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constant = node.targets[0].id
            try:
                found[constant] = _value(name, node.value, found)
            except (ValueError, TypeError, SyntaxError) as problem:
                if constant in _CONSTANTS:
                    raise EntryInvalid(f"{name}.py, line {node.lineno}: {constant} must be a literal.") from problem
    hooks = frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in HOOKS)
    if not hooks and "TYPED" not in found:
        raise EntryInvalid(f"{name}.py does nothing: it has none of {', '.join(HOOKS)} and no TYPED.")
    return Entry(
        name=name,
        why=why,
        source=source,
        hooks=hooks,
        typed=found.get("TYPED", ""),
        planted=dict(found.get("PLANTED", {})),
        fails=frozenset(found.get("FAILS", ())),
        may_fail=frozenset(found.get("MAY_FAIL", ())),
        slow=bool(found.get("SLOW", False)),
    )


@functools.cache
def entries() -> tuple[Entry, ...]:
    """Every entry, by name."""
    return tuple(
        read_entry(path.stem, path.read_text(encoding="utf-8")) for path in sorted((FOLDER / "entries").glob("*.py"))
    )


def entry_named(name: str) -> Entry:
    """Raises ``EntryUnknown``, which names those there are."""
    known = {entry.name: entry for entry in entries()}
    if name not in known:
        raise EntryUnknown(f"The battery has no entry {name!r}; it has {', '.join(known)}.")
    return known[name]
