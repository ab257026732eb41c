"""Find out what the listeners of a page did with an input event that left the page as it was.

Chromium lists the listeners, and calls a function so that it ends before its first side effect. A listener
that comes to its end in this way has done nothing. What any other did cannot be seen: it may have written to
a storage, to the clipboard or to a worker, drawn on a canvas, or only set a variable of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser.driver.playwright_api import Error

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from footlight.browser.page.page import Page

__all__ = ["Reaction", "find_reaction"]

Reaction = Literal["disabled", "deaf", "vain", "unseen"]
"""Why nothing happened: the element is disabled, nothing listens, the listeners did nothing, or what they did
does not show.
"""

ANSWER_SECONDS = 1.0
"""How long the page may take to answer. It mostly takes a few milliseconds."""

_SIDE_EFFECT = "EvalError: Possible side-effect"

_FIND_LISTENERS = """((point, key) => {
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get;
  const parentOf = Object.getOwnPropertyDescriptor(Node.prototype, 'parentNode').get;
  const focusOf = Object.getOwnPropertyDescriptor(Document.prototype, 'activeElement').get;
  let at = key ? focusOf.call(document) : Document.prototype.elementFromPoint.call(document, ...point);
  for (let root = at && shadowOf.call(at); root; root = at && shadowOf.call(at)) {
    const inside = key ? root.activeElement : root.elementFromPoint(...point);
    if (!inside || inside === at) break;
    at = inside;
  }
  if (!at) return 'unknown';
  const target = at;
  if (!key && Element.prototype.closest.call(at, ':disabled, [aria-disabled=true], [inert]'))
    return 'disabled';
  // Playwright installs its scripts in the page's own world too, once it runs one of them there. A listener
  // that is passive and comes before all others changes nothing of a click.
  const isOurs = ({listener, passive, useCapture}) => useCapture && (passive || typeof listener === 'function'
    && Function.prototype.toString.call(listener).includes('_hitTargetInterceptor'));
  const types = key
    ? ['keydown', 'keypress', 'keyup', 'beforeinput']
    : ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'touchend', 'submit'];
  const around = node => parentOf.call(node) || (node instanceof ShadowRoot ? node.host : null);
  const own = []; // pairs of a node and a listener on the nearest element that has some
  const MAX_TYPES = 20;
  let isHeard = false;
  for (; at; at = at === document ? window : at === window ? null : around(at)) {
    const found = getEventListeners(at);
    const heard = types.flatMap(type => found[type] || []).filter(each => at !== window || !isOurs(each));
    if (heard.length) isHeard = true;
    // Whoever listens for everything, or on the whole page, passes events on and listens for no element.
    const passesOn = !key && (at === document.body || at === document.documentElement
      || !(at instanceof Element) || Object.keys(found).length > MAX_TYPES);
    // A library keeps the listeners of an element in a property, and listens on an element above.
    const properties = key ? ['onKeyDown', 'onKeyUp']
      : ['onClick', 'onMouseDown', 'onMouseUp', 'onPointerDown', 'onPointerUp'];
    const kept = Object.keys(at).filter(name => name.startsWith('__reactProps$'))
      .flatMap(name => properties.map(property => at[name]?.[property]).filter(Boolean));
    const isNearest = own.every(([node]) => node === at);
    const registered = passesOn || !isNearest ? [] : heard.map(({listener}) => listener);
    for (const listener of [...registered, ...kept]) own.push([at, listener]);
  }
  return own.length ? [own, target, point, key] : isHeard ? 'vain' : 'deaf';
})(%s, %s)"""

_CALL_AGAIN = """function () {
  const [own, target, point, key] = this;
  const [x, y] = point || [0, 0];
  // Chromium counts a spread and a loop over names as side effects.
  const {key: name, code, keyCode, which, ctrlKey, shiftKey, altKey, metaKey} = key || {};
  for (const [node, listener] of own) {
    const event = {
      type: key ? 'keydown' : 'click', target, srcElement: target, currentTarget: node, isTrusted: true,
      bubbles: true, cancelable: true, defaultPrevented: false, eventPhase: 2, timeStamp: 0, view: window,
      key: name, code, keyCode, which, ctrlKey, shiftKey, altKey, metaKey,
      button: 0, buttons: 0, detail: 1, clientX: x, clientY: y, pageX: x, pageY: y, offsetX: 0, offsetY: 0,
      preventDefault() {}, stopPropagation() {}, stopImmediatePropagation() {}, persist() {},
      composedPath: () => [target, node, document, window], isDefaultPrevented: () => false,
      isPropagationStopped: () => false, getModifierState: () => false,
    };
    event.nativeEvent = event.originalEvent = event;
    if (typeof listener === 'function') listener.call(node, event);
    else listener.handleEvent(event);
  }
}"""


async def find_reaction(
    page: Page, point: tuple[float, float] | None, key: Mapping[str, Any] | None = None
) -> Reaction | None:
    """Return what the listeners did with a click at a point of the viewport, or with a key.

    None where the browser does not say. Only Chromium tells which listeners there are.
    """
    if page.session.engine != "chromium":
        return None
    with contextlib.suppress(Error):
        cdp = await page.playwright.context.new_cdp_session(page.playwright)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await _ask(cdp, _FIND_LISTENERS % (json.dumps(point), json.dumps(key)))
        except TimeoutError:
            await cdp.send("Runtime.terminateExecution")
        finally:
            await cdp.detach()
    return None


async def _ask(cdp: CDPSession, expression: str) -> Reaction | None:
    async def send(method: str, request: dict[str, Any]) -> dict[str, Any]:
        return cast("dict[str, Any]", await cdp.send(cast("Any", method), request))

    found = await send("Runtime.evaluate", {"expression": expression, "includeCommandLineAPI": True})
    reply = found["result"]
    if "objectId" not in reply:
        value = reply.get("value")
        return value if value in ("disabled", "deaf", "vain") else None
    again = await send(
        "Runtime.callFunctionOn",
        {"objectId": reply["objectId"], "functionDeclaration": _CALL_AGAIN, "throwOnSideEffect": True},
    )
    if "exceptionDetails" not in again:
        return "vain"
    ended = str(again["exceptionDetails"].get("exception", {}).get("description", ""))
    return "unseen" if ended.startswith(_SIDE_EFFECT) else None
