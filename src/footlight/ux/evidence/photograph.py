"""The picture of a page, out of which those of its findings are cut."""

from __future__ import annotations

import asyncio

from footlight.client.errors import MCPConnectionError, MCPError, ToolInvocationError
from footlight.client.loose import number
from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.pictures import PagePicture
from footlight.ux.findings import Fact
from footlight.ux.page import AuditedPage, View

__all__ = ["Photograph"]

TALLEST = 16_000
"""Pixels. Beyond, a picture takes longer than everything else, and browsers begin to leave parts out."""


class Photograph:
    """Comes after what times the page, which is laid out anew for a picture of the whole."""

    name = "the picture of the page"
    every_view = True

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        """Of what is visible first, where the whole is too much."""
        try:
            height = number(await page.evaluate("() => document.documentElement.scrollHeight")) or 0
            if height <= TALLEST:
                return Collected(picture=await _taken(page, full_page=True))
            why = f"it is {height:.0f} px high"
        except MCPConnectionError:
            raise
        except MCPError as error:
            why = str(error)
        less = Fact(topic="page", text=f"Pictures at {view.width} px are of the first screen: {why}")
        return Collected(picture=await _taken(page, full_page=False), facts=[less])


async def _taken(page: AuditedPage, *, full_page: bool) -> PagePicture:
    """
    Raises:
        MCPError: there is none, or none that can be read.
    """
    image = await page.screenshot(full_page=full_page)
    try:
        return await asyncio.to_thread(PagePicture, image)
    except (OSError, ValueError) as error:  # Pillow's, which also refuses what would fill the memory
        raise ToolInvocationError(
            f"the picture cannot be read: {error}", tool_name="screenshot", reason="protocol"
        ) from error
