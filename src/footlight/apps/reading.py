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
    """`app` is asked for what no page shows: what the extension keeps."""

    app: ExtensionApp
    services: Services
    screen: Screen
    test_ids: Sequence[SeenTestId]

    def text_of(self, test_id: str) -> str | None:
        """What the first seen element of that test id says."""
        return next((each.text for each in self.test_ids if each.test_id == test_id), None)

    async def stored(self, *keys: str) -> Mapping[str, Any]:
        """What the extension keeps in `chrome.storage.local` under these keys."""
        return await self.app.stored(keys)
