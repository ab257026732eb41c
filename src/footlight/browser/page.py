"""One page of a session: what it is, and how it is asked or acted upon.

What can be done with a page is in navigation, actions and reading; why it could not be done, in diagnosis.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from footlight.browser._playwright import CONTEXT_LOST, Error, is_closed
from footlight.browser.diagnosis import explained, overdue
from footlight.browser.targets import locate

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator, Request
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.deadline import Deadline
    from footlight.browser.network import Throttling
    from footlight.browser.session import Session

__all__ = ["Page"]

T = TypeVar("T")

HUNG_SECONDS = 0.5
"""A page that answers nothing for so long, after a call has timed out, is hung."""


class Page:
    """A tab of a session. `id` (`page-1`, …) is its own for as long as the session lives.

    `loaded` says when the document reached `dom` and `load` (`time.monotonic()`), `awaited` is the request
    for the next document while it has no answer, `failed` the last such request that came to nothing.
    """

    def __init__(self, id: str, page: PlaywrightPage, session: Session) -> None:
        self.id = id
        self.created_at = time.time()
        self.crashed = False
        self._page = page
        self.session = session
        self.loaded: dict[str, float] = {}
        self._throttling: CDPSession | None = None
        self.awaited: Request | None = None
        self.failed: Request | None = None
        page.on("crash", self._on_crash)
        page.on("request", self._on_request)
        page.on("response", lambda response: self._on_answered(response.request))
        page.on("requestfailed", self._on_failed)
        page.on("domcontentloaded", lambda _: self.loaded.update(dom=time.monotonic()))
        page.on("load", lambda _: self.loaded.update(load=time.monotonic()))

    def _on_crash(self, _: object) -> None:
        self.crashed = True

    def _on_request(self, request: Request) -> None:
        """Chromium runs no script in a page whose next document has not begun to arrive."""
        with contextlib.suppress(Error):  # The first request of a popup has no frame yet.
            if request.is_navigation_request() and request.frame == self._page.main_frame:
                self.awaited = request

    def _on_answered(self, request: Request) -> None:
        if request == self.awaited:
            self.awaited = None

    def _on_failed(self, request: Request) -> None:
        if request == self.awaited:
            self.awaited, self.failed = None, request

    @property
    def url(self) -> str:
        return self._page.url

    @property
    def closed(self) -> bool:
        return self._page.is_closed()

    @property
    def playwright(self) -> PlaywrightPage:
        """For the other modules of this folder."""
        return self._page

    async def answers(self) -> bool:
        """Whether the page still runs scripts; one that sits in an endless loop does not."""
        try:
            async with asyncio.timeout(HUNG_SECONDS):
                await self._page.evaluate("0")
        except TimeoutError:
            return self.awaited is not None
        except Error:  # Navigating, closed or crashed is not hung.
            return True
        return True

    async def stop_loading(self) -> None:
        """Give up waiting for the next document, so that the one that is there can be used."""
        if self.awaited is None:
            return
        self.awaited = None
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(HUNG_SECONDS):
                if self.session.engine != "chromium":
                    await self._page.evaluate("window.stop()")
                    return
                cdp = await self._page.context.new_cdp_session(self._page)
                await cdp.send("Page.stopLoading")
                await cdp.detach()

    async def throttle(self, throttling: Throttling) -> None:
        """Chromium only. The emulation lasts as long as its CDP session, so that is kept."""
        if self._throttling is None:
            self._throttling = await self._page.context.new_cdp_session(self._page)
            await self._throttling.send("Network.enable")
        await self._throttling.send("Network.emulateNetworkConditions", throttling.conditions)

    async def close(self) -> None:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._page.close()

    async def locate(self, selector: str, deadline: Deadline) -> Locator:
        return await locate(self._page, selector, timeout_ms=deadline.element_ms)

    async def locate_now(self, selector: str) -> Locator:
        return await locate(self._page, selector, timeout_ms=None)

    async def act(
        self, selector: str, deadline: Deadline, action: Callable[[Locator, float], Awaitable[object]]
    ) -> None:
        """Do something with the first match, or say why it cannot be done. It may close the page."""
        try:
            await self._with(selector, deadline, action)
        except Error as error:
            if not self.closed_itself(error):
                raise await explained(self, error, selector, deadline) from error

    async def ask(
        self, selector: str, deadline: Deadline, question: Callable[[Locator, float], Awaitable[T]]
    ) -> T:
        """Do something with the first match that has a value, or say why there is none."""
        try:
            return await self._with(selector, deadline, question)
        except Error as error:
            raise await explained(self, error, selector, deadline) from error

    async def _with(
        self, selector: str, deadline: Deadline, action: Callable[[Locator, float], Awaitable[T]]
    ) -> T:
        async def act() -> T:
            element = (await self.locate(selector, deadline)).first
            return await action(element, deadline.element_ms)

        return await self._despite_navigation(act)

    async def ask_all(
        self, selector: str, deadline: Deadline, question: Callable[[Locator], Awaitable[T]]
    ) -> T:
        """Ask about all matches, now."""

        async def ask() -> T:
            return await question(await self.locate_now(selector))

        try:
            async with self.within(deadline):
                return await self._despite_navigation(ask)
        except Error as error:
            raise await explained(self, error, selector, deadline) from error

    async def evaluate(self, script: str, argument: Any, deadline: Deadline) -> Any:
        """A script of our own."""
        try:
            async with self.within(deadline):
                return await self._despite_navigation(lambda: self._page.evaluate(script, argument))
        except Error as error:
            raise await explained(self, error) from error

    async def _despite_navigation(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask again whenever a navigation took the page from under a script of ours."""
        while True:
            try:
                return await ask()
            except Error as error:
                if not CONTEXT_LOST.search(error.message):
                    raise

    @contextlib.asynccontextmanager
    async def within(self, deadline: Deadline) -> AsyncGenerator[None]:
        """Scripts have no time limit in Playwright."""
        try:
            async with asyncio.timeout(deadline.remaining_ms / 1000):
                yield
        except TimeoutError:
            raise await overdue(
                self, f"The page gave no answer within {deadline.timeout_ms:.0f}ms", deadline, url=self.url
            ) from None

    def closed_itself(self, error: Error) -> bool:
        """The action was done and its effect was that the page closed."""
        return is_closed(error) and self.closed and self.session.alive and not self.crashed
