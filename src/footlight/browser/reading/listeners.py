"""Determine what the listeners of a page did with an input event that had no visible effect.

Chromium lists the listeners, and can call a function in such a way that it ends before its first side effect.
A listener that runs to its end in this way has done nothing. The effect of any other listener is unknown: it
may have written to a storage, to the clipboard or to a worker, drawn on a canvas, or only set a variable.

A listener on an ancestor may do the same for every event. Its effect counts only if it does nothing for an
event whose target is the node that it listens on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import run_about_handle
from footlight.browser.driver.shielding import run_detached
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame

    from footlight.browser.page.page import Page

__all__ = ["Reaction", "find_reaction"]

Reaction = Literal[
    "disabled",
    "no listener",
    "double click",
    "no change",
    "only around",
    "hidden change",
    "closed shadow tree",
]
"""Why an input event had no visible effect.

`double click`: there are listeners for double clicks only. `no change`: the listeners did nothing. `only
around`: only listeners on ancestors did something, which is not visible and which they may do for every
event. `hidden change`: a listener did something that is not visible.
`closed shadow tree`: the listeners inside the element are unknown.
"""

ANSWER_SECONDS = 3.0
"""How long the page may take to respond. It usually takes milliseconds, and longer on a busy machine."""
FIND_MS = 2_000
"""How long our own script may run. The page may have replaced the built-in functions that it calls."""
MAX_ABOVE = 8
"""The number of listeners on ancestors that are called one by one."""

_FUNCTIONS = {
    "Function.prototype.call": "call",
    "Object.getOwnPropertyDescriptor": "getOwnPropertyDescriptor",
    "Object.getPrototypeOf": "getPrototypeOf",
    "Object.create": "create",
    "Object.keys": "keys",
    **{f"Array.prototype.{name}": name for name in ("every", "filter", "flatMap", "map", "push", "slice")},
    "Array.prototype[Symbol.iterator]": "values",
    "Object.getPrototypeOf([][Symbol.iterator]()).next": "next",
    "String.prototype.includes": "includes",
    "String.prototype.startsWith": "startsWith",
    "Element.prototype.closest": "closest",
    **{
        f"Object.getOwnPropertyDescriptor({owner}.prototype, '{name}').get": f"get {name}"
        for owner, name in (
            ("Node", "parentNode"),
            ("Node", "nodeType"),
            ("Node", "firstChild"),
            ("Node", "nextSibling"),
            ("Element", "shadowRoot"),
        )
    },
}
"""The functions that our script calls, as expressions with their names.

`Function.prototype.toString` is not among them, because zone.js replaces it on many pages: see `found.js`.
"""

_SIDE_EFFECT = "EvalError: Possible side-effect"

_FOLDER = Path(__file__).parent / "scripts" / "listeners"
_FIND_ELEMENT = page_function(_FOLDER, ["accessor", "path"], "findElement")
_FIND_STEPS = page_function(_FOLDER, ["accessor", "path"], "findSteps")
"""Returns the steps by which `_FIND_ELEMENT` finds an element."""
_FIND_LISTENERS = page_function(_FOLDER, ["accessor", "found"], "findListeners")
"""Returns the listeners to call, the target if there are none, or a reaction."""
_CALL_AGAIN = page_function(_FOLDER, ["event", "again"], "callAgain")
"""Calls the listeners of the nearest element, or one listener above it. Returns whether there are any."""


async def find_reaction(
    page: Page,
    path: tuple[int | str, ...],
    point: tuple[float, float] | None = None,
    key: Mapping[str, Any] | None = None,
    *,
    types: Sequence[str] = (),
    root: Frame | None = None,
) -> Reaction | None:
    """Return how the listeners reacted to a click on the element at the end of a path, or to a key.

    `types` are those of the events of the click.
    The path begins in the document of `root`, or in the top document. Return None if that is unknown: only
    Chromium lists listeners.
    """
    if page.session.engine != "chromium":
        return None
    # A KeyError means that the frame or element is gone.
    with contextlib.suppress(Error, KeyError, TimeoutError):
        cdp, path = await _open_session(page, root, path)
        calling = asyncio.Event()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                context, inner = await _enter_frames(cdp, path)
                target = f"({_FIND_ELEMENT})({json.dumps(inner)})"
                question = f"({_FIND_LISTENERS})({target}, {json.dumps([point, key, types])})"
                return await _ask(cdp, question, context, calling)
        finally:
            # For a page that hangs, awaiting this here would block until it responds again.
            run_detached(_end_session(cdp, calling))
    return None


async def _end_session(cdp: CDPSession, calling: asyncio.Event) -> None:
    """Close a session, and stop a listener that was called and has not ended, but no other script."""
    with contextlib.suppress(Error, TimeoutError):
        if calling.is_set():
            async with asyncio.timeout(ANSWER_SECONDS):
                await cdp.send("Runtime.terminateExecution")
        await cdp.detach()


async def _open_session(
    page: Page, root: Frame | None, path: tuple[int | str, ...]
) -> tuple[CDPSession, tuple[int | str, ...]]:
    """Return a CDP session for the process in which the path ends, and the path from its document.

    A frame of another site has its own process. A frame of another origin in the same process is reached
    through its parent document.
    """
    context = page.playwright.context
    async with asyncio.timeout(ANSWER_SECONDS):
        while root is not None and (around := root.parent_frame) is not None:
            with contextlib.suppress(Error):
                return await context.new_cdp_session(root), path
            element = await root.frame_element()
            path = (*await run_about_handle(element, _FIND_STEPS), "frame", *path)
            await element.dispose()
            root = around
        return await context.new_cdp_session(page.playwright), path


async def _enter_frames(
    cdp: CDPSession, path: tuple[int | str, ...]
) -> tuple[dict[str, Any], tuple[int | str, ...]]:
    """Return the execution context of the innermost frame on a path, and the remaining path.

    Chromium lists the listeners of an element only in the context of its own frame.
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
        if not await _has_own_functions(cdp, context):
            raise Error("The page has replaced functions that our script calls")
        place = path.index("frame")
        question = f"({_FIND_ELEMENT})({json.dumps(path[:place])})"
        found = await _evaluate(cdp, question, context)
        node = await _send(cdp, "DOM.describeNode", objectId=found["result"]["objectId"])
        context, path = contexts[node["node"]["frameId"]], path[place + 1 :]
    return context, path


