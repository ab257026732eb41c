"""One page: everything that can be asked of it or done to it, in plain values.

An operation that fails says what is on the page: which element covers the one wanted, which come closest
to the one that is missing, whether an action that ran out of time had been dispatched.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from footlight.browser import inspection
from footlight.browser._playwright import (
    CONTEXT_LOST,
    Error,
    PlaywrightTimeout,
    cause,
    is_closed,
    is_syntax_error,
    is_wrong_kind,
    network_cause,
    translated,
    was_aborted,
    was_dispatched,
    was_editing,
)
from footlight.browser.downloads import ABORTED_SECONDS
from footlight.browser.inspection import INSPECT
from footlight.browser.policy import refused
from footlight.browser.targets import frame_path, locate
from footlight.errors import (
    BrowserCrashed,
    DeadlineExceeded,
    ElementNotFound,
    ElementNotInteractive,
    FootlightError,
    InternalError,
    InvalidParameter,
    NavigationFailed,
    SessionNotFound,
)

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ElementHandle, Locator, Request, Response
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.deadline import Deadline
    from footlight.browser.network import Throttling
    from footlight.browser.session import Session

__all__ = ["Navigation", "Page", "ScreenshotOptions"]

T = TypeVar("T")

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]
ElementState = Literal["attached", "detached", "visible", "hidden"]
Button = Literal["left", "middle", "right"]

DIAGNOSIS_MS = 800
"""How long a failed call may look for the reason."""
HUNG_SECONDS = 0.5
"""A page that answers nothing for so long, after a call has timed out, is hung."""


@dataclass(frozen=True, slots=True)
class Navigation:
    """How a page came to where it is. Times are milliseconds; `start_time` since the epoch."""

    url: str
    status: int | None
    redirected: bool
    start_time: float
    dom_content_loaded: float | None
    load_complete: float | None
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotOptions:
    full_page: bool = False
    type: Literal["png", "jpeg"] = "png"
    quality: int | None = None


class Page:
    """A tab of a session. `id` (`page-1`, …) is its own for as long as the session lives."""

    def __init__(self, id: str, page: PlaywrightPage, session: Session) -> None:
        self.id = id
        self.created_at = time.time()
        self.crashed = False
        self._page = page
        self._session = session
        self._loaded: dict[str, float] = {}
        self._throttling: CDPSession | None = None
        self._awaited: Request | None = None
        page.on("crash", self._on_crash)
        page.on("request", self._on_request)
        page.on("response", lambda response: self._on_answered(response.request))
        page.on("requestfailed", self._on_answered)
        page.on("domcontentloaded", lambda _: self._loaded.update(dom=time.monotonic()))
        page.on("load", lambda _: self._loaded.update(load=time.monotonic()))

    def _on_crash(self, _: object) -> None:
        self.crashed = True

    def _on_request(self, request: Request) -> None:
        """Chromium runs no script in a page whose next document has not begun to arrive."""
        with contextlib.suppress(Error):  # The first request of a popup has no frame yet.
            if request.is_navigation_request() and request.frame == self._page.main_frame:
                self._awaited = request

    def _on_answered(self, request: Request) -> None:
        if request == self._awaited:
            self._awaited = None

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

    # Going places

    async def navigate(self, url: str, wait_until: WaitUntil, deadline: Deadline) -> Navigation:
        self._session.policy.check_url(url)
        return await self._go(
            lambda timeout: self._page.goto(url, wait_until=wait_until, timeout=timeout), deadline, url=url
        )

    async def go_back(self, deadline: Deadline) -> Navigation:
        return await self._go(lambda timeout: self._page.go_back(timeout=timeout), deadline)

    async def go_forward(self, deadline: Deadline) -> Navigation:
        return await self._go(lambda timeout: self._page.go_forward(timeout=timeout), deadline)

    async def reload(self, deadline: Deadline, *, ignore_cache: bool) -> Navigation:
        if not ignore_cache:
            return await self._go(lambda timeout: self._page.reload(timeout=timeout), deadline)
        # Interception switches the HTTP cache off, in every engine.
        async with self._session.without_cache(self._page):
            return await self._go(lambda timeout: self._page.reload(timeout=timeout), deadline)

    async def wait_for_load(self, state: WaitUntil, deadline: Deadline) -> None:
        try:
            await self._page.wait_for_load_state(state, timeout=deadline.remaining_ms)
        except PlaywrightTimeout as error:
            raise await self._overdue(
                f"The page did not reach the state {state} within {deadline.timeout_ms:.0f}ms",
                deadline,
                url=self.url,
            ) from error
        except Error as error:
            raise await self._explained(error) from error

    async def _go(
        self, go: Callable[[float], Awaitable[Response | None]], deadline: Deadline, *, url: str | None = None
    ) -> Navigation:
        began, start_time = time.monotonic(), time.time() * 1000
        downloads = self._session.downloads.count
        self._loaded.clear()
        if url is None:
            await self._stop_loading()
        try:
            response = await go(deadline.remaining_ms)
        except Error as error:
            if not await self._became_download(error, downloads):
                raise await self._navigation_error(error, url, deadline, began) from error
            response = None
        if response is not None:
            self._session.check_proxied(response)

        def after(event: str) -> float | None:
            return _milliseconds(self._loaded[event] - began) if event in self._loaded else None

        return Navigation(
            url=self.url,
            status=response.status if response else None,
            redirected=bool(response and response.request.redirected_from),
            start_time=round(start_time),
            dom_content_loaded=after("dom"),
            load_complete=after("load"),
            duration=_milliseconds(time.monotonic() - began),
        )

    async def _became_download(self, error: Error, before: int) -> bool:
        """A URL that is a file ends the navigation; the download may be announced just after that."""
        if not was_aborted(error):
            return False
        self._session.downloads.expect(ABORTED_SECONDS)
        await self._session.downloads.settle()
        return self._session.downloads.count > before

    async def _navigation_error(
        self, error: Error, url: str | None, deadline: Deadline, began: float
    ) -> FootlightError:
        if is_closed(error):
            return await self._gone()
        where = url or self.url
        if isinstance(error, PlaywrightTimeout):
            await self._stop_loading()
            return await self._overdue(
                f"Navigation timed out after {deadline.timeout_ms:.0f}ms", deadline, url=where
            )
        if refusal := self._session.refusal_since(began):
            return refused(refusal, where)
        known = translated(error)
        if url is None:
            return known or NavigationFailed(cause(error), url=where)
        network = network_cause(error)
        if network is None and known is not None:
            return known
        return NavigationFailed(f"{url} could not be opened: {network or cause(error)}", url=url)

    async def _stop_loading(self) -> None:
        """Give up waiting for the next document, so that the one that is there can be used."""
        if self._awaited is None:
            return
        self._awaited = None
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(HUNG_SECONDS):
                if self._session.engine != "chromium":
                    await self._page.evaluate("window.stop()")
                    return
                cdp = await self._page.context.new_cdp_session(self._page)
                await cdp.send("Page.stopLoading")
                await cdp.detach()

    # Acting

    async def click(self, selector: str, deadline: Deadline, *, button: Button, count: int) -> None:
        await self._act(
            selector,
            deadline,
            lambda element, timeout: element.click(button=button, click_count=count, timeout=timeout),
        )

    async def type_text(self, selector: str, text: str, deadline: Deadline, *, delay_ms: float) -> None:
        """Key by key, after what is there."""

        async def type_at_end(element: Locator, timeout: float) -> None:
            await element.wait_for(state="visible", timeout=timeout)
            obstacle = await element.evaluate(_CARET_TO_END, timeout=timeout)
            if obstacle == "end":
                await element.press("End", timeout=timeout)
            elif obstacle:
                raise ElementNotInteractive(
                    f'"{selector}" cannot be typed into: {obstacle}', selector=selector, reason=obstacle
                )
            await element.press_sequentially(text, delay=delay_ms, timeout=deadline.remaining_ms)

        await self._act(selector, deadline, type_at_end)

    async def fill(self, selector: str, value: str, deadline: Deadline) -> None:
        async def replace(element: Locator, timeout: float) -> None:
            if expected := await element.evaluate(_EXPECTED_VALUE, value, timeout=timeout):
                raise InvalidParameter(
                    f'value: "{selector}" cannot hold "{value}"; it takes {expected}', parameter="value"
                )
            await element.fill(value, timeout=deadline.element_ms)

        await self._act(selector, deadline, replace)

    async def select(self, selector: str, value: str, deadline: Deadline) -> list[str]:
        """By value or label. The values that are selected afterwards."""

        async def choose(element: Locator, timeout: float) -> list[str]:
            try:
                return await element.select_option(value, timeout=timeout)
            except PlaywrightTimeout:
                if obstacle := await self._choice_obstacle(element, selector, value):
                    raise obstacle from None
                raise

        return await self._ask(selector, deadline, choose)

    async def _choice_obstacle(self, element: Locator, selector: str, value: str) -> FootlightError | None:
        """Why the value cannot be chosen; None where that is not for want of an option."""
        try:
            options: list[dict[str, Any]] | None = await element.evaluate_all(_OPTIONS)
        except Error:
            return None
        if options is None:
            return None
        chosen = [option for option in options if value in (option["value"], option["label"])]
        if chosen and all(option["disabled"] for option in chosen):
            return ElementNotInteractive(
                f'"{selector}" cannot be used: its option "{value}" is disabled',
                selector=selector,
                page=self.url,
                reason="disabled",
            )
        if chosen:
            return None
        known = "; ".join(f'"{option["label"]}" ({option["value"]})' for option in options[:50]) or "none"
        return InvalidParameter(
            f'value: "{selector}" has no option "{value}"; it has: {known}',
            parameter="value",
            options=[option["value"] for option in options[:50]],
        )

    async def set_checked(self, selector: str, checked: bool, deadline: Deadline) -> None:
        await self._act(
            selector, deadline, lambda element, timeout: element.set_checked(checked, timeout=timeout)
        )

    async def hover(self, selector: str, deadline: Deadline) -> None:
        await self._act(selector, deadline, lambda element, timeout: element.hover(timeout=timeout))

    async def drag(self, source: str, target: str, deadline: Deadline) -> None:
        async def drag_to(element: Locator, timeout: float) -> None:
            goal = (await self._locate(target, deadline)).first
            # Looked at first, so that a missing goal is not told as a missing source.
            await self._act(
                target, deadline, lambda found, wait: found.wait_for(state="visible", timeout=wait)
            )
            await element.drag_to(goal, timeout=timeout)

        await self._act(source, deadline, drag_to)

    async def upload(self, selector: str, files: Sequence[Path], deadline: Deadline) -> None:
        """Into a file input, or through the file chooser that a click on the element opens."""

        async def attach(element: Locator, timeout: float) -> None:
            if await element.evaluate(_TAKES_FILES, timeout=timeout):
                await element.set_input_files(list(files), timeout=timeout)
                return
            clicked = False
            try:
                async with self._page.expect_file_chooser(timeout=timeout) as chooser:
                    await element.click(timeout=timeout)
                    clicked = True
            except PlaywrightTimeout:
                if not clicked:
                    raise
                raise ElementNotInteractive(
                    f'"{selector}" is no file input, and a click on it opened no file chooser',
                    selector=selector,
                    page=self.url,
                ) from None
            await (await chooser.value).set_files(list(files), timeout=deadline.remaining_ms)

        await self._act(selector, deadline, attach)

    async def press(self, key: str, modifiers: Sequence[str], deadline: Deadline) -> None:
        """On the element that has the focus: so pressed, a key waits for the navigation that it starts."""
        keys = _chord(key, modifiers)
        try:
            async with asyncio.timeout(deadline.remaining_ms / 1000):
                if focused := await self._focused():
                    await focused.press(keys, timeout=deadline.remaining_ms)
                else:
                    await self._page.keyboard.press(keys)
        except TimeoutError:
            raise await self._overdue(
                f"Pressing {key} timed out after {deadline.timeout_ms:.0f}ms; the key had been sent",
                deadline,
                retryable=False,
                url=self.url,
                dispatched=True,
            ) from None
        except Error as error:
            if not self._closed_itself(error):
                raise await self._explained(error) from error

    async def _focused(self) -> ElementHandle | None:
        """Through frames and open shadow roots; None where nothing has the focus."""
        focused = (await self._page.evaluate_handle(_FOCUSED)).as_element()
        while focused and (frame := await focused.content_frame()):
            focused = (await frame.evaluate_handle(_FOCUSED)).as_element()
        return focused

    async def scroll(
        self, x: float, y: float, deadline: Deadline, *, selector: str | None = None
    ) -> dict[str, float]:
        """By so many CSS pixels; the position afterwards and how far it goes."""
        if selector is None:
            return await self._evaluate(_SCROLL, [x, y], deadline)
        return await self._ask(
            selector, deadline, lambda element, timeout: element.evaluate(_SCROLL, [x, y], timeout=timeout)
        )

    # Reading

    async def text(self, selector: str, deadline: Deadline) -> str:
        """As it is seen: without what is hidden, with the line breaks of the layout."""

        async def read(element: Locator, timeout: float) -> str:
            try:
                return await element.inner_text(timeout=timeout)
            except Error as error:
                if not is_wrong_kind(error):
                    raise
                return await element.evaluate(_TEXT, timeout=timeout)  # SVG and MathML

        return await self._ask(selector, deadline, read)

    async def all_text(self, selector: str, deadline: Deadline) -> list[str]:
        return await self._all(selector, deadline, lambda found: found.evaluate_all(_TEXTS))

    async def attribute(self, selector: str, name: str, deadline: Deadline) -> str | None:
        return await self._ask(
            selector, deadline, lambda element, timeout: element.get_attribute(name, timeout=timeout)
        )

    async def value(self, selector: str, deadline: Deadline) -> str:
        return await self._ask(
            selector, deadline, lambda element, timeout: element.input_value(timeout=timeout)
        )

    async def screenshot(self, options: ScreenshotOptions, deadline: Deadline) -> bytes:
        try:
            return await self._page.screenshot(
                full_page=options.full_page,
                type=options.type,
                timeout=deadline.remaining_ms,
                quality=options.quality,
            )
        except PlaywrightTimeout as error:
            raise await self._overdue(
                f"The screenshot was not ready after {deadline.timeout_ms:.0f}ms", deadline, url=self.url
            ) from error
        except Error as error:
            raise await self._explained(error) from error

    async def screenshot_element(
        self, selector: str, options: ScreenshotOptions, deadline: Deadline
    ) -> bytes:
        return await self._ask(
            selector,
            deadline,
            lambda element, timeout: element.screenshot(
                type=options.type,
                timeout=timeout,
                quality=options.quality,
            ),
        )

    async def inspect(self, selector: str, request: dict[str, Any], deadline: Deadline) -> Any:
        """Ask `inspect.js` about the first match."""
        return await self._ask(
            selector, deadline, lambda element, timeout: element.evaluate(INSPECT, request, timeout=timeout)
        )

    async def frame_path(self, selector: str) -> str:
        """What in a selector leads into its innermost frame, such as `#frame >> `; mostly nothing."""
        try:
            return await frame_path(self._page, selector)
        except Error as error:
            raise await self._explained(error, selector) from error

    async def inspect_all(self, selector: str, request: dict[str, Any], deadline: Deadline) -> Any:
        return await self._all(selector, deadline, lambda found: found.evaluate_all(INSPECT, request))

    async def inspect_page(self, request: dict[str, Any], deadline: Deadline) -> Any:
        return await self._evaluate(INSPECT, request, deadline)

    async def count(self, selector: str, deadline: Deadline) -> int:
        return await self._all(selector, deadline, lambda found: found.count())

    async def is_visible(self, selector: str, deadline: Deadline) -> bool:
        """False also where there is no such element."""
        return await self._all(selector, deadline, lambda found: found.first.is_visible())

    async def is_enabled(self, selector: str, deadline: Deadline) -> bool:
        return await self._ask(
            selector, deadline, lambda element, timeout: element.is_enabled(timeout=timeout)
        )

    async def wait_for(self, selector: str, state: ElementState, deadline: Deadline) -> None:
        gone = state in ("hidden", "detached")
        try:
            found = await (self._locate_now(selector) if gone else self._locate(selector, deadline))
            await found.first.wait_for(state=state, timeout=deadline.remaining_ms)
        except PlaywrightTimeout as error:
            raise await self._overdue(
                f'"{selector}" was not {state} after {deadline.timeout_ms:.0f}ms',
                deadline,
                selector=selector,
                state=state,
                page=self.url,
            ) from error
        except Error as error:
            raise await self._explained(error, selector) from error

    async def run_script(self, script: str, args: Sequence[Any], deadline: Deadline) -> Any:
        """The value of an expression, of a function called with `args`, or of a body with `return`."""
        expression = _AS_EXPRESSION.replace("SCRIPT", script.strip().rstrip(";"))
        async with self._within(deadline):
            try:
                return _as_data(await self._page.evaluate(expression, list(args)))
            except Error as error:
                if not is_syntax_error(error):
                    raise await self._script_error(error) from error
            try:
                return _as_data(await self._page.evaluate(_AS_BODY.replace("SCRIPT", script), list(args)))
            except Error as error:
                raise await self._script_error(error) from error

    async def _script_error(self, error: Error) -> FootlightError:
        if is_closed(error):
            return await self._gone()
        if CONTEXT_LOST.search(error.message):
            return InvalidParameter(
                "script: the page navigated before the script ended", parameter="script", page=self.url
            )
        return InvalidParameter(f"script: {cause(error)}", parameter="script", page=self.url)

    async def answers(self) -> bool:
        """Whether the page still runs scripts; one that sits in an endless loop does not."""
        try:
            async with asyncio.timeout(HUNG_SECONDS):
                await self._page.evaluate("0")
        except TimeoutError:
            return self._awaited is not None
        except Error:  # Navigating, closed or crashed is not hung.
            return True
        return True

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

    # How it is done

    async def _locate(self, selector: str, deadline: Deadline) -> Locator:
        return await locate(self._page, selector, timeout_ms=deadline.element_ms)

    async def _locate_now(self, selector: str) -> Locator:
        return await locate(self._page, selector, timeout_ms=None)

    async def _act(
        self, selector: str, deadline: Deadline, action: Callable[[Locator, float], Awaitable[object]]
    ) -> None:
        """Do something with the first match, or say why it cannot be done. It may close the page."""
        try:
            await self._with(selector, deadline, action)
        except Error as error:
            if not self._closed_itself(error):
                raise await self._explained(error, selector, deadline) from error

    async def _ask(
        self, selector: str, deadline: Deadline, question: Callable[[Locator, float], Awaitable[T]]
    ) -> T:
        """Do something with the first match that has a value, or say why there is none."""
        try:
            return await self._with(selector, deadline, question)
        except Error as error:
            raise await self._explained(error, selector, deadline) from error

    async def _with(
        self, selector: str, deadline: Deadline, action: Callable[[Locator, float], Awaitable[T]]
    ) -> T:
        async def act() -> T:
            element = (await self._locate(selector, deadline)).first
            return await action(element, deadline.element_ms)

        return await self._despite_navigation(act)

    async def _all(self, selector: str, deadline: Deadline, question: Callable[[Locator], Awaitable[T]]) -> T:
        """Ask about all matches, now."""

        async def ask() -> T:
            return await question(await self._locate_now(selector))

        try:
            async with self._within(deadline):
                return await self._despite_navigation(ask)
        except Error as error:
            raise await self._explained(error, selector, deadline) from error

    async def _evaluate(self, script: str, argument: Any, deadline: Deadline) -> Any:
        """A script of our own."""
        try:
            async with self._within(deadline):
                return await self._despite_navigation(lambda: self._page.evaluate(script, argument))
        except Error as error:
            raise await self._explained(error) from error

    async def _despite_navigation(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask again whenever a navigation took the page from under a script of ours."""
        while True:
            try:
                return await ask()
            except Error as error:
                if not CONTEXT_LOST.search(error.message):
                    raise

    @contextlib.asynccontextmanager
    async def _within(self, deadline: Deadline) -> AsyncGenerator[None]:
        """Scripts have no time limit in Playwright."""
        try:
            async with asyncio.timeout(deadline.remaining_ms / 1000):
                yield
        except TimeoutError:
            raise await self._overdue(
                f"The page gave no answer within {deadline.timeout_ms:.0f}ms", deadline, url=self.url
            ) from None

    async def _overdue(
        self, message: str, deadline: Deadline, *, retryable: bool = True, **details: Any
    ) -> DeadlineExceeded:
        """The error that tells what keeps the page busy. Pages in an endless script are closed."""
        details["timeout"] = deadline.timeout_ms
        if closed := await self._session.close_hung():
            message += (
                f"; a script in the page does not end. Closed: {', '.join(closed)}. "
                "A call without pageId gets the oldest page left, or a new one"
            )
            details["closedPages"] = closed
        elif self._awaited is not None:
            message += f"; the page waits for {self._awaited.url}, which has not answered"
            details["waitsFor"] = self._awaited.url
        return DeadlineExceeded(message, retryable=retryable, **details)

    def _closed_itself(self, error: Error) -> bool:
        """The action was done and its effect was that the page closed."""
        return is_closed(error) and self.closed and self._session.alive and not self.crashed

    async def _explained(
        self, error: Error, selector: str | None = None, deadline: Deadline | None = None
    ) -> FootlightError:
        if is_closed(error) or self.crashed:
            return await self._gone()
        if known := translated(error, selector=selector):
            return known
        if selector is not None and is_wrong_kind(error):
            return ElementNotInteractive(f'"{selector}": {cause(error)}', selector=selector, page=self.url)
        if selector is not None and deadline is not None and isinstance(error, PlaywrightTimeout):
            return await self._timed_out(error, selector, deadline)
        return InternalError(cause(error))

    async def _timed_out(self, error: PlaywrightTimeout, selector: str, deadline: Deadline) -> FootlightError:
        dispatched = was_dispatched(error)
        if not dispatched and (reason := await self._reason(selector, editing=was_editing(error))):
            return reason
        done = "the action had been dispatched" if dispatched else "the action was not dispatched"
        return await self._overdue(
            f'The action on "{selector}" timed out after {deadline.timeout_ms:.0f}ms; {done}',
            deadline,
            retryable=not dispatched,
            selector=selector,
            page=self.url,
            dispatched=dispatched,
        )

    async def _reason(self, selector: str, *, editing: bool) -> FootlightError | None:
        """Why the element could not be used: missing, or in the way of what."""
        try:
            async with asyncio.timeout(DIAGNOSIS_MS / 1000):
                found = await locate(self._page, selector, timeout_ms=1)
                if await found.count() == 0:
                    return await self._not_found(selector)
                request = inspection.obstacle_request(editing=editing)
                obstacle = inspection.obstacle(
                    await found.first.evaluate(INSPECT, request, timeout=DIAGNOSIS_MS)
                )
        except PlaywrightTimeout:
            return await self._not_found(selector)
        except (Error, TimeoutError, ValueError):
            return None
        if obstacle is None:
            return None
        return ElementNotInteractive(
            f'"{selector}" cannot be used: {obstacle["detail"]}',
            selector=selector,
            page=self.url,
            reason=obstacle["reason"],
            by=obstacle["by"],
        )

    async def _not_found(self, selector: str) -> ElementNotFound:
        try:
            async with asyncio.timeout(DIAGNOSIS_MS / 1000):
                closest = inspection.closest(
                    await self._page.evaluate(INSPECT, inspection.closest_request(selector))
                )
        except (Error, TimeoutError, ValueError):
            closest = []
        return ElementNotFound.at(selector, page=self.url, closest=closest)

    async def _gone(self) -> FootlightError:
        """The page is not there any more: was it the browser, the page's process, or the page?"""
        await self._session.notice_crash()
        if not self._session.alive:
            return self._session.crash()
        if self.crashed:
            await self.close()
            return BrowserCrashed("The page crashed", pageId=self.id)
        if self._session.closed:
            return SessionNotFound(
                f'Session "{self._session.id}" was closed during the call', sessionId=self._session.id
            )
        return InvalidParameter(
            f"pageId: {self.id} was closed during the call",
            parameter="pageId",
            pages=[page.id for page in self._session.pages],
        )


