"""Find elements by a selector: CSS, `//xpath`, `testid=…`, a ref, and `>>` for elements inside others.

CSS and `testid=` also match in open shadow roots. `a >> b` finds b inside a, or inside its document if a is a
frame. `a >> nth=2` and `a >> visible=true` choose among all matches of a. Playwright's other engines
(`text=`, `role=`) are passed on. The first match in document order is used.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from footlight.browser.driver.scripts import GETTER, run_about_all
from footlight.browser.snapshot.locators import mark_frame
from footlight.errors import InvalidSelectorError
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Frame, FrameLocator, Locator, Page, Playwright

__all__ = [
    "evaluate_all",
    "find_hidden_reason",
    "find_text",
    "frame_path",
    "locate_in",
    "mark_frames",
    "parse",
    "register_shown_text",
]

_SHOWN_TEXT = "footlight-shown-text"
"""The selector engine in `shown_text.js`. It finds the innermost visible element that contains a text."""
MAX_SELECTOR_CHARACTERS = 10_000
"""Longer selectors are refused: they would block the event loop and the browser's driver."""

_REF = re.compile(r"e[1-9]\d*")
_CHOICE = re.compile(r"nth=-?\d+|visible=(?:true|false)")
"""A part that chooses among the matches of the previous part, instead of searching inside one."""


def parse(selector: str) -> tuple[str, ...]:
    """Return the parts between `>>` in Playwright's syntax, each with the choice among its matches.

    Raises:
        InvalidSelectorError: the selector or a part of it is empty, or the selector is too long.
    """
    return tuple(_to_playwright(part) for part in _parts(selector))


def _parts(selector: str) -> tuple[str, ...]:
    if len(selector) > MAX_SELECTOR_CHARACTERS:
        raise InvalidSelectorError(
            f"The selector has {len(selector):,} characters; at most {MAX_SELECTOR_CHARACTERS:,} are allowed",
            suggestion="Use a shorter selector, such as a ref.",
            selector=f"{selector[:100]}…",
        )
    parts: list[str] = []
    for part in map(str.strip, _split_selector(selector)):
        if not part:
            raise InvalidSelectorError(f'The selector "{selector}" has an empty part', selector=selector)
        if parts and _CHOICE.fullmatch(part):
            parts[-1] += f" >> {part}"
        else:
            parts.append(part)
    return tuple(parts)


def _to_playwright(part: str) -> str:
    element, *choices = map(str.strip, _split_selector(part))
    return " >> ".join([_element_to_playwright(element), *choices])


def _element_to_playwright(part: str) -> str:
    if part.startswith("testid="):
        value = part.removeprefix("testid=").strip("\"'")
        return f"[data-testid={json.dumps(value, ensure_ascii=False)}]"
    if part.startswith(("//", "(//", "..")):
        return f"xpath={part}"
    return f"footlight={part}" if _REF.fullmatch(part) else part


def _split_selector(selector: str) -> list[str]:
    """Split a selector at each `>>` outside quotes."""
    parts: list[str] = []
    quote = ""
    start = at = 0
    while at < len(selector):
        char = selector[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif selector.startswith(">>", at):
            parts.append(selector[start:at])
            start = at = at + 2
            continue
        at += 1
    return [*parts, selector[start:]]


async def locate_in(root: Page | Frame, selector: str, *, timeout_ms: float | None) -> Locator:
    """Return a locator of all matches.

    Frames on the path are waited for up to `timeout_ms`, or not at all with None.

    Raises:
        InvalidSelectorError: the selector cannot be parsed.
        playwright.async_api.TimeoutError: a part before `>>` matches nothing.
    """
    *outer, last = parse(selector)
    scope: Page | Frame | FrameLocator | Locator = root
    for part in outer:
        inner = scope.locator(part).first
        if timeout_ms is None and not await inner.count():
            return inner.locator(last)  # It matches nothing either.
        is_frame = await _is_frame(inner, timeout_ms=timeout_ms)
        scope = inner.content_frame if is_frame else inner
    return scope.locator(last)


async def _is_frame(element: Locator, *, timeout_ms: float | None) -> bool:
    """Return whether the element is a frame. The snapshot script is asked: pages may forbid other scripts."""
    reply = element.locator(f"footlight={quote(json.dumps({'what': 'frame'}))}")
    return await reply.get_attribute("v", timeout=timeout_ms) == "true"


async def evaluate_all(found: Locator, selector: str, script: str, argument: Any = None) -> Any:
    """Return the result of a script that receives the list of all current matches."""
    # Refs exist only in the isolated world of the snapshot script, and scripts run in the page's main world.
    by_handle = any(_REF.fullmatch(part.strip()) for part in _split_selector(selector))
    return await run_about_all(found, script, argument, by_handle=by_handle)


async def frame_path(root: Page | Frame, selector: str) -> str:
    """Return the parts of the selector up to the innermost frame, each with its `>>`. "" without frames."""
    parts = _parts(selector)
    path = ""
    scope: Page | Frame | FrameLocator | Locator = root
    for count, part in enumerate(parts[:-1], start=1):
        inner = scope.locator(_to_playwright(part)).first
        scope = inner
        if await _is_frame(inner, timeout_ms=None):
            scope = inner.content_frame
            path = "".join(f"{outer} >> " for outer in parts[:count])
    return path


async def mark_frames(root: Page | Frame, selector: str) -> str:
    """Return the selector with `mark_frame` for the parts that are frames.

    Parts with several matches, except for the last one, are followed by `nth=0`.
    """
    *outer, last = _parts(selector)
    marked: list[str] = []
    scope: Page | Frame | FrameLocator | Locator = root
    for part in outer:
        found = scope.locator(_to_playwright(part))
        inner, count = found.first, await found.count()
        is_frame = count > 0 and await _is_frame(inner, timeout_ms=None)
        part = f"{part} >> nth=0" if count > 1 else part
        marked.append(mark_frame(part) if is_frame else part)
        scope = inner.content_frame if is_frame else inner
    return " >> ".join([*marked, last])


async def register_shown_text(playwright: Playwright) -> None:
    """Register the selector engine. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent, GETTER, "around", "shown_text")
    await playwright.selectors.register(_SHOWN_TEXT, source, content_script=True)


def find_text(frame: Frame, text: str) -> Locator:
    """Return a locator of the innermost element of a frame that shows the text.

    It matches only if visible.
    """
    return frame.locator(f"{_SHOWN_TEXT}={quote(text)}")


async def find_hidden_reason(frame: Frame, text: str) -> str | None:
    """Return why the first element of a frame with this text is not visible, "" if it is, or None."""
    found = frame.locator(f"{_SHOWN_TEXT}=?{quote(text)}")
    return await found.get_attribute("v", timeout=0) if await found.count() else None
