"""Click, type, press, fill, scroll and drag, by selector or by coordinates, alone or as steps of a call."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.browser.actions import mouse as pointer
from footlight.browser.actions import touch
from footlight.browser.actions.click import click_element, drag_element, hover_element
from footlight.browser.actions.forms import filling, kinds, text_input
from footlight.browser.actions.forms.controls import set_checked
from footlight.browser.actions.forms.filling import choose_option
from footlight.browser.actions.forms.kinds import FieldKind
from footlight.browser.actions.keyboard import Modifier, press_key
from footlight.browser.actions.mouse import Point, scroll_by
from footlight.browser.actions.touch import Direction
from footlight.errors import InvalidParameterError, MissingParameterError
from footlight.server.answers.secrets import SecretText, SecretValue
from footlight.server.tools import Count, Number, ToolCall, Whole, tool
from footlight.toolsets.browser.parameters import (
    ActionResult,
    NoticedResult,
    Selector,
    action_result,
    noticed_result,
)

__all__ = []


class ClickResult(NoticedResult):
    """`notice` says that the click went to another element than the pressed one, or to none."""


class TypeResult(NoticedResult):
    """`notice` says that the field did not get the text, or not all of it."""


class DragResult(NoticedResult):
    """`notice` says that the page did not take what was dropped."""


class ScrollPosition(TypedDict):
    """The scroll position and its maximum, in CSS pixels."""

    x: float
    y: float
    maxX: float
    maxY: float


@tool(effect="act", destructive=True)
async def click(
    call: ToolCall,
    selector: Selector,
    button: Literal["left", "middle", "right"] = "left",
    click_count: Annotated[Count, Field(le=10, description="2: double click")] = 1,
    modifiers: list[Modifier] | None = None,
) -> ClickResult:
    """Click element. Waits until it can be clicked."""
    call.stage(f"clicking {selector}")
    notice = await click_element(
        call.page, selector, call.deadline, button=button, count=click_count, modifiers=modifiers or []
    )
    return noticed_result(call, notice)


@tool(name="type", effect="act", destructive=True)
async def type_(
    call: ToolCall,
    selector: Selector,
    text: SecretText,
    delay: Annotated[Number, Field(ge=0, le=10_000, description="Milliseconds between keys")] = 0,
) -> TypeResult:
    """Type text. Key by key, after the field's text; use fill to replace it."""
    call.stage(f"typing into {selector}")
    await call.note_field(selector)
    at_once = isinstance(text, SecretValue)
    notice = await text_input.type_text(
        call.page, selector, text, call.deadline, delay_ms=delay, at_once=at_once
    )
    return noticed_result(call, notice)


@tool(effect="act")
async def hover(call: ToolCall, selector: Selector) -> ActionResult:
    """Hover element"""
    call.stage(f"moving the mouse over {selector}")
    await hover_element(call.page, selector, call.deadline)
    call.note_hover()
    return action_result(call)


@tool(effect="act")
async def scroll(
    call: ToolCall,
    x: Number = 0,
    y: Number = 0,
    selector: Annotated[
        Selector | None,
        Field(description="Scroll its scrollable box; without x and y, scroll it into view"),
    ] = None,
) -> ScrollPosition:
    """Scroll page. By x and y CSS pixels; returns the new position."""
    at = await scroll_by(call.page, x, y, call.deadline, selector=selector)
    if at["moved"]:
        call.note_effect()
    return {"x": at["x"], "y": at["y"], "maxX": at["maxX"], "maxY": at["maxY"]}


@tool(effect="act", destructive=True)
async def drag_and_drop(call: ToolCall, source: Selector, target: Selector) -> DragResult:
    """Drag element. From source to target, both selectors."""
    call.stage(f"dragging {source} to {target}")
    notice = await drag_element(call.page, source, target, call.deadline)
    return noticed_result(call, notice)


@tool(effect="act", destructive=True)
async def press(
    call: ToolCall,
    key: Annotated[str, Field(min_length=1, description="Enter, Tab, ArrowDown, a, …")],
    modifiers: list[Modifier] | None = None,
) -> ActionResult:
    """Press key. Sent to the focused element."""
    call.stage(f"pressing {key}")
    await press_key(call.page, key, modifiers or [], call.deadline)
    return action_result(call)


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
    await pointer.click(call.page, Point(x, y), call.deadline, button=button, count=click_count)
    return action_result(call)


@tool(effect="act", group="vision")
async def mouse_move(call: ToolCall, x: Number, y: Number) -> ActionResult:
    """Move mouse to a point"""
    await pointer.move(call.page, Point(x, y), call.deadline)
    call.note_hover()
    return action_result(call)


@tool(effect="act", destructive=True, group="vision")
async def mouse_drag(
    call: ToolCall, from_x: Number, from_y: Number, to_x: Number, to_y: Number
) -> ActionResult:
    """Drag from point to point"""
    call.stage(f"dragging to {to_x:g}, {to_y:g}")
    start, goal = Point(from_x, from_y, ("fromX", "fromY")), Point(to_x, to_y, ("toX", "toY"))
    await pointer.drag(call.page, start, goal, call.deadline)
    return action_result(call)


