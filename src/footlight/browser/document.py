"""The document in a page's main frame: when it is another one, and when it has loaded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from playwright.async_api import Frame, Request, Response
    from playwright.async_api import Page as PlaywrightPage

__all__ = ["DocumentWatch"]


class DocumentWatch:
    """Calls `on_navigated(replaced)` at each new address of the main frame, and `on_loaded()`.

    `replaced` is false where the document stays: after a jump to an anchor, or `history.pushState`.
    Playwright does not tell the two apart, but only a new document has an answer from the network.
    """

    def __init__(
        self,
        page: PlaywrightPage,
        *,
        on_navigated: Callable[[bool], None],
        on_loaded: Callable[[], None],
    ) -> None:
        self._page = page
        self._on_navigated = on_navigated
        self._answered = False
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_failed)
        page.on("framenavigated", self._on_frame)
        page.on("load", lambda _: on_loaded())

    def _on_response(self, response: Response) -> None:
        if self._is_for_document(response.request):
            self._answered = True

    def _on_failed(self, request: Request) -> None:
        """An answer that was no document: a download, or nothing (204)."""
        if self._is_for_document(request):
            self._answered = False

    def _is_for_document(self, request: Request) -> bool:
        with suppress(Error):  # The first request of a popup has no frame yet.
            return request.is_navigation_request() and request.frame == self._page.main_frame
        return False

    def _on_frame(self, frame: Frame) -> None:
        if frame != self._page.main_frame:
            return
        replaced = self._answered or not frame.url.startswith("http")
        self._answered = False
        self._on_navigated(replaced)
