"""Rows for queries, made from step records. This module does no I/O.

The record files are untrusted, so every part of a record may have any type. Parts of an unexpected type are
left out. A record without a tool, a time and an outcome is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from footlight.safe_text import replace_surrogates

__all__ = [
    "OBSERVING",
    "UNKNOWN",
    "PageNode",
    "RecordedTestId",
    "RecordedView",
    "StepRow",
    "StepTarget",
    "explain_rows",
    "list_node_states",
    "make_row",
    "plain_tool_name",
    "quote",
]

UNKNOWN = "unknown"
"""The name of an unknown screen. It adds nothing to the score in a search."""

OBSERVING = frozenset(
    """
    accessibility_snapshot describe_screen element_exists extract_links extract_table find find_element
    find_elements get_all_text get_attribute get_page_metadata get_state get_text get_value is_enabled
    is_visible list_testids read_page screenshot screenshot_element snapshot
    """.split()  # noqa: SIM905 - it is a text
)
"""Names, without their prefix, of tools that only observe the page."""

MAX_NAME_LENGTH = 300
MAX_MESSAGE_LENGTH = 300
MAX_INPUT_LENGTH = 160
MAX_QUOTE_LENGTH = 60
MAX_SEEN = 400

_NO_INPUT = frozenset({"a11yRef", "testId", "selector", "text", "timeoutMs", "fixture"})
"""Input keys that a summary leaves out: the target or the redaction covers them, or they are long."""


class RecordedTestId(NamedTuple):
    """A visible test id and the text of its element."""

    test_id: str
    text: str = ""


class PageNode(NamedTuple):
    """An element of the accessibility snapshot. The ref is only valid together with its own snapshot."""

    ref: str
    role: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class RecordedView:
    """The page as a step saw it. Many steps see the same page, so equal views are stored once."""

    test_ids: tuple[RecordedTestId, ...] = ()
    nodes: tuple[PageNode, ...] = ()

    def find_node(self, ref: str) -> PageNode | None:
        return next((node for node in self.nodes if node.ref == ref), None)

    def find_text(self, test_id: str) -> str:
        return next((seen.text for seen in self.test_ids if seen.test_id == test_id and seen.text), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTarget:
    """The target of a tool: a test id, a selector or a ref, with the role and the name if they are known."""

    test_id: str = ""
    selector: str = ""
    ref: str = ""
    role: str = ""
    name: str = ""
    """The accessible name for a ref; the text of the element for a test id."""

    @property
    def stable_name(self) -> str:
        """A description without a ref, which is also valid in other sessions, or ""."""
        if self.test_id:
            return f"testId={self.test_id}"
        if self.selector:
            return f"selector={quote(self.selector)}"
        return f"{self.role} {quote(self.name)}".strip() if self.role else ""

    @property
    def description(self) -> str:
        """A description for readers."""
        if self.ref and not self.role:
            return f"{self.ref} (not seen before)"
        return f"{self.stable_name} ({quote(self.name)})" if self.name and self.test_id else self.stable_name


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A step with the data for summaries, searches and prior knowledge."""

    session_id: str
    timestamp: str
    at_ms: int
    """Milliseconds since 1970 in UTC."""

    tool: str
    ok: bool
    screen: str = UNKNOWN
    """The screen after the step."""

    before: str = ""
    """The screen of the previous step in the session, or "" for the first step."""

    target: StepTarget | None = None
    code: str = ""
    message: str = ""
    input: str = ""
    text_length: int | None = None
    duration_ms: int | None = None
    look: RecordedView = field(default_factory=RecordedView)
    seen_before: RecordedView = field(default_factory=RecordedView)
    """The observation after the previous step, if the query requested it."""

    @property
    def is_observation(self) -> bool:
        return plain_tool_name(self.tool) in OBSERVING

    @property
    def next_screen(self) -> str:
        """The screen to which the step led, or "" if the screen did not change."""
        return (
            self.screen
            if self.ok
            and self.before
            and UNKNOWN not in (self.screen, self.before)
            and (self.screen != self.before)
            else ""
        )

    def with_context(self, screen: str, look: RecordedView) -> StepRow:
        """Return the row with the screen before the step, and its target described by an earlier view."""
        return replace(
            self, before=screen, target=self.target and _explain_target(self.target, look, self.look)
        )


