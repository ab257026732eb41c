"""Find out what the listeners of a page did with an input event that left the page as it was.

Chromium lists the listeners, and calls a function so that it ends before its first side effect. A listener
that comes to its end in this way has done nothing. What any other did cannot be seen: it may have written to
a storage, to the clipboard or to a worker, drawn on a canvas, or only set a variable of its own.

A listener above the element may do the same with every event. It counts where it does nothing with an event
of the node that it listens on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser.driver.playwright_api import Error

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame

    from footlight.browser.page.page import Page

__all__ = ["Reaction", "find_reaction"]

Reaction = Literal["disabled", "deaf", "vain", "passed", "unseen", "shut"]
"""Why nothing happened: the element is disabled, nothing listens, the listeners did nothing, those above do
the same with every event, what they did does not show, or the element has a closed shadow tree.
"""

ANSWER_SECONDS = 1.0
"""How long the page may take to answer. It mostly takes a few milliseconds."""
MAX_ABOVE = 8
"""Listeners above the element that are asked one by one."""

_SIDE_EFFECT = "EvalError: Possible side-effect"

_FIND_ELEMENT = """((path) => {
  const accessor = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const [shadowOf, firstOf, nextOf, kindOf] = [accessor(Element, 'shadowRoot'), accessor(Node, 'firstChild'),
    accessor(Node, 'nextSibling'), accessor(Node, 'nodeType')];
  let at = document;
  for (let step of path) {
    if (step === 'shadow') at = shadowOf.call(at);
    else for (at = firstOf.call(at); at && (kindOf.call(at) !== 1 || step-- > 0); at = nextOf.call(at));
    if (!at) return null;
  }
  return at;
})(%s)"""

_FIND_STEPS = """element => {
  const accessor = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const [parentOf, beforeOf, kindOf, hostOf] = [accessor(Node, 'parentNode'),
    accessor(Node, 'previousSibling'), accessor(Node, 'nodeType'), accessor(ShadowRoot, 'host')];
  let steps = [];
  for (let at = element; at && kindOf.call(at) === 1; ) {
    let place = 0;
    for (let each = beforeOf.call(at); each; each = beforeOf.call(each)) if (kindOf.call(each) === 1) place++;
    steps = [place, ...steps];
    at = parentOf.call(at);
    if (at && kindOf.call(at) === 11) [at, steps] = [hostOf.call(at), ['shadow', ...steps]];
  }
  return steps;
}"""
"""Returns the steps that `_FIND_ELEMENT` takes to an element."""

_FIND_LISTENERS = """((target, point, key) => {
  if (!target) return 'unknown';
  const accessor = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const [parentOf, kindOf] = [accessor(Node, 'parentNode'), accessor(Node, 'nodeType')];
  const page = document, view = window;
  let at = target;
  if (!key && Element.prototype.closest.call(at, ':disabled, [aria-disabled=true], [inert]'))
    return 'disabled';
  // Playwright installs its scripts in the page's own world too, once it runs one of them there. A listener
  // that is passive and comes before all others changes nothing of a click.
  const isOurs = ({listener, passive, useCapture}) => useCapture && (passive || typeof listener === 'function'
    && Function.prototype.toString.call(listener).includes('_hitTargetInterceptor'));
  const types = key
    ? ['keydown', 'keypress', 'keyup', 'beforeinput']
    : ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'touchend', 'submit'];
  const around = node => parentOf.call(node) || (kindOf.call(node) === 11 && node.host) || null;
  const own = [], above = []; // pairs of a node and a listener; `own` are those of the nearest element
  const MAX_TYPES = 20;
  let isHeard = false;
  for (; at; at = at === page ? view : at === view ? null : around(at)) {
    const isRoot = at === view || kindOf.call(at) === 11;
    const found = getEventListeners(at);
    const heard = types.flatMap(type => found[type] || []).filter(each => !isRoot || !isOurs(each));
    if (heard.length) isHeard = true;
    // Whoever listens for everything, or on the whole page, may pass events on.
    const passesOn = Object.keys(found).length > MAX_TYPES || (!key && (at === view || at === page
      || at === page.body || at === page.documentElement));
    // A library keeps the listeners of an element in a property, and listens on an element above.
    const properties = key ? ['onKeyDown', 'onKeyUp']
      : ['onClick', 'onMouseDown', 'onMouseUp', 'onPointerDown', 'onPointerUp'];
    const kept = Object.keys(at).filter(name => name.startsWith('__reactProps$'))
      .flatMap(name => properties.map(property => at[name]?.[property]).filter(Boolean));
    const isNear = !passesOn && (key || own.every(([node]) => node === at));
    for (const {listener} of heard) (isNear ? own : above).push([at, listener]);
    for (const listener of kept) own.push([at, listener]);
  }
  if (!isHeard && !own.length) return target;
  return own.length || above.length ? [own, above, target, page, view, point, key] : 'vain';
})(%s, %s, %s)"""
"""Returns what there is to call, the target if nothing listens, or a reaction."""

_CALL_AGAIN = """function (index, aim) {
  const [own, above, target, page, view, point, key] = this;
  const [x, y] = point || [0, 0];
  // Chromium counts a spread and a loop over names as side effects.
  const {key: name, code, keyCode, which, ctrlKey, shiftKey, altKey, metaKey} = key || {};
  const rootOf = node => { while (node.parentNode) node = node.parentNode; return node; };
  const seenFrom = node => {
    let at = target;
    for (const root = rootOf(node === view ? page : node); rootOf(at) !== root && rootOf(at).host; )
      at = rootOf(at).host;
    return at;
  };
  // Chromium also counts `matches` and `closest` as side effects.
  const standIn = element => {
    const root = rootOf(element), more = {};
    const matches = (at, selector) => {
      const all = root.querySelectorAll(selector);
      for (let n = 0; n < all.length; n++) if (all[n] === at) return true;
      return false;
    };
    const names = ['id', 'className', 'classList', 'tagName', 'nodeName', 'localName', 'nodeType', 'dataset',
      'parentElement', 'parentNode', 'children', 'childNodes', 'textContent', 'ownerDocument', 'attributes',
      'href', 'name', 'type', 'value', 'checked', 'disabled', 'form', 'hidden', 'title', 'isContentEditable',
      'nextElementSibling', 'previousElementSibling', 'firstElementChild', 'isConnected', 'style'];
    for (const each of names) more[each] = {value: element[each]};
    more.matches = {value: selector => matches(element, selector)};
    more.closest = {value: selector => {
      for (let at = element; at && at.nodeType === 1; at = at.parentNode)
        if (matches(at, selector)) return at;
      return null;
    }};
    for (const each of ['getAttribute', 'hasAttribute', 'contains', 'querySelector', 'querySelectorAll',
      'getBoundingClientRect'])
      more[each] = {value: argument => element[each](argument)};
    return Object.create(Object.getPrototypeOf(element), more);
  };
  const list = index < 0 ? own : above.slice(index, index + 1);
  for (const [node, listener] of list) {
    const place = aim === 'itself' ? node.nodeType === 1 ? node : page.documentElement : seenFrom(node);
    const target = aim && place !== node || aim === 'itself' ? standIn(place) : place;
    const event = {
      type: key ? 'keydown' : 'click', target, srcElement: target, currentTarget: node, isTrusted: true,
      bubbles: true, cancelable: true, defaultPrevented: false, eventPhase: 2, timeStamp: 0, view,
      key: name, code, keyCode, which, ctrlKey, shiftKey, altKey, metaKey,
      button: 0, buttons: 0, detail: 1, clientX: x, clientY: y, pageX: x, pageY: y, offsetX: 0, offsetY: 0,
      preventDefault() {}, stopPropagation() {}, stopImmediatePropagation() {}, persist() {},
      composedPath: () => [target, node, page, view], isDefaultPrevented: () => false,
      isPropagationStopped: () => false, getModifierState: () => false,
    };
    event.nativeEvent = event.originalEvent = event;
    if (typeof listener === 'function') listener.call(node, event);
    else listener.handleEvent(event);
  }
  return list.length > 0;
}"""
"""Calls the listeners of the nearest element, or one of those above. Returns whether there are any.

