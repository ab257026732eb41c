"""Fill fields, choose options and check boxes, alone or a whole form at once."""

from typing import NotRequired

from typing_extensions import TypedDict

from footlight.browser.actions.click import click_element
from footlight.browser.actions.forms import filling, kinds, text_input
from footlight.browser.actions.forms.controls import set_checked
from footlight.browser.actions.forms.kinds import FieldKind
from footlight.errors import FootlightError
from footlight.server.answers.secrets import SecretText
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.browser.parameters import (
    ActionResult,
    FormValues,
    NoticedResult,
    Selector,
    action_result,
    noticed_result,
)

__all__ = []


class SelectResult(ActionResult):
    """`selected` has the values of all selected options."""

    selected: list[str]


class FillResult(NoticedResult):
    """`notice` says that the field holds another text than was given, or the field before was emptied."""


@tool(effect="act", destructive=True, idempotent=True)
async def fill(call: ToolCall, selector: Selector, value: SecretText) -> FillResult:
    """Fill input. Replaces the field's value."""
    call.stage(f"filling {selector}")
    await call.note_field(selector)
    notice = await text_input.fill_field(call.page, selector, value, call.deadline)
    if not value and not notice:
        call.explain_if_idle("the field was empty already")
    return noticed_result(call, notice)


@tool(effect="act", destructive=True, idempotent=True)
async def select(call: ToolCall, selector: Selector, value: str) -> SelectResult:
    """Select option. By value or label."""
    call.stage(f"selecting in {selector}")
    choice = await filling.choose_option(call.page, selector, value, call.deadline)
    if choice.is_changed:
        call.note_effect()  # A snapshot does not show every list.
    is_kept = choice.chosen == choice.selected
    call.explain_if_idle("this option was selected already" if is_kept else "the page kept the same choice")
    return {**action_result(call), "selected": choice.selected}


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


class FilledField(TypedDict):
    """`kind` is `text` for a combobox that accepted the text without choosing an option.

    `notice` says that, when all fields are filled, the field holds another text or choice than the given one.
    """

    selector: str
    kind: FieldKind
    notice: NotRequired[str]


class FormResult(ActionResult):
    fields: list[FilledField]


@tool(effect="act", destructive=True)
async def fill_form(
    call: ToolCall,
    fields: FormValues,
    submit: Selector | None = None,
) -> FormResult:
    """Fill form. Many fields; then clicks submit if given."""
    form_fields = [kinds.Field(selector, value) for selector, value in fields.items()]
    filled = await filling.fill_form(call.page, form_fields, call.deadline, on_found=call.note_field)
    results: list[FilledField] = []
    for field, each in zip(form_fields, filled, strict=True):
        result: FilledField = {"selector": field.selector, "kind": each.kind}
        results.append({**result, "notice": each.notice} if each.notice else result)
    if submit is not None:
        call.stage(f"clicking {submit}")
        try:
            deadline = call.deadline.start_patience()
            await click_element(call.page, submit, deadline, button="left", count=1)
        except FootlightError as error:
            error.message = f"submit: {error.message} (the fields are filled)"
            error.args = (error.message,)
            error.details = {**error.details, "done": list(range(len(fields)))}
            raise
    return {**action_result(call), "fields": results}
