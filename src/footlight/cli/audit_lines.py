"""What an audit does, as lines: for the log of a build, or whoever pipes it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footlight.cli.printing import warn
from footlight.figures import duration, number_of
from footlight.ux.audited import Audit, PageAudit
from footlight.ux.report.counts import counted, severities
from footlight.ux.report.presentable import plain
from footlight.ux.shortened import shortened
from footlight.ux.stream import AIStreamPart, TextDeltaPart, ToolCallPart, ToolResultPart, Usage
from footlight.ux.watcher import Watcher

__all__ = ["AuditLines", "Called", "Calls", "told_page", "told_usage"]

LONGEST_INPUT = 80
LONGEST_ERROR = 120


_MARKS = re.compile(r"</?page-content id=\w+>")
"""They are for a model."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a model that was answered. `text` is one line, with nothing in it that steers a terminal."""

    text: str
    ok: bool


class Calls:
    """Calls and their results, as they go by."""

    def __init__(self) -> None:
        self._pending: dict[str, tuple[ToolCallPart, float]] = {}

    @property
    def pending(self) -> str | None:
        """The one that is waited for."""
        return next((_told(part) for part, _ in self._pending.values()), None)

    def begin(self, part: ToolCallPart) -> None:
        self._pending[part.tool_call_id] = part, time.monotonic()

    def end(self, part: ToolResultPart) -> Called:
        call, began = self._pending.pop(part.tool_call_id)
        took = duration((time.monotonic() - began) * 1000)
        why = f": {_short(_MARKS.sub('', str(part.result)), LONGEST_ERROR)}" if part.is_error else ""
        return Called(f"{_told(call)}  {'failed' if part.is_error else 'ok'}, {took}{why}", not part.is_error)


class AuditLines(Watcher):
    """A line for each thing that happens, on standard error. The model's text comes line by line."""

    def __init__(self) -> None:
        self._place = ""
        self._calls = Calls()
        self._text = ""

    def page_begins(self, number: int, count: int, url: str) -> None:
        self._place = f"page {number} of {count}"
        _say(f"{self._place}: {_short(url)}")

    def step(self, name: str) -> None:
        _say(f"  {_short(name)}")

    def part(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                *lines, self._text = f"{self._text}{part.text_delta}".split("\n")
                for line in lines:
                    _say(f"  | {plain(line)}".rstrip())
            case ToolCallPart():
                self._calls.begin(part)
            case ToolResultPart():
                self._end_text()
                _say(f"  {self._calls.end(part).text}")
            case _:
                self._end_text()

    def page_ends(self, audit: Audit) -> None:
        self._end_text()
        _say(f"{self._place}: {told_page(audit.pages[-1])}")

    def _end_text(self) -> None:
        text, self._text = self._text, ""
        if text.strip():
            _say(f"  | {plain(text)}")


def told_page(page: PageAudit) -> str:
    """How it ended, and what was found."""
    if page.error is not None:
        return f"failed after {duration(page.duration_ms)}: {_short(page.error)}"
    return f"{page.status}, {counted(severities(page.findings))}, {duration(page.duration_ms)}"


def told_usage(usage: Usage) -> str:
    return f"{number_of(usage.requests, 'request')}, {usage.tokens:,} tokens"


def _told(call: ToolCallPart) -> str:
    return " ".join(filter(None, (_short(call.tool_name), _input(call.input))))


def _input(given: Mapping[str, Any]) -> str:
    """What is typed may be a password: it is not shown."""
    shown = (f"{name}={value}" for name, value in given.items() if name != "text")
    return _short(" ".join(shown), LONGEST_INPUT)


def _short(text: str, longest: int = 200) -> str:
    return plain(shortened(text, longest))


def _say(line: str) -> None:
    warn(line, prefix="")
