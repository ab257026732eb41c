"""Print a page to PDF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from footlight.browser.driver.playwright_api import Error, cause, is_closed
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.page_operations import limit_reading
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["PaperFormat", "PrintOptions", "print_pdf"]

PaperFormat = Literal["Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintOptions:
    """`pages` is a list such as `1-3, 5`."""

    format: PaperFormat = "A4"
    landscape: bool = False
    background: bool = True
    scale: float = 1.0
    pages: str = ""


async def print_pdf(page: Page, options: PrintOptions, deadline: Deadline) -> bytes:
    """Return the page as PDF.

    Raises:
        InvalidParameter: the browser cannot print, or the page ranges are wrong.
    """
    if page.session.engine != "chromium":
        raise InvalidParameter(
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
        raise InvalidParameter(
            f"The browser did not print: {cause(error)}",
            suggestion="pages must name existing pages, such as 1-3, 5. A browser with a window may "
            "not print at all: start the server with --headless.",
            pages=options.pages or None,
        ) from error
