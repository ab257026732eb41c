"""A selector becomes an element: CSS, `//xpath`, `testid=…`, a ref, and `>>` into frames.

CSS and `testid=` reach into open shadow roots. `a >> b` looks for b inside a; where a is a frame, inside
its document. Playwright's other engines (`text=`, `role=`) pass through. The first match in document order
counts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from footlight.browser.scripts import run_about_all
from footlight.errors import InvalidSelector

if TYPE_CHECKING:
    from playwright.async_api import Frame, FrameLocator, Locator, Page

__all__ = ["evaluate_all", "frame_path", "locate", "parse"]

_REF = re.compile(r"e[1-9]\d*")


def parse(selector: str) -> tuple[str, ...]:
    """The parts between `>>`, each in Playwright's language.

    Raises:
        InvalidSelector: empty, or with an empty part.
    """
    return tuple(_in_playwright(part) for part in _parts(selector))


def _parts(selector: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in _split(selector))
    if not all(parts):
        raise InvalidSelector(f'The selector "{selector}" has an empty part', selector=selector)
    return parts


def _in_playwright(part: str) -> str:
    if part.startswith("testid="):
        value = part.removeprefix("testid=").strip("\"'")
        return f"[data-testid={json.dumps(value, ensure_ascii=False)}]"
    if part.startswith(("//", "(//", "..")):
        return f"xpath={part}"
    return f"footlight={part}" if _REF.fullmatch(part) else part


def _split(selector: str) -> list[str]:
    """Split at `>>` outside quotes."""
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


async def locate(within: Page | Frame, selector: str, *, timeout_ms: float | None) -> Locator:
    """All matches of the selector; entering a frame waits up to `timeout_ms` for it, with None not at all.

    Raises:
        InvalidSelector: it cannot be parsed.
        playwright.async_api.TimeoutError: a part before `>>` matches nothing.
    """
    *outer, last = parse(selector)
    scope: Page | Frame | FrameLocator | Locator = within
    for part in outer:
        inner = scope.locator(part).first
        if timeout_ms is None and not await inner.count():
            return inner.locator(last)  # Matches nothing either.
        is_frame = await _is_frame(inner, timeout_ms=timeout_ms)
        scope = inner.content_frame if is_frame else inner
    return scope.locator(last)


async def _is_frame(element: Locator, *, timeout_ms: float | None) -> bool:
    """Asked in the engine's world: a page may have forbidden scripts in its own (`snapshot.js`)."""
    question = element.locator(f"footlight={quote(json.dumps({'what': 'frame'}))}")
    return await question.get_attribute("v", timeout=timeout_ms) == "true"


async def evaluate_all(found: Locator, selector: str, script: str, argument: Any = None) -> Any:
    """What a script says of all elements that are there now, which it gets as a list."""
    # Refs are known in the world of their engine, and scripts run in the page's.
    by_handle = any(_REF.fullmatch(part.strip()) for part in _split(selector))
    return await run_about_all(found, script, argument, by_handle=by_handle)


async def frame_path(within: Page | Frame, selector: str) -> str:
    """The parts of the selector up to the innermost frame, each with its `>>`; "" where it enters none."""
    parts = _parts(selector)
    path = ""
    scope: Page | Frame | FrameLocator | Locator = within
    for count, part in enumerate(parts[:-1], start=1):
        inner = scope.locator(_in_playwright(part)).first
        scope = inner
        if await _is_frame(inner, timeout_ms=None):
            scope = inner.content_frame
            path = "".join(f"{outer} >> " for outer in parts[:count])
    return path
