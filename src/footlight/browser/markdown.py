"""The main content of a page as Markdown, and as much of it as there is room for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from footlight.browser._playwright import Error
from footlight.browser.diagnosis import explained

if TYPE_CHECKING:
    from playwright.async_api import Locator, Playwright

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Article", "Part", "part_of", "read", "register_markdown_engine"]

ENGINE = "footlight-read"

NEAR_END = 0.7
"""A part ends between two blocks, lines or words where one of those is in its last third."""


@dataclass(frozen=True, slots=True)
class Article:
    """What a page says."""

    title: str
    url: str
    markdown: str


@dataclass(frozen=True, slots=True)
class Part:
    """`following` is where to go on; None at the end."""

    text: str
    following: int | None


async def register_markdown_engine(playwright: Playwright) -> None:
    """Before any page is made."""
    source = Path(__file__).with_name("markdown.js")
    await playwright.selectors.register(ENGINE, path=source, content_script=True)


async def read(page: Page, deadline: Deadline, *, selector: str | None, links: bool) -> Article:
    """The main content of the page, or all of an element.

    Raises:
        FootlightError: no such element, the page gives no answer, or is gone.
    """
    query = f"{ENGINE}={quote(json.dumps({'links': links}))}"

    async def below(element: Locator, timeout: float) -> str | None:
        return await element.locator(query).get_attribute("v", timeout=timeout)

    if selector is not None:
        return _article(await page.ask(selector, deadline, below))
    try:
        async with page.within(deadline):
            return _article(
                await page.despite_navigation(lambda: page.playwright.get_attribute(query, "v", timeout=0))
            )
    except Error as error:
        raise await explained(page, error) from error


def _article(reply: str | None) -> Article:
    said: dict[str, Any] = json.loads(reply or "{}")
    return Article(said["title"], said["url"], said["markdown"])


def part_of(text: str, offset: int, budget: int) -> Part:
    """At most so many characters from `offset` on, with a mark at the end where more follows."""
    rest = len(text) - offset
    if rest <= budget:
        return Part(text[max(0, offset) :], None)
    room = budget - len(_mark(rest, len(text)))
    end = _end(text, offset, offset + room)
    return Part(text[offset:end].rstrip() + _mark(len(text) - end, end), end)


def _mark(left: int, following: int) -> str:
    return f"\n\n[cut: {left} more characters; go on with offset {following}]"


def _end(text: str, start: int, limit: int) -> int:
    least = start + int((limit - start) * NEAR_END)
    for between in ("\n\n", "\n", " "):
        at = text.rfind(between, least, limit)
        if at > start:
            return at + len(between)
    return limit
