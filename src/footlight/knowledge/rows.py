"""What is kept of a step for questions: pure, out of a StepRecord.

Records come from files that anybody can have written, so that each part of one may be of any kind: what is
not as it should be is left out, and a record without its essentials is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from footlight.steering import clean

__all__ = [
    "OBSERVING",
    "UNKNOWN",
    "Look",
    "Node",
    "Row",
    "SeenId",
    "Target",
    "explained",
    "quoted",
    "row_of",
    "states",
    "verb",
]

UNKNOWN = "unknown"
"""The screen of which nothing is known: it says nothing, and gains nothing in a search."""

OBSERVING = frozenset(
    """
    accessibility_snapshot describe_screen element_exists extract_links extract_table find find_element
    find_elements get_all_text get_attribute get_page_metadata get_state get_text get_value is_enabled
    is_visible list_testids read_page screenshot screenshot_element snapshot
    """.split()  # noqa: SIM905 - it is a text
)
"""Tools that change nothing, without their prefix."""

LONGEST_NAME = 300
LONGEST_MESSAGE = 300
LONGEST_INPUT = 160
LONGEST_QUOTE = 60
MOST_SEEN = 400

_NO_INPUT = frozenset({"a11yRef", "testId", "selector", "text", "timeoutMs", "fixture"})
"""What the target, the redaction and the launcher tell, or nobody wants to read again."""


class SeenId(NamedTuple):
    """A test id that was visible, and the text there."""

    test_id: str
    text: str = ""


class Node(NamedTuple):
    """An element of the accessibility snapshot. The ref means something beside its own snapshot only."""

    ref: str
    role: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of the page: the same again and again, so it is kept once."""

    test_ids: tuple[SeenId, ...] = ()
    nodes: tuple[Node, ...] = ()

    def find_node(self, ref: str) -> Node | None:
        return next((node for node in self.nodes if node.ref == ref), None)

    def find_text(self, test_id: str) -> str:
        return next((seen.text for seen in self.test_ids if seen.test_id == test_id and seen.text), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a tool acted on: one of test id, selector and ref, and what is known of it otherwise."""

    test_id: str = ""
    selector: str = ""
    ref: str = ""
    role: str = ""
    name: str = ""
    """Of a ref, the accessible name; of a test id, the text there."""

    @property
    def lasting(self) -> str:
        """In words that still mean something in another session, "" where there are none: never a ref."""
        if self.test_id:
            return f"testId={self.test_id}"
        if self.selector:
            return f"selector={quoted(self.selector)}"
        return f"{self.role} {quoted(self.name)}".strip() if self.role else ""

    @property
    def told(self) -> str:
        """In words for people."""
        if self.ref and not self.role:
            return f"{self.ref} (not seen before)"
        return f"{self.lasting} ({quoted(self.name)})" if self.name and self.test_id else self.lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A step, as summaries, searches and prior knowledge see it."""

    session_id: str
    timestamp: str
    at_ms: int
    """Since 1970, in UTC."""

    tool: str
    ok: bool
    screen: str = UNKNOWN
    """After the step."""

    before: str = ""
    """The screen of the step before it in its session, "" for the first."""

    target: Target | None = None
    code: str = ""
    message: str = ""
    input: str = ""
    text_length: int | None = None
    duration_ms: int | None = None
    look: Look = field(default_factory=Look)

    @property
    def is_observation(self) -> bool:
        return verb(self.tool) in OBSERVING

    @property
    def led_to(self) -> str:
        """The screen that the step led to, "" if it led to no other."""
        return (
            self.screen
            if self.ok
            and self.before
            and UNKNOWN not in (self.screen, self.before)
            and (self.screen != self.before)
            else ""
        )

    def after(self, screen: str, look: Look) -> Row:
        """With what was known when it was made: the screen, and the last look that had nodes in it."""
        return replace(self, before=screen, target=self.target and _explained(self.target, look, self.look))


def row_of(record: object, *, session_id: str) -> Row | None:
    """None where that is no StepRecord v1. The folder's name is the session's."""
    told = _mapping(record)
    observation, tool, outcome = (_mapping(told.get(key)) for key in ("observation", "tool", "outcome"))
    name, timestamp, ok = _text(tool.get("name")), _text(told.get("timestamp")), outcome.get("ok")
    at_ms = _milliseconds(timestamp)
    if told.get("schemaVersion") != 1 or not name or at_ms is None or not isinstance(ok, bool):
        return None
    error = _mapping(outcome.get("error"))
    return Row(
        session_id=session_id,
        timestamp=timestamp,
        at_ms=at_ms,
        tool=name,
        ok=ok,
        screen=_text(_mapping(observation.get("state")).get("currentScreen")) or UNKNOWN,
        target=_target(_mapping(tool.get("target")) or _mapping(tool.get("input"))),
        code=_text(error.get("code")),
        message=_text(error.get("message"), LONGEST_MESSAGE),
        input=_input(_mapping(tool.get("input"))),
        text_length=_number(tool.get("textLength")),
        duration_ms=_number(_mapping(told.get("timing")).get("durationMs")),
        look=_look(observation),
    )


def explained(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of one session in the order of time, each with what was known when it was made."""
    screen, seen, with_nodes = "", Look(), Look()
    for row in rows:
        yield row.after(screen, with_nodes if row.target and row.target.ref else seen)
        screen, seen = row.screen, row.look
        with_nodes = row.look if row.look.nodes else with_nodes


def states(record: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Of each element that was seen: ref, role, name, its state in words, and what it is in."""
    nodes = _mapping(_mapping(record.get("observation")).get("a11y")).get("nodes")
    return [
        (
            _text(node.get("ref")),
            _text(node.get("role")),
            _text(node.get("name")),
            ", ".join(
                name if node[name] is True else f"not {name}"
                for name in ("disabled", "checked", "expanded")
                if isinstance(node.get(name), bool) and (node[name] or name != "disabled")
            ),
            " › ".join(map(_text, _items(node.get("path")))),
        )
        for node in _mappings(nodes)
    ]


def verb(tool: str) -> str:
    """A tool's name without the prefix that all have: `mm_click` is click, `interact.click` too."""
    return tool.rpartition(".")[2].removeprefix("mm_")


def quoted(text: str) -> str:
    """In quotes, on one line, and not too long."""
    line = " ".join(text.split())
    return json.dumps(
        line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…", ensure_ascii=False
    )


def _explained(target: Target, look: Look, own: Look) -> Target:
    if target.ref:
        node = look.find_node(target.ref)
        return replace(target, role=node.role, name=node.name) if node else target
    return replace(target, name=look.find_text(target.test_id) or own.find_text(target.test_id))


def _target(told: Mapping[str, Any]) -> Target | None:
    target = Target(
        test_id=_text(told.get("testId")),
        selector=_text(told.get("selector")),
        ref=_text(told.get("a11yRef")),
    )
    return target if target != Target() else None


def _look(observation: Mapping[str, Any]) -> Look:
    nodes = _mapping(observation.get("a11y")).get("nodes")
    return Look(
        tuple(
            SeenId(test_id, _text(item.get("text")))
            for item in _mappings(observation.get("testIds"))
            if (test_id := _text(item.get("testId")))
        ),
        tuple(
            Node(_text(item.get("ref")), role, _text(item.get("name")))
            for item in _mappings(nodes)
            if (role := _text(item.get("role")))
        ),
    )


def _input(told: Mapping[str, Any]) -> str:
    plain = (
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in told.items()
        if name not in _NO_INPUT and isinstance(value, str | int | float | bool)
    )
    return _text(" ".join(plain), LONGEST_INPUT)


def _milliseconds(timestamp: str) -> int | None:
    try:
        at = datetime.fromisoformat(timestamp)
        return max(0, round(at.timestamp() * 1000)) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _mappings(value: object) -> Iterable[Mapping[str, Any]]:
    return map(_mapping, _items(value))


def _items(value: object) -> Sequence[object]:
    return cast("list[object]", value)[:MOST_SEEN] if isinstance(value, list) else ()


def _text(value: object, longest: int = LONGEST_NAME) -> str:
    return clean(value[:longest]) if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
