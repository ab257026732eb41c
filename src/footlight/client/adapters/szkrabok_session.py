"""Sessions that their user names, kept as profiles on the server's disk (R000-3, R000-45)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from footlight.client.adapters.adapter import ToolCaller, takes
from footlight.client.results import Tool

__all__ = ["SzkrabokSession"]

OPEN = "session.open"
KEY = "sessionName"


@dataclass(frozen=True, slots=True)
class SzkrabokSession:
    """`session.open` and `session.close`. `url` is opened first; `launch_options` are the browser's.

    Without `keep`, what the session left on the server's disk is deleted when it is closed.
    """

    url: str | None = None
    launch_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    keep: bool = True

    opens: ClassVar[str | None] = OPEN
    injected_keys: ClassVar[Sequence[str]] = (KEY,)

    async def open(self, client: ToolCaller, session_name: str) -> str:
        arguments: dict[str, Any] = {KEY: session_name}
        if self.url is not None:
            arguments["url"] = self.url
        if self.launch_options:
            arguments["launchOptions"] = dict(self.launch_options)
        await client.call_tool(OPEN, arguments)
        return session_name

    async def close(self, client: ToolCaller, session_name: str) -> None:
        await client.call_tool("session.close", {KEY: session_name})
        if not self.keep:
            await client.call_tool("session.delete", {KEY: session_name})

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:
        return {KEY: session_name, **arguments}

    def has_session(self, tool: Tool) -> bool:
        return takes(tool, KEY)

    def is_lifecycle(self, name: str) -> bool:
        return name.startswith("session.")
