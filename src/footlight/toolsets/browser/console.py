"""The console messages of a session's pages, and their stacks."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.network.console import Level, MessageFilter
from footlight.browser.reading import stacks
from footlight.browser.reading.stacks import StackFrame
from footlight.server.answers.overview import MessageInfo, message_info
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
    call.session.page_table.check_id(page_id)
    await console.fetch(page_id)
    selected = MessageFilter(
        levels=levels or (), text=text or "", page=page_id, since_navigation=since_navigation
    )
    matching = console.select(selected)
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


class OriginalSource(TypedDict):
    """The place in the original source, from 1; `text` is its line."""

    source: str
    line: int
    column: int
    name: NotRequired[str]
    text: NotRequired[str]


class Frame(TypedDict):
    """A frame of a stack, the innermost first. `note`: why its source map could not be used."""

    source: str
    function: NotRequired[str]
    original: NotRequired[OriginalSource]
    note: NotRequired[str]


class MessageWithStack(MessageInfo):
    frames: list[Frame]


class ConsoleStacks(TypedDict):
    """The last messages that match, oldest first; `total` counts all matches."""

    messages: list[MessageWithStack]
    total: int


@tool(scope="session", effect="read", group="devtools", open_world=True)
async def console_stacks(
    call: ToolCall,
    levels: Annotated[list[Level] | None, Field(min_length=1, description="Default: error")] = None,
    text: str | None = None,
    since_navigation: bool = True,
    page_id: str | None = None,
    limit: Annotated[Count, Field(le=10)] = 3,
) -> ConsoleStacks:
    """Get stacks of console messages. With the original sources from source maps; Chromium only."""
    console = call.session.console
    call.session.page_table.check_id(page_id)
    await console.fetch(page_id)
    selected = MessageFilter(
        levels=levels or ("error",), text=text or "", page=page_id, since_navigation=since_navigation
    )
    matching = console.select(selected)
    pages = {page.id: page for page in call.session.pages}
    messages: list[MessageWithStack] = []
    for message in matching[-limit:]:
        frames = stacks.frames_of(message)
        if frames and message.page in pages:
            frames = await stacks.add_originals(pages[message.page], frames, call.deadline)
        messages.append({**message_info(message), "frames": [_describe_frame(each) for each in frames]})
    return {"messages": messages, "total": len(matching)}


def _describe_frame(frame: StackFrame) -> Frame:
    described: Frame = {"source": f"{frame.url}:{frame.line}:{frame.column}"}
    if frame.function:
        described["function"] = frame.function
    if place := frame.original:
        described["original"] = {"source": place.source, "line": place.line, "column": place.column}
        if place.name:
            described["original"]["name"] = place.name
        if place.text:
            described["original"]["text"] = place.text
    elif frame.note:
        described["note"] = frame.note
    return described
