"""Tap and swipe with a finger, at elements and at points of the viewport."""

from typing import Annotated

from pydantic import Field

from footlight.browser.actions import touch
from footlight.browser.actions.mouse import Point
from footlight.browser.actions.touch import Direction
from footlight.errors import InvalidParameterError, MissingParameterError
from footlight.server.tools import Number, ToolCall, tool
from footlight.toolsets.browser.parameters import ActionResult, Selector, action_result

__all__ = []

Coordinate = Annotated[Number | None, Field(description="CSS pixels of the viewport")]


@tool(effect="act", destructive=True, group="touch")
async def tap(
    call: ToolCall,
    selector: Selector | None = None,
    x: Coordinate = None,
    y: Coordinate = None,
    hold: Annotated[Number, Field(ge=0, le=10_000, description="Milliseconds before the finger lifts")] = 0,
) -> ActionResult:
    """Tap element or point. With a finger; needs a session with a touch screen."""
    at = _find_point(x, y)
    if (selector is None) == (at is None):
        raise _make_choice_error("tap", "selector", "x and y")
    call.stage(f"tapping {selector or 'a point'}")
    if at is not None:
        await touch.tap_point(call.page, at, call.deadline, hold_ms=hold)
    elif selector is not None:
        await touch.tap_element(call.page, selector, call.deadline, hold_ms=hold)
    return action_result(call)


@tool(effect="act", destructive=True, group="touch")
async def swipe(
    call: ToolCall,
    direction: Annotated[
        Direction | None, Field(description="Where the finger moves; up scrolls down")
    ] = None,
    selector: Annotated[Selector | None, Field(description="Start in its middle")] = None,
    distance: Annotated[Number | None, Field(gt=0, le=10_000, description="With direction")] = None,
    from_x: Coordinate = None,
    from_y: Coordinate = None,
    to_x: Coordinate = None,
    to_y: Coordinate = None,
) -> ActionResult:
    """Swipe. From an element, a point or the middle, in a direction or to a point; Chromium only."""
    first = _find_point(from_x, from_y, ("fromX", "fromY"))
    goal = _find_point(to_x, to_y, ("toX", "toY"))
    if first is not None and selector is not None:
        raise InvalidParameterError(
            "selector and fromX, fromY both say where the swipe starts; give one of them",
            parameter="selector",
        )
    if (direction is None) == (goal is None):
        raise _make_choice_error("swipe", "direction", "toX and toY")
    if goal is not None and distance is not None:
        raise InvalidParameterError(
            "distance and toX, toY both say where the swipe ends; give one of them", parameter="distance"
        )
    touch.check_swipe(call.page)
    start = first or await touch.find_start(call.page, selector, call.deadline)
    if direction is not None:
        goal = await touch.find_goal(call.page, start, direction, distance, call.deadline)
    assert goal is not None
    call.stage(f"swiping to {goal.x:g}, {goal.y:g}")
    await touch.swipe(call.page, start, goal, call.deadline)
    return action_result(call)


def _find_point(x: float | None, y: float | None, names: tuple[str, str] = ("x", "y")) -> Point | None:
    """Return the point, or None where neither coordinate is given.

    Raises:
        MissingParameterError: only one of them is given.
    """
    if x is None and y is None:
        return None
    if x is None or y is None:
        missing = names[0] if x is None else names[1]
        raise MissingParameterError(f"{names[0]} and {names[1]} must be given together", parameter=missing)
    return Point(x, y, names)


def _make_choice_error(tool: str, one: str, other: str) -> InvalidParameterError:
    return InvalidParameterError(f"{tool} takes either {one}, or {other}", parameter=one)
