"""Take screenshots of a page or an element with the server's secrets covered, and print a page to PDF."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, cause, is_closed
from footlight.browser.driver.scripts import GETTER
from footlight.browser.page.diagnosis import explain_page_failure, explain_timeout
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import evaluate, limit_reading
from footlight.errors import InvalidParameterError
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Locator, Playwright
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "PaperFormat",
    "PrintOptions",
    "ScreenshotOptions",
    "print_pdf",
    "register_secrets_engine",
    "take_element_screenshot",
    "take_screenshot",
]

ENGINE = "footlight-secrets"
COVER = "#000000"
PaperFormat = Literal["Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6"]
_LACKS_BODY = "document.readyState !== 'loading' && !document.body"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotOptions:
    full_page: bool = False
    type: Literal["png", "jpeg"] = "png"
    quality: int | None = None
    still: bool = False
    """Whether animations are shown in their final state, so that screenshots of the same page are equal."""

    @property
    def animations(self) -> Literal["allow", "disabled"]:
        return "disabled" if self.still else "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintOptions:
    """Options for a PDF. `pages` is a list such as `1-3, 5`."""

    format: PaperFormat = "A4"
    landscape: bool = False
    background: bool = True
    scale: float = 1.0
    pages: str = ""


async def take_screenshot(page: Page, options: ScreenshotOptions, deadline: Deadline) -> bytes:
    """Take a screenshot of the viewport or of the full page.

    Raises:
        FootlightError: the document has no body and so no full page, or the page does not respond.
    """
    # Playwright would wait for a body until the deadline.
    if options.full_page and await evaluate(page, _LACKS_BODY, None, deadline):
        raise InvalidParameterError(
            "fullPage: the document has no body, so there is nothing beyond the window to show",
            parameter="fullPage",
            page=page.url,
            suggestion="Take the screenshot without fullPage.",
        )
    try:
        return await page.playwright.screenshot(
            full_page=options.full_page,
            type=options.type,
            timeout=deadline.remaining_ms,
            quality=options.quality,
            animations=options.animations,
            mask=_find_secrets(page.playwright, page.session.secrets),
            mask_color=COVER,
        )
    except PlaywrightTimeout as error:
        raise await explain_timeout(
            page, f"The screenshot was not ready after {deadline.elapsed}", deadline, url=page.url
        ) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def take_element_screenshot(
    page: Page, selector: str, options: ScreenshotOptions, deadline: Deadline
) -> bytes:
    return await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout: element.screenshot(
            type=options.type,
            timeout=timeout,
            quality=options.quality,
            animations=options.animations,
            mask=_find_secrets(page.playwright, page.session.secrets),
            mask_color=COVER,
        ),
    )


async def print_pdf(page: Page, options: PrintOptions, deadline: Deadline) -> bytes:
    """Return the page as PDF.

    Raises:
        InvalidParameterError: the browser cannot print, or the page ranges are invalid.
    """
    if page.session.engine != "chromium":
        raise InvalidParameterError(
            f"pdf needs Chromium; this session runs {page.session.engine}", engine=page.session.engine
        )
    try:
        async with limit_reading(page, deadline):
            return await page.playwright.pdf(
                format=options.format,
                landscape=options.landscape,
                print_background=options.background,
                scale=options.scale,
                page_ranges=options.pages,
            )
    except Error as error:
        if is_closed(error) or page.crashed:
            raise await explain_page_failure(page, error) from error
        reason = cause(error).removeprefix("Protocol error (Page.printToPDF): ")
        is_range = options.pages and "range" in reason
        raise InvalidParameterError(
            f"{'pages' if is_range else 'The browser did not print'}: {reason}",
            suggestion="pages must name existing pages, such as 1-3, 5. A browser with a window may "
            "not print at all: start the server with --headless.",
            parameter="pages" if is_range else None,
            pages=options.pages or None,
        ) from error


async def register_secrets_engine(playwright: Playwright) -> None:
    """Register the selector engine. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent, GETTER, "secrets")
    await playwright.selectors.register(ENGINE, source, content_script=True)


def _find_secrets(page: PlaywrightPage, values: Sequence[str]) -> list[Locator]:
    """Return a locator for each frame that finds the elements with one of the values, at the screenshot.

    Text on a canvas or in a closed shadow root is not found.
    """
    if not values:
        return []
    selector = f"{ENGINE}={quote(json.dumps([text for value in values for text in _encodings(value)]))}"
    return [frame.locator(selector) for frame in page.frames]


def _encodings(value: str) -> set[str]:
    return {value, quote(value, safe=""), base64.b64encode(value.encode()).decode()}
