"""The state of a running call, for the error of a late call and for the end of a cancelled one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.shielding import run_detached

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer
    from footlight.server.calls.journal import FollowedCall
    from footlight.server.help import Elicitation
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["CallState"]

CONFIGURE_SECONDS = 1.0
"""A call that changes the session itself may end within this time after it is cancelled."""


@dataclass(slots=True)
class CallState:
    """One call. Only the dispatcher writes to it."""

    tool: Tool
    caller: Caller
    arguments: Mapping[str, Any]
    """The arguments as the client sent them."""
    elicitation: Elicitation | None = None
    """Asks the person who uses the client."""
    began: float = field(default_factory=time.monotonic)
    call: ToolCall | None = None
    session: Session | None = None
    """The session whose lock the call has, or had."""
    awaited: Session | None = None
    """The session that the call waits for, or has."""
    has_begun: bool = False
    """Whether the tool may have started to run."""
    is_configuring: bool = False
    """Whether the tool is changing the session itself."""
    is_cleaning_up: bool = False
    """Whether pages that hang are being closed, which is not cancelled."""
    is_abandoned: bool = False
    """Nobody waits for the answer any more."""
    observed: object = None
    """The recorder's observation after the call."""
    followed: FollowedCall | None = None
    """The call in the journal, where there is one."""

    @property
    def elapsed_ms(self) -> float:
        return (time.monotonic() - self.began) * 1000

    def abandon(self, work: asyncio.Task[Answer]) -> None:
        """Cancel the work, and undo what it began, because nobody waits for the answer any more."""
        self.is_abandoned = True
        work.add_done_callback(lambda _: self._undo())
        if self.is_configuring:
            asyncio.get_running_loop().call_later(CONFIGURE_SECONDS, self._cancel, work)
        else:
            self._cancel(work)

    def _undo(self) -> None:
        """Undo completed work too, if its answer was never sent."""
        for undo in self.call.report.undo if self.call else ():
            run_detached(undo())

    def _cancel(self, work: asyncio.Task[Answer]) -> None:
        if not self.is_cleaning_up:
            work.cancel()
