"""Ask Footlight's scripts in the main document of a page with one message of CDP. Chromium only.

The scripts are selector engines of Playwright, which runs them in an isolated world of its own. A selector
can only be answered at once; a message of CDP may wait in the page, for its next frame for instance.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

__all__ = ["ScriptWorld"]

_WORLD = "__playwright_utility_world"
"""How the name of Playwright's isolated world begins."""


class ScriptWorld:
    """Knows the context of the scripts in the present main document, as far as there is one."""

    def __init__(self) -> None:
        self._cdp: CDPSession | None = None
        self._frame_id = ""
        self._context: str | None = None

    async def attach(self, cdp: CDPSession) -> None:
        """Follow the documents of the page. Call it before `Runtime.enable`, which reports the first one."""
        tree = cast("dict[str, Any]", await cdp.send("Page.getFrameTree"))
        self._frame_id = str(tree["frameTree"]["frame"]["id"])
        cdp.on("Runtime.executionContextCreated", self._on_created)
        cdp.on("Runtime.executionContextDestroyed", self._on_destroyed)
        cdp.on("Runtime.executionContextsCleared", self._on_cleared)
        self._cdp = cdp

    def _on_created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"].startswith(_WORLD) and context["auxData"].get("frameId") == self._frame_id:
            self._context = context["uniqueId"]

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        if event.get("executionContextUniqueId") == self._context:
            self._context = None

    def _on_cleared(self, _: object) -> None:
        self._context = None

    @property
    def is_known(self) -> bool:
        """Whether there is a context in which the scripts run, or will run after the first selector."""
        return self._context is not None

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Return the reply of the function that a script offers as `Symbol.for("footlight.NAME")`.

        None where no script has been run in this document yet: a selector runs them.

        Raises:
            Error: the document is gone.
        """
        if self._cdp is None or self._context is None:
            return None
        given = ", ".join(json.dumps(each) for each in arguments)
        reply = cast(
            "dict[str, Any]",
            await self._cdp.send(
                "Runtime.evaluate",
                {
                    "expression": f'globalThis[Symbol.for("footlight.{name}")]?.({given})',
                    "uniqueContextId": self._context,
                    "awaitPromise": True,
                    "returnByValue": True,
                },
            ),
        )
        return None if "exceptionDetails" in reply else reply["result"].get("value")
