"""Record the calls that work in ordinary web pages, if the server keeps a memory of steps.

The screen of a step is the site and the path of the page, with ids replaced: `shop.example/orders/:id`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from footlight.apps.nodes import trim_nodes
from footlight.apps.observation import describe_test_id
from footlight.browser.driver.deadline import Deadline
from footlight.browser.page.capture import look
from footlight.browser.page.refs import leading_ref
from footlight.browser.reading.test_ids import list_test_ids
from footlight.errors import FootlightError
from footlight.knowledge.facts import FactsReader
from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.steps import RawStep, StepObservation

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.browser.page.page import Page
    from footlight.knowledge.store import KnowledgeStore
    from footlight.server.calls.recording import RecordedCall
    from footlight.server.tools import Tool, ToolCall

__all__ = ["RULES", "PageRecorder", "screen_name"]

logger = logging.getLogger(__name__)

TYPED = "typed"
TYPED_PARAMETERS = {
    "type": "text",
    "fill": "value",
    "clipboard": "text",
    "handle_dialog": "promptText",
    "storage": "value",
    "call_page_tool": "input",
}
"""By tool: the parameter that may contain a secret."""
LISTS_WITH_VALUES = ("fields", "cookies", "steps")
"""Parameters that are lists of objects with a `value` that may be a secret; only `value` is dropped."""
RULES = RedactionRules(secret_screens=frozenset(), typed_keys=frozenset((TYPED,)))
"""Rules under which only parameters renamed to `typed` count as typed text."""

OBSERVE_MS = 1_000
MAX_TEST_IDS = 150
MAX_NODES = 150
MAX_PATH_CHARS = 100
_ID = re.compile(r"\d+|[0-9a-f]{8,}|[0-9a-f-]{32,}|(?=.*\d)(?=.*[A-Za-z])[\w-]{16,}", re.IGNORECASE)


class PageRecorder:
    """Records the calls that work in a page, each with an observation of the page after it."""

    def __init__(self, store: KnowledgeStore, *, repository: Path) -> None:
        self._store = store
        self._facts = FactsReader(repository)
        self._facts_requested = False

    async def observe(self, tool: Tool, call: ToolCall) -> StepObservation | None:
        page = call.maybe_page
        if tool.scope != "page" or tool.batch or page is None or page.closed:
            return None
        with contextlib.suppress(FootlightError):
            return await _observe_page(page)
        return None

    async def record(self, recorded: RecordedCall) -> None:
        if recorded.tool.scope != "page" or recorded.tool.batch:
            return
        if not self._facts_requested:
            self._facts.refresh()
            self._facts_requested = True
        await asyncio.to_thread(self._store.record, _make_step(recorded), self._facts.facts)


async def _observe_page(page: Page) -> StepObservation:
    deadline = Deadline.after(OBSERVE_MS)
    snapshot, test_ids = await asyncio.gather(
        look(page, deadline), list_test_ids(page, deadline, limit=MAX_TEST_IDS)
    )
    state = {
        "isLoaded": True,
        "currentUrl": page.url,
        "extensionId": "",
        "isUnlocked": False,
        "currentScreen": screen_name(page.url),
    }
    nodes = [node.as_json(node.element) for node in trim_nodes(snapshot.nodes)[:MAX_NODES]]
    return StepObservation(state=state, test_ids=[describe_test_id(each) for each in test_ids], nodes=nodes)


def screen_name(url: str) -> str:
    """Return the site and the path of a URL, with `:id` in place of ids."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unknown"
    if parts.scheme not in ("http", "https"):
        return parts.scheme or "unknown"
    path = "/".join(":id" if _ID.fullmatch(part) else part for part in parts.path.rstrip("/").split("/"))
    return f"{parts.netloc.rpartition('@')[2]}{path[:MAX_PATH_CHARS]}"


def _make_step(recorded: RecordedCall) -> RawStep:
    answer = recorded.answer
    return RawStep(
        tool=recorded.tool.name,
        session_id=answer.session_id,
        at=recorded.at,
        ok=answer.success,
        duration_ms=answer.duration_ms,
        input=_clean_input(recorded.tool.name, recorded.arguments),
        target=_find_target(recorded.arguments.get("selector")),
        field=recorded.typed_field,
        error=None if answer.success else answer.content["error"],
        observation=cast("StepObservation | None", recorded.observed),
    )


def _clean_input(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with typed text under the key `typed`, and without typed values in lists."""
    secret = TYPED_PARAMETERS.get(tool)
    return {
        TYPED if name == secret else name: _without_values(value) if name in LISTS_WITH_VALUES else value
        for name, value in arguments.items()
    }


def _without_values(items: object) -> object:
    if not isinstance(items, list):
        return None
    entries: list[object] = []
    for item in cast("list[object]", items):
        fields = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        entries.append({name: value for name, value in fields.items() if name != "value"})
    return entries


def _find_target(selector: object) -> dict[str, str] | None:
    if not isinstance(selector, str):
        return None
    found = leading_ref(selector)
    if found and not found[1]:
        return {"a11yRef": found[0]}
    if selector.startswith("testid="):
        return {"testId": selector.removeprefix("testid=").strip("\"'")}
    return {"selector": selector}
