"""Doing what a person does with a page. Each action waits until its element can be used, or says why not."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser._playwright import Error, PlaywrightTimeout
from footlight.browser.diagnosis import overdue
from footlight.browser.pointer import dropping_nothing
from footlight.browser.scripts import find_element, run_about
from footlight.browser.settling import settle
from footlight.browser.targets import evaluate_all
from footlight.errors import ElementNotInteractive, FootlightError, InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Locator

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = [
    "click",
    "drag",
    "fill",
    "hover",
    "press",
    "retype",
    "scroll",
    "select",
    "set_checked",
    "type_text",
    "upload",
]

Button = Literal["left", "middle", "right"]

PIECE = 8
"""Characters that are typed at a time; a call that is cancelled stops between two pieces."""
_WORDS = re.compile(r"\S*\s+|\S+")
"""With the white space after each."""
PARTED_MS = 1_000
"""How long a page may go on changing after a word, until the next is typed all the same."""
KEY_SECONDS = 0.25
"""How long a cancelled call waits for the keys that are on their way."""


async def click(page: Page, selector: str, deadline: Deadline, *, button: Button, count: int) -> None:
    await page.act(
        selector,
        deadline,
        lambda element, timeout: element.click(button=button, click_count=count, timeout=timeout),
    )


async def type_text(page: Page, selector: str, text: str, deadline: Deadline, *, delay_ms: float) -> None:
    """Key by key, after what is there."""

    async def type_at_end(element: Locator, timeout: float) -> None:
        await element.wait_for(state="visible", timeout=timeout)
        obstacle = await run_about(element, _CARET_TO_END, timeout_ms=timeout)
        if obstacle == "end":
            await element.press("End", timeout=timeout)
        elif obstacle:
            raise ElementNotInteractive(
                f'"{selector}" cannot be typed into: {obstacle}', selector=selector, reason=obstacle
            )
        begin, *rest = _pieces(text, 1 if delay_ms else PIECE)
        await _whole(
            page, begin, element.press_sequentially(begin, delay=delay_ms, timeout=deadline.remaining_ms)
        )
        for piece in rest:
            await _type_piece(page, selector, piece, deadline, delay_ms=delay_ms)

    await page.act(selector, deadline, type_at_end)


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


async def _type_piece(page: Page, selector: str, text: str, deadline: Deadline, *, delay_ms: float) -> None:
    """Where the focus is by now: a page may move it while somebody types."""
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            await _whole(page, text, page.playwright.keyboard.type(text, delay=delay_ms))
    except TimeoutError:
        raise await overdue(
            page,
            f'The action on "{selector}" timed out after {deadline.timeout_ms:.0f}ms; '
            "the action had been dispatched",
            deadline,
            retryable=False,
            selector=selector,
            page=page.url,
            dispatched=True,
        ) from None


async def _whole(page: Page, text: str, typing: Coroutine[Any, Any, None]) -> None:
    """A call that is cancelled stops between two keys, and not with one held down."""
    task = asyncio.create_task(typing)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=KEY_SECONDS)
        if task.cancel():
            await page.undo(lambda: _release(page, *dict.fromkeys(text)))
        raise


async def _release(page: Page, *keys: str) -> None:
    for key in keys:
        with contextlib.suppress(Error):  # Not every character has a key.
            await page.playwright.keyboard.up(key)


async def fill(page: Page, selector: str, value: str, deadline: Deadline) -> None:
    async def replace(element: Locator, timeout: float) -> None:
        if expected := await run_about(element, _EXPECTED_VALUE, value, timeout_ms=timeout):
            raise InvalidParameter(
                f'value: "{selector}" cannot hold "{value}"; it takes {expected}', parameter="value"
            )
        await element.fill(value, timeout=deadline.element_ms)

    await page.act(selector, deadline, replace)


async def retype(page: Page, selector: str, text: str, deadline: Deadline, *, delay_ms: float) -> None:
    """In place of what is there, key by key; all at once where the delay is 0.

    Of the page's own scripts it needs nothing, so a page may have forbidden itself what it likes.
    """

    async def replace(element: Locator, timeout: float) -> None:
        await element.fill("" if delay_ms else text, timeout=timeout)
        if not (delay_ms and text):
            return
        begin, *rest = _WORDS.findall(text)
        typing = element.press_sequentially(begin, delay=delay_ms, timeout=deadline.remaining_ms)
        await _whole(page, begin, typing)
        for word in rest:
            # A field that parts its text at spaces becomes another one there, and the focus goes on.
            await settle(page, time.monotonic(), deadline, limit_ms=PARTED_MS)
            await _type_piece(page, selector, word, deadline, delay_ms=delay_ms)

    await page.act(selector, deadline, replace)


async def select(page: Page, selector: str, value: str, deadline: Deadline) -> list[str]:
    """By value or label. The values that are selected afterwards."""

    async def choose(element: Locator, timeout: float) -> list[str]:
        try:
            return await element.select_option(value, timeout=timeout)
        except PlaywrightTimeout:
            if obstacle := await _choice_obstacle(page, element, selector, value):
                raise obstacle from None
            raise

    return await page.ask(selector, deadline, choose)


async def _choice_obstacle(page: Page, element: Locator, selector: str, value: str) -> FootlightError | None:
    """Why the value cannot be chosen; None where that is not for want of an option."""
    try:
        options: list[dict[str, Any]] | None = await evaluate_all(element, selector, _OPTIONS)
    except Error:
        return None
    if options is None:
        return None
    chosen = [option for option in options if value in (option["value"], option["label"])]
    if chosen and all(option["disabled"] for option in chosen):
        return ElementNotInteractive(
            f'"{selector}" cannot be used: its option "{value}" is disabled',
            selector=selector,
            page=page.url,
            reason="disabled",
        )
    if chosen:
        return None
    known = "; ".join(f'"{option["label"]}" ({option["value"]})' for option in options[:50]) or "none"
    return InvalidParameter(
        f'value: "{selector}" has no option "{value}"; it has: {known}',
        parameter="value",
        options=[option["value"] for option in options[:50]],
    )


async def set_checked(page: Page, selector: str, checked: bool, deadline: Deadline) -> None:
    await page.act(selector, deadline, lambda element, timeout: element.set_checked(checked, timeout=timeout))


async def hover(page: Page, selector: str, deadline: Deadline) -> None:
    await page.act(selector, deadline, lambda element, timeout: element.hover(timeout=timeout))


async def drag(page: Page, source: str, target: str, deadline: Deadline) -> None:
    async def drag_to(element: Locator, timeout: float) -> None:
        goal = (await page.locate(target, deadline)).first
        # Looked at first, so that a missing goal is not told as a missing source.
        await page.act(target, deadline, lambda found, wait: found.wait_for(state="visible", timeout=wait))
        # Tried first, so that the wait for it is over when the button goes down.
        await element.hover(trial=True, timeout=timeout)
        async with page.undoing(*dropping_nothing(page), after=(asyncio.CancelledError, PlaywrightTimeout)):
            await element.drag_to(goal, timeout=deadline.element_ms)

    await page.act(source, deadline, drag_to)


async def upload(page: Page, selector: str, files: Sequence[Path], deadline: Deadline) -> None:
    """Into a file input, or through the file chooser that a click on the element opens."""

    async def attach(element: Locator, timeout: float) -> None:
        if await run_about(element, _TAKES_FILES, timeout_ms=timeout):
            await element.set_input_files(list(files), timeout=timeout)
            return
        clicked = False
        try:
            async with page.playwright.expect_file_chooser(timeout=timeout) as chooser:
                await element.click(timeout=timeout)
                clicked = True
        except PlaywrightTimeout:
            if not clicked:
                raise
            raise ElementNotInteractive(
                f'"{selector}" is no file input, and a click on it opened no file chooser',
                selector=selector,
                page=page.url,
            ) from None
        await (await chooser.value).set_files(list(files), timeout=deadline.remaining_ms)

    await page.act(selector, deadline, attach)


async def press(page: Page, key: str, modifiers: Sequence[str], deadline: Deadline) -> None:
    """On the element that has the focus: so pressed, a key waits for the navigation that it starts."""
    keys = _chord(key, modifiers)
    began = time.monotonic()
    message = f"Pressing {key} timed out after {deadline.timeout_ms:.0f}ms; the key had been sent"
    async with page.sending(message, deadline):
        focused = await _focused(page)
        async with page.undoing(lambda: _press_undone(page, began, key, modifiers)):
            # For Tab the element is left alone: focused once more, a date field is back at its first part.
            if focused and not keys.endswith("Tab"):
                await focused.press(keys, timeout=deadline.remaining_ms)
            else:
                await page.playwright.keyboard.press(keys)


async def _press_undone(page: Page, began: float, key: str, modifiers: Sequence[str]) -> None:
    await page.stop_since(began)
    await _release(page, key, *modifiers)


async def _focused(page: Page) -> ElementHandle | None:
    """Through frames and open shadow roots; None where nothing has the focus."""
    focused = await find_element(page.playwright, _FOCUSED)
    while focused and (frame := await focused.content_frame()):
        focused = await find_element(frame, _FOCUSED)
    return focused


async def scroll(
    page: Page, x: float, y: float, deadline: Deadline, *, selector: str | None = None
) -> dict[str, float]:
    """By so many CSS pixels; the position afterwards and how far it goes."""
    if selector is None:
        return await page.evaluate(_SCROLL, [x, y], deadline)
    return await page.ask(
        selector, deadline, lambda element, timeout: run_about(element, _SCROLL, [x, y], timeout_ms=timeout)
    )


def _chord(key: str, modifiers: Sequence[str]) -> str:
    """In Playwright's language, where "Shift+a" is an a."""
    if "Shift" in modifiers and re.fullmatch("[a-z0-9]", key):
        key = f"Digit{key}" if key.isdigit() else key.upper()
    return "+".join([*modifiers, key])


