"""What an extension keeps in `chrome.storage`, read and written past whatever its pages forbid themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser._playwright import Error
from footlight.browser.diagnosis import explained

if TYPE_CHECKING:
    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["StorageArea", "read_storage", "write_storage"]

StorageArea = Literal["local", "session", "sync"]


async def read_storage(
    page: Page, extension_id: str, keys: Sequence[str], deadline: Deadline, *, area: StorageArea = "local"
) -> Mapping[str, Any]:
    """Of the keys those that are there; all of them where none is given. `page` is one of the extension's."""
    asked = {"keys": list(keys)} if keys else {}
    told = await _send(page, "getStorageItems", {"id": extension_id, "storageArea": area, **asked}, deadline)
    return cast("Mapping[str, Any]", told["data"])


async def write_storage(
    page: Page,
    extension_id: str,
    values: Mapping[str, Any],
    deadline: Deadline,
    *,
    area: StorageArea = "local",
) -> None:
    """Beside what is there. `page` is one of the extension's."""
    request = {"id": extension_id, "storageArea": area, "values": dict(values)}
    await _send(page, "setStorageItems", request, deadline)


async def _send(page: Page, method: str, request: dict[str, Any], deadline: Deadline) -> dict[str, Any]:
    try:
        async with page.within(deadline):
            cdp = await page.playwright.context.new_cdp_session(page.playwright)
            told = cast("dict[str, Any]", await cdp.send(cast("Any", f"Extensions.{method}"), request))
            await cdp.detach()
            return told
    except Error as error:
        raise await explained(page, error) from error
