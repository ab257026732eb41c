"""A link that was clicked says what comes of it: a download, or a new tab. Chromium only.

The listener lives in a world of its own in each page, where the page's scripts see nothing of it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Page

__all__ = ["Outcome", "watch_links"]

Outcome = Literal["download", "tab"]

WORLD = "footlight"

_WATCH = """{
  const tell = event => {
    const link = event.composedPath().find(it => it instanceof Element && it.localName === 'a');
    if (!link?.hasAttribute('href')) return;
    if (link.hasAttribute('download')) outcome('download');
    else if (event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey) outcome('tab');
  };
  // The pointer is down before it is up, so that the news is here when the click is done.
  addEventListener('pointerdown', tell, true);
  addEventListener('click', tell, true);
}"""


async def watch_links(page: Page, told: Callable[[Outcome], None]) -> None:
    """Call `told` when such a link is clicked in the page, now and after every navigation."""

    def on_binding(event: dict[str, Any]) -> None:
        told(cast("Outcome", event["payload"]))

    with contextlib.suppress(Error):  # The page is gone already.
        cdp = await page.context.new_cdp_session(page)
        cdp.on("Runtime.bindingCalled", on_binding)
        await cdp.send("Page.enable")
        await cdp.send("Runtime.enable")
        await cdp.send("Runtime.addBinding", {"name": "outcome", "executionContextName": WORLD})
        await cdp.send(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": _WATCH, "worldName": WORLD, "runImmediately": True},
        )
