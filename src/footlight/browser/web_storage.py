"""What the origin of a page keeps in its localStorage, and its tab in sessionStorage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from footlight.browser._playwright import CONTEXT_LOST, Error, cause
from footlight.browser.diagnosis import explained
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api._generated import WebStorage

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Area", "AreaStorage"]

Area = Literal["local", "session"]

T = TypeVar("T")


class AreaStorage:
    """One of the two storages of a page's main frame. Pages can neither see nor change how it is read."""

    def __init__(self, page: Page, area: Area, deadline: Deadline) -> None:
        self._page = page
        self._area = area
        self._deadline = deadline

    async def items(self) -> Mapping[str, str]:
        """In the order of their keys."""
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
            async with self._page.within(self._deadline):
                while True:
                    try:
                        return await question(storage)
                    except Error as error:
                        if not CONTEXT_LOST.search(error.message):
                            raise
        except Error as error:
            raise self._translated(error) or await explained(self._page, error) from error

    def _translated(self, error: Error) -> InvalidParameter | None:
        said = cause(error)
        if said.startswith("SecurityError"):
            return InvalidParameter(
                f"area: {self._page.url[:200]} has no {self._area} storage",
                parameter="area",
                suggestion="Navigate to a page of the site first; only http and https pages have one.",
                page=self._page.url,
            )
        if said.startswith("QuotaExceededError"):
            return InvalidParameter(
                f"value: it does not fit into the {self._area} storage any more; remove something first",
                parameter="value",
            )
        return None