_AS_EXPRESSION = (
    "async args => { const it = (SCRIPT\n); return typeof it === 'function' ? it(...args) : it; }"
)
_AS_BODY = "async args => { SCRIPT\n }"

# SVG has no innerText.
_TEXT = "element => element.innerText ?? element.textContent ?? ''"
_TEXTS = f"elements => Array.from(elements, {_TEXT})"

_CARET_TO_END = """element => {
  const editable = element.isContentEditable;
  const field = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  if (field && element.disabled) return 'it is disabled';
  if (field && element.readOnly) return 'it is read-only';
  element.focus();
  const focused = element.getRootNode().activeElement;
  if (!editable && focused !== element) return 'it does not take the focus';
  if (!editable && !field) return null;
  if (editable) {
    const selection = element.ownerDocument.getSelection();
    selection.selectAllChildren(element);
    selection.collapseToEnd();
    return null;
  }
  const end = element.value.length;
  try { element.setSelectionRange(end, end); return null; } catch { return 'end'; }
}"""

_FOCUSED = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused === document.body ? null : focused;
}"""

_EXPECTED_VALUE = """(element, value) => {
  const field = element instanceof HTMLLabelElement && element.control || element;
  if (!value || !(field instanceof HTMLInputElement)) return null;
  const forms = {
    date: '2024-02-29', time: '13:45', 'datetime-local': '2024-02-29T13:45', month: '2024-02',
    week: '2024-W09', color: '#a1b2c3', range: 'a number',
  };
  if (!Object.hasOwn(forms, field.type)) return null;
  const trial = field.cloneNode();
  trial.value = value = value.trim();
  if (field.type === 'range') {
    if (Number(trial.value) === Number(value)) return null;
    const step = trial.step && trial.step !== 'any' ? ` in steps of ${trial.step}` : '';
    return `a number from ${trial.min || 0} to ${trial.max || 100}${step}`;
  }
  const kept = field.type === 'color' ? trial.value === value.toLowerCase() : trial.value !== '';
  return kept ? null : `the form ${forms[field.type]}`;
}"""

_OPTIONS = """([element]) => {
  const select = element instanceof HTMLLabelElement ? element.control : element;
  return select instanceof HTMLSelectElement ? Array.from(select.options, option => ({
    value: option.value, label: option.label, disabled: option.matches(':disabled'),
  })) : null;
}"""

_TAKES_FILES = """element => {
  const input = element instanceof HTMLLabelElement ? element.control : element;
  return input instanceof HTMLInputElement && input.type === 'file';
}"""

_SCROLL = """(first, second) => {
  const [element, [x, y]] = second === undefined ? [null, first] : [first, second];
  const root = document.scrollingElement || document.documentElement;
  const moves = it => it.scrollWidth > it.clientWidth + 1 || it.scrollHeight > it.clientHeight + 1;
  const scrolls = it => it === root || /(auto|scroll|overlay)/.test(
    getComputedStyle(it).overflowX + getComputedStyle(it).overflowY);
  let box = root;
  if (element || !moves(root)) {
    let at = element || document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    if (element && !x && !y) element.scrollIntoView({block: 'center', behavior: 'instant'});
    while (at && !(moves(at) && scrolls(at))) at = at.parentElement;
    box = at || root;
  }
  box.scrollBy({left: x, top: y, behavior: 'instant'});
  return {
    x: Math.round(box.scrollLeft), y: Math.round(box.scrollTop),
    maxX: Math.max(0, box.scrollWidth - box.clientWidth),
    maxY: Math.max(0, box.scrollHeight - box.clientHeight),
  };
}"""


def _as_data(value: Any, above: tuple[int, ...] = ()) -> Any:
    """What a script gave back, as a tree: an object inside itself is told, not followed."""
    if isinstance(value, re.Pattern):
        return f"/{cast('re.Pattern[str]', value).pattern}/"
    if not isinstance(value, (dict, list)):
        return value
    if id(cast("object", value)) in above:
        return "[circular]"
    inside = (*above, id(cast("object", value)))
    if isinstance(value, list):
        return [_as_data(item, inside) for item in cast("list[Any]", value)]
    return {key: _as_data(item, inside) for key, item in cast("dict[str, Any]", value).items()}


def _chord(key: str, modifiers: Sequence[str]) -> str:
    """In Playwright's language, where "Shift+a" is an a."""
    if "Shift" in modifiers and re.fullmatch("[a-z0-9]", key):
        key = f"Digit{key}" if key.isdigit() else key.upper()
    return "+".join([*modifiers, key])


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
