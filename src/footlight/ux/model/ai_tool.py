"""A tool that a model may call: one of a server's behind it, or one of ours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from footlight.ux.findings import Picture

__all__ = ["AITool", "ToolAnswer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the model is told. An error is told too, and the work goes on (R004-49).

    `replaces`: it shows a page anew. Only the last two such answers, and what came since, are sent again.
    """

    text: str
    is_error: bool = False
    picture: Picture | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AITool:
    """`run` is given arguments that `parameters` has validated. What it raises is a bug; it answers errors.

    `ends`: when it has succeeded, the stage that offers it is done.
    """

    name: str
    description: str
    parameters: type[BaseModel]
    run: Callable[[Any], Awaitable[ToolAnswer]]
    ends: bool = False
