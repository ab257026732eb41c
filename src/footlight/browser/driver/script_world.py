"""Call Footlight's scripts in the main document of a page with one CDP message. Chromium only.

The scripts are selector engines of Playwright, and run in its isolated world. A selector must reply
immediately, but a CDP message may wait in the page, for its next frame for instance. With the first selector
in a document, Playwright runs its own scripts and all engines, which takes about 20 ms. The first CDP message
contains only the engine that it needs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_connection import send
from footlight.browser.driver.shielding import start_work

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

__all__ = ["ScriptWorld", "find_listener"]

_WORLD = "__playwright_utility_world"
"""The beginning of the name of Playwright's isolated world."""
_PATH_OBJECTS = "footlight-path"
_FRAMES = frozenset({"embed", "fencedframe", "frame", "iframe", "object"})
MAX_PATH = 60
"""The number of nodes whose listeners are listed."""


class ScriptWorld:
    """Tracks the execution context of the scripts in the current main document, if it has one."""

    def __init__(self) -> None:
        self.attaching: asyncio.Task[None] | None = None
        """The task that calls `attach`, in browsers that support it. Requests wait for it."""
        self.began_at = 0.0
        """When the document began (`time.monotonic()`), or 0 if no engine was installed before."""
        self._cdp: CDPSession | None = None
        self._frame_id = ""
        self._context: str | None = None
        self._world = ""
        self._known = asyncio.Event()
        self._engines: set[Callable[[], str]] = set()
        """The engines that run in the current document."""
        self._installed: set[Callable[[], str]] = set()
        """The engines that run in each new document."""

    async def attach(self, cdp: CDPSession, target_id: str) -> None:
        """Track the documents of the page. Chromium names the main frame like the page's target."""
        self._frame_id = target_id
        cdp.on("Runtime.executionContextCreated", self._on_created)
        cdp.on("Runtime.executionContextDestroyed", self._on_destroyed)
        cdp.on("Runtime.executionContextsCleared", self._on_cleared)
        await cdp.send("Runtime.enable")
        self._cdp = cdp

    def _on_created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"].startswith(_WORLD) and context["auxData"].get("frameId") == self._frame_id:
            self._context, self._world = context["uniqueId"], context["name"]
            self._engines = {*self._installed}
            self.began_at = time.monotonic() if self._installed else 0.0
            self._known.set()

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        if event.get("executionContextUniqueId") == self._context:
            self._on_cleared(event)

    def _on_cleared(self, _: object) -> None:
        self._context = None
        self._known.clear()

    @property
    def is_known(self) -> bool:
        """Return whether the main document has a context for the scripts."""
        return self._context is not None

    async def wait_for_document(self) -> bool:
        """Wait until scripts can be called. Return False in browsers that do not support it."""
        if await self._wait_until_attached() is None:
            return False
        await self._known.wait()
        return True

    async def _wait_until_attached(self) -> CDPSession | None:
        if self.attaching is not None and not self.attaching.done():
            await asyncio.wait([self.attaching])
        return self._cdp

    async def install(self, engine: Callable[[], str], name: str) -> None:
        """Call a function that an engine provides at the beginning of each new document of the main frame."""
        if not await self.wait_for_document():
            return
        assert self._cdp is not None
        call = f'{engine()};\nglobalThis[Symbol.for("footlight.{name}")]()'
        request = {"source": f"if (self === top) {{ {call} }}", "worldName": self._world}
        await self._cdp.send("Page.addScriptToEvaluateOnNewDocument", request)
        self._installed.add(engine)

    async def ask(self, engine: Callable[[], str], name: str, *arguments: Any) -> Any:
        """Return the result of the function that an engine provides as `Symbol.for("footlight.NAME")`.

        `engine` returns the source of the engine, which is run first if it has not run in this document.
        Return None if scripts cannot be called.

        Raises:
            Error: the document is gone.
        """
        cdp = await self._wait_until_attached()
        if cdp is None or self._context is None:
            return None
        given = ", ".join(json.dumps(each) for each in arguments)
        call = f'globalThis[Symbol.for("footlight.{name}")]({given})'
        # Messages are processed in order, so the call need not wait for the reply to the first message.
        _, reply = await asyncio.gather(self.load(engine), self._evaluate(cdp, call, self._context))
        return None if "exceptionDetails" in reply else reply["result"].get("value")

    async def load(self, engine: Callable[[], str]) -> None:
        """Run the source of an engine, unless it has run in this document or scripts cannot be called.

        The source is a message of its own, which is the same for each document, because Chromium then takes
        it from its cache of compiled scripts.

        Raises:
            Error: the document is gone.
        """
        engines = self._engines
        if self._cdp is None or self._context is None or engine in engines:
            return
        engines.add(engine)
        reply = await self._evaluate(self._cdp, f"{engine()};\n0", self._context)
        if "exceptionDetails" in reply:
            engines.discard(engine)

    async def run(self, expression: str) -> dict[str, Any]:
        """Return Chromium's reply about the value of an expression, which may be a promise.

        Wait for the execution context if a document is just beginning. Call this only if `wait_for_document`
        returns True.

        Raises:
            Error: the document is gone.
        """
        await self._known.wait()
        assert self._cdp is not None
        assert self._context is not None
        return await self._evaluate(self._cdp, expression, self._context)

    async def may_have_listener(self, name: str, types: Collection[str]) -> bool:
        """Return whether a script of the page may get an event of one of these types.

        The function that an engine provides as `Symbol.for("footlight.NAME")` returns the nodes that the
        event passes. Only the listeners of the page count, not those of our scripts.

        Raises:
            Error: the document is gone.
        """
        if (cdp := self._cdp) is None or self._context is None:
            return True
        call = f'globalThis[Symbol.for("footlight.{name}")]()'
        request = {"expression": call, "uniqueContextId": self._context, "objectGroup": _PATH_OBJECTS}
        try:
            found = await send(cdp, "Runtime.evaluate", request)
            return await find_listener(cdp, found["result"]["objectId"], types) is not False
        finally:
            # For a page that hangs, awaiting this here would block until it responds again.
            start_work(send(cdp, "Runtime.releaseObjectGroup", {"objectGroup": _PATH_OBJECTS}))

    async def _evaluate(self, cdp: CDPSession, expression: str, context: str) -> dict[str, Any]:
        request = {
            "expression": expression,
            "uniqueContextId": context,
            "awaitPromise": True,
            "returnByValue": True,
        }
        return cast("dict[str, Any]", await cdp.send("Runtime.evaluate", request))


