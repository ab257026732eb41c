"""The state of a running call, which is used for its errors and for cancellation."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.output_folder import disk_full_error
from footlight.browser.driver.shielding import run_detached
from footlight.errors import FootlightError, InternalError

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer
    from footlight.server.calls.journal import FollowedCall
    from footlight.server.help import Elicitation
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["CallState"]

logger = logging.getLogger(__name__)

CONFIGURE_SECONDS = 1.0
"""The time for which a call that changes the session may continue after it is cancelled."""


@dataclass(slots=True)
class CallState:
    """The state of one call. Only the dispatcher and its functions write to it."""

    tool: Tool
    caller: Caller
    arguments: Mapping[str, Any]
    """The arguments as the client sent them."""
    elicitation: Elicitation | None = None
    """Asks the person who uses the client."""
    began: float = field(default_factory=time.monotonic)
    call: ToolCall | None = None
    session: Session | None = None
    """The session whose lock the call has or had, or None."""
    awaited: Session | None = None
    """The session for which the call waits or whose lock it has, or None."""
    has_begun: bool = False
    """Whether the tool may have started to run."""
    is_configuring: bool = False
    """Whether the tool is changing the session."""
    is_cleaning_up: bool = False
    """Whether hung pages are being closed, which is not cancelled."""
    is_abandoned: bool = False
    """Whether the caller does not wait for the answer any more."""
    observed: object = None
    """The recorder's observation after the call."""
    followed: FollowedCall | None = None
    """The call in the journal, or None without a journal."""

    @property
    def elapsed_ms(self) -> float:
        return (time.monotonic() - self.began) * 1000

    async def translate(self, error: Exception) -> FootlightError:
        """Return the error for an unexpected exception: the session's end, a full disk, or a bug."""
        if self.session and (ended := await self.session.explain_end()):
            return ended
        if full := disk_full_error(error):
            return full
        return self.log_if_bug(InternalError(f"Unexpected {type(error).__name__}"), error)

    def log_if_bug(self, error: FootlightError, cause: Exception | None = None) -> FootlightError:
        """Log the traceback of a bug, with an id that the answer contains. Return the error."""
        if isinstance(error, InternalError):
            error.details["errorId"] = error_id = secrets.token_hex(6)
            logger.error("%s failed [%s]", self.tool.name, error_id, exc_info=cause or error)
        return error

    def abandon(self, work: asyncio.Task[Answer]) -> None:
        """Cancel the work and undo it, because the caller does not wait for the answer any more."""
        self.is_abandoned = True
        work.add_done_callback(lambda _: self._undo())
        if self.is_configuring:
            asyncio.get_running_loop().call_later(CONFIGURE_SECONDS, self._cancel, work)
        else:
            self._cancel(work)

    def _undo(self) -> None:
        """Undo the work, even if it was completed, because its answer was not sent."""
        for undo in self.call.report.undo if self.call else ():
            run_detached(undo())

    def _cancel(self, work: asyncio.Task[Answer]) -> None:
        if not self.is_cleaning_up:
            work.cancel()
