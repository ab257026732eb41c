"""The observation in the answer of an action: what changed in the app since the caller's last observation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict

from footlight.apps.observation import AppChanges, AppObservation, compare_observations
from footlight.browser.driver.deadline import Deadline
from footlight.browser.page.settling import settle
from footlight.errors import FootlightError
from footlight.toolsets.metamask.parameters import running_app

if TYPE_CHECKING:
    from footlight.apps.nodes import TrimmedNode
    from footlight.browser.page.page import Page
    from footlight.server.tools import ToolCall

__all__ = ["ActionObserver"]

MAX_NODES = 60
MAX_TEST_IDS = 60
OBSERVE_MS = 3_000
"""Time limit of an observation in addition to the result."""


class ObservationResult(TypedDict):
    observation: NotRequired[dict[str, Any]]


class ActionObserver:
    """Call `begin` before an action and `report` after it."""

    def __init__(self, call: ToolCall, mode: str) -> None:
        self._call = call
        # Answers in strict mode have no observation.
        self._enabled = mode == "diff" and not call.settings.app.strict
        self._running = running_app(call)
        self._page = call.page
        self._began = 0.0
        self._before: AppObservation | None = None

    async def begin(self) -> None:
        """Observe a page that the caller does not know yet; otherwise every node would count as new."""
        if self._enabled:
            self._before = self._running.last_sent(self._page) or await self._look(self._page)
        self._began = time.monotonic()

    async def report(self) -> ObservationResult:
        """Return `{observation}`, or an empty dict if observations are disabled."""
        if not self._enabled:
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

    async def _look(self, page: Page) -> AppObservation | None:
        try:
            return await self._running.look(page, Deadline.after(OBSERVE_MS))
        except FootlightError:
            return None

    def _difference(self, after: AppObservation) -> dict[str, Any]:
        found = compare_observations(self._before, after)
        self._running.mark_sent(self._page, after)
        state = {"screen": after.state.screen.name, "currentUrl": after.state.current_url}
        if not found.any:
            return {"kind": "same", **state}
        return {"kind": "diff", **state, **self._nodes(found), **_describe_test_ids(found)}

    def _nodes(self, found: AppChanges) -> dict[str, Any]:
        refs = self._running.refs_of(self._page)
        entries: dict[str, Any] = {}
        for name, nodes in (("added", found.added), ("changed", found.changed), ("removed", found.removed)):
            if nodes:
                entries[name] = (
                    refs.describe(nodes[:MAX_NODES])
                    if name != "removed"
                    else _describe_removed(nodes[:MAX_NODES])
                )
            if len(nodes) > MAX_NODES:
                entries["cut"] = True
        return entries


def _describe_removed(nodes: Sequence[TrimmedNode]) -> list[dict[str, str]]:
    """Describe removed nodes, which have no ref any more."""
    return [{"role": node.role, "name": node.name} for node in nodes]


def _describe_test_ids(found: AppChanges) -> dict[str, Any]:
    test_ids = {
        "added": [*found.added_test_ids[:MAX_TEST_IDS]],
        "removed": [*found.removed_test_ids[:MAX_TEST_IDS]],
    }
    test_ids = {name: ids for name, ids in test_ids.items() if ids}
    return {"testIds": test_ids} if test_ids else {}
