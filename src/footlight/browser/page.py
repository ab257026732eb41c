"""One page of a session: what it is, and how it is asked or acted upon.

What can be done with a page is in navigation, actions and reading; why it could not be done, in diagnosis.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from footlight.browser._playwright import CONTEXT_LOST, Error, PlaywrightTimeout, is_closed
from footlight.browser.deadline import unheard
from footlight.browser.diagnosis import explained, overdue
from footlight.browser.found import Elements
from footlight.browser.refs import leading_ref, resolve
from footlight.browser.scripts import run
from footlight.browser.targets import locate
from footlight.browser.traffic import Traffic
from footlight.browser.unbroken import unbroken
from footlight.browser.view import View

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Locator, Request, Response
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.deadline import Deadline, Stage
    from footlight.browser.network import Throttling
    from footlight.browser.session import Session

__all__ = ["Page"]

T = TypeVar("T")

HUNG_SECONDS = 3.0
"""A page that answers nothing for so long, after a call has timed out, is hung."""
EXTENSION_HUNG_SECONDS = 15.0
"""The same of an extension's own: a wallet computes for seconds while it starts or makes its keys."""
STOP_SECONDS = 1.0
"""How long a page may take to stop loading."""
UNDO_SECONDS = 1.0
"""How long taking back one thing that a cancelled call began may take; a hung page takes nothing back."""
SHOWN_URL = 200
"""Characters of a URL in a stage."""


