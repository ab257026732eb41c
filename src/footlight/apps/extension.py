"""A running Chrome extension, with its pages by role and its storage."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from footlight.app_errors import NotificationTimeoutError
from footlight.browser.actions import navigation
from footlight.browser.driver.deadline import Deadline
from footlight.browser.page.page_operations import bring_to_front
from footlight.browser.reading.storage import ExtensionArea, read_extension_storage
from footlight.errors import FootlightError, LaunchFailedError

if TYPE_CHECKING:
    from footlight.browser.launch.extensions import LoadedExtension
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session

__all__ = ["ExtensionApp", "PageRole"]

logger = logging.getLogger(__name__)

PageRole = Literal["extension", "notification", "dapp", "other"]
"""The role of a page: a page of the app, a notification window of the app, a website, or any other page."""

LOOK_SECONDS = 0.05
READ_SECONDS = 5.0
LEAVE_SECONDS = 5.0
"""The time limit for a notification window to close after its last request."""


class ExtensionApp:
    """The pages of one extension in a session. `home` and `notification` are paths below its origin."""

    def __init__(
        self, session: Session, extension: LoadedExtension, *, home: str, notification: str | None = None
    ) -> None:
        self.session = session
        self.extension = extension
        self.home_path = home
        self.notification_path = notification
        self.unlocked = False
        """Whether the app was unlocked on the last screen that showed its lock state."""
        self._front: tuple[Page, Sequence[Page]] | None = None

    @property
    def id(self) -> str:
        return self.extension.id

    def role_of(self, page: Page) -> PageRole:
        url = page.url
        if self.extension.has(url):
            return "notification" if self._is_notification(url) else "extension"
        return "dapp" if url.startswith(("http:", "https:")) else "other"

    def _is_notification(self, url: str) -> bool:
        return self.notification_path is not None and url.startswith(
            self.extension.url(self.notification_path)
        )

    def path_of(self, page: Page) -> str:
        """Return the URL without the extension's origin; for another page, the whole URL."""
        return page.url.removeprefix(self.extension.origin)

    def pages_of(self, role: PageRole) -> list[Page]:
        """Return the pages with a role, oldest first."""
        return [page for page in self.session.pages if self.role_of(page) == role]

    @property
    def current(self) -> Page | None:
        """Return the page that calls use, or None."""
        return self.session.page_table.current

    async def select(self, page: Page) -> None:
        self.session.page_table.select(page)
        await self._bring_to_front(page)

    async def ensure_front(self, page: Page) -> None:
        """Bring a page to the front before an action, unless it is there already.

        A wallet does not open a window for a website while a page of the wallet is in front. Opening or
        closing a page may have brought another page to the front.
        """
        if self._front != (page, self.session.pages):
            await self._bring_to_front(page)

    async def _bring_to_front(self, page: Page) -> None:
        await bring_to_front(page)
        self._front = (page, self.session.pages)

    async def open_home(self, deadline: Deadline) -> Page:
        """Open and select the app's home page. Use an open page of the app, or else an empty page.

        Raises:
            LaunchFailedError: The extension has no such page.
        """
        page = next(iter(self.pages_of("extension")), None)
        if page is None:
            page = await self._open(self.home_path, deadline)
        await self.select(page)
        return page

    async def _open(self, path: str, deadline: Deadline) -> Page:
        empty = (page for page in self.session.pages if page.url in ("about:blank", "chrome://newtab/"))
        page = next(empty, None) or await self.session.page_table.open()
        try:
            await navigation.navigate(page, self.extension.url(path), "domcontentloaded", deadline)
        except FootlightError as error:
            raise LaunchFailedError(
                f"{self.extension.extension.name} has no page {path}: {error.message}", page=path
            ) from None
        return page

    async def wait_for_duplicate(self, page: Page, deadline: Deadline) -> None:
        """Wait until the extension has opened a duplicate of `page`, or the deadline has passed."""
        while not self._find_duplicates(page) and deadline.remaining_ms > LOOK_SECONDS * 1000:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(LOOK_SECONDS)

    async def close_duplicates(self, page: Page) -> None:
        """Close pages that the extension opened and that duplicate `page`."""
        for other in self._find_duplicates(page):
            await other.close()

    def _find_duplicates(self, page: Page) -> list[Page]:
        at = page.url.partition("#")[0]
        others = (other for other in self.pages_of("extension") if other is not page)
        return [other for other in others if other.url.partition("#")[0] == at]

    async def wait_for_notification(self, deadline: Deadline) -> Page:
        """Wait for a notification window of the app, select it and return it.

        Raises:
            NotificationTimeoutError: No notification window opened.
        """
        while True:
            if found := self.pages_of("notification"):
                await self.select(found[-1])
                return found[-1]
            if deadline.remaining_ms <= 1:
                raise NotificationTimeoutError(
                    f"No notification window opened within {deadline.elapsed}",
                    pages=[page.url for page in self.session.pages],
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def wait_until_left(self, page: Page, showed: str, deadline: Deadline) -> None:
        """Wait until a notification window has closed or shows its next request. `showed` is its old URL."""
        limit = deadline.limit_to(LEAVE_SECONDS * 1000)
        while self._is_closing(page, showed) and limit.remaining_ms > LOOK_SECONDS * 1000:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(LOOK_SECONDS)

    def _is_closing(self, page: Page, showed: str) -> bool:
        """Return whether the window is about to close.

        Before it closes, MetaMask navigates from `notification.html#connect/ID` to `notification.html#`.
        """
        if page.closed or not self._is_notification(showed):
            return False
        return "#" in showed and page.url.rstrip("/") == showed.partition("#")[0] + "#"

    async def read_storage(
        self, keys: Sequence[str] = (), *, area: ExtensionArea = "local"
    ) -> Mapping[str, Any]:
        """Return stored items of the extension by key, or all items if no key is given."""
        deadline = Deadline.after(READ_SECONDS * 1000)
        return await read_extension_storage(
            await self._ensure_page(deadline), self.id, keys, deadline, area=area
        )

    async def _ensure_page(self, deadline: Deadline) -> Page:
        """Return a page through which the browser gives access to the extension."""
        pages = (*self.pages_of("extension"), *self.pages_of("notification"))
        return pages[0] if pages else await self._open(self.home_path, deadline)
