"""How servers of browser tools are spoken to: which family one is of, and a module for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from footlight.client.dialects.footlight import FootlightDialect
from footlight.client.dialects.playwright_mcp import PlaywrightMcpDialect
from footlight.client.errors import ToolInvocationError

if TYPE_CHECKING:
    from footlight.client.dialects.dialect import Dialect
    from footlight.client.results import Tool

__all__ = ["family_of"]

_FAMILIES: tuple[type[Dialect], ...] = (PlaywrightMcpDialect, FootlightDialect)


def family_of(tools: Sequence[Tool], *, wanted: str) -> type[Dialect]:
    """The dialect of a server with these tools. `wanted` is the tool that is about to be called.

    Raises:
        ToolInvocationError: it is none that we know.
    """
    names = {tool.name for tool in tools}
    for family in _FAMILIES:
        if family.needs <= names:
            return family
    known = " or ".join(family.server for family in _FAMILIES)
    raise ToolInvocationError(
        f"The server has no browser tools known here: connect to {known}",
        tool_name=wanted,
        reason="unknown_tool",
    )
