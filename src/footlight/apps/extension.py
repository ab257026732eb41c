"""A Chrome extension that runs: its pages by what they are for, and what it keeps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser import navigation, tabs
from footlight.browser.deadline import Deadline
from footlight.browser.extension_storage import StorageArea, read_storage, write_storage
from footlight.errors import FootlightError, LaunchFailed, NotificationTimeout

if TYPE_CHECKING:
    from footlight.browser.extensions import LoadedExtension
    from footlight.browser.page import Page
    from footlight.browser.session import Session

__all__ = ["ExtensionApp", "Role"]

logger = logging.getLogger(__name__)

Role = Literal["extension", "notification", "dapp", "other"]
"""What a page is for: the app itself, a window that it opened by itself, a site, or none of these."""

LOOK_SECONDS = 0.05
READ_SECONDS = 5.0
LEAVE_SECONDS = 5.0
"""How long a window may take to close once it has no more to show."""


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
        """As it was when a screen was seen last that tells."""
        self._front: tuple[Page, Sequence[Page]] | None = None

    @property
    def id(self) -> str:
        return self.extension.id

    def role_of(self, page: Page) -> Role:
        url = page.url
        if self.extension.has(url):
            return "notification" if self._is_notification(url) else "extension"
        return "dapp" if url.startswith(("http:", "https:")) else "other"

    def _is_notification(self, url: str) -> bool:
        return self.notification_path is not None and url.startswith(
            self.extension.url(self.notification_path)
        )

    def path_of(self, page: Page) -> str:
        """What follows the extension's origin; of another page its whole address."""
        return page.url.removeprefix(self.extension.origin)

    def pages_of(self, role: Role) -> list[Page]:
        """Oldest first."""
        return [page for page in self.session.pages if self.role_of(page) == role]

    @property
    def current(self) -> Page | None:
        """The page that calls work in."""
        return self.session.tabs.current(self.session.pages)

    async def select(self, page: Page) -> None:
        self.session.tabs.select(page)
        await self._bring_to_front(page)

    async def ensure_front(self, page: Page) -> None:
        """Before something is done there: a wallet opens no window for a site while it is in front itself.

        Whoever opens or closes a page may have brought another to the front.
        """
        if self._front != (page, self.session.pages):
            await self._bring_to_front(page)

    async def _bring_to_front(self, page: Page) -> None:
        await tabs.bring_to_front(page)
        self._front = (page, self.session.pages)

    async def open_home(self, deadline: Deadline) -> Page:
        """The app's own page, selected: the one that is open, else an empty one, else a new one.

        Raises:
            LaunchFailed: the extension has no such page.
        """
        page = next(iter(self.pages_of("extension")), None)
        if page is None:
            page = await self._open(self.home_path, deadline)
        await self.select(page)
        return page

    async def _open(self, path: str, deadline: Deadline) -> Page:
        empty = (page for page in self.session.pages if page.url in ("about:blank", "chrome://newtab/"))
        page = next(empty, None) or await self.session.open_page()
        try:
            await navigation.navigate(page, self.extension.url(path), "domcontentloaded", deadline)
        except FootlightError as error:
            raise LaunchFailed(
                f"{self.extension.extension.name} has no page {path}: {error.message}", page=path
            ) from None
        return page

    async def wait_for_double(self, page: Page, deadline: Deadline) -> None:
        """Until the extension has opened by itself what `page` shows, or time is up."""
        while not self._doubles(page) and deadline.remaining_ms > LOOK_SECONDS * 1000:  # noqa: ASYNC110 - no event
            await asyncio.sleep(LOOK_SECONDS)

    async def close_doubles(self, page: Page) -> None:
        """Pages that the extension opened by itself, and that show what `page` shows."""
        for other in self._doubles(page):
            await other.close()

    def _doubles(self, page: Page) -> list[Page]:
        at = page.url.partition("#")[0]
        others = (other for other in self.pages_of("extension") if other is not page)
        return [other for other in others if other.url.partition("#")[0] == at]

    async def wait_for_notification(self, deadline: Deadline) -> Page:
        """A window that the app opened by itself, selected.

        Raises:
            NotificationTimeout: none opened.
        """
        while True:
            if found := self.pages_of("notification"):
                await self.select(found[-1])
                return found[-1]
            if deadline.remaining_ms <= 1:
                raise NotificationTimeout(
                    f"No notification window opened within {deadline.timeout_ms:.0f}ms",
                    pages=[page.url for page in self.session.pages],
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def wait_until_left(self, page: Page, showed: str, deadline: Deadline) -> None:
        """Until a window that has no more to show is closed, or shows the next; it showed `showed`."""
        limit = deadline.within(LEAVE_SECONDS * 1000)
        while self._leaves(page, showed) and limit.remaining_ms > LOOK_SECONDS * 1000:  # noqa: ASYNC110 - no event
            await asyncio.sleep(LOOK_SECONDS)

    def _leaves(self, page: Page, showed: str) -> bool:
        """As MetaMask does: from `notification.html#connect/ID` to `notification.html#`."""
        if page.closed or not self._is_notification(showed):
            return False
        return "#" in showed and page.url.rstrip("/") == showed.partition("#")[0] + "#"

    async def stored(self, keys: Sequence[str] = (), *, area: StorageArea = "local") -> Mapping[str, Any]:
        """What it keeps under these keys; under all where none is given."""
        deadline = Deadline.after(READ_SECONDS * 1000)
        return await read_storage(await self._any_page(deadline), self.id, keys, deadline, area=area)

    async def store(self, values: Mapping[str, Any], *, area: StorageArea = "local") -> None:
        """Seed what it keeps, before its pages read it."""
        deadline = Deadline.after(READ_SECONDS * 1000)
        await write_storage(await self._any_page(deadline), self.id, values, deadline, area=area)

    async def _any_page(self, deadline: Deadline) -> Page:
        """One through which the browser can be asked about the extension."""
        there = (*self.pages_of("extension"), *self.pages_of("notification"))
        return there[0] if there else await self._open(self.home_path, deadline)
