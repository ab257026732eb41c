"""Move the mouse, click, drag and turn its wheel at points of the viewport."""

from typing import Annotated, Literal

from pydantic import Field

from footlight.browser.actions import mouse
from footlight.browser.actions.mouse import Point
from footlight.server.tools import Count, Number, ToolCall, tool
from footlight.toolsets.browser.parameters import ActionResult, action_result

__all__ = []


@tool(effect="act", destructive=True, group="vision")
async def mouse_click(
    call: ToolCall,
    x: Number,
    y: Number,
    button: Literal["left", "middle", "right"] = "left",
    click_count: Annotated[Count, Field(le=10)] = 1,
) -> ActionResult:
    """Click at a point. In CSS pixels of the viewport; scale the coordinates of a resized screenshot."""
    call.stage(f"clicking at {x:g}, {y:g}")
    await mouse.click(call.page, Point(x, y), call.deadline, button=button, count=click_count)
    return action_result(call)


@tool(effect="act", group="vision")
async def mouse_move(call: ToolCall, x: Number, y: Number) -> ActionResult:
    """Move mouse to a point"""
    await mouse.move(call.page, Point(x, y), call.deadline)
    call.note_hover()
    return action_result(call)


@tool(effect="act", destructive=True, group="vision")
async def mouse_drag(
    call: ToolCall, from_x: Number, from_y: Number, to_x: Number, to_y: Number
) -> ActionResult:
    """Drag from point to point"""
    call.stage(f"dragging to {to_x:g}, {to_y:g}")
    start, goal = Point(from_x, from_y, ("fromX", "fromY")), Point(to_x, to_y, ("toX", "toY"))
    await mouse.drag(call.page, start, goal, call.deadline)
    return action_result(call)


@tool(effect="act", group="vision")
async def mouse_wheel(
    call: ToolCall, x: Number, y: Number, delta_x: Number = 0, delta_y: Number = 0
) -> ActionResult:
    """Turn mouse wheel at a point"""
    await mouse.wheel(call.page, Point(x, y), delta_x, delta_y, call.deadline)
    return action_result(call)
