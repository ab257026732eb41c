"""Send keys to the focused element, and release them if a call is cancelled in between."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import GETTER, find_element
from footlight.browser.driver.shielding import start_work
from footlight.browser.page.page_operations import send_input, send_input_to, stop_since, undo, undo_on_cancel
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "Modifier",
    "finish_keys",
    "insert_text",
    "insert_text_alone",
    "press_key",
    "release_keys",
    "type_keys",
]

Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]

KEY_SECONDS = 0.25
"""How long a cancelled call waits for the keys that are being sent."""

_FOCUSED = page_function(Path(__file__).parent, [GETTER, "focused"], "findFocused")


async def press_key(page: Page, key: str, modifiers: Sequence[str], deadline: Deadline) -> None:
    """Press a key on the focused element, and wait for the navigation that it starts."""
    keys = _to_playwright(key, modifiers)
    began = time.monotonic()

    def message() -> str:
        return f"Pressing {key} timed out after {deadline.elapsed}; the key had been sent"

    async def take_back() -> None:
        await stop_since(page, began)
        await release_keys(page, key, *modifiers)

    async with send_input(page, message, deadline):
        # For Tab the element is not focused again: that would reset a date field to its first part.
        focused = None if keys.endswith("Tab") else await _find_focused(page)
        async with undo_on_cancel(take_back):
            try:
                if focused:
                    await focused.press(keys, timeout=deadline.remaining_ms)
                else:
                    await page.playwright.keyboard.press(keys)
            except Error:  # Playwright leaves the keys before an unknown one down.
                await release_keys(page, *keys.split("+"))
                raise


async def type_keys(page: Page, selector: str, text: str, deadline: Deadline, *, delay_ms: float) -> None:
    """Type into the focused element. The focus may move during typing.

    `selector` is only used in the message of an error.
    """
    await _send_keys(page, selector, text, page.playwright.keyboard.type(text, delay=delay_ms), deadline)


async def insert_text(page: Page, selector: str, text: str, deadline: Deadline) -> None:
    """Insert a text at once into the focused element, and press Shift, because pages also listen for keys."""
    await insert_text_alone(page, selector, text, deadline)
    await _send_keys(page, selector, "", page.playwright.keyboard.press("Shift"), deadline)


async def insert_text_alone(page: Page, selector: str, text: str, deadline: Deadline) -> None:
    """Insert a text at once into the focused element without any key, as `fill` does."""
    await _send_keys(page, selector, "", page.playwright.keyboard.insert_text(text), deadline)


async def finish_keys(page: Page, text: str, typing: Coroutine[Any, Any, None]) -> None:
    """Wait until a text is typed. If the call is cancelled, stop between two keys and release all keys."""
    task = start_work(typing)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=KEY_SECONDS)
        if task.cancel():
            await undo(lambda: release_keys(page, *dict.fromkeys(text)))
        raise


async def _send_keys(
    page: Page, selector: str, keys: str, sending: Coroutine[Any, Any, None], deadline: Deadline
) -> None:
    async with send_input_to(page, selector, deadline):
        await finish_keys(page, keys, sending)


async def release_keys(page: Page, *keys: str) -> None:
    """Release keys that a cancelled or failed call may have left down."""
    for key in keys:
        with contextlib.suppress(Error):  # Some characters have no key.
            await page.playwright.keyboard.up(key)


async def _find_focused(page: Page) -> ElementHandle | None:
    """Return the focused element, also inside frames and open shadow roots, or None."""
    focused = await find_element(page.playwright, _FOCUSED)
    while focused and (frame := await focused.content_frame()):
        focused = await find_element(frame, _FOCUSED)
    return focused


def _to_playwright(key: str, modifiers: Sequence[str]) -> str:
    """Return a key in Playwright's syntax. In that syntax, "Shift+a" types a lower-case a."""
    if "Shift" in modifiers and re.fullmatch("[a-z0-9]", key):
        key = f"Digit{key}" if key.isdigit() else key.upper()
    return "+".join([*modifiers, key])
