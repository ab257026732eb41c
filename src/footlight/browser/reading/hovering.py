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
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from footlight.browser.page.page import Page

__all__ = ["HoverReaction", "find_hover_reaction"]

HoverReaction = Literal["appeared", "restyled", "hidden change", "no listener"]
"""Content appeared; only the style changed; listeners may have had an invisible effect; or there are no
listeners."""

ANSWER_SECONDS = 3.0
"""How long the page may take to respond. It usually takes milliseconds, and longer on a busy machine."""
MAX_ABOVE = 12
"""The number of elements around the hovered one that are searched for listeners."""
_TYPES = frozenset(
    f"{device}{kind}" for device in ("mouse", "pointer") for kind in ("over", "enter", "move", "out", "leave")
)

_SCRIPTS = Path(__file__).parent / "scripts"
_FIND_STYLES = f"({page_function(_SCRIPTS, ['hover_styles'], 'findHoverStyles')})()"
_CLIMB = f"function (levels) {{ return ({page_function(_SCRIPTS, ['climb'], 'climb')})(this, levels); }}"


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
                return "hidden change" if await _has_listener(cdp, pair) else "no listener"
            finally:
                await cdp.detach()
    return None


async def _has_listener(cdp: CDPSession, pair: str) -> bool:
    """Return whether the hovered element or one of its ancestors has a listener for the mouse."""
    for above in range(MAX_ABOVE):
        climb = {"objectId": pair, "functionDeclaration": _CLIMB, "arguments": [{"value": above}]}
        reply = await send(cdp, "Runtime.callFunctionOn", climb)
        if "objectId" not in reply["result"]:
            return False
        node = await send(cdp, "DOM.describeNode", {"objectId": reply["result"]["objectId"]})
        # Chromium lists the listeners of an element only in the page's main world.
        own = await send(cdp, "DOM.resolveNode", {"backendNodeId": node["node"]["backendNodeId"]})
        found = await send(cdp, "DOMDebugger.getEventListeners", {"objectId": own["object"]["objectId"]})
        if any(each["type"] in _TYPES and not each["passive"] for each in found["listeners"]):
            return True
    return False