_CARET_TO_END = """element => {
  const editable = element.isContentEditable;
  const field = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  if (field && element.disabled) return 'it is disabled';
  if (field && element.readOnly) return 'it is read-only';
  element.focus();
  const focused = element.getRootNode().activeElement;
  if (!editable && focused !== element) return 'it does not take the focus';
  if (!editable && !field) return null;
  if (editable) {
    const selection = element.ownerDocument.getSelection();
    selection.selectAllChildren(element);
    selection.collapseToEnd();
    return null;
  }
  const end = element.value.length;
  try { element.setSelectionRange(end, end); return null; } catch { return 'end'; }
}"""

_FOCUSED = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused === document.body ? null : focused;
}"""

_EXPECTED_VALUE = """(element, value) => {
  const field = element instanceof HTMLLabelElement && element.control || element;
  if (!value || !(field instanceof HTMLInputElement)) return null;
  const forms = {
    date: '2024-02-29', time: '13:45', 'datetime-local': '2024-02-29T13:45', month: '2024-02',
    week: '2024-W09', color: '#a1b2c3', range: 'a number',
  };
  if (!Object.hasOwn(forms, field.type)) return null;
  const trial = field.cloneNode();
  trial.value = value = value.trim();
  if (field.type === 'range') {
    if (Number(trial.value) === Number(value)) return null;
    const step = trial.step && trial.step !== 'any' ? ` in steps of ${trial.step}` : '';
    return `a number from ${trial.min || 0} to ${trial.max || 100}${step}`;
  }
  const kept = field.type === 'color' ? trial.value === value.toLowerCase() : trial.value !== '';
  return kept ? null : `the form ${forms[field.type]}`;
}"""

_OPTIONS = """([element]) => {
  const select = element instanceof HTMLLabelElement ? element.control : element;
  return select instanceof HTMLSelectElement ? Array.from(select.options, option => ({
    value: option.value, label: option.label, disabled: option.matches(':disabled'),
  })) : null;
}"""

_TAKES_FILES = """element => {
  const input = element instanceof HTMLLabelElement ? element.control : element;
  return input instanceof HTMLInputElement && input.type === 'file';
}"""

_SCROLL = """(first, second) => {
  const [element, [x, y]] = second === undefined ? [null, first] : [first, second];
  const root = document.scrollingElement || document.documentElement;
  const moves = it => it.scrollWidth > it.clientWidth + 1 || it.scrollHeight > it.clientHeight + 1;
  const scrolls = it => it === root || /(auto|scroll|overlay)/.test(
    getComputedStyle(it).overflowX + getComputedStyle(it).overflowY);
  let box = root;
  if (element || !moves(root)) {
    let at = element || document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    if (element && !x && !y) element.scrollIntoView({block: 'center', behavior: 'instant'});
    while (at && !(moves(at) && scrolls(at))) at = at.parentElement;
    box = at || root;
  }
  box.scrollBy({left: x, top: y, behavior: 'instant'});
  return {
    x: Math.round(box.scrollLeft), y: Math.round(box.scrollTop),
    maxX: Math.max(0, box.scrollWidth - box.clientWidth),
    maxY: Math.max(0, box.scrollHeight - box.clientHeight),
  };
}"""
