"""The console messages of a session's pages."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.network.console import Level, MessageFilter
from footlight.browser.sessions.overview import MessageInfo, message_info
from footlight.server.tools import Count, ToolCall, Whole, tool

__all__ = []


class ConsoleMessages(TypedDict):
    """`total` counts all matches. `dropped` messages were removed to make room for later ones."""

    messages: list[MessageInfo]
    total: int
    nextOffset: NotRequired[int]
    dropped: NotRequired[int]
    note: NotRequired[str]


MISSED = "A page wrote more messages than are kept; only its last ones are listed."


@tool(scope="session", effect="read")
async def console_messages(
    call: ToolCall,
    levels: Annotated[list[Level] | None, Field(min_length=1)] = None,
    text: str | None = None,
    since_navigation: bool = True,
    page_id: str | None = None,
    offset: Annotated[Whole, Field(ge=0)] = 0,
    limit: Annotated[Count, Field(le=500)] = 50,
) -> ConsoleMessages:
    """Get console messages. Includes uncaught errors; oldest first."""
    console = call.session.console
    await console.fetch(page_id)
    selected = MessageFilter(
        levels=levels or (), text=text or "", page=page_id, since_navigation=since_navigation
    )
    matching = console.matching(selected)
    answer: ConsoleMessages = {
        "messages": [message_info(message) for message in matching[offset : offset + limit]],
        "total": len(matching),
    }
    if offset + limit < len(matching):
        answer["nextOffset"] = offset + limit
    if console.dropped:
        answer["dropped"] = console.dropped
    if console.missed:
        answer["note"] = MISSED
    return answer
