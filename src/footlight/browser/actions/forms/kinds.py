"""Find the kind of a field, and validate a value for this kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footlight.browser.driver.scripts import run_about
from footlight.browser.page.element_operations import read_element
from footlight.errors import ElementNotInteractiveError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Field", "FieldKind", "FieldValue", "Kind", "check_value", "find_kind"]

FieldValue = str | bool | int | float | list[str]
FieldKind = Literal["text", "checkbox", "radio", "radiogroup", "select", "combobox", "listbox"]

_KIND = page_function(Path(__file__).parent, ["field", "kind"], "findKind")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form and its new value."""

    selector: str
    value: FieldValue


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a field. An `editable` combobox accepts any text; `multiple` allows several options."""

    name: FieldKind
    editable: bool
    multiple: bool


async def find_kind(page: Page, selector: str, deadline: Deadline) -> Kind:
    """Return the kind of a field.

    Raises:
        ElementNotInteractiveError: the element is not a field, or cannot be filled in this way.
    """
    found = await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: run_about(element, _KIND, timeout_ms=timeout_ms),
        acts=True,
    )
    if "reason" in found:
        raise ElementNotInteractiveError(
            f'"{selector}" is {found["reason"]}',
            suggestion=found["suggestion"],
            selector=selector,
            page=page.url,
        )
    return Kind(found["kind"], found["editable"], found["multiple"])


def check_value(kind: Kind, field: Field) -> Kind:
    """Return `kind` if a field of this kind accepts the value.

    Raises:
        InvalidParameterError: it does not accept the value.
    """
    expected = _describe_expected(kind, field.value)
    if expected is None:
        return kind
    what = f"{kind.name} field" if kind.name == "text" else kind.name
    raise InvalidParameterError(
        f'value: "{field.selector}" is a {what}; it takes {expected}', parameter="value"
    )


def _describe_expected(kind: Kind, value: FieldValue) -> str | None:
    """Describe the values that a field of this kind accepts. Return None if it accepts this one."""
    is_word = isinstance(value, str | int | float) and not isinstance(value, bool)
    if kind.name == "checkbox":
        return None if isinstance(value, bool) else "true or false"
    if kind.name == "radio":
        return None if is_word or value is True else "true, or the value or label of one of its group"
    if isinstance(value, list) and (kind.multiple or (len(value) == 1 and kind.name == "select")):
        return None
    if is_word:
        return None
    several = ", or a list of them" if kind.multiple else ""
    if kind.name == "combobox" and isinstance(value, list):
        several = "; to choose several, call select for each"
    return f"{'a text or number' if kind.name == 'text' else 'the name of an option'}{several}"
