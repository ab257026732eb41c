"""Filling a form in one call."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.browser import forms
from footlight.browser.forms import FieldKind
from footlight.server.secrets import SecretText
from footlight.server.tool import Number, ToolCall, Whole, tool
from footlight.toolsets.browser.parameters import Acted, Selector, acted

__all__ = ["TOOLS"]


class FormField(BaseModel):
    """A field and what it is to hold."""

    model_config = ConfigDict(extra="forbid", strict=True)

    selector: Selector
    value: Annotated[
        SecretText | bool | Whole | Number | list[str],
        Field(description="Text, number, true or false, option, or list of options"),
    ]


class FilledField(TypedDict):
    """A combobox that took the text without a choice is a `text`."""

    selector: str
    kind: FieldKind


class FormFilled(Acted):
    fields: list[FilledField]


@tool(effect="act", destructive=True, idempotent=True)
async def fill_form(
    call: ToolCall, fields: Annotated[list[FormField], Field(min_length=1, max_length=100)]
) -> FormFilled:
    """Fill form. Many fields of every kind in one call; nothing is sent."""
    wanted = [forms.Field(field.selector, field.value) for field in fields]
    kinds = await forms.fill_form(call.page, wanted, call.deadline)
    return {
        **acted(call),
        "fields": [
            {"selector": field.selector, "kind": kind} for field, kind in zip(wanted, kinds, strict=True)
        ],
    }


TOOLS = (fill_form,)
