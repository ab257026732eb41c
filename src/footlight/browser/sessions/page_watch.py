"""Watch a page for new documents, and for clicks on links that start a download or open a tab."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import send
from footlight.javascript import join_modules

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request, Response

    from footlight.browser.driver.script_world import ScriptWorld

__all__ = ["DocumentWatch", "LinkEffect", "watch_links"]

LinkEffect = Literal["download", "tab"]


class DocumentWatch:
    """Calls `on_navigated(replaced)` at each new URL of the main frame, and `on_loaded()` at each load.

    `replaced` is false if the document stays: after a jump to an anchor, or `history.pushState`. Playwright
    reports both in the same way, but only a new document has a response from the network.
    """

    def __init__(
        self, page: Page, *, on_navigated: Callable[[bool], None], on_loaded: Callable[[], None]
    ) -> None:
        self._page = page
        self._on_navigated = on_navigated
        self._answered = False
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_request_failed)
        page.on("framenavigated", self._on_frame_navigated)
        page.on("load", lambda _: on_loaded())

    def _on_response(self, response: Response) -> None:
        if self._is_for_document(response.request):
            self._answered = True

    def _on_request_failed(self, request: Request) -> None:
        """Discard a response without a document: a download, or an empty response (204)."""
        if self._is_for_document(request):
            self._answered = False

    def _is_for_document(self, request: Request) -> bool:
        with contextlib.suppress(Error):  # The first request of a popup has no frame yet.
            return request.is_navigation_request() and request.frame == self._page.main_frame
        return False

    def _on_frame_navigated(self, frame: Frame) -> None:
        if frame != self._page.main_frame:
            return
        replaced = self._answered or not frame.url.startswith("http")
        self._answered = False
        self._on_navigated(replaced)


_WORLD = "footlight"
"""The isolated world of the listener, which the page's scripts cannot access."""

_LISTENER = f'(() => {{\n"use strict";\n{join_modules(Path(__file__).parent, ["link_clicks"])}}})()'


async def watch_links(
    page: Page,
    on_click: Callable[[LinkEffect], None],
    on_navigation: Callable[[], None],
    on_context: Callable[[str], None],
    on_dropped: Callable[[int], None],
    scripts: ScriptWorld,
) -> CDPSession | None:
    """Call `on_click` when such a link is clicked, now and after every navigation. Chromium only.

    `on_navigation` is called when a document starts a navigation in its own tab, before the request is sent.
    `on_context` receives Chromium's id of the context, which Playwright does not expose. `on_dropped` is
    called with the number of requests of which `dropped_requests.js` has dropped all events. Return the CDP
    session, which is open as long as the page and is also used by `scripts`, or None if the page is closed.
    """

    def on_binding(event: dict[str, Any]) -> None:
        on_click(cast("LinkEffect", event["payload"]))

    def on_requested(event: dict[str, Any]) -> None:
        if event["disposition"] == "currentTab":
            on_navigation()

    def on_requests_dropped(event: dict[str, Any]) -> None:
        on_dropped(event["count"])

    with contextlib.suppress(Error):  # The page is already closed.
        cdp = await page.context.new_cdp_session(page)
        cdp.on("Runtime.bindingCalled", on_binding)
        cdp.on("Page.frameRequestedNavigation", on_requested)
        cdp.on("Footlight.requestsDropped", on_requests_dropped)
        target = (await send(cdp, "Target.getTargetInfo"))["targetInfo"]
        on_context(str(target.get("browserContextId", "")))
        # A page that is loading answers late, so these are sent together.
        await asyncio.gather(
            send(cdp, "Page.enable"),
            # It enables `Runtime`: otherwise clicks in a document that was just loaded are sometimes missed.
            scripts.attach(cdp, str(target["targetId"])),
            send(cdp, "Runtime.addBinding", {"name": "reportEffect", "executionContextName": _WORLD}),
            send(
                cdp,
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": _LISTENER, "worldName": _WORLD, "runImmediately": True},
            ),
        )
        return cdp
    return None
