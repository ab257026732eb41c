"""`health`: whether the server is well, without a session."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from footlight.server.tool import ToolCall
from footlight.toolsets.szkrabok.parameters import named_tool, open_names

__all__ = ["TOOLS"]


class Health(TypedDict):
    """`openSessions` are the names of the caller's own."""

    status: Literal["ok"]
    version: str
    openSessions: list[str]


@named_tool("health", scope="server", effect="read")
async def health(call: ToolCall) -> Health:
    """Check that the server is well"""
    return {
        "status": "ok",
        "version": call.settings.version,
        "openSessions": open_names(call),
    }


TOOLS = (health,)
