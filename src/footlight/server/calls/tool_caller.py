"""The interface of whatever runs the tools that clients call: the dispatcher, or the front of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from footlight.caller import LOCAL, Caller
from footlight.server.answers.answer import Answer
from footlight.server.calls.progress import Report
from footlight.server.selection import explain_withheld

if TYPE_CHECKING:
    from footlight.config import ToolSettings
    from footlight.server.help import Elicitation
    from footlight.server.tools.declaration import Tool

__all__ = ["ToolCaller", "UnknownTool", "get_tool"]


class UnknownTool(LookupError):
    """The request names no tool. That is an error of the protocol, not of a tool."""

    def __init__(self, name: str, *, why: str | None = None) -> None:
        super().__init__(f"Unknown tool: {name}" + (f". {why}" if why else ""))


class ToolCaller(Protocol):
    """Calls tools, wherever their sessions are."""

    @property
    def tools(self) -> tuple[Tool, ...]: ...

    def get(self, name: str) -> Tool: ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = LOCAL,
        report: Report | None = None,
        elicitation: Elicitation | None = None,
    ) -> Answer: ...


def get_tool(
    name: str, offered: Mapping[str, Tool], withheld: Mapping[str, Tool], settings: ToolSettings
) -> Tool:
    """Return the offered tool called `name`.

    Raises:
        UnknownTool: there is none. It says why, if the tool is withheld.
    """
    if name in offered:
        return offered[name]
    tool = withheld.get(name)
    raise UnknownTool(name, why=explain_withheld(name, tool.group, settings) if tool else None)
