"""Fill several fields: find the kind of each, validate its value, and then fill them in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from footlight.browser.actions.forms.choices import (
    choose_in_group,
    choose_options,
    find_options_problem,
    open_and_choose,
    take_suggestion,
    to_text,
)
from footlight.browser.actions.forms.controls import Choice, select_option, set_checked
from footlight.browser.actions.forms.field_values import check_choice, check_kept_text, find_field
from footlight.browser.actions.forms.kinds import Field, FieldKind, Kind, check_value, find_kind
from footlight.browser.actions.forms.text_input import fill_field
from footlight.browser.page.element_operations import act_on_element
from footlight.errors import ElementNotInteractiveError, FootlightError, InvalidParameterError
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["FillOutcome", "choose_option", "fill_form"]

MAX_SELECTOR = 100
"""The number of characters of a selector in the name of a field in an error."""


@dataclass(frozen=True, slots=True)
class FillOutcome:
    """The kind of a field that was filled, and a notice for the caller."""

    kind: FieldKind
    notice: str | None = None


async def fill_form(
    page: Page, fields: Sequence[Field], deadline: Deadline, *, on_found: Callable[[str], Awaitable[None]]
) -> list[FillOutcome]:
    """Fill the fields, and return their kinds, with a notice for each field whose value differs.

    A combobox that accepted the text without a choice has the kind `text`. `on_found` is called with the
    selector of each field that accepts its value, before any field is changed.

    Raises:
        FootlightError: a field is missing or does not accept its value, and no field was changed; or a field
            could not be filled. `details` has its index, and the indexes of the fields that were filled.
    """
    kinds: list[Kind] = []
    for index, field in enumerate(fields):
        try:
            kinds.append(check_value(await find_kind(page, field.selector, deadline.start_patience()), field))
            await on_found(field.selector)
        except FootlightError as error:
            raise _name_field(error, field, index, done=None) from error
    filled: list[FillOutcome] = []
    for index, (field, kind) in enumerate(zip(fields, kinds, strict=True)):
        deadline.stage(f"filling {field.selector}")
        try:
            filled.append(await _fill(page, field, kind, deadline.start_patience()))
        except FootlightError as error:
            raise _name_field(error, field, index, done=list(range(index))) from error
    # A page may change a field when it loses the focus, or when another field changes.
    return [await _check(page, *each, deadline) for each in zip(fields, filled, strict=True)]


async def choose_option(page: Page, selector: str, value: str, deadline: Deadline) -> Choice:
    """Select an option of a `select` element, or choose one of a custom combobox or listbox.

    Returns:
        The values of the options, or for a combobox or listbox the name of the option.

    Raises:
        FootlightError: the element has no options, or does not have this one.
    """
    try:
        return await select_option(page, selector, value, deadline)
    except ElementNotInteractiveError as error:
        if error.details.get("reason") != "wrong kind":
            raise
        kind = await find_kind(page, selector, deadline)
        if kind.name not in ("combobox", "listbox"):
            raise
    field = Field(selector, [value] if kind.multiple else value)  # A list replaces the previous choice.
    if kind.editable and await take_suggestion(page, field, deadline, is_offered=True):
        return Choice([value], [value])
    filled = await _fill(page, field, kind, deadline)
    if filled.kind == "text":
        # The page may search for something else than the names of the options.
        await fill_field(page, selector, "", deadline, check=False)
        if not await take_suggestion(page, field, deadline):
            await _press_and_choose(page, field, deadline)
    return Choice([value], [value])


async def _check(page: Page, field: Field, filled: FillOutcome, deadline: Deadline) -> FillOutcome:
    """Return `filled`, with a notice if the field has another value."""
    if filled.kind not in ("text", "select"):
        return filled
    if (element := await find_field(page, field.selector, deadline)) is None:
        return filled
    words = field.value if isinstance(field.value, list) else [to_text(field.value)]
    if filled.kind == "select":
        return replace(filled, notice=await check_choice(page, element, words, deadline.remaining_ms))
    return replace(filled, notice=await check_kept_text(page, element, words[0], deadline.remaining_ms))


def _name_field(error: FootlightError, field: Field, index: int, *, done: list[int] | None) -> FootlightError:
    """Return the error with the field's selector and index. `done` is None if no field was changed yet."""
    details: dict[str, Any] = {**error.details, "field": index, "done": done or []}
    name = f"fields.{cut_text(field.selector, MAX_SELECTOR)}"
    if details.get("parameter") == "value":
        details["parameter"] = name
    state = f"fields before it ({len(done)}) are filled" if done else "no field was filled"
    message = f"{name}: {error.message.removeprefix('value: ')}; {state}"
    return type(error)(message, suggestion=error.suggestion, retryable=error.retryable, **details)


async def _fill(page: Page, field: Field, kind: Kind, deadline: Deadline) -> FillOutcome:
    selector, value = field.selector, field.value
    # The element was found together with its kind, so the steps may use the whole deadline.
    unwatched = deadline.without_patience()
    words = value if isinstance(value, list) else [to_text(value)]
    if kind.name == "checkbox" or (kind.name == "radio" and value is True):
        await set_checked(page, selector, bool(value), deadline)
    elif kind.name in ("radio", "radiogroup"):
        await act_on_element(
            page,
            selector,
            unwatched,
            lambda group, timeout_ms: choose_in_group(page, group, field, timeout_ms),
        )
    elif kind.name == "select":
        await _select(page, field, words, deadline)
    elif kind.name == "listbox":
        await act_on_element(
            page,
            selector,
            unwatched,
            lambda box, timeout_ms: choose_options(page, box, field, words, deadline, timeout_ms),
        )
    elif kind.name == "combobox" and not kind.editable:
        await act_on_element(
            page,
            selector,
            unwatched,
            lambda box, timeout_ms: open_and_choose(page, box, field, deadline, timeout_ms),
        )
    else:
        return FillOutcome(await _fill_text(page, field, kind, words[0], deadline))
    return FillOutcome(kind.name)


async def _press_and_choose(page: Page, field: Field, deadline: Deadline) -> None:
    """Choose an option of an editable combobox that shows its list only when it is pressed."""
    try:
        await act_on_element(
            page,
            field.selector,
            deadline.without_patience(),
            lambda box, timeout_ms: open_and_choose(page, box, field, deadline, timeout_ms),
        )
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f'value: "{field.selector}" suggests no option "{field.value}"; the field is empty now',
            parameter="value",
            suggestion="Look at the options that it shows, and click one.",
            options=error.details.get("options", []),
        ) from error


async def _select(page: Page, field: Field, options: list[str], deadline: Deadline) -> None:
    """Select the options of a `select` element."""
    if not isinstance(field.value, list):
        await select_option(page, field.selector, options[0], deadline)
        return
    await act_on_element(
        page,
        field.selector,
        deadline,
        lambda box, timeout_ms: box.select_option(options, timeout=timeout_ms),
        find=lambda: find_options_problem(page, field, options, deadline),
    )


async def _fill_text(page: Page, field: Field, kind: Kind, text: str, deadline: Deadline) -> FieldKind:
    """Fill a text field or an editable combobox. Its kind is `text` if it suggests nothing."""
    await fill_field(page, field.selector, text, deadline, check=False)
    is_chosen = kind.name == "combobox" and await take_suggestion(page, field, deadline)
    return "combobox" if is_chosen else "text"
