"""Determine how a page reacted to the mouse over an element, if no snapshot shows a change.

Styles for `:hover` may have shown content that was transparent, clipped or out of view before. Chromium lists
the listeners. The scripts run in an isolated world.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import send
from footlight.browser.driver.script_world import find_listener
from footlight.javascript import page_function

if TYPE_CHECKING:
    from footlight.browser.page.page import Page

__all__ = ["HoverReaction", "find_hover_reaction"]

HoverReaction = Literal["appeared", "restyled", "hidden change", "no listener"]
"""Content appeared; only the style changed; listeners may have had an invisible effect; or there are no
listeners."""

ANSWER_SECONDS = 3.0
"""How long the page may take to respond. It usually takes milliseconds, and longer on a busy machine."""
_TYPES = frozenset(
    f"{device}{kind}" for device in ("mouse", "pointer") for kind in ("over", "enter", "move", "out", "leave")
)

_SCRIPTS = Path(__file__).parent / "scripts"
_FIND_STYLES = f"({page_function(_SCRIPTS, ['hover_styles'], 'findHoverStyles')})()"
_PATH_SOURCE = page_function(_SCRIPTS, ["path"], "pathOf")
_PATH = {"functionDeclaration": f"function () {{ return ({_PATH_SOURCE})(this[1]); }}"}


async def find_hover_reaction(page: Page) -> HoverReaction | None:
    """Return how the page reacted to the mouse at its current place, or None if that is unknown."""
    if page.session.engine != "chromium":
        return None
    # A KeyError means that the document or element is gone.
    with contextlib.suppress(Error, KeyError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            cdp = await page.playwright.context.new_cdp_session(page.playwright)
            try:
                frames = await send(cdp, "Page.getFrameTree")
                frame_id = frames["frameTree"]["frame"]["id"]
                world = await send(cdp, "Page.createIsolatedWorld", {"frameId": frame_id})
                context = world["executionContextId"]
                asked = {"expression": _FIND_STYLES, "contextId": context, "awaitPromise": True}
                pair = (await send(cdp, "Runtime.evaluate", asked))["result"]["objectId"]
                first = {"objectId": pair, "functionDeclaration": "function () { return this[0]; }"}
                reaction = (await send(cdp, "Runtime.callFunctionOn", first))["result"]["value"]
                if reaction in ("appeared", "restyled"):
                    return reaction
                if reaction:
                    return None
                path = (await send(cdp, "Runtime.callFunctionOn", {"objectId": pair, **_PATH}))["result"]
                listens = await find_listener(cdp, path["objectId"], _TYPES)
                return None if listens is None else "hidden change" if listens else "no listener"
            finally:
                await cdp.detach()
    return None
