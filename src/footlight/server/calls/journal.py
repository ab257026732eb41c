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
    """Follows one call. The methods must not raise errors."""

    def wait_for(self, session: Session) -> None:
        """Note the session for which the call waits."""
        ...

    async def before(self, call: ToolCall) -> None:
        """Inspect the page before the tool runs, under the session's lock. This must end in bounded time."""
        ...

    async def after(self, call: ToolCall) -> None:
        """Inspect the page after the tool has run, under the session's lock.

        This must end in bounded time.
        """
        ...

    def end(self, answer: Answer | None, outcome: str, session: Session | None) -> None:
        """Note the answer that is sent, or None if the call was cancelled."""
        ...


class CallJournal(Protocol):
    def begin(self, tool: Tool, arguments: Mapping[str, Any], caller: Caller) -> FollowedCall:
        """Follow a call. The arguments are those that the client sent."""
        ...
