"""Finding elements and asking about them (003 §2.1, R003-43 to R003-48)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import inspection, reading
from footlight.browser.inspection import Description
from footlight.server.tool import Count, ToolCall, tool
from footlight.toolsets.browser.parameters import Selector

__all__ = ["TOOLS"]


class Found(TypedDict):
    element: Description


class FoundAll(TypedDict):
    """`count` is of all matches, also those past the limit."""

    elements: list[Description]
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
    reply = await reading.inspect(call.page, selector, inspection.describe_request(), call.deadline)
    [element] = await _from_the_page(call, selector, [inspection.description(reply)])
    return {"element": element}


@tool(effect="read")
async def find_elements(
    call: ToolCall, selector: Selector, limit: Annotated[Count, Field(le=1000)] = 100
) -> FoundAll:
    """Find multiple elements. Those that are there now, each with a selector of its own."""
    request = inspection.describe_all_request(limit=limit)
    elements = inspection.descriptions(await reading.inspect_all(call.page, selector, request, call.deadline))
    count = (
        len(elements) if len(elements) < limit else await reading.count(call.page, selector, call.deadline)
    )
    return {"elements": await _from_the_page(call, selector, elements), "count": count}


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
    await reading.wait_for(call.page, selector, state, call.deadline)
    return {"selector": selector, "state": state}


async def _from_the_page(call: ToolCall, selector: str, found: list[Description]) -> list[Description]:
    """With selectors that lead to the elements from the page, not from the frame they are in."""
    path = await reading.frame_path(call.page, selector) if found and ">>" in selector else ""
    return [{**element, "selector": path + element["selector"]} for element in found]


TOOLS = (find_element, find_elements, element_exists, is_visible, is_enabled, wait_for_selector)
