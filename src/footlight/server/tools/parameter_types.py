"""Types of parameters that many tools share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

__all__ = ["Count", "MaybeBudget", "Milliseconds", "Number", "Observe", "Settle", "Timeout", "Whole"]

Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(json_schema_extra={"type": "number"})]
Count = Annotated[Whole, Field(ge=1)]
Milliseconds = Annotated[Number, Field(ge=1)]


def _omit_minimum(schema: dict[str, Any]) -> None:
    """Leave the minimum out of a schema that every tool of a page lists."""
    del schema["minimum"]
    schema["type"] = "number"


Timeout = Annotated[Milliseconds, Field(json_schema_extra=_omit_minimum)] | None
Observe = Literal["none", "diff", "full"]
Settle = Literal["auto", "none"]
MaybeBudget = Annotated[int, Field(ge=200, json_schema_extra=_omit_minimum)] | None
"""Characters of page content in an answer."""
