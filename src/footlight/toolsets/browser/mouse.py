"""The mouse by coordinates, for models that see."""

from typing import Annotated, Literal

from pydantic import Field

from footlight.browser import pointer
from footlight.browser.pointer import Point
from footlight.server.tool import Count, Number, ToolCall, tool
from footlight.toolsets.browser.parameters import Acted, acted

__all__ = ["TOOLS"]


@tool(effect="act", destructive=True, group="vision")
async def mouse_click(
    call: ToolCall,
    x: Number,
    y: Number,
    button: Literal["left", "middle", "right"] = "left",
    click_count: Annotated[Count, Field(le=10)] = 1,
) -> Acted:
    """Click at a point. CSS pixels of the viewport: in a screenshot of another size, scale them."""
    call.stage(f"clicking at {x:g}, {y:g}")
    await pointer.click(call.page, Point(x, y), call.deadline, button=button, count=click_count)
    return acted(call)


@tool(effect="act", group="vision")
async def mouse_move(call: ToolCall, x: Number, y: Number) -> Acted:
    """Move mouse to a point"""
    await pointer.move(call.page, Point(x, y), call.deadline)
    return acted(call)


@tool(effect="act", destructive=True, group="vision")
async def mouse_drag(call: ToolCall, from_x: Number, from_y: Number, to_x: Number, to_y: Number) -> Acted:
    """Drag from point to point"""
    call.stage(f"dragging to {to_x:g}, {to_y:g}")
    start, goal = Point(from_x, from_y, ("fromX", "fromY")), Point(to_x, to_y, ("toX", "toY"))
    await pointer.drag(call.page, start, goal, call.deadline)
    return acted(call)


@tool(effect="act", group="vision")
async def mouse_wheel(
    call: ToolCall, x: Number, y: Number, delta_x: Number = 0, delta_y: Number = 0
) -> Acted:
    """Turn mouse wheel at a point"""
    await pointer.wheel(call.page, Point(x, y), delta_x, delta_y, call.deadline)
    return acted(call)


TOOLS = (mouse_click, mouse_move, mouse_drag, mouse_wheel)
