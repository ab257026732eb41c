"""What an acting call tells of the app after it: what is different since a caller was told of it last."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict

from footlight.apps.changes import Changes, changes
from footlight.apps.observing import Look
from footlight.browser.deadline import Deadline
from footlight.browser.settling import settle
from footlight.errors import FootlightError
from footlight.toolsets.metamask.parameters import running_app

if TYPE_CHECKING:
    from footlight.apps.discovery import TrimmedNode
    from footlight.browser.page import Page
    from footlight.server.tool import ToolCall

__all__ = ["Observing"]

MOST_NODES = 60
MOST_TEST_IDS = 60
LOOK_MS = 3_000
"""How long a look may take that only tells beside the result."""


class Observed(TypedDict):
    observation: NotRequired[dict[str, Any]]


class Observing:
    """`begin` before a call acts, `told` after."""

    def __init__(self, call: ToolCall, mode: str) -> None:
        self._call = call
        self._wanted = mode == "diff"
        self._running = running_app(call)
        self._page = call.page
        self._began = 0.0
        self._before: Look | None = None

    async def begin(self) -> None:
        """Look first at a page that nobody was told of: without that, all would be new."""
        if self._wanted:
            self._before = self._running.told_of(self._page) or await self._look(self._page)
        self._began = time.monotonic()

    async def told(self) -> Observed:
        """`{observation}`; nothing where none is wanted, or the page gives no answer."""
        if not self._wanted:
            return {}
        settings = self._call.settings.observation
        if settings.settle == "auto" and not self._page.closed:
            await settle(self._page, self._began, self._call.deadline, limit_ms=settings.settle_timeout)
        if self._page.closed:
            return {"observation": {"kind": "page-closed", **self._where_now()}}
        after = await self._look(self._page)
        if after is None:
            return {"observation": {"kind": "unknown"}}
        return {"observation": self._difference(after)}

    def _where_now(self) -> dict[str, Any]:
        page = self._running.app.current
        return {"currentUrl": page.url} if page else {}

    async def _look(self, page: Page) -> Look | None:
        try:
            return await self._running.look(page, Deadline.after(LOOK_MS))
        except FootlightError:
            return None

    def _difference(self, after: Look) -> dict[str, Any]:
        found = changes(self._before, after)
        self._running.tell(self._page, after)
        state = {"screen": after.state.screen.name, "currentUrl": after.state.current_url}
        if not found.any:
            return {"kind": "same", **state}
        return {"kind": "diff", **state, **self._nodes(found), **_test_ids(found)}

    def _nodes(self, found: Changes) -> dict[str, Any]:
        refs = self._running.refs_of(self._page)
        told: dict[str, Any] = {}
        for name, nodes in (("added", found.added), ("changed", found.changed), ("removed", found.removed)):
            if nodes:
                told[name] = refs.told(nodes[:MOST_NODES]) if name != "removed" else _gone(nodes[:MOST_NODES])
            if len(nodes) > MOST_NODES:
                told["cut"] = True
        return told


def _gone(nodes: Sequence[TrimmedNode]) -> list[dict[str, str]]:
    """What is not there any more has no ref."""
    return [{"role": node.role, "name": node.name} for node in nodes]


def _test_ids(found: Changes) -> dict[str, Any]:
    told = {"added": [*found.come[:MOST_TEST_IDS]], "removed": [*found.gone[:MOST_TEST_IDS]]}
    told = {name: ids for name, ids in told.items() if ids}
    return {"testIds": told} if told else {}