The target of the event is the element itself, a stand-in for it, or one for the node that listens.
"""


async def find_reaction(
    page: Page,
    path: tuple[int | str, ...],
    point: tuple[float, float] | None = None,
    key: Mapping[str, Any] | None = None,
    *,
    root: Frame | None = None,
) -> Reaction | None:
    """Return what the listeners did with a click on the element at the end of a path, or with a key.

    The path begins in the document of `root`, or in the top document. None where the browser does not say.
    Only Chromium tells which listeners there are.
    """
    if page.session.engine != "chromium":
        return None
    # A KeyError: the frame or element is no longer there.
    with contextlib.suppress(Error, KeyError, TimeoutError):
        cdp, path = await _open_session(page, root, path)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                context, inner = await _enter_frames(cdp, path)
                question = (_FIND_ELEMENT % json.dumps(inner), json.dumps(point), json.dumps(key))
                return await _ask(cdp, _FIND_LISTENERS % question, context)
        except TimeoutError:
            await cdp.send("Runtime.terminateExecution")
        finally:
            await cdp.detach()
    return None


async def _open_session(
    page: Page, root: Frame | None, path: tuple[int | str, ...]
) -> tuple[CDPSession, tuple[int | str, ...]]:
    """Return a session with the document in whose process the path ends, and the path from there.

    A frame of another site has a process of its own. A frame of another origin in the same process is
    reached through the document around it.
    """
    context = page.playwright.context
    async with asyncio.timeout(ANSWER_SECONDS):
        while root is not None and (around := root.parent_frame) is not None:
            with contextlib.suppress(Error):
                return await context.new_cdp_session(root), path
            element = await root.frame_element()
            path = (*await element.evaluate(_FIND_STEPS), "frame", *path)
            await element.dispose()
            root = around
        return await context.new_cdp_session(page.playwright), path


async def _enter_frames(
    cdp: CDPSession, path: tuple[int | str, ...]
) -> tuple[dict[str, Any], tuple[int | str, ...]]:
    """Return the execution context of the innermost frame on a path, and the rest of the path.

    Chromium tells the listeners of an element only in the context of its own frame.
    """
    if "frame" not in path:
        return {}, path
    contexts: dict[str, dict[str, Any]] = {}

    def note(event: Any) -> None:
        about = event["context"]["auxData"]
        if about.get("isDefault"):
            contexts[about["frameId"]] = {"contextId": event["context"]["id"]}

    cdp.on("Runtime.executionContextCreated", note)
    await _send(cdp, "Runtime.enable")
    context: dict[str, Any] = {}
    while "frame" in path:
        place = path.index("frame")
        question = _FIND_ELEMENT % json.dumps(path[:place])
        found = await _send(cdp, "Runtime.evaluate", expression=question, **context)
        node = await _send(cdp, "DOM.describeNode", objectId=found["result"]["objectId"])
        context, path = contexts[node["node"]["frameId"]], path[place + 1 :]
    return context, path


async def _send(cdp: CDPSession, method: str, **request: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", await cdp.send(cast("Any", method), request))


async def _ask(cdp: CDPSession, expression: str, context: Mapping[str, Any]) -> Reaction | None:
    found = await _send(cdp, "Runtime.evaluate", expression=expression, includeCommandLineAPI=True, **context)
    reply = found["result"]
    if "objectId" not in reply:
        value = reply.get("value")
        return value if value in ("disabled", "vain") else None
    if reply.get("subtype") == "node":
        node = (await _send(cdp, "DOM.describeNode", objectId=reply["objectId"]))["node"]
        shadows = node.get("shadowRoots", ())
        return "shut" if any(each.get("shadowRootType") == "closed" for each in shadows) else "deaf"

    async def call(index: int, aim: str = "") -> Literal["ended", "acts", "fails", "missing"]:
        again = await _send(
            cdp,
            "Runtime.callFunctionOn",
            objectId=reply["objectId"],
            functionDeclaration=_CALL_AGAIN,
            arguments=[{"value": index}, {"value": aim}],
            throwOnSideEffect=True,
        )
        if "exceptionDetails" not in again:
            return "ended" if again["result"].get("value") else "missing"
        ended = str(again["exceptionDetails"].get("exception", {}).get("description", ""))
        return "acts" if ended.startswith(_SIDE_EFFECT) else "fails"

    own = await call(-1)
    if own == "acts" and await call(-1, "element") != "ended":
        return "unseen"
    if own == "fails":
        return None
    has_passed = False
    for index in range(MAX_ABOVE):
        above = await call(index, "element")
        if above == "missing":
            break
        if above == "acts":
            if await call(index, "itself") == "ended":
                return "unseen"
            has_passed = True
    return "passed" if has_passed and own == "missing" else "vain"
