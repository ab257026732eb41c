"""Where a page shows a secret, so that no picture does."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.async_api import Locator, Page, Playwright

__all__ = ["COVER", "holding", "register_secrets_engine"]

ENGINE = "footlight-secrets"

COVER = "#000000"


async def register_secrets_engine(playwright: Playwright) -> None:
    """Before any page is made."""
    source = Path(__file__).with_name("secrets.js")
    await playwright.selectors.register(ENGINE, path=source, content_script=True)


def holding(page: Page, values: Sequence[str]) -> list[Locator]:
    """The elements that show one of these, in each frame: by the time that the picture is taken.

    What is drawn on a canvas, or lies in a closed shadow root, is not found.
    """
    if not values:
        return []
    selector = f"{ENGINE}={quote(json.dumps([text for value in values for text in _shown(value)]))}"
    return [frame.locator(selector) for frame in page.frames]


def _shown(value: str) -> set[str]:
    return {value, quote(value, safe=""), base64.b64encode(value.encode()).decode()}