def make_row(record: object, *, session_id: str) -> StepRow | None:
    """Return the row of a step record, or None if it is not a StepRecord v1."""
    fields = _as_mapping(record)
    observation, tool, outcome = (_as_mapping(fields.get(key)) for key in ("observation", "tool", "outcome"))
    name, timestamp, ok = _as_text(tool.get("name")), _as_text(fields.get("timestamp")), outcome.get("ok")
    at_ms = _parse_milliseconds(timestamp)
    if fields.get("schemaVersion") != 1 or not name or at_ms is None or not isinstance(ok, bool):
        return None
    error = _as_mapping(outcome.get("error"))
    return StepRow(
        session_id=session_id,
        timestamp=timestamp,
        at_ms=at_ms,
        tool=name,
        ok=ok,
        screen=_as_text(_as_mapping(observation.get("state")).get("currentScreen")) or UNKNOWN,
        target=_read_target(_as_mapping(tool.get("target")) or _as_mapping(tool.get("input"))),
        code=_as_text(error.get("code")),
        message=_as_text(error.get("message"), MAX_MESSAGE_LENGTH),
        input=_summarize_input(_as_mapping(tool.get("input"))),
        text_length=_as_number(tool.get("textLength")),
        duration_ms=_as_number(_as_mapping(fields.get("timing")).get("durationMs")),
        look=_read_view(observation),
    )


def explain_rows(rows: Iterable[StepRow]) -> Iterator[StepRow]:
    """Yield the rows of one session with their context. Pass them in chronological order."""
    screen, seen, with_nodes = "", RecordedView(), RecordedView()
    for row in rows:
        yield row.with_context(screen, with_nodes if row.target and row.target.ref else seen)
        # A step without a page did not change the screen.
        if row.screen != UNKNOWN or row.look != RecordedView():
            screen = row.screen
        seen = row.look
        with_nodes = row.look if row.look.nodes else with_nodes


def list_node_states(record: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Return the ref, role, name, states as text, and ancestors of each observed element."""
    nodes = _as_mapping(_as_mapping(record.get("observation")).get("a11y")).get("nodes")
    return [
        (
            _as_text(node.get("ref")),
            _as_text(node.get("role")),
            _as_text(node.get("name")),
            ", ".join(
                name if node[name] is True else f"not {name}"
                for name in ("disabled", "checked", "expanded")
                if isinstance(node.get(name), bool) and (node[name] or name != "disabled")
            ),
            " › ".join(map(_as_text, _as_items(node.get("path")))),
        )
        for node in _as_mappings(nodes)
    ]


def plain_tool_name(tool: str) -> str:
    """Return a tool name without its prefix: `click` for `mm_click` and `interact.click`."""
    return tool.rpartition(".")[2].removeprefix("mm_")


def quote(text: str) -> str:
    """Return a text in quotes, on one line and shortened to a maximum length."""
    line = " ".join(text.split())
    return json.dumps(
        line if len(line) <= MAX_QUOTE_LENGTH else f"{line[: MAX_QUOTE_LENGTH - 1]}…", ensure_ascii=False
    )


def _explain_target(target: StepTarget, look: RecordedView, own: RecordedView) -> StepTarget:
    if target.ref:
        node = look.find_node(target.ref)
        return replace(target, role=node.role, name=node.name) if node else target
    return replace(target, name=look.find_text(target.test_id) or own.find_text(target.test_id))


def _read_target(fields: Mapping[str, Any]) -> StepTarget | None:
    target = StepTarget(
        test_id=_as_text(fields.get("testId")),
        selector=_as_text(fields.get("selector")),
        ref=_as_text(fields.get("a11yRef")),
    )
    return target if target != StepTarget() else None


def _read_view(observation: Mapping[str, Any]) -> RecordedView:
    nodes = _as_mapping(observation.get("a11y")).get("nodes")
    return RecordedView(
        tuple(
            RecordedTestId(test_id, _as_text(item.get("text")))
            for item in _as_mappings(observation.get("testIds"))
            if (test_id := _as_text(item.get("testId")))
        ),
        tuple(
            PageNode(_as_text(item.get("ref")), role, _as_text(item.get("name")))
            for item in _as_mappings(nodes)
            if (role := _as_text(item.get("role")))
        ),
    )


def _summarize_input(arguments: Mapping[str, Any]) -> str:
    plain = (
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in arguments.items()
        if name not in _NO_INPUT and isinstance(value, str | int | float | bool)
    )
    return _as_text(" ".join(plain), MAX_INPUT_LENGTH)


def _parse_milliseconds(timestamp: str) -> int | None:
    try:
        at = datetime.fromisoformat(timestamp)
        return max(0, round(at.timestamp() * 1000)) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _as_mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _as_mappings(value: object) -> Iterable[Mapping[str, Any]]:
    return map(_as_mapping, _as_items(value))


def _as_items(value: object) -> Sequence[object]:
    return cast("list[object]", value)[:MAX_SEEN] if isinstance(value, list) else ()


def _as_text(value: object, longest: int = MAX_NAME_LENGTH) -> str:
    return replace_surrogates(value[:longest]) if isinstance(value, str) else ""


def _as_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