async def _send(cdp: CDPSession, method: str, **request: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", await cdp.send(cast("Any", method), request))


async def _evaluate(cdp: CDPSession, expression: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of our own script, which ends after `FIND_MS`. Waiting for others does not count.

    Raises:
        Error: The script failed.
    """
    reply = await _send(
        cdp, "Runtime.evaluate", expression=expression, includeCommandLineAPI=True, timeout=FIND_MS, **context
    )
    if "exceptionDetails" in reply:
        raise Error("Our script failed")
    return reply


async def _has_own_functions(cdp: CDPSession, context: Mapping[str, Any]) -> bool:
    """Return whether the page has not replaced the functions that our script calls.

    Chromium describes them without calling them. With replaced functions the result would be wrong.
    """
    found = (await _evaluate(cdp, f"[{', '.join(_FUNCTIONS)}]", context))["result"]
    if "objectId" not in found:
        return False
    listed = await _send(cdp, "Runtime.getProperties", objectId=found["objectId"], ownProperties=True)
    described = [each["value"].get("description") for each in listed["result"] if each["name"].isdigit()]
    return described == [f"function {name}() {{ [native code] }}" for name in _FUNCTIONS.values()]


async def _ask(
    cdp: CDPSession, expression: str, context: Mapping[str, Any], calling: asyncio.Event
) -> Reaction | None:
    """Return the reaction of a document. `calling` is set while one of its listeners runs."""
    if not await _has_own_functions(cdp, context):
        return None
    found = await _evaluate(cdp, expression, context)
    reply = found["result"]
    if "objectId" not in reply:
        value = reply.get("value")
        return value if value in ("disabled", "double click", "no change") else None
    if reply.get("subtype") == "node":
        node = (await _send(cdp, "DOM.describeNode", objectId=reply["objectId"]))["node"]
        shadows = node.get("shadowRoots", ())
        return (
            "closed shadow tree"
            if any(each.get("shadowRootType") == "closed" for each in shadows)
            else "no listener"
        )

    async def call(index: int, aim: str = "") -> Literal["ended", "acts", "fails", "missing"]:
        calling.set()
        again = await _send(
            cdp,
            "Runtime.callFunctionOn",
            objectId=reply["objectId"],
            functionDeclaration=f"function (index, aim) {{ return ({_CALL_AGAIN})(this, [index, aim]); }}",
            arguments=[{"value": index}, {"value": aim}],
            throwOnSideEffect=True,
        )
        calling.clear()
        if "exceptionDetails" not in again:
            return "ended" if again["result"].get("value") else "missing"
        ended = str(again["exceptionDetails"].get("exception", {}).get("description", ""))
        return "acts" if ended.startswith(_SIDE_EFFECT) else "fails"

    own = await call(-1)
    if own == "acts" and await call(-1, "element") != "ended":
        return "hidden change"
    if own == "fails":
        return None
    has_passed = False
    for index in range(MAX_ABOVE):
        above = await call(index, "element")
        if above == "missing":
            break
        if above == "acts":
            if await call(index, "itself") == "ended":
                return "hidden change"
            has_passed = True
    return "only around" if has_passed and own == "missing" else "no change"