async def find_listener(cdp: CDPSession, path: str, types: Collection[str]) -> bool | None:
    """Return whether a script of the page listens for events of one of these types on their path.

    `path` is the id of a list of nodes, from the target outwards. Return None if the listeners are unknown:
    in a closed shadow tree, in a frame, or on a path that is very long or empty; and for an element that
    shows another one while the mouse is over it (`interestfor`), without a script.

    Raises:
        Error: the document is gone.
    """
    kept = {"objectGroup": _PATH_OBJECTS}
    own = await send(cdp, "Runtime.getProperties", {"objectId": path, "ownProperties": True})
    ids = [each["value"]["objectId"] for each in own["result"] if each["name"].isdigit()]
    if not 0 < len(ids) <= MAX_PATH:
        return None
    asked = await asyncio.gather(*(send(cdp, "DOM.describeNode", {"objectId": id}) for id in ids))
    nodes = [each["node"] for each in asked]
    if nodes[0]["localName"] in _FRAMES or any(map(_may_respond_without_listener, nodes)):
        return None
    # Chromium lists listeners only for an object of the page's own world.
    window, *resolved = await asyncio.gather(
        send(cdp, "Runtime.evaluate", {"expression": "self", **kept}),
        *(send(cdp, "DOM.resolveNode", {"backendNodeId": each["backendNodeId"], **kept}) for each in nodes),
    )
    objects = [window["result"]["objectId"], *(each["object"]["objectId"] for each in resolved)]
    listed = await asyncio.gather(
        *(send(cdp, "DOMDebugger.getEventListeners", {"objectId": id}) for id in objects)
    )
    return any(listener["type"] in types for each in listed for listener in each["listeners"])


def _may_respond_without_listener(node: Mapping[str, Any]) -> bool:
    """Return whether an element may respond to an event for which it lists no listener."""
    trees = (each.get("shadowRootType") for each in node.get("shadowRoots", ()))
    return "closed" in trees or "interestfor" in node.get("attributes", ())[::2]
