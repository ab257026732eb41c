"""Doing what a person does with a page (003 §2.1, R003-10 to R003-20)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import actions
from footlight.browser.policy import upload_paths
from footlight.server.secrets import SecretText
from footlight.server.tool import Count, Number, ToolCall, tool
from footlight.toolsets.browser.parameters import Acted, Selector, acted

__all__ = ["TOOLS"]

Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]


class Selected(Acted):
    """`selected` holds the values of all selected options."""

    selected: list[str]


class Scrolled(TypedDict):
    """CSS pixels: the position, and how far it can go."""

    x: float
    y: float
    maxX: float
    maxY: float


class Uploaded(Acted):
    """`files` are the names that the page now sees."""

    files: list[str]


@tool(effect="act", destructive=True)
async def click(
    call: ToolCall,
    selector: Selector,
    button: Literal["left", "middle", "right"] = "left",
    click_count: Annotated[Count, Field(le=10)] = 1,
) -> Acted:
    """Click element. Waits until it is visible, still, enabled and not covered."""
    call.stage(f"clicking {selector}")
    await actions.click(call.page, selector, call.deadline, button=button, count=click_count)
    return acted(call)


@tool(name="type", effect="act", destructive=True)
async def type_(
    call: ToolCall,
    selector: Selector,
    text: SecretText,
    delay: Annotated[Number, Field(ge=0, le=10_000, description="Milliseconds between keys")] = 0,
) -> Acted:
    """Type text. Key by key, after what the field holds; use fill to replace it."""
    call.stage(f"typing into {selector}")
    await call.note_field(selector)
    await actions.type_text(call.page, selector, text, call.deadline, delay_ms=delay)
    return acted(call)


@tool(effect="act", destructive=True, idempotent=True)
async def fill(call: ToolCall, selector: Selector, value: SecretText) -> Acted:
    """Fill input. Replaces what the field holds."""
    call.stage(f"filling {selector}")
    await call.note_field(selector)
    await actions.fill(call.page, selector, value, call.deadline)
    return acted(call)


@tool(effect="act", destructive=True, idempotent=True)
async def select(call: ToolCall, selector: Selector, value: str) -> Selected:
    """Select option. By its value or label."""
    call.stage(f"selecting in {selector}")
    selected = await actions.select(call.page, selector, value, call.deadline)
    return {**acted(call), "selected": selected}


@tool(effect="act", destructive=True, idempotent=True)
async def check(call: ToolCall, selector: Selector) -> Acted:
    """Check checkbox"""
    call.stage(f"checking {selector}")
    await actions.set_checked(call.page, selector, True, call.deadline)
    return acted(call)


@tool(effect="act", destructive=True, idempotent=True)
async def uncheck(call: ToolCall, selector: Selector) -> Acted:
    """Uncheck checkbox"""
    call.stage(f"unchecking {selector}")
    await actions.set_checked(call.page, selector, False, call.deadline)
    return acted(call)


@tool(effect="act")
async def hover(call: ToolCall, selector: Selector) -> Acted:
    """Hover element"""
    call.stage(f"moving the mouse over {selector}")
    await actions.hover(call.page, selector, call.deadline)
    return acted(call)


@tool(effect="act")
async def scroll(
    call: ToolCall,
    x: Number = 0,
    y: Number = 0,
    selector: Annotated[
        Selector | None,
        Field(description="Scroll this element or the box around it; alone, bring it into view"),
    ] = None,
) -> Scrolled:
    """Scroll page. By x and y CSS pixels; answers with the position."""
    at = await actions.scroll(call.page, x, y, call.deadline, selector=selector)
    return {"x": at["x"], "y": at["y"], "maxX": at["maxX"], "maxY": at["maxY"]}


@tool(effect="act", destructive=True)
async def drag_and_drop(call: ToolCall, source: Selector, target: Selector) -> Acted:
    """Drag element. From the source to the target, both selectors."""
    call.stage(f"dragging {source} to {target}")
    await actions.drag(call.page, source, target, call.deadline)
    return acted(call)


@tool(effect="act", destructive=True, permission="upload")
async def upload_file(
    call: ToolCall,
    selector: Selector,
    files: Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=100)],
) -> Uploaded:
    """Upload files. Into a file input, or what opens a file chooser; paths below the upload roots only."""
    paths = upload_paths(files, call.settings.security.upload_roots, never=call.settings.private_paths)
    call.stage(f"uploading {len(paths)} file{'s' * (len(paths) != 1)} into {selector}")
    await actions.upload(call.page, selector, paths, call.deadline)
    return {**acted(call), "files": [path.name for path in paths]}


@tool(effect="act", destructive=True)
async def press(
    call: ToolCall,
    key: Annotated[str, Field(min_length=1, description="Enter, Tab, ArrowDown, a, …")],
    modifiers: list[Modifier] | None = None,
) -> Acted:
    """Press key. It goes to the element that has the focus."""
    call.stage(f"pressing {key}")
    await actions.press(call.page, key, modifiers or [], call.deadline)
    return acted(call)


TOOLS = (
    click,
    type_,
    fill,
    select,
    check,
    uncheck,
    hover,
    scroll,
    drag_and_drop,
    upload_file,
    press,
)
