"""The interface for following calls as they run, which the watch page uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["CallJournal", "FollowedCall"]


class FollowedCall(Protocol):
    """One call, from its beginning to its end. Nothing that is raised here may reach the call."""

    def wait_for(self, session: Session) -> None:
        """Note the session that the call waits for."""
        ...

    async def before(self, call: ToolCall) -> None:
        """Look at the page before the tool runs, while the call has its session. Must end in bounded time."""
        ...

    async def after(self, call: ToolCall) -> None:
        """Look at the page after the tool, while the call has its session. Must end in bounded time."""
        ...

    def end(self, answer: Answer | None, outcome: str, session: Session | None) -> None:
        """Note the answer as it is sent, or None where nobody waits for it any more."""
        ...


class CallJournal(Protocol):
    def begin(self, tool: Tool, arguments: Mapping[str, Any], caller: Caller) -> FollowedCall:
        """Follow a call. The arguments are as the client sent them."""
        ...
