"""Move the mouse, click, drag and turn its wheel at points of the viewport or of elements."""

from typing import Annotated, Literal

from pydantic import Field

from footlight.browser.actions import mouse
from footlight.browser.actions.mouse import Point
from footlight.errors import MissingParameterError
from footlight.server.tools import Count, Number, ToolCall, tool
from footlight.toolsets.browser.parameters import ActionResult, Selector, action_result

__all__ = []

Place = Annotated[Selector | None, Field(description="x and y are from its corner; default: its middle")]
Coordinate = Number | None


@tool(effect="act", destructive=True, group="vision")
async def mouse_click(
    call: ToolCall,
    x: Coordinate = None,
    y: Coordinate = None,
    selector: Place = None,
    button: Literal["left", "middle", "right"] = "left",
    click_count: Annotated[Count, Field(le=10)] = 1,
) -> ActionResult:
    """Click at a point. In CSS pixels of the viewport; scale the coordinates of a resized screenshot."""
    at = await _find_point(call, selector, x, y)
    call.stage(f"clicking at {at.x:g}, {at.y:g}")
    await mouse.click(call.page, at, call.deadline, button=button, count=click_count)
    return action_result(call)


@tool(effect="act", group="vision")
async def mouse_move(
    call: ToolCall, x: Coordinate = None, y: Coordinate = None, selector: Place = None
) -> ActionResult:
    """Move mouse to a point"""
    await mouse.move(call.page, await _find_point(call, selector, x, y), call.deadline)
    call.note_hover()
    return action_result(call)


@tool(effect="act", destructive=True, group="vision")
async def mouse_drag(
    call: ToolCall,
    from_x: Coordinate = None,
    from_y: Coordinate = None,
    to_x: Coordinate = None,
    to_y: Coordinate = None,
    source: Annotated[Selector | None, Field(description="fromX and fromY are from its corner")] = None,
    target: Annotated[Selector | None, Field(description="toX and toY are from its corner")] = None,
) -> ActionResult:
    """Drag from point to point"""
    begin, end = ("source", "fromX", "fromY"), ("target", "toX", "toY")
    start = await _find_point(call, source, from_x, from_y, begin)
    goal = await _find_point(call, target, to_x, to_y, end)
    if target is not None:  # The page may have scrolled to it.
        start = await _find_point(call, source, from_x, from_y, begin)
        goal = await _find_point(call, target, to_x, to_y, end)
    call.stage(f"dragging to {goal.x:g}, {goal.y:g}")
    await mouse.drag(call.page, start, goal, call.deadline)
    return action_result(call)


@tool(effect="act", group="vision")
async def mouse_wheel(
    call: ToolCall,
    x: Coordinate = None,
    y: Coordinate = None,
    delta_x: Number = 0,
    delta_y: Number = 0,
    selector: Place = None,
) -> ActionResult:
    """Turn mouse wheel at a point"""
    at = await _find_point(call, selector, x, y)
    await mouse.wheel(call.page, at, delta_x, delta_y, call.deadline)
    return action_result(call)


async def _find_point(
    call: ToolCall,
    selector: str | None,
    x: float | None,
    y: float | None,
    names: tuple[str, str, str] = ("selector", "x", "y"),
) -> Point:
    """Return a point of the viewport, or of an element if there is a selector.

    Raises:
        MissingParameterError: the point is incomplete.
    """
    of_element, *axes = names
    missing = [name for name, value in zip(axes, (x, y), strict=True) if value is None]
    if x is not None and y is not None:
        at = Point(x, y, (axes[0], axes[1]))
        return await mouse.find_place(call.page, selector, at, call.deadline) if selector is not None else at
    if selector is None or len(missing) == 1:
        both = f"{axes[0]} and {axes[1]}"
        message = f"{both} must be given together" if len(missing) == 1 else f"give {both}, or {of_element}"
        raise MissingParameterError(message, parameter=missing[0], missing=missing)
    return await mouse.find_place(call.page, selector, None, call.deadline)
