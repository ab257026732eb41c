"""Choose an option of a list, tick a checkbox, and choose files for a file input."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser.actions.forms.field_values import check_files
from footlight.browser.actions.mouse import BUTTON_DOWN_MS
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout
from footlight.browser.driver.scripts import GETTER, run_about
from footlight.browser.page.element_diagnosis import find_obstacle
from footlight.browser.page.element_operations import act_on_element, read_element
from footlight.browser.page.press_check import PRESS_PLACES, PRESS_TARGET, find_press_target
from footlight.browser.page.refs import locate_now
from footlight.browser.page.selectors import evaluate_all
from footlight.errors import ElementNotInteractiveError, FootlightError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Choice", "choose_radio", "press", "select_option", "set_checked", "upload_files"]

OPTIONS_SECONDS = 2.0
"""How long a page may take to list its options if the requested one is missing."""
CHECK_MS = 250
"""How long a page may take to return the selected options. The choice is made even if it takes longer."""
STATE_MS = 2_000
"""How long a page may take to return whether a checkbox is ticked."""
CHANGE_SECONDS = 1.0
"""How long a pressed checkbox may take to change. Pages that are rendered on their server ask it first."""
CHANGE_PAUSE_SECONDS = 0.04
MAX_OPTIONS = 50
"""The maximum number of options in an error."""

_FOLDER = Path(__file__).parent
_TOGGLE, _OPTIONS, _PREPARE, _SELECTED, _TAKES_FILES = (
    page_function(_FOLDER, ["field", "controls"], name)
    for name in ("describeToggle", "listOptions", "prepareChoice", "listSelected", "takesFiles")
)
_IS_UNDER_FILE_INPUT = page_function(
    _FOLDER, [GETTER, PRESS_PLACES, "field", "controls", "file_button"], "isUnderFileInput"
)


class Choice(NamedTuple):
    """The values of the options that were chosen, and of those that are selected afterwards."""

    chosen: list[str]
    selected: list[str]
    is_changed: bool = False
    """True if the selected options are known, and differ from those before."""


async def select_option(page: Page, selector: str, value: str, deadline: Deadline) -> Choice:
    """Select an option by its value or label. A value takes precedence over a label.

    Raises:
        InvalidParameterError: several options have this label, and none has this value; or no option has it.
    """

    async def find() -> FootlightError | None:
        missing = await _find_option_problem(page, selector, value, deadline)
        return missing or await find_obstacle(page, selector, deadline)

    async def select(element: Locator, timeout_ms: float) -> Choice:
        before: Any = await run_about(element, _PREPARE, value, timeout_ms=timeout_ms)
        if before["isInert"] and (obstacle := await find_obstacle(page, selector, deadline)):
            raise obstacle
        clash = before["clash"]
        if isinstance(clash, int):
            chosen = await element.select_option(index=clash, timeout=timeout_ms)
        elif clash is None:
            chosen = await element.select_option(value, timeout=timeout_ms)
        else:
            raise _ambiguous_option_error(selector, value, clash)
        if page.document_request is not None:
            return Choice(chosen, chosen)
        # The page may have selected another option in its event handlers, or have removed the list.
        with contextlib.suppress(Error):
            selected = await run_about(element, _SELECTED, timeout_ms=min(timeout_ms, CHECK_MS))
            if selected is not None:
                return Choice(chosen, selected, selected != before["selected"])
        return Choice(chosen, chosen)

    return await read_element(
        page,
        selector,
        deadline,
        select,
        find=find,
        acts=True,
    )


def _ambiguous_option_error(
    selector: str, value: str, options: list[dict[str, str]]
) -> InvalidParameterError:
    listing = "; ".join(
        f'"{each["value"]}"' + (f' in "{each["group"]}"' if each["group"] else "")
        for each in options[:MAX_OPTIONS]
    )
    return InvalidParameterError(
        f'value: "{selector}" has {len(options)} options "{value}"; give the value of one: {listing}',
        parameter="value",
        options=[each["value"] for each in options[:MAX_OPTIONS]],
    )


async def _find_option_problem(
    page: Page, selector: str, value: str, deadline: Deadline
) -> FootlightError | None:
    """Return the error for an option that does not exist or is disabled."""
    try:
        async with asyncio.timeout(OPTIONS_SECONDS):
            found = (await locate_now(page, selector, deadline)).first
            options: list[dict[str, Any]] | None = await evaluate_all(found, selector, _OPTIONS)
    except (Error, TimeoutError):
        return None
    if options is None:
        return None
    matching = [option for option in options if value in (option["value"], option["label"])]
    if matching and all(option["disabled"] for option in matching):
        return ElementNotInteractiveError(
            f'"{selector}" cannot be used: its option "{value}" is disabled',
            selector=selector,
            page=page.url,
            reason="disabled",
        )
    if matching:
        return None
    named = options[:MAX_OPTIONS]
    listing = "; ".join(f'"{option["label"]}" ({option["value"]})' for option in named) or "none"
    return InvalidParameterError(
        f'value: "{selector}" has no option "{value}"; it has: {listing}',
        parameter="value",
        options=[option["value"] for option in named],
    )


async def set_checked(page: Page, selector: str, checked: bool, deadline: Deadline) -> bool:
    """Tick or untick a checkbox, or choose a radio button. Return False if it already has the state."""
    pressed = await act_on_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: _press_until_checked(page, element, checked, deadline, timeout_ms),
    )
    return pressed is not False


async def _press_until_checked(
    page: Page, element: Locator, checked: bool, deadline: Deadline, timeout_ms: float
) -> bool:
    """Press a checkbox or radio button. If it already has the state, do not press it and return False.

    Playwright's own `set_checked` would leave the button down if the press opens a dialog.
    """
    is_reached = await element.is_checked(timeout=timeout_ms) == checked
    kind = await run_about(element, _TOGGLE, timeout_ms=timeout_ms) if is_reached or not checked else None
    if is_reached and kind != "mixed":
        return False
    if kind == "radio":
        raise Error("Cannot uncheck radio button")
    # A mixed checkbox is ticked before it is unticked.
    for is_last in (False, True) if is_reached else (True,):
        await press(page, find_press_target(element), deadline.action_ms)
        if page.document_request is not None or page.closed:
            break
        # The page may have removed the element.
        with contextlib.suppress(PlaywrightTimeout):
            limit_ms = min(deadline.action_ms, STATE_MS)
            patience = min(CHANGE_SECONDS, limit_ms / 1000) if is_last else 0
            if await _becomes(partial(element.is_checked, timeout=limit_ms), checked, patience):
                break
            if is_last:
                raise Error("Clicking the checkbox did not change its state")
    return True


async def _becomes(read_state: Callable[[], Awaitable[bool]], state: bool, patience: float) -> bool:
    """Return whether a checkbox gets the state within `patience` seconds."""
    until = time.monotonic() + patience
    while await read_state() != state:
        if time.monotonic() >= until:
            return False
        await asyncio.sleep(CHANGE_PAUSE_SECONDS)
    return True


async def choose_radio(page: Page, radio: ElementHandle, timeout_ms: float) -> None:
    """Press a radio button, unless it is already chosen."""
    if await radio.is_checked():
        return
    await press(page, await radio.query_selector(PRESS_TARGET) or radio, timeout_ms)
    if page.document_request is not None or page.closed:
        return
    try:
        chosen = await _becomes(radio.is_checked, True, min(CHANGE_SECONDS, timeout_ms / 1000))
    except Error:  # The page has removed its document.
        return
    if not chosen:
        raise Error("Clicking the radio button did not change its state")


async def press(
    page: Page, element: Locator | ElementHandle, timeout_ms: float, *, is_covered: bool = False
) -> None:
    """Click an element in a form, or what covers it. The button is released even if the press opens a dialog.

    Otherwise Playwright sends press and release at once, and the dialog keeps the release from the page.
    """
    await page.act_through_dialog(element.click(delay=BUTTON_DOWN_MS, timeout=timeout_ms, force=is_covered))


async def upload_files(page: Page, selector: str, files: Sequence[Path], deadline: Deadline) -> str | None:
    """Choose files in a file input, or in the file chooser that a click on the element opens.

    Return a notice for the caller, or None.

    Raises:
        ElementNotInteractiveError: the element is disabled, or is not a file input and opens no file chooser.
        InvalidParameterError: the file input accepts only one file, or a folder.
    """

    async def attach(element: Locator, timeout_ms: float) -> str | None:
        await element.set_input_files(list(files), timeout=timeout_ms)
        return await check_files(page, element, timeout_ms) if files else None

    async def choose(element: Locator, timeout_ms: float) -> None:
        clicked = False
        is_covered = await run_about(element, _IS_UNDER_FILE_INPUT, timeout_ms=timeout_ms)
        try:
            async with page.playwright.expect_file_chooser(timeout=timeout_ms) as opened:
                await press(page, element, timeout_ms, is_covered=is_covered)
                clicked = True
                # The page has handled the click, so the chooser opens now or not at all.
                async with asyncio.timeout(deadline.start_patience().element_ms / 1000):
                    chooser = await opened.value
        except (PlaywrightTimeout, TimeoutError):
            if not clicked:
                raise
            raise ElementNotInteractiveError(
                f'"{selector}" is not a file input, and a click on it opened no file chooser',
                suggestion="Give the file input itself, or the button that opens the file chooser.",
                selector=selector,
                page=page.url,
            ) from None
        await chooser.set_files(list(files), timeout=deadline.remaining_ms)

    takes_files = await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: run_about(element, _TAKES_FILES, timeout_ms=timeout_ms),
    )
    if not takes_files:
        return await act_on_element(page, selector, deadline, choose)
    if takes_files == "nothing":
        raise ElementNotInteractiveError(
            f'"{selector}" cannot be used: disabled', selector=selector, page=page.url, reason="disabled"
        )
    if takes_files == "a folder" or (takes_files == "one file" and len(files) > 1):
        raise InvalidParameterError(f'files: "{selector}" takes {takes_files}', parameter="files")
    return await act_on_element(page, selector, deadline, attach)