@tool(effect="act", group="vision")
async def mouse_wheel(
    call: ToolCall, x: Number, y: Number, delta_x: Number = 0, delta_y: Number = 0
) -> ActionResult:
    """Turn mouse wheel at a point"""
    await pointer.wheel(call.page, Point(x, y), delta_x, delta_y, call.deadline)
    return action_result(call)


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
    distance: Annotated[Number | None, Field(gt=0, le=10_000)] = None,
    from_x: Coordinate = None,
    from_y: Coordinate = None,
    to_x: Coordinate = None,
    to_y: Coordinate = None,
) -> ActionResult:
    """Swipe. From an element, a point or the middle, in a direction or to a point; Chromium only."""
    first = _find_point(from_x, from_y, ("fromX", "fromY"))
    goal = _find_point(to_x, to_y, ("toX", "toY"))
    if first is not None and selector is not None:
        raise _make_choice_error("swipe", "selector", "fromX and fromY")
    if (direction is None) == (goal is None):
        raise _make_choice_error("swipe", "direction", "toX and toY")
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


class SelectResult(ActionResult):
    """`selected` has the values of all selected options."""

    selected: list[str]


class FillResult(ActionResult):
    """`notice` says that the field holds another text than the one that was given."""

    notice: NotRequired[str]


@tool(effect="act", destructive=True, idempotent=True)
async def fill(call: ToolCall, selector: Selector, value: SecretText) -> FillResult:
    """Fill input. Replaces the field's value."""
    call.stage(f"filling {selector}")
    await call.note_field(selector)
    notice = await text_input.fill_field(call.page, selector, value, call.deadline)
    return noticed_result(call, notice)


@tool(effect="act", destructive=True, idempotent=True)
async def select(call: ToolCall, selector: Selector, value: str) -> SelectResult:
    """Select option. By value or label."""
    call.stage(f"selecting in {selector}")
    selected = await choose_option(call.page, selector, value, call.deadline)
    is_same = "this option was selected already" if value in selected else "the page kept the same choice"
    call.explain_if_idle(is_same)
    return {**action_result(call), "selected": selected}


@tool(effect="act", destructive=True, idempotent=True)
async def check(call: ToolCall, selector: Selector) -> ActionResult:
    """Check checkbox"""
    call.stage(f"checking {selector}")
    if not await set_checked(call.page, selector, True, call.deadline):
        call.note_no_effect("it was checked already")
    return action_result(call)


@tool(effect="act", destructive=True, idempotent=True)
async def uncheck(call: ToolCall, selector: Selector) -> ActionResult:
    """Uncheck checkbox"""
    call.stage(f"unchecking {selector}")
    if not await set_checked(call.page, selector, False, call.deadline):
        call.note_no_effect("it was unchecked already")
    return action_result(call)


class FormField(BaseModel):
    """A field and its new value."""

    model_config = ConfigDict(extra="forbid", strict=True)

    selector: Selector
    value: Annotated[
        SecretText | bool | Whole | Number | list[str],
        Field(description="Text, number, true or false, option, or list of options"),
    ]


class FilledField(TypedDict):
    """`kind` is `text` for a combobox that accepted the text without choosing an option.

    `notice` says that, when all fields are filled, the field holds another text or choice than the given one.
    """

    selector: str
    kind: FieldKind
    notice: NotRequired[str]


class FormResult(ActionResult):
    fields: list[FilledField]


@tool(effect="act", destructive=True, idempotent=True)
async def fill_form(
    call: ToolCall, fields: Annotated[list[FormField], Field(min_length=1, max_length=100)]
) -> FormResult:
    """Fill form. Many fields in one call; does not submit."""
    form_fields = [kinds.Field(field.selector, field.value) for field in fields]
    filled = await filling.fill_form(call.page, form_fields, call.deadline)
    results: list[FilledField] = []
    for field, each in zip(form_fields, filled, strict=True):
        result: FilledField = {"selector": field.selector, "kind": each.kind}
        results.append({**result, "notice": each.notice} if each.notice else result)
    return {**action_result(call), "fields": results}


class StepInput(BaseModel):
    """A call of another tool."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tool: str
    arguments: dict[str, Any] = {}


class StepResult(TypedDict):
    """The tool's `data` or its error."""

    tool: str
    data: NotRequired[dict[str, Any]]
    error: NotRequired[dict[str, Any]]


class StepsResult(TypedDict):
    """`failed` counts the steps with an error."""

    steps: list[StepResult]
    failed: int


@tool(effect="act", destructive=True, untrusted=True, batch=True)
async def run_steps(
    call: ToolCall,
    steps: Annotated[list[StepInput], Field(min_length=1, max_length=50)],
    stop_on_error: bool = True,
) -> StepsResult:
    """Run several calls in one. One deadline, one observation at the end."""
    outcomes = await call.run_steps([step.model_dump() for step in steps], stop_on_error=stop_on_error)
    results: Any = [outcome.as_json() for outcome in outcomes]
    return {"steps": results, "failed": sum(outcome.error is not None for outcome in outcomes)}
