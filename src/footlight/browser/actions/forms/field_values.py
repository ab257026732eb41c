"""Verify the value of a field after an action: a page may change or refuse a text, a choice or files."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import run_about
from footlight.browser.page.refs import locate_now
from footlight.errors import FootlightError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "COMMIT_ADVICE",
    "EMPTIED",
    "check_added",
    "check_choice",
    "check_files",
    "check_kept_text",
    "check_text",
    "find_field",
    "find_filled_state",
]

EMPTIED = "the page has emptied the field that was filled before this one"
COMMIT_ADVICE = "if it takes a text only with Enter or Tab, fill it alone, then press that"
CHECK_MS = 1_000
"""How long a page may take to return the value of a field."""

_HOLDS, _GAINED, _HAS_CHOSEN, _HAS_NO_FILE = (
    page_function(Path(__file__).parent, ["field", "editor", "field_values"], name)
    for name in ("holdsText", "hasGained", "hasChosen", "hasNoFile")
)


async def find_field(page: Page, selector: str, deadline: Deadline) -> Locator | None:
    """Return a field that was filled, or None if the page navigates or has removed it."""
    if page.document_request is None and not page.closed:
        with contextlib.suppress(Error, FootlightError):
            return (await locate_now(page, selector, deadline)).first
    return None


async def find_filled_state(
    page: Page, selected: float | bool, *, is_coming: bool = False
) -> Literal[True, "emptied"] | None:
    """Return True if the field that `text_input.js` has selected certainly has its new text now.

    If the page has emptied the field that was filled before it meanwhile, return "emptied". With `is_coming`,
    wait until the field has received the text.
    """
    with contextlib.suppress(Error, TimeoutError):
        if page.document_request is None and page.scripts.is_known:
            async with asyncio.timeout(CHECK_MS / 1000):
                arguments = f"{json.dumps(selected)}, {json.dumps(is_coming)}"
                reply = await page.scripts.run(f'globalThis[Symbol.for("footlight.isFilled")]?.({arguments})')
                value = reply["result"].get("value")
                return value if value is True or value == "emptied" else None
    return None


async def check_text(page: Page, element: Locator, value: str, timeout_ms: float) -> str | None:
    """Return a notice if the text of a field certainly differs from this value."""
    if await _ask(page, element, _HOLDS, value, timeout_ms) is False:
        return "the page changed or refused the text: the field holds another"
    return None


async def check_kept_text(page: Page, element: Locator, value: str, timeout_ms: float) -> str | None:
    """Return a notice if a field certainly does not have its text after other fields were filled."""
    notice = await check_text(page, element, value, timeout_ms)
    if notice and value and await _ask(page, element, _HOLDS, "", timeout_ms):
        return f"the page has taken or refused the text: the field is empty; {COMMIT_ADVICE}"
    return notice


async def check_added(
    page: Page, element: Locator, text: str, length: int | None, timeout_ms: float
) -> str | None:
    """Return a notice if a field certainly did not get this text after its first `length` characters."""
    # A line break is the Enter key, on which pages may clear the field.
    if length is None or "\n" in text:
        return None
    if await _ask(page, element, _GAINED, [text, length], timeout_ms) is not False:
        return None
    return "the page changed or refused the text: the field does not end with it"


async def check_choice(page: Page, element: Locator, options: list[str], timeout_ms: float) -> str | None:
    """Return a notice if the selected options of a `select` element are not these values or labels."""
    if await _ask(page, element, _HAS_CHOSEN, options, timeout_ms) is False:
        return "the page changed the choice: other options are selected"
    return None


async def check_files(page: Page, element: Locator, timeout_ms: float) -> str | None:
    """Return a notice if a file input is empty."""
    if await _ask(page, element, _HAS_NO_FILE, None, timeout_ms) is True:
        return "the file input is empty again: the page has taken the files or refused them"
    return None


async def _ask(page: Page, element: Locator, script: str, argument: Any, timeout_ms: float) -> Any:
    """Return the page's reply, or None if it navigates, hangs or has removed the field."""
    if page.document_request is not None or page.closed:
        return None
    with contextlib.suppress(Error):
        return await run_about(element, script, argument, timeout_ms=min(timeout_ms, CHECK_MS))
    return None
