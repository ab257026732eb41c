"""Check that a field holds what was put into it: a page may change or refuse a text, a choice or files."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import run_isolated_about
from footlight.browser.page.refs import locate_now
from footlight.errors import FootlightError

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "IS_EDITOR",
    "TEXT_LENGTH",
    "check_added",
    "check_choice",
    "check_files",
    "check_text",
    "find_field",
]

CHECK_MS = 250
"""How long a page may take to say what a field holds."""


async def find_field(page: Page, selector: str, deadline: Deadline) -> Locator | None:
    """Return a field that was filled, or None where the page navigates or has removed it."""
    if page.document_request is None and not page.closed:
        with contextlib.suppress(Error, FootlightError):
            return (await locate_now(page, selector, deadline)).first
    return None


async def check_text(page: Page, element: Locator, value: str, timeout_ms: float) -> str | None:
    """Return a notice where a field certainly holds another text than this value."""
    if await _ask(page, element, _HOLDS, value, timeout_ms) is False:
        return "the page changed or refused the text: the field holds another"
    return None


async def check_added(
    page: Page, element: Locator, text: str, length: int | None, timeout_ms: float
) -> str | None:
    """Return a notice where a field certainly did not get this text after its first `length` characters."""
    # A line break is the Enter key, on which pages take the text out of its field.
    if length is None or "\n" in text:
        return None
    if await _ask(page, element, _GAINED, [text, length], timeout_ms) is not False:
        return None
    return "the page changed or refused the text: the field does not end with it"


async def check_choice(page: Page, element: Locator, options: list[str], timeout_ms: float) -> str | None:
    """Return a notice where a `select` element has other options selected than these values or labels."""
    if await _ask(page, element, _HAS_CHOSEN, options, timeout_ms) is False:
        return "the page changed the choice: other options are selected"
    return None


async def check_files(page: Page, element: Locator, timeout_ms: float) -> str | None:
    """Return a notice where a file input holds no file."""
    if await _ask(page, element, _HAS_NO_FILE, None, timeout_ms) is True:
        return "the file input is empty again: the page has taken the files or refused them"
    return None


async def _ask(page: Page, element: Locator, script: str, argument: Any, timeout_ms: float) -> Any:
    """Return what the page says, or None where it navigates, hangs or has removed the field."""
    if page.document_request is not None or page.closed:
        return None
    with contextlib.suppress(Error):
        return await run_isolated_about(element, script, argument, timeout_ms=min(timeout_ms, CHECK_MS))
    return None


_FIELD = "element instanceof HTMLLabelElement && element.control || element"

TEXT_LENGTH = """element => {
  if (element.isContentEditable) return element.innerText.replace(/\\s+/g, '').length;
  const types = ['text', 'search', 'url', 'tel', 'email', 'password', 'number', 'textarea'];
  return types.includes(element.type) ? element.value.replace(/\\s+/g, '').length : null;
}"""
"""A function that counts the characters of a text field without white space. Null for other elements."""

_GAINED = f"""(element, [text, length]) => {{
  const bare = text.replace(/\\s+/g, '');
  if (({TEXT_LENGTH})(element) !== length + bare.length) return false;
  return (element.isContentEditable ? element.innerText : element.value).replace(/\\s+/g, '').endsWith(bare);
}}"""

IS_EDITOR = """
  const isEditor = element => {
    const isText = element instanceof HTMLTextAreaElement;
    if (!(isText || element.isContentEditable) || element.checkVisibility?.() === false) return false;
    if (element.closest('.CodeMirror, .cm-editor, .ace_editor, .monaco-editor')) return true;
    if (!isText) return false;
    // A field that nobody sees and that has the focus for another element.
    if (element.checkVisibility?.({opacityProperty: true}) === false) return true;
    for (let at = element, up = 0; at && up < 3; at = at.parentElement, up++)
      if ((at === element || getComputedStyle(at).overflow !== 'visible')
        && (at.clientWidth < 4 || at.clientHeight < 4)) return true;
    return false;
  };"""
"""Declares a function: whether an element is the field of a code editor, which keeps its text elsewhere."""

_HOLDS = f"""(element, value) => {{{IS_EDITOR}
  const field = {_FIELD};
  if (isEditor(field)) return null;
  const bare = text => text.replace(/\\s+/g, '');
  if (field.isContentEditable) return bare(field.innerText) === bare(value);
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return null;
  if (field.type === 'number' || field.type === 'range') return Number(field.value) === Number(value);
  if (['date', 'datetime-local', 'month', 'time', 'week', 'color'].includes(field.type)) {{
    const expected = field.cloneNode();
    expected.value = value.trim();
    return field.value === expected.value;
  }}
  if (!['text', 'search', 'url', 'tel', 'email', 'password', 'textarea'].includes(field.type)) return null;
  return bare(field.value) === bare(value);
}}"""

_HAS_CHOSEN = f"""(element, expected) => {{
  const select = {_FIELD};
  if (!(select instanceof HTMLSelectElement)) return null;
  const is = (option, name) => option.value === name || option.label === name;
  const chosen = Array.from(select.selectedOptions);
  return chosen.every(option => expected.some(name => is(option, name)))
    && expected.every(name => chosen.some(option => is(option, name)));
}}"""

_HAS_NO_FILE = f"""element => {{
  const input = {_FIELD};
  return input instanceof HTMLInputElement && input.type === 'file' && !input.files.length;
}}"""
