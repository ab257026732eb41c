"""`interact.*`: doing what a person does with a page."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from footlight.browser import actions
from footlight.server.secrets import SecretText
from footlight.server.tool import Number, ToolCall
from footlight.toolsets.szkrabok.parameters import Acted, Selector, acted, named_tool

__all__ = ["TOOLS"]


class Selected(Acted):
    """`selected` holds the values of all selected options."""

    selected: list[str]


@named_tool("interact.click", effect="act", destructive=True)
async def click(call: ToolCall, selector: Selector) -> Acted:
    """Click an element. Waits until it is visible, still, enabled and not covered."""
    call.stage(f"clicking {selector}")
    await actions.click(call.page, selector, call.deadline, button="left", count=1)
    return acted(call)


@named_tool("interact.type", effect="act", destructive=True)
async def type_(
    call: ToolCall,
    selector: Selector,
    text: SecretText,
    clear: Annotated[bool, Field(description="Replace what the field holds")] = False,
    delay: Annotated[Number, Field(ge=0, le=10_000, description="Milliseconds between keys")] = 0,
) -> Acted:
    """Type text into a field. Key by key, after what it holds."""
    call.stage(f"typing into {selector}")
    if clear:
        await actions.fill(call.page, selector, "", call.deadline)
    await actions.type_text(call.page, selector, text, call.deadline, delay_ms=delay)
    return acted(call)


@named_tool("interact.select", effect="act", destructive=True, idempotent=True)
async def select(call: ToolCall, selector: Selector, value: str) -> Selected:
    """Select an option. By its value or label."""
    call.stage(f"selecting in {selector}")
    selected = await actions.select(call.page, selector, value, call.deadline)
    return {**acted(call), "selected": selected}


TOOLS = (click, type_, select)
