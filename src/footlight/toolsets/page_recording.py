"""Record the calls that work in ordinary web pages, if the server keeps a memory of steps.

The screen of a step is the site and the path of the page, with ids replaced: `shop.example/orders/:id`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Mapping
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
from footlight.knowledge.secret_shapes import MARK
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
VALUES_OF_TEXTS = frozenset((("drop", "data"), ("evaluate", "args"), ("expect", "value")))
"""Parameters in which any text may be one that was typed, or will be."""
RULES = RedactionRules(secret_screens=frozenset(), typed_keys=frozenset((TYPED,)))
"""Rules under which only parameters renamed to `typed` count as typed text."""

OBSERVE_MS = 1_000
MAX_TEST_IDS = 150
MAX_NODES = 150
MAX_PATH_CHARS = 100
MAX_URL_CHARS = 2_000
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
            return await _observe_page(page, self._store.mask)
        return None

    async def record(self, recorded: RecordedCall) -> None:
        if recorded.tool.scope != "page" or recorded.tool.batch:
            return
        if not self._facts_requested:
            self._facts.refresh()
            self._facts_requested = True
        await asyncio.to_thread(self._store.record, _make_step(recorded), self._facts.facts)


async def _observe_page(page: Page, mask: Callable[[str], str]) -> StepObservation:
    deadline = Deadline.after(OBSERVE_MS)
    snapshot, test_ids = await asyncio.gather(
        look(page, deadline), list_test_ids(page, deadline, limit=MAX_TEST_IDS)
    )
    state = {
        "isLoaded": True,
        "currentUrl": page.url,
        "extensionId": "",
        "isUnlocked": False,
        # A name is a part of the URL, in which a part of a secret would not be found.
        "currentScreen": screen_name(mask(page.url[:MAX_URL_CHARS])),
    }
    nodes = [node.as_json(node.element) for node in trim_nodes(snapshot.nodes, MAX_NODES)]
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
    input, typed = _clean_input(recorded.tool.name, recorded.arguments)
    fields = recorded.typed_fields
    return RawStep(
        tool=recorded.tool.name,
        session_id=answer.session_id,
        at=recorded.at,
        ok=answer.success,
        duration_ms=answer.duration_ms,
        input=input,
        target=_find_target(recorded.arguments.get("selector")),
        field=recorded.typed_field,
        typed=[(text, fields.get(selector)) for selector, text in typed],
        error=None if answer.success else _clean_error(answer.content["error"]),
        observation=cast("StepObservation | None", recorded.observed),
    )


def _clean_input(tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the arguments without typed texts, and the other typed texts, each with the field's selector.

    The value of a parameter in `TYPED_PARAMETERS` is returned in the arguments under the key `typed`.
    """
    typed: list[tuple[str, str]] = []
    recorded: dict[str, Any] = {}
    for name, value in arguments.items():
        if name == TYPED_PARAMETERS.get(tool):
            recorded[TYPED] = value
        elif name == "fields":
            recorded[name] = _take_values(value, typed)
        elif name == "expect":
            recorded[name] = _hide_expected_value(value)
        elif (tool, name) in VALUES_OF_TEXTS:
            recorded[name] = _hide_texts(value)
        elif isinstance(value, str) and _is_typed(tool, name, value, arguments):
            typed.append(("", value))
        else:
            recorded[name] = value
    return recorded, typed


def _clean_error(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the error without the value of a field that did not become what was expected."""
    details = cast("Mapping[str, Any]", error.get("details") or {})
    expected = details.get("expected")
    hidden = _hide_expected_value(expected)
    if hidden is expected:
        return error
    return {
        **error,
        "details": {**details, "expected": hidden, "actual": _hide_texts(details.get("actual"))},
    }


def _take_values(fields: object, typed: list[tuple[str, str]]) -> object:
    """Return the selectors of a form's fields, and add their values that are texts to `typed`."""
    if not isinstance(fields, dict):
        return None
    values = cast("dict[str, object]", fields)
    typed += [(selector, value) for selector, value in values.items() if isinstance(value, str)]
    return [*values]


def _hide_expected_value(expected: object) -> object:
    """Return what a call expects, without the texts of fields."""
    if not isinstance(expected, dict) or "value" not in expected:
        return cast("object", expected)
    expectations = cast("dict[str, object]", expected)
    return {**expectations, "value": _hide_texts(expectations["value"])}


def _hide_texts(value: object) -> object:
    """Return a value with the mark for each text in it."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, list):
        return [_hide_texts(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _hide_texts(each) for name, each in cast("dict[str, object]", value).items()}
    return value


def _is_typed(tool: str, name: str, value: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a text is typed: the other format of a clipboard, or a key that types a character."""
    if (tool, name) == ("press", "key"):
        return len(value.removeprefix("Shift+")) == 1 and arguments.get("modifiers") in (None, [], ["Shift"])
    return (tool, name) == ("clipboard", "html")


def _find_target(selector: object) -> dict[str, str] | None:
    if not isinstance(selector, str):
        return None
    found = leading_ref(selector)
    if found and not found[1]:
        return {"a11yRef": found[0]}
    if selector.startswith("testid="):
        return {"testId": selector.removeprefix("testid=").strip("\"'")}
    return {"selector": selector}
