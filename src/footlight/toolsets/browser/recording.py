"""Writing the steps of ordinary pages down, where whoever runs the server wants a memory of them.

The records are those of document 002. What it calls a screen is here the site and the path, without what
tells one thing of a kind from another: `shop.example/orders/:id`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from footlight.apps.discovery import trimmed
from footlight.apps.observing import told_test_id
from footlight.browser.deadline import Deadline
from footlight.browser.looking import look
from footlight.browser.refs import leading_ref
from footlight.browser.test_ids import seen_test_ids
from footlight.errors import FootlightError
from footlight.knowledge.facts import LearntFacts
from footlight.knowledge.records import Observation, Step
from footlight.knowledge.sanitising import Rules
from footlight.server.typed_field import field_of

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.browser.page import Page
    from footlight.knowledge.store import KnowledgeStore
    from footlight.server.recording import Recorded
    from footlight.server.tool import Tool, ToolCall

__all__ = ["RULES", "PageRecorder", "screen_of"]

logger = logging.getLogger(__name__)

TYPED = "typed"
TYPES = {
    "type": "text",
    "fill": "value",
    "clipboard": "text",
    "handle_dialog": "promptText",
    "storage": "value",
}
"""By tool: the parameter that may hold what nobody is to read."""
FILLS = ("fields", "cookies", "steps")
"""Parameters that are lists of such; of each the rest is kept."""
RULES = Rules(secret_screens=frozenset(), typed_keys=frozenset((TYPED,)))
"""With them no other text of a call is taken for one that was typed."""

LOOK_MS = 1_000
MOST_TEST_IDS = 150
MOST_NODES = 150
LONGEST_PATH = 100
_ID = re.compile(r"\d+|[0-9a-f]{8,}|[0-9a-f-]{32,}|(?=.*\d)(?=.*[A-Za-z])[\w-]{16,}", re.IGNORECASE)


class PageRecorder:
    """For calls that work in a page. Each is followed by a look at it."""

    def __init__(self, store: KnowledgeStore, *, repository: Path) -> None:
        self._store = store
        self._facts = LearntFacts(repository)
        self._asked = False

    async def observe(self, tool: Tool, call: ToolCall) -> Observation | None:
        page = call.maybe_page
        if tool.scope != "page" or tool.batch or page is None or page.closed:
            return None
        with contextlib.suppress(FootlightError):
            return await _seen(page)
        return None

    async def record(self, recorded: Recorded) -> None:
        if recorded.tool.scope != "page" or recorded.tool.batch:
            return
        if not self._asked:
            self._facts.ask()
            self._asked = True
        await asyncio.to_thread(self._store.record, _step(recorded), self._facts.known)


async def _seen(page: Page) -> Observation:
    deadline = Deadline.after(LOOK_MS)
    snapshot, test_ids = await asyncio.gather(
        look(page, deadline), seen_test_ids(page, deadline, limit=MOST_TEST_IDS)
    )
    state = {
        "isLoaded": True,
        "currentUrl": page.url,
        "extensionId": "",
        "isUnlocked": False,
        "currentScreen": screen_of(page.url),
    }
    nodes = [node.told(node.element) for node in trimmed(snapshot.nodes)[:MOST_NODES]]
    return Observation(state=state, test_ids=[told_test_id(each) for each in test_ids], nodes=nodes)


def screen_of(url: str) -> str:
    """The site and the path, with `:id` for what looks like one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unknown"
    if parts.scheme not in ("http", "https"):
        return parts.scheme or "unknown"
    path = "/".join(":id" if _ID.fullmatch(part) else part for part in parts.path.rstrip("/").split("/"))
    return f"{parts.netloc.rpartition('@')[2]}{path[:LONGEST_PATH]}"


def _step(recorded: Recorded) -> Step:
    answer, typed = recorded.answer, recorded.call.typed_into if recorded.call else None
    return Step(
        tool=recorded.tool.name,
        session_id=answer.session_id,
        at=recorded.at,
        ok=answer.success,
        duration_ms=answer.duration_ms,
        input=_input(recorded.tool.name, recorded.arguments),
        target=_target(recorded.arguments.get("selector")),
        field=field_of(typed) if typed else None,
        error=None if answer.success else answer.content["error"],
        observation=cast("Observation | None", recorded.observed),
    )


def _input(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed under its own name, and of lists of what was typed all but that."""
    secret = TYPES.get(tool)
    return {
        TYPED if name == secret else name: _without_values(value) if name in FILLS else value
        for name, value in arguments.items()
    }


def _without_values(items: object) -> object:
    if not isinstance(items, list):
        return None
    kept: list[object] = []
    for item in cast("list[object]", items):
        told = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        kept.append({name: value for name, value in told.items() if name != "value"})
    return kept


def _target(selector: object) -> dict[str, str] | None:
    if not isinstance(selector, str):
        return None
    found = leading_ref(selector)
    if found and not found[1]:
        return {"a11yRef": found[0]}
    if selector.startswith("testid="):
        return {"testId": selector.removeprefix("testid=").strip("\"'")}
    return {"selector": selector}
