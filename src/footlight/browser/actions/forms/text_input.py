"""Fill fields and type into them. Each action waits until its field can be used, or reports the obstacle."""

from __future__ import annotations

import asyncio
import re
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footlight.browser.actions.forms.field_values import (
    COMMIT_ADVICE,
    EMPTIED,
    check_added,
    check_text,
    find_field,
    find_filled_state,
)
from footlight.browser.actions.forms.sliders import fill_range, is_slider, move_slider
from footlight.browser.actions.keyboard import finish_keys, insert_text, insert_text_alone, type_keys
from footlight.browser.driver.scripts import run_about
from footlight.browser.driver.shielding import start_work
from footlight.browser.page.element_diagnosis import READ_ONLY_ADVICE, describe_fields_inside, find_obstacle
from footlight.browser.page.element_operations import act_on_element
from footlight.browser.page.page_operations import send_input
from footlight.browser.page.refs import ask_directly
from footlight.browser.page.settling import settle
from footlight.errors import ElementNotInteractiveError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["fill_field", "replace_text", "type_text"]

PIECE = 8
"""The number of characters that are typed at a time. A cancelled call stops between two pieces."""
_WORDS = re.compile(r"\S*\s+|\S+")
"""Words with the white space after them."""
WORD_SETTLE_MS = 1_000
"""How long a page may change after a word before the next word is typed."""

RECEIVED_SECONDS = 0.02
"""How long the page's reply that a field has received its text may take after the insertion."""

_HAS_FOCUS = "element => element.getRootNode().activeElement === element"
_CARET_TO_END, _NEEDS_KEYS, _HAS_EDIT_CONTEXT = (
    page_function(Path(__file__).parent, ["field", "editor", "caret"], name)
    for name in ("moveCaretToEnd", "needsKeys", "hasEditContext")
)
_FIELD, _SELECTED_FIELD, _PASTE = (
    page_function(Path(__file__).parent, ["field", "editor", "field_values", "text_input"], name)
    for name in ("describeField", "selectField", "paste")
)


@cache
def _selecting_engine() -> str:
    """Return the source of `selectField` for a selector of `footlight.find`."""
    return f"""globalThis[Symbol.for("footlight.selectField")] = (selector, value) => {{
        const element = globalThis[Symbol.for("footlight.find")]?.(selector);
        return element ? ({_SELECTED_FIELD})(element, value) : null;
    }}"""


async def fill_field(
    page: Page, selector: str, value: str, deadline: Deadline, *, check: bool = True
) -> str | None:
    """Replace the text of a field at once, or move a slider. Return a notice for the caller, or None.

    If Playwright would certainly fill the field at once, the first request already selects its text, which
    saves four requests, and the request that verifies the text is a single CDP message. Without `check`, the
    text of the field is not verified afterwards.

    Raises:
        InvalidParameterError: the field does not accept the value.
    """

    async def fill(element: Locator, timeout_ms: float) -> str | None:
        field = await ask_directly(page, selector, _selecting_engine, "selectField", value)
        if field is None:
            field = await run_about(element, _SELECTED_FIELD, value, timeout_ms=timeout_ms)
        if field["expected"]:
            raise InvalidParameterError(
                f'value: "{selector}" cannot hold "{value}"; it takes {field["expected"]}', parameter="value"
            )
        if field["editor"]:
            await _fill_editor(page, element, selector, value, deadline)
            return None
        if field["selected"] == "unfocused":
            raise _unfocused_error(page, selector)
        if field["selected"] and not page.session.is_traced:
            if not check:
                await insert_text_alone(page, selector, value, deadline)
                return None
            if state := await _insert_and_check(page, selector, value, field["selected"], deadline):
                return f"{EMPTIED}; {COMMIT_ADVICE}" if state == "emptied" else None
        elif await is_slider(element, timeout_ms):
            return await move_slider(element, selector, value, deadline)
        elif not await fill_range(element, value, timeout_ms):
            await element.fill(value, timeout=timeout_ms)
        return await check_text(page, element, value, timeout_ms) if check else None

    return await act_on_element(
        page, selector, deadline, fill, find=lambda: find_obstacle(page, selector, deadline, editing=True)
    )


async def _insert_and_check(
    page: Page, selector: str, value: str, selected: float | bool, deadline: Deadline
) -> Literal[True, "emptied"] | None:
    """Insert a text into the field that was selected, and return the result of `find_filled_state`.

    The page is asked at the same time and replies when the field has received the text. That saves the time
    of a request. The page may also prevent that a field receives its text.
    """
    state = start_work(find_filled_state(page, selected, is_coming=True))
    try:
        await insert_text_alone(page, selector, value, deadline)
        await asyncio.wait([state], timeout=RECEIVED_SECONDS)
        return state.result() if state.done() else await find_filled_state(page, selected)
    finally:
        state.cancel()


