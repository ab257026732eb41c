"""What pages write to their consoles."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.console import Level, MessageFilter
from footlight.browser.overview import MessageInfo, message_info
from footlight.server.tool import Count, ToolCall, Whole, tool

__all__ = ["TOOLS"]


class Messages(TypedDict):
    """`total` is of all that match. `dropped` had to make room for later ones."""

    messages: list[MessageInfo]
    total: int
    nextOffset: NotRequired[int]
    dropped: NotRequired[int]
    note: NotRequired[str]


MISSED = "A page wrote more than is kept; of that only the last messages are here."


@tool(scope="session", effect="read")
async def console_messages(
    call: ToolCall,
    levels: Annotated[list[Level] | None, Field(min_length=1)] = None,
    text: Annotated[str | None, Field(description="Only with this in it")] = None,
    since_navigation: bool = True,
    page_id: str | None = None,
    offset: Annotated[Whole, Field(ge=0)] = 0,
    limit: Annotated[Count, Field(le=500)] = 50,
) -> Messages:
    """Get console messages. And uncaught errors; oldest first."""
    console = call.session.console
    await console.listen(page_id)
    wanted = MessageFilter(
        levels=levels or (), text=text or "", page=page_id, since_navigation=since_navigation
    )
    matching = console.matching(wanted)
    shown: Messages = {
        "messages": [message_info(message) for message in matching[offset : offset + limit]],
        "total": len(matching),
    }
    if offset + limit < len(matching):
        shown["nextOffset"] = offset + limit
    if console.dropped:
        shown["dropped"] = console.dropped
    if console.missed:
        shown["note"] = MISSED
    return shown


TOOLS = (console_messages,)
