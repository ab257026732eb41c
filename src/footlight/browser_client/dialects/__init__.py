"""The dialects of browser servers: which one a server speaks, and a module for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from footlight.browser_client.dialects.footlight import FootlightDialect
from footlight.browser_client.dialects.playwright_mcp import PlaywrightMcpDialect
from footlight.protocol.errors import ToolInvocationError

if TYPE_CHECKING:
    from footlight.browser_client.dialects.dialect import Dialect
    from footlight.protocol.tools import Tool

__all__ = ["family_of"]

_FAMILIES: tuple[type[Dialect], ...] = (PlaywrightMcpDialect, FootlightDialect)


def family_of(tools: Sequence[Tool], *, tool_name: str) -> type[Dialect]:
    """Return the dialect of a server with these tools. `tool_name` is the tool that is about to be called.

    Raises:
        ToolInvocationError: no dialect fits.
    """
    names = {tool.name for tool in tools}
    for family in _FAMILIES:
        if family.needs <= names:
            return family
    known = " or ".join(family.server for family in _FAMILIES)
    raise ToolInvocationError(
        f"The server has no browser tools known here: connect to {known}",
        tool_name=tool_name,
        reason="unknown_tool",
    )