async def type_text(
    page: Page, selector: str, text: str, deadline: Deadline, *, delay_ms: float, at_once: bool = False
) -> str | None:
    """Type a text key by key, after the text of the field. Return a notice for the caller, or None.

    `at_once` is for secrets: the whole text is inserted at once, so that no request or message of the page
    contains a part of it, which could not be masked. Fields that accept only single keys receive keys.
    """

    async def find(element: Locator, timeout_ms: float) -> None:
        if not await run_about(element, _HAS_EDIT_CONTEXT, timeout_ms=timeout_ms):
            await element.wait_for(state="visible", timeout=timeout_ms)

    async def type_at_end(element: Locator, timeout_ms: float) -> str | None:
        reply, length = await run_about(element, _CARET_TO_END, timeout_ms=timeout_ms)
        if reply in ("End", "ControlOrMeta+End"):
            await element.press(reply, timeout=timeout_ms)
        elif reply:
            inside = await describe_fields_inside(page, selector, deadline)
            raise ElementNotInteractiveError(
                f'"{selector}" cannot be typed into: {reply}{inside}',
                suggestion=READ_ONLY_ADVICE if reply == "it is read-only" else None,
                selector=selector,
                reason=reply,
            )
        if at_once and not await run_about(element, _NEEDS_KEYS, len(text), timeout_ms=timeout_ms):
            await element.focus(timeout=timeout_ms)
            await insert_text(page, selector, text, deadline)
        else:
            first, *rest = _split_into_pieces(text, 1 if delay_ms else PIECE)
            typing = element.press_sequentially(first, delay=delay_ms, timeout=deadline.remaining_ms)
            await finish_keys(page, first, typing)
            for piece in rest:
                await type_keys(page, selector, piece, deadline, delay_ms=delay_ms)
        return await check_added(page, element, text, length, deadline.remaining_ms)

    await act_on_element(page, selector, deadline, find)
    return await act_on_element(page, selector, deadline.without_patience(), type_at_end)


async def replace_text(
    page: Page, selector: str, text: str, deadline: Deadline, *, delay_ms: float, at_once: bool = False
) -> str | None:
    """Replace the text of a field: key by key, or all at once if the delay is 0.

    `at_once` is for secrets: each word is inserted at once. Return a notice for the caller, or None.

    This runs no script in the page's main world, so it also works if the page forbids scripts there.
    """

    async def clear_or_fill(element: Locator, timeout_ms: float) -> None:
        value = "" if delay_ms else text
        if (await run_about(element, _FIELD, "", timeout_ms=timeout_ms))["editor"]:
            await _fill_editor(page, element, selector, value, deadline)
        else:
            await element.fill(value, timeout=timeout_ms)

    await act_on_element(
        page,
        selector,
        deadline,
        clear_or_fill,
        find=lambda: find_obstacle(page, selector, deadline, editing=True),
    )

    async def type_words(element: Locator, _: float) -> None:
        first, *rest = _WORDS.findall(text)
        if at_once:
            await insert_text(page, selector, first, deadline)
        else:
            typing = element.press_sequentially(first, delay=delay_ms, timeout=deadline.remaining_ms)
            await finish_keys(page, first, typing)
        for word in rest:
            # A field that splits its text at spaces creates another field there, and moves the focus to it.
            await settle(page, time.monotonic(), deadline, limit_ms=WORD_SETTLE_MS)
            if at_once:
                await insert_text(page, selector, word, deadline)
            else:
                await type_keys(page, selector, word, deadline, delay_ms=delay_ms)

    if delay_ms and text:
        await act_on_element(page, selector, deadline.without_patience(), type_words)
        if len(text.split()) > 1:  # A field that splits its text contains only the first word.
            return None
    field = await find_field(page, selector, deadline)
    return await check_text(page, field, text, deadline.remaining_ms) if field else None


def _split_into_pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def _unfocused_error(page: Page, selector: str) -> ElementNotInteractiveError:
    return ElementNotInteractiveError(
        f'"{selector}" cannot be filled: it does not take the focus', selector=selector, page=page.url
    )


async def _fill_editor(page: Page, element: Locator, selector: str, value: str, deadline: Deadline) -> None:
    """Replace the text of a code editor: select it with keys, because its field does not hold it, and paste.

    In a text that seems to be typed, editors indent lines and close brackets. What ignores the paste gets the
    text as if it were typed.
    """
    await element.focus(timeout=deadline.action_ms)
    if not await run_about(element, _HAS_FOCUS, timeout_ms=deadline.action_ms):
        raise _unfocused_error(page, selector)

    def message() -> str:
        return f'Filling "{selector}" timed out after {deadline.elapsed}; keys had been sent'

    async with send_input(page, message, deadline):
        keyboard = page.playwright.keyboard
        await keyboard.press("ControlOrMeta+a")
        if not value:
            await keyboard.press("Delete")
        elif not await run_about(element, _PASTE, value, timeout_ms=deadline.remaining_ms):
            await keyboard.insert_text(value)
