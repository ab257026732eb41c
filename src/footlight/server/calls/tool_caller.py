"""The interface for calling tools, which the dispatcher and the front of a cluster implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from footlight.caller import LOCAL, Caller
from footlight.server.answers.answer import Answer
from footlight.server.calls.progress import Report
from footlight.server.selection import explain_withheld

if TYPE_CHECKING:
    from footlight.config import ToolSettings
    from footlight.server.help import Elicitation
    from footlight.server.selection import Group
    from footlight.server.tools.declaration import Tool

__all__ = ["ToolCaller", "UnknownToolError"]


class UnknownToolError(LookupError):
    """The requested tool does not exist. This is an error of the protocol, not of a tool."""

    def __init__(self, name: str, *, why: str | None = None) -> None:
        super().__init__(f"Unknown tool: {name}" + (f". {why}" if why else ""))


class ToolCaller(ABC):
    """Calls tools, in this process or on the workers of a cluster."""

    def __init__(
        self, tools: Mapping[str, Tool], withheld: Mapping[str, Group], settings: ToolSettings
    ) -> None:
        """Create the caller of these tools. `withheld` has the groups of those that are not offered."""
        self.tools = tools
        self._withheld = withheld
        self._tool_settings = settings

    def get(self, name: str) -> Tool:
        """Return the offered tool called `name`.

        Raises:
            UnknownToolError: there is no such tool. If it is withheld, the message has the reason.
        """
        if name in self.tools:
            return self.tools[name]
        group = self._withheld.get(name)
        raise UnknownToolError(
            name, why=explain_withheld(name, group, self._tool_settings) if group else None
        )

    @abstractmethod
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = LOCAL,
        report: Report | None = None,
        elicitation: Elicitation | None = None,
    ) -> Answer:
        """Call a tool and return its answer, which may be a failure. `report` receives the progress.

        Raises:
            UnknownToolError: no tool has this name.
            InputRequired: the client must ask its user with `elicitation` and repeat the call.
        """
