"""Choose options by name, in radio groups, listboxes, comboboxes and suggestions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.actions.forms.controls import choose_radio, press
from footlight.browser.driver.playwright_api import Error, is_detached
from footlight.browser.driver.scripts import find_about, run_about
from footlight.browser.page.element_diagnosis import find_obstacle
from footlight.browser.page.element_operations import limit_element_wait, read_element
from footlight.browser.page.press_check import find_press_target
from footlight.browser.page.refs import locate_now
from footlight.errors import ElementNotInteractiveError, FootlightError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Locator

    from footlight.browser.actions.forms.kinds import Field
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "choose_in_group",
    "choose_options",
    "find_options_problem",
    "open_and_choose",
    "take_suggestion",
    "to_text",
]

UNDRAWN_ADVICE = (
    "The list was too long to look through. Type a part of the name into its search field, "
    "or open it with click and scroll it."
)
DRAWN_MS = 500.0
"""How long a list may take to draw its first options, before it is scrolled to the others."""
REDRAWS = 3
"""How many times an option is pressed that the page draws anew before the press reaches it."""
REDRAW_SECONDS = 1.0
"""How long a list may take to draw other options after a scroll."""
OPTIONS_MS = 2_000.0
"""How long a list may take to return its options."""
RADIO_MS = 1_000.0
"""How long a group may take to show its radio buttons."""
SUGGEST_MS = 1_000.0
"""How long a field may take to suggest the text that was typed into it."""

_FOLDER = Path(__file__).parent
_RADIO, _RADIOS = (
    page_function(_FOLDER, ["field", "flat_tree", "naming", "radios"], name)
    for name in ("findRadio", "listRadios")
)
_OPTION_SCRIPTS = ("listNames", "findOption", "listOptions", "listChosen", "suggests", "offers", "isOpen")
_NAMES, _OPTION, _OPTIONS, _CHOSEN, _SUGGESTS, _OFFERS, _IS_OPEN, _SCROLL = (
    page_function(_FOLDER, ["field", "flat_tree", "naming", "options"], name)
    for name in (*_OPTION_SCRIPTS, "scrollToOption")
)


def to_text(value: str | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


async def choose_in_group(page: Page, group: Locator, field: Field, timeout_ms: float) -> None:
    if radio := await find_about(group, _RADIO, option_name(field), timeout_ms=min(RADIO_MS, timeout_ms)):
        await choose_radio(page, radio, timeout_ms)
        return
    names = await run_about(group, _RADIOS, timeout_ms=timeout_ms)
    raise _missing_option_error(field, option_name(field), names)


async def find_options_problem(
    page: Page, field: Field, options: list[str], deadline: Deadline
) -> FootlightError | None:
    """Return the error for an option that a list does not have, or the obstacle that blocks the list."""
    try:
        box = (await locate_now(page, field.selector, deadline)).first
        names: list[str] | None = await run_about(box, _NAMES, timeout_ms=OPTIONS_MS)
    except Error:
        names = None
    missing = [each for each in options if names is not None and each not in names]
    if names is not None and missing:
        return _missing_option_error(field, missing[0], names)
    return await find_obstacle(page, field.selector, deadline)


async def open_and_choose(
    page: Page, box: Locator, field: Field, deadline: Deadline, timeout_ms: float
) -> None:
    if not await run_about(box, _IS_OPEN, timeout_ms=timeout_ms):
        patient = deadline.start_patience()
        async with limit_element_wait(page, patient, lambda: find_obstacle(page, field.selector, patient)):
            await press(page, find_press_target(box), timeout_ms)
    patient = deadline.start_patience()
    wait_ms = min(DRAWN_MS, patient.element_ms / 4)
    option = await find_about(box, _OPTION, option_name(field), timeout_ms=wait_ms)
    names: list[str] = []
    is_cut = False
    if option is None:
        # The page may have hidden the field from its selector, so that it is not found any more.
        names = await run_about(box, _OPTIONS, timeout_ms=min(OPTIONS_MS, timeout_ms))
        option, is_cut = await _find_undrawn_option(box, option_name(field), patient)
    if option:
        await _press_option(page, box, option_name(field), option, timeout_ms)
        return
    await box.press("Escape", timeout=deadline.remaining_ms)
    raise _missing_option_error(field, option_name(field), names, is_cut=is_cut)


async def _find_undrawn_option(
    box: Locator, name: str, patient: Deadline
) -> tuple[ElementHandle | None, bool]:
    """Scroll through a list that draws only the options in view, and wait for options that it loads.

    Return the option with this name, or None, and whether there was no time for the whole list.
    """
    least_ms = patient.patience_ms / 2
    redraw_seconds = min(REDRAW_SECONDS, least_ms / 2 / 1000)
    shown: str | Literal[True] | None = None
    last: str | None = None
    changed_at = time.monotonic()
    while patient.element_ms > least_ms / 2:
        request = {"wanted": name, "last": last}
        limit_ms = min(OPTIONS_MS, patient.element_ms)
        shown = await run_about(box, _SCROLL, request, timeout_ms=limit_ms)
        if shown is True or shown is None:
            break
        if shown != last:
            last, changed_at = shown, time.monotonic()
        elif time.monotonic() - changed_at > redraw_seconds:
            break
    else:
        return None, True
    wait_ms = patient.element_ms / 2 if shown is True else patient.element_ms - least_ms
    return await find_about(box, _OPTION, name, timeout_ms=max(1.0, wait_ms)), False


async def choose_options(
    page: Page, box: Locator, field: Field, names: list[str], deadline: Deadline, timeout_ms: float
) -> None:
    """Choose these options of a listbox. If the value is a list, also deselect all other options."""
    chosen: list[str] = await run_about(box, _CHOSEN, timeout_ms=timeout_ms)
    change = [each for each in names if each not in chosen]
    if isinstance(field.value, list):
        change += [each for each in chosen if each not in names]
    options: dict[str, ElementHandle] = {}
    for each in change:
        wait_ms = deadline.start_patience().element_ms / 2
        option = await find_about(box, _OPTION, each, timeout_ms=wait_ms)
        if option is None:
            raise _missing_option_error(field, each, await run_about(box, _OPTIONS, timeout_ms=timeout_ms))
        options[each] = option
    for each, option in options.items():
        await _press_option(page, box, each, option, timeout_ms)


async def _press_option(
    page: Page, box: Locator, name: str, option: ElementHandle, timeout_ms: float
) -> None:
    """Press an option, or the one that the page has drawn in its place meanwhile."""
    for _ in range(REDRAWS):
        try:
            return await press(page, option, timeout_ms)
        except Error as error:
            if not is_detached(error):
                raise
        drawn = await find_about(box, _OPTION, name, timeout_ms=min(OPTIONS_MS, timeout_ms))
        if drawn is None:
            break
        option = drawn
    raise ElementNotInteractiveError(
        f'The option "{name}" is removed or drawn anew before it can be pressed',
        suggestion="Open the list with click, and press the option with click.",
    )


async def take_suggestion(page: Page, field: Field, deadline: Deadline, *, is_offered: bool = False) -> bool:
    """Choose the suggestion that equals the text of a field. Return whether there was one.

    With `is_offered`, choose only an option that the open list of the field shows already.
    """

    async def take(box: Locator, timeout_ms: float) -> bool:
        script, argument = (_OFFERS, option_name(field)) if is_offered else (_SUGGESTS, None)
        if not await run_about(box, script, argument, timeout_ms=timeout_ms):
            return False
        wait_ms = min(SUGGEST_MS, timeout_ms)
        if option := await find_about(box, _OPTION, option_name(field), timeout_ms=wait_ms):
            await _press_option(page, box, option_name(field), option, timeout_ms)
        return option is not None

    return await read_element(page, field.selector, deadline.without_patience(), take, acts=True)


def option_name(field: Field) -> str:
    return field.value[0] if isinstance(field.value, list) else to_text(field.value)


def _missing_option_error(
    field: Field, name: str, names: Any, *, is_cut: bool = False
) -> InvalidParameterError:
    known = "; ".join(f'"{each}"' for each in names[:50]) or "none that this tool can see: use click"
    return InvalidParameterError(
        f'value: "{field.selector}" has no option "{name}", or more than one; it has: {known}',
        suggestion=UNDRAWN_ADVICE if is_cut else None,
        parameter="value",
        options=names[:50],
    )
