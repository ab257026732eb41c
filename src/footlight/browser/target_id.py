"""What Chromium itself calls a page: for other programs that attach to the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import Error
from footlight.browser.diagnosis import explained

if TYPE_CHECKING:
    from footlight.browser.page import Page

__all__ = ["target_id_of"]


async def target_id_of(page: Page) -> str:
    """Raises FootlightError where the page is gone."""
    try:
        cdp = await page.playwright.context.new_cdp_session(page.playwright)
        told = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))
        await cdp.detach()
    except Error as error:
        raise await explained(page, error) from error
    return str(told["targetInfo"]["targetId"])
