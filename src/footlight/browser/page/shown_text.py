"""Find the innermost visible element with a text (`shown_text.js`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from footlight.browser.driver.scripts import GETTER
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator, Playwright

__all__ = ["find_text", "register_shown_text"]

_ENGINE = "footlight-shown-text"


async def register_shown_text(playwright: Playwright) -> None:
    """Register the selector engine. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent, GETTER, "shown_text")
    await playwright.selectors.register(_ENGINE, source, content_script=True)


def find_text(frame: Frame, text: str) -> Locator:
    """Return the innermost element of a frame that shows the text. While hidden, it is not attached."""
    return frame.locator(f"{_ENGINE}={quote(text)}")
