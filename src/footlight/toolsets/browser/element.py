"""Finding elements and asking about them (003 §2.1, R003-43 to R003-48)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import elements, reading
from footlight.browser.elements import FoundElement
from footlight.server.tool import Count, ToolCall, tool
from footlight.toolsets.browser.parameters import Selector

__all__ = ["TOOLS"]


class Found(TypedDict):
    element: FoundElement


class FoundAll(TypedDict):
    """`count` is of all matches, also those past the limit."""

    elements: list[FoundElement]
    count: int


class Exists(TypedDict):
    exists: bool


class Visible(TypedDict):
    visible: bool


class Enabled(TypedDict):
    enabled: bool


class Waited(TypedDict):
    selector: str
    state: str


@tool(effect="read")
async def find_element(call: ToolCall, selector: Selector) -> Found:
    """Find single element. Describes it, with a selector that leads to it alone."""
    return {"element": await elements.find(call.page, selector, call.deadline)}


@tool(effect="read")
async def find_elements(
    call: ToolCall, selector: Selector, limit: Annotated[Count, Field(le=1000)] = 100
) -> FoundAll:
    """Find multiple elements. Those that are there now, each with a selector of its own."""
    found = await elements.find_all(call.page, selector, limit, call.deadline)
    count = len(found) if len(found) < limit else await reading.count(call.page, selector, call.deadline)
    return {"elements": found, "count": count}


@tool(effect="read")
async def element_exists(call: ToolCall, selector: Selector) -> Exists:
    """Check if element exists. Now, without waiting."""
    return {"exists": await reading.count(call.page, selector, call.deadline) > 0}


@tool(effect="read")
async def is_visible(call: ToolCall, selector: Selector) -> Visible:
    """Check if visible. Now, without waiting; false if there is no such element."""
    return {"visible": await reading.is_visible(call.page, selector, call.deadline)}


@tool(effect="read")
async def is_enabled(call: ToolCall, selector: Selector) -> Enabled:
    """Check if enabled"""
    return {"enabled": await reading.is_enabled(call.page, selector, call.deadline)}


@tool(effect="read")
async def wait_for_selector(
    call: ToolCall,
    selector: Selector,
    state: Literal["attached", "detached", "visible", "hidden"] = "visible",
) -> Waited:
    """Wait for selector. Until the first match is in that state."""
    call.stage(f"waiting for {selector} to be {state}")
    await reading.wait_for(call.page, selector, state, call.deadline)
    return {"selector": selector, "state": state}


TOOLS = (find_element, find_elements, element_exists, is_visible, is_enabled, wait_for_selector)
