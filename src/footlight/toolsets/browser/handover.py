"""Ask a person for help: with a second factor, a captcha, a decision."""

import asyncio
from typing import Annotated, NotRequired

from pydantic import Field

from footlight.errors import DeadlineExceeded, PermissionDenied
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.browser.parameters import ActionResult, action_result

__all__ = []

TIMEOUT_MS = 600_000


class HelpResult(ActionResult):
    """`note` is what the person wrote for the agent."""

    note: NotRequired[str]


@tool(effect="act", group="handover", default_timeout_ms=TIMEOUT_MS)
async def request_help(
    call: ToolCall,
    reason: Annotated[str, Field(min_length=1, max_length=1_000, description="What the person is to do")],
) -> HelpResult:
    """Ask a person for help. Waits until a person has acted in the page and has handed it back."""
    if not call.settings.has_watch_page:
        raise PermissionDenied(
            "Nobody can help: this server has no page on which a person can watch",
            suggestion="Ask the server operator to start the server with --watch.",
            setting="watch.enabled",
        )
    call.stage("waiting for a person")
    try:
        async with asyncio.timeout(call.deadline.remaining_ms / 1000):
            note = await call.session.turn.ask_for_help(reason)
    except TimeoutError:
        raise DeadlineExceeded(
            f"No person handed the page back within {call.deadline.elapsed}",
            suggestion="Look at the page: a person may have begun to act. Then continue without help, or ask "
            "again with a longer timeout.",
            timeout=call.deadline.timeout_ms,
        ) from None
    # They may have opened or closed pages meanwhile.
    call.use_page(await call.session.page_table.get())
    return {**action_result(call), "note": note} if note else {**action_result(call)}
