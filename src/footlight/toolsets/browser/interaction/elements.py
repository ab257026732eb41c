"""Click, type into, hover, scroll and drag elements, and press keys."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.actions.click import click_element, drag_element, hover_element
from footlight.browser.actions.forms import text_input
from footlight.browser.actions.keyboard import Modifier, press_key
from footlight.browser.actions.mouse import find_scroll_position, scroll_by
from footlight.server.answers.secrets import SecretText, SecretValue
from footlight.server.tools import Count, Number, ToolCall, tool
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

        async def read() -> ScrollPosition | None:
            """Return where the page is now: its listeners may have scrolled it again, or added contents."""
            now = await find_scroll_position(call.page, call.deadline, selector=selector)
            return _scroll_position(now) if now else None

        call.read_when_settled(read)
    return _scroll_position(at)


def _scroll_position(at: Mapping[str, float]) -> ScrollPosition:
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
