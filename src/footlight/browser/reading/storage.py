"""Read and change the localStorage and sessionStorage of a page, and the storage of an extension."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from footlight.browser.driver.playwright_api import Error, cause, is_context_lost
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.page_operations import limit_reading
from footlight.browser.snapshot.text.quoting import shorten
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api._generated import WebStorage

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "ExtensionArea",
    "PageStorage",
    "WebStorageArea",
    "read_extension_storage",
]

WebStorageArea = Literal["local", "session"]
ExtensionArea = Literal["local", "session", "sync"]

T = TypeVar("T")


class PageStorage:
    """One of the two storages of a page's main frame. The page cannot observe or change how it is read."""

    def __init__(self, page: Page, area: WebStorageArea, deadline: Deadline) -> None:
        self._page = page
        self._area = area
        self._deadline = deadline

    async def items(self) -> Mapping[str, str]:
        """Return the items sorted by key."""
        items = await self._ask(lambda storage: storage.items())
        return {item["name"]: item["value"] for item in sorted(items, key=lambda item: item["name"])}

    async def find(self, key: str) -> str | None:
        return await self._ask(lambda storage: storage.get_item(key))

    async def put(self, key: str, value: str) -> None:
        await self._ask(lambda storage: storage.set_item(key, value))

    async def remove(self, key: str) -> None:
        await self._ask(lambda storage: storage.remove_item(key))

    async def clear(self) -> None:
        await self._ask(lambda storage: storage.clear())

    async def _ask(self, question: Callable[[WebStorage], Awaitable[T]]) -> T:
        page = self._page.playwright
        storage = page.local_storage if self._area == "local" else page.session_storage
        try:
            async with limit_reading(self._page, self._deadline):
                while True:
                    try:
                        return await question(storage)
                    except Error as error:
                        if not is_context_lost(error):
                            raise
        except Error as error:
            raise self._translate_error(error) or await explain_page_failure(self._page, error) from error

    def _translate_error(self, error: Error) -> InvalidParameterError | None:
        reason = cause(error)
        if reason.startswith("SecurityError"):
            return InvalidParameterError(
                f"area: {shorten(self._page.url, 200)} has no {self._area} storage",
                parameter="area",
                suggestion="Navigate to a page of the site first; only http and https pages have one.",
                page=self._page.url,
            )
        if reason.startswith("QuotaExceededError"):
            return InvalidParameterError(
                f"value: it does not fit into the {self._area} storage any more; remove something first",
                parameter="value",
            )
        return None


async def read_extension_storage(
    page: Page, extension_id: str, keys: Sequence[str], deadline: Deadline, *, area: ExtensionArea = "local"
) -> Mapping[str, Any]:
    """Return the stored items with these keys, or all items. `page` is a page of the extension."""
    request = {"id": extension_id, "storageArea": area, **({"keys": list(keys)} if keys else {})}
    try:
        async with limit_reading(page, deadline):
            cdp = await page.playwright.context.new_cdp_session(page.playwright)
            answer = cast(
                "dict[str, Any]", await cdp.send(cast("Any", "Extensions.getStorageItems"), request)
            )
            await cdp.detach()
    except Error as error:
        raise await explain_page_failure(page, error) from error
    return cast("Mapping[str, Any]", answer["data"])
