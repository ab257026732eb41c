"""`interact.*`: click, type and select."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from footlight.browser.actions.click import click_element
from footlight.browser.actions.forms import text_input
from footlight.browser.actions.forms.controls import select_option
from footlight.browser.actions.forms.text_input import fill_field
from footlight.server.answers.secrets import SecretText, SecretValue
from footlight.server.tools import Number, ToolCall
from footlight.toolsets.browser.interaction.elements import ClickResult, TypeResult
from footlight.toolsets.browser.interaction.forms import SelectResult
from footlight.toolsets.browser.parameters import action_result, noticed_result
from footlight.toolsets.szkrabok.parameters import Selector, named_tool

__all__ = ["TOOLS"]


@named_tool("interact.click", effect="act", destructive=True)
async def click(call: ToolCall, selector: Selector) -> ClickResult:
    """Click an element. Waits until it is visible, stable, enabled and not covered."""
    call.stage(f"clicking {selector}")
    notice = await click_element(call.page, selector, call.deadline, button="left", count=1)
    return noticed_result(call, notice)


@named_tool("interact.type", effect="act", destructive=True)
async def type_(
    call: ToolCall,
    selector: Selector,
    text: SecretText,
    clear: Annotated[bool, Field(description="Clear the field first")] = False,
    delay: Annotated[Number, Field(ge=0, le=10_000, description="Milliseconds between keys")] = 0,
) -> TypeResult:
    """Type text into a field. Key by key, after the field's text."""
    call.stage(f"typing into {selector}")
    if clear:
        await fill_field(call.page, selector, "", call.deadline)
    at_once = isinstance(text, SecretValue)
    notice = await text_input.type_text(
        call.page, selector, text, call.deadline, delay_ms=delay, at_once=at_once
    )
    return noticed_result(call, notice)


@named_tool("interact.select", effect="act", destructive=True, idempotent=True)
async def select(call: ToolCall, selector: Selector, value: str) -> SelectResult:
    """Select an option. By value or label."""
    call.stage(f"selecting in {selector}")
    choice = await select_option(call.page, selector, value, call.deadline)
    return {**action_result(call), "selected": choice.selected}


TOOLS = (click, type_, select)
