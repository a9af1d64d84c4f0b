"""The small values that every scenario file is made of: identifiers and charges."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


def exact(value: Any) -> Any:
    """TOML floats become the decimal that was typed, not its binary neighbour."""
    return str(value) if isinstance(value, float) else value


Charge = Annotated[Decimal, BeforeValidator(exact), Field(ge=0, le=10)]  #: in units of U
