"""Read the main content of a page as Markdown, in parts that fit a budget."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import GETTER
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import limit_reading, retry_after_navigation
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Locator, Playwright

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Article", "MarkdownPart", "cut_part", "read", "register_markdown_engine"]

ENGINE = "footlight-read"

_MODULES = ("nodes", "left_out", "main_content", "texts", "code_blocks", "tables", "writer", "markdown")
"""The modules of the script in `scripts/markdown/`. Each uses those before it."""

NEAR_END = 0.7
"""A part ends between two blocks, lines or words if there is such a place after this share of it."""


@dataclass(frozen=True, slots=True)
class Article:
    """The main content of a page."""

    title: str
    url: str
    markdown: str


@dataclass(frozen=True, slots=True)
class MarkdownPart:
    """A part of a text. `following` is the offset of the next part, or None at the end."""

    text: str
    following: int | None


async def register_markdown_engine(playwright: Playwright) -> None:
    """Register the selector engine. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent / "scripts" / "markdown", GETTER, *_MODULES)
    await playwright.selectors.register(ENGINE, source, content_script=True)


async def read(page: Page, deadline: Deadline, *, selector: str | None, links: bool) -> Article:
    """Return the main content of the page, or the whole content of an element.

    Raises:
        FootlightError: the element does not exist, the page does not respond, or it is gone.
    """
    query = f"{ENGINE}={quote(json.dumps({'links': links}))}"

    async def below(element: Locator, timeout: float) -> str | None:
        return await element.locator(query).get_attribute("v", timeout=timeout)

    if selector is not None:
        return _article(await read_element(page, selector, deadline, below))
    try:
        async with limit_reading(page, deadline):
            return _article(
                await retry_after_navigation(lambda: page.playwright.get_attribute(query, "v", timeout=0))
            )
    except Error as error:
        raise await explain_page_failure(page, error) from error


def _article(reply: str | None) -> Article:
    article: dict[str, Any] = json.loads(reply or "{}")
    return Article(article["title"], article["url"], article["markdown"])


def cut_part(text: str, offset: int, budget: int) -> MarkdownPart:
    """Return at most `budget` characters from `offset` on, with a mark at the end if there are more."""
    remaining = len(text) - offset
    if remaining <= budget:
        return MarkdownPart(text[max(0, offset) :], None)
    room = budget - len(_mark(remaining, len(text)))
    end = _end(text, offset, offset + room)
    return MarkdownPart(text[offset:end].rstrip() + _mark(len(text) - end, end), end)


def _mark(remaining: int, following: int) -> str:
    return f"\n\n[cut: {remaining} more characters; go on with offset {following}]"


def _end(text: str, start: int, limit: int) -> int:
    least = start + int((limit - start) * NEAR_END)
    for between in ("\n\n", "\n", " "):
        at = text.rfind(between, least, limit)
        if at > start:
            return at + len(between)
    return limit