class Page:
    """A tab of a session. `id` (`page-1`, …) is its own for as long as the session lives.

    `loaded` says when the document reached `dom` and `load` (`time.monotonic()`), `awaited` is the request
    for the next document while it has no answer, `failed` the last such request that came to nothing.
    """

    def __init__(self, id: str, page: PlaywrightPage, session: Session) -> None:
        self.id = id
        self.created_at = time.time()
        self.crashed = False
        self.closing = False
        """We close it ourselves."""
        self._page = page
        self.session = session
        self.elements = Elements()
        self.view = View(session.ref_numbers)
        self.traffic = Traffic(page)
        self.loaded: dict[str, float] = {}
        self._throttling: CDPSession | None = None
        self.awaited: Request | None = None
        self.failed: Request | None = None
        self._requested_at = 0.0
        self._stage: Stage = unheard
        page.on("crash", self._on_crash)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_failed)
        page.on(
            "domcontentloaded", lambda _: self._on_loaded("dom", "the document is there, loading the rest")
        )
        page.on("load", lambda _: self._on_loaded("load", "loaded"))

    def _on_crash(self, _: object) -> None:
        self.crashed = True

    def _on_request(self, request: Request) -> None:
        """Chromium runs no script in a page whose next document has not begun to arrive."""
        with contextlib.suppress(Error):  # The first request of a popup has no frame yet.
            if request.is_navigation_request() and request.frame == self._page.main_frame:
                self.awaited = request
                self._requested_at = time.monotonic()
                self._stage(f"requesting {_shown(request.url)}")

    def _on_response(self, response: Response) -> None:
        if response.request == self.awaited:
            self.awaited = None
            if not 300 <= response.status < 400:
                self._stage(f"answered {response.status}, loading")

    def _on_loaded(self, event: str, stage: str) -> None:
        self.loaded[event] = time.monotonic()
        self._stage(stage)

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
        of_extension = self.url.startswith("chrome-extension:")
        try:
            async with asyncio.timeout(EXTENSION_HUNG_SECONDS if of_extension else HUNG_SECONDS):
                await self._page.evaluate("0")
        except TimeoutError:
            return self.awaited is not None
        except Error:  # Navigating, closed or crashed is not hung.
            return True
        return True

    async def stop_loading(self) -> None:
        """Give up waiting for the next document, so that the one that is there can be used."""
        if self.awaited is not None:
            await self.stop()

    async def stop(self) -> None:
        """Load no more, whether or not the next document has begun to arrive.

        Not while a dialog is open: what that holds up goes on with its answer.
        """
        if self.session.dialogs.find(self):
            return
        self.awaited = None
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                if self.session.engine != "chromium":
                    await self._page.evaluate("window.stop()")
                    return
                cdp = await self._page.context.new_cdp_session(self._page)
                await cdp.send("Page.stopLoading")
                await cdp.detach()

    async def stop_since(self, began: float) -> None:
        """Stop what an action began to load."""
        # A way to the browser and back, on which its news of a request overtake us.
        await self._page.context.cookies("http://127.0.0.1")
        if self._requested_at >= max(began, self.loaded.get("load", 0.0)):
            await self.stop()

    @contextlib.contextmanager
    def telling(self, stage: Stage) -> Generator[None]:
        """Tell the stages of the navigations in this block."""
        self._stage = stage
        try:
            yield
        finally:
            self._stage = unheard

    @contextlib.asynccontextmanager
    async def undoing(
        self,
        *undo: Callable[[], Awaitable[object]],
        after: tuple[type[BaseException], ...] = (asyncio.CancelledError,),
    ) -> AsyncGenerator[None]:
        """Take back what the block has begun where it is cut off in the middle.

        Playwright ends an operation whose caller is cancelled, and leaves the page as it is by then.
        """
        try:
            yield
        except after:
            await self.undo(*undo)
            raise

    async def undo(self, *undo: Callable[[], Awaitable[object]]) -> None:
        """One after the other, each as far as the page lets it, and whoever is cancelled meanwhile."""
        await unbroken(_undone(undo))

    async def throttle(self, throttling: Throttling) -> None:
        """Chromium only. The emulation lasts as long as its CDP session, so that is kept."""
        if self._throttling is None:
            self._throttling = await self._page.context.new_cdp_session(self._page)
            await self._throttling.send("Network.enable")
        await self._throttling.send("Network.emulateNetworkConditions", throttling.conditions)

    async def close(self) -> None:
        self.closing = True
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._page.close()

    async def locate(self, selector: str, deadline: Deadline) -> Locator:
        """All matches. Raises InvalidSelector, StaleRef."""
        scope, selector = await self._scope(selector, deadline)
        return await locate(scope, selector, timeout_ms=deadline.element_ms)

    async def locate_now(self, selector: str, deadline: Deadline) -> Locator:
        """All matches, without waiting for the frames that lead to them."""
        scope, selector = await self._scope(selector, deadline)
        return await locate(scope, selector, timeout_ms=None)

    async def _scope(self, selector: str, deadline: Deadline) -> tuple[PlaywrightPage | Frame, str]:
        """Where to look, and for what: a ref is an element of one frame, which its selector need not name."""
        found = leading_ref(selector)
        if found is None:
            return self._page, selector
        ref, rest = found
        target = await resolve(self, ref, deadline)
        if target.locator:
            self.view.located[selector] = f"{target.locator} {rest}".rstrip()
        return target.frame, target.selector + rest

    async def act(
        self, selector: str, deadline: Deadline, action: Callable[[Locator, float], Awaitable[object]]
    ) -> None:
        """Do something with the first match, or say why it cannot be done. It may close the page."""
        began = time.monotonic()
        try:
            async with self.undoing(lambda: self.stop_since(began)):
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

        return await self.despite_navigation(act)

    async def ask_all(
        self, selector: str, deadline: Deadline, question: Callable[[Locator], Awaitable[T]]
    ) -> T:
        """Ask about all matches, now."""

        async def ask() -> T:
            return await question(await self.locate_now(selector, deadline))

        try:
            async with self.within(deadline):
                return await self.despite_navigation(ask)
        except Error as error:
            raise await explained(self, error, selector, deadline) from error

    async def evaluate(self, script: str, argument: Any, deadline: Deadline) -> Any:
        """A script of our own."""
        try:
            async with self.within(deadline):
                return await self.despite_navigation(lambda: run(self._page, script, argument))
        except Error as error:
            raise await explained(self, error) from error

    async def despite_navigation(self, ask: Callable[[], Awaitable[T]]) -> T:
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

    @contextlib.asynccontextmanager
    async def sending(self, message: str, deadline: Deadline) -> AsyncGenerator[None]:
        """Input to the page itself, which has no time limit in Playwright. It may close the page.

        Raises:
            DeadlineExceeded: the page takes too long over what was sent; with that message.
        """
        try:
            async with asyncio.timeout(deadline.remaining_ms / 1000):
                yield
        except (TimeoutError, PlaywrightTimeout):
            raise await overdue(
                self, message, deadline, retryable=False, url=self.url, dispatched=True
            ) from None
        except Error as error:
            if not self.closed_itself(error):
                raise await explained(self, error) from error

    def closed_itself(self, error: Error) -> bool:
        """The action was done and its effect was that the page closed."""
        return is_closed(error) and self.closed and self.session.alive and not self.crashed


async def _undone(undo: Iterable[Callable[[], Awaitable[object]]]) -> None:
    for each in undo:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(UNDO_SECONDS):
                await each()


def _shown(url: str) -> str:
    return url if len(url) <= SHOWN_URL else f"{url[:SHOWN_URL]}…"
