"""The pages that a session's pages open: which are on their way and not yet announced."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from playwright.async_api import BrowserContext, Page

    from footlight.browser.pool import PooledBrowser

__all__ = ["Popups"]


class Popups:
    """Chromium tells of a new page at once, Playwright when it has an answer from its server.

    The other engines have no such signal; their pages are told in the answer after Playwright's event.
    """

    def __init__(self, browser: PooledBrowser, context: BrowserContext) -> None:
        self._browser = browser
        self._context = context
        self._context_id: str | None = None
        self._announced = 0
        self._given_up = 0
        self._changed = asyncio.Event()

    def announced(self) -> None:
        """Playwright has told of one."""
        self._announced += 1
        self._changed.set()

    async def settle(self, pages: Callable[[], Sequence[Page]]) -> None:
        """Wait until all that were begun are announced. `pages` are the session's, to ask one of them."""
        while await self._due(pages) > self._given_up:
            self._changed.clear()
            await self._changed.wait()

    async def give_up(self, pages: Callable[[], Sequence[Page]]) -> None:
        """Do not wait again for those that have not come by now."""
        self._given_up = max(0, await self._due(pages))

    async def _due(self, pages: Callable[[], Sequence[Page]]) -> int:
        if not self._browser.opened:
            return 0
        if self._context_id is None:
            self._context_id = await self._find_context_id(pages())
        begun = sum(target.context == self._context_id for target in self._browser.opened)
        return begun - self._announced

    async def _find_context_id(self, pages: Sequence[Page]) -> str | None:
        """Chromium's name for the context; Playwright keeps it to itself."""
        for page in pages:
            with contextlib.suppress(Error):
                cdp = await self._context.new_cdp_session(page)
                info = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))
                await cdp.detach()
                return str(info["targetInfo"].get("browserContextId", ""))
        return None
