"""Sessions that the server names: those of our own `browser` toolset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from footlight.client.adapters.adapter import ToolCaller, takes
from footlight.client.errors import MCPError
from footlight.client.results import Tool
from footlight.client.value import value_of

__all__ = ["BrowserSession"]

OPEN = "create_session"
KEY = "sessionId"


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """`create_session` and `close_session`; `options` are what the first takes.

    The name that a handle is given is nowhere on the wire: each connection has a session of its own.
    """

    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    opens: ClassVar[str | None] = OPEN
    injected_keys: ClassVar[Sequence[str]] = (KEY,)

    async def open(self, client: ToolCaller, session_name: str) -> str:  # noqa: ARG002 - the server names it
        made = value_of(await client.call_tool(OPEN, self.options))
        data = cast("Mapping[str, Any]", made).get("data") if isinstance(made, Mapping) else None
        id = cast("Mapping[str, Any]", data).get(KEY) if isinstance(data, Mapping) else None
        if not isinstance(id, str):
            raise MCPError(f"{OPEN} answered without a {KEY}", reason="protocol")
        return id

    async def close(self, client: ToolCaller, session_name: str) -> None:
        await client.call_tool("close_session", {KEY: session_name})

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:
        return {KEY: session_name, **arguments}

    def has_session(self, tool: Tool) -> bool:
        return takes(tool, KEY)

    def is_lifecycle(self, name: str) -> bool:
        return name in (OPEN, "close_session")
