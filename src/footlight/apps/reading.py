"""What a profile reads an app's state from: one look at a page, and what runs beside the app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.apps.profile import Screen, Services
    from footlight.browser.test_ids import SeenTestId

__all__ = ["Reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What `AppProfile.read` is given: one look at the app while it is unlocked."""

    app: ExtensionApp
    """Its pages, and what it keeps: asked for what no page shows."""
    services: Services
    """What the profile's own `services` gave."""
    screen: Screen
    """The one that is shown, which is an unlocked one."""
    test_ids: Sequence[SeenTestId]
    """`(test_id, tag, text)` of each that can be seen, in the order of the page: at most 500, with 100
    characters of text each. Of the app's own page, where calls work in a site meanwhile."""

    def text_of(self, test_id: str) -> str | None:
        """What the first element of that test id says; None where none can be seen."""
        return next((each.text for each in self.test_ids if each.test_id == test_id), None)

    async def stored(self, *keys: str) -> Mapping[str, Any]:
        """What the extension keeps in `chrome.storage.local` under these keys; all of it without any.

        Keys that it does not have are left out. Takes some milliseconds.

        Raises:
            FootlightError: the browser gives no answer.
        """
        return await self.app.stored(keys)
