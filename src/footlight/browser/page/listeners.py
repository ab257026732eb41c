"""Find out why a click did nothing: whether anything on the page listens for clicks at a point."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import Error

if TYPE_CHECKING:
    from footlight.browser.page.page import Page

__all__ = ["find_click_obstacle"]

ANSWER_SECONDS = 1.0
"""How long the page may take to answer. It mostly takes a few milliseconds."""

_REASONS = {
    "disabled": "it is in a disabled part of the page",
    "none": "nothing on the page listens for clicks there",
    "some": "listeners of the page received it and changed nothing",
}

_SCRIPT = """(() => {
  let at = document.elementFromPoint(%s);
  for (let inside = at; inside && inside.shadowRoot; ) {
    inside = inside.shadowRoot.elementFromPoint(%s);
    if (!inside || inside === at) break;
    at = inside;
  }
  if (!at) return 'unknown';
  if (at.closest(':disabled, [aria-disabled=true], [inert]')) return 'disabled';
  // Playwright installs its scripts in the page's own world too, once it runs one of them there. A listener
  // that is passive and comes before all others changes nothing of a click.
  const isOurs = ({listener, passive, useCapture}) => useCapture && (passive || typeof listener === 'function'
    && Function.prototype.toString.call(listener).includes('_hitTargetInterceptor'));
  const types = ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'touchend'];
  for (; at; at = at === document ? window : at === window ? null : at.parentNode || at.host) {
    const found = getEventListeners(at);
    if (types.some(type => found[type]?.some(each => at !== window || !isOurs(each)))) return 'some';
  }
  return 'none';
})()"""


async def find_click_obstacle(page: Page, x: float, y: float) -> str | None:
    """Return why a click at a point of the viewport did nothing, or None where the browser does not say.

    Only Chromium tells which listeners there are.
    """
    if page.session.engine != "chromium":
        return None
    at = f"{json.dumps(x)}, {json.dumps(y)}"
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            cdp = await page.playwright.context.new_cdp_session(page.playwright)
            try:
                expression = _SCRIPT % (at, at)
                reply = cast(
                    "dict[str, Any]",
                    await cdp.send(
                        "Runtime.evaluate",
                        {"expression": expression, "includeCommandLineAPI": True, "returnByValue": True},
                    ),
                )
            finally:
                await cdp.detach()
            return _REASONS.get(str(reply["result"].get("value")))
    return None
