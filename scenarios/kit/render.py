"""Rendering of a scenario's texts with the facts of a task: Jinja2, sandboxed, a missing fact is an error with its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from scenarios.kit.errors import Problem

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined,
    autoescape=False,  # the output is plain text for a workspace; pages escape what they show
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


class TextProblem(Exception):
    """A text that cannot be rendered; ``problem`` says where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _line_of(error: BaseException) -> int | None:
    """The template line an error came from: Jinja2 compiles templates to frames named ``<template>``."""
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def render_text(text: str, facts: Mapping[str, Any], *, file: str, place: str = "") -> str:
    """``text`` with the facts filled in. Raises ``TextProblem`` naming file and line."""
    if "{" not in text:
        return text
    try:
        return _ENVIRONMENT.from_string(text).render(facts)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        line = _line_of(error)
        where = " ".join(part for part in (place, f"line {line}" if line else "") if part)
        raise TextProblem(Problem(file, where, str(error))) from error


def render_tree(value: Any, facts: Mapping[str, Any], *, file: str, place: str = "") -> Any:
    """Every text inside a parsed TOML value, rendered; places read like ``stakeholders[3].topics[2].answer``."""
    if isinstance(value, str):
        return render_text(value, facts, file=file, place=place)
    if isinstance(value, list):
        return [render_tree(item, facts, file=file, place=f"{place}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            key: render_tree(item, facts, file=file, place=f"{place}.{key}" if place else key)
            for key, item in value.items()
        }
    return value
