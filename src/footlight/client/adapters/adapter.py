"""What a handle must know of a server's sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from footlight.client.results import Tool, ToolResult

__all__ = ["Adapter", "AdapterChoice", "ToolCaller", "takes"]


class ToolCaller(Protocol):
    """Calls a tool: a client, or one that logs."""

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult: ...


class Adapter(Protocol):
    """Opens and closes a session, and puts its name into the arguments of the tools that take one."""

    opens: ClassVar[str | None]
    """The tool that opens a session, by which a server of this kind is known."""
    injected_keys: ClassVar[Sequence[str]]
    """The parameters that `inject_session` fills in, and that a generated method therefore has not."""

    async def open(self, client: ToolCaller, session_name: str) -> str:
        """Open it; the name that the server knows it by, which the others are given from now on."""
        ...

    async def close(self, client: ToolCaller, session_name: str) -> None: ...

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:
        """The arguments with the session's key before all others."""
        ...

    def has_session(self, tool: Tool) -> bool:
        """Whether the tool takes the key."""
        ...

    def is_lifecycle(self, name: str) -> bool:
        """Whether a handle opens and closes sessions by this tool, and so has no method for it."""
        ...


AdapterChoice = Callable[[Sequence[Tool]], Adapter]
"""Gives the one that fits the server's tools."""


def takes(tool: Tool, key: str) -> bool:
    """Whether the schema names the parameter; one without properties names none (R000-46)."""
    properties = tool.input_schema.get("properties")
    return isinstance(properties, Mapping) and key in properties
