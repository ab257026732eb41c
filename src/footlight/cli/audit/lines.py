"""Print the progress of an audit as lines, for build logs and pipes."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footlight.audit.auditor import AuditWatcher
from footlight.audit.findings import count_severities, describe_counts
from footlight.audit.model.stream import AIStreamPart, TextDeltaPart, ToolCallPart, ToolResultPart, Usage
from footlight.audit.page.page_text import shorten
from footlight.audit.report.presentable import make_plain
from footlight.audit.results import Audit, PageAudit
from footlight.cli.output import warn
from footlight.figures import format_count, format_duration

__all__ = ["AuditLines", "CompletedCall", "PendingCalls", "describe_page", "describe_usage"]

MAX_INPUT = 80
MAX_ERROR = 120


_MARKS = re.compile(r"</?page-content id=\w+>")
"""The markers around text from a page, which only the model needs."""


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A completed tool call of the model. `text` is one line without control sequences."""

    text: str
    ok: bool


class PendingCalls:
    """The tool calls of the model that have not completed."""

    def __init__(self) -> None:
        self._pending: dict[str, tuple[ToolCallPart, float]] = {}

    @property
    def first(self) -> str | None:
        """Return a description of the oldest pending call, or None."""
        return next((_describe_call(part) for part, _ in self._pending.values()), None)

    def begin(self, part: ToolCallPart) -> None:
        self._pending[part.tool_call_id] = part, time.monotonic()

    def end(self, part: ToolResultPart) -> CompletedCall:
        call, began = self._pending.pop(part.tool_call_id)
        took = format_duration((time.monotonic() - began) * 1000)
        why = f": {_shorten(_MARKS.sub('', str(part.result)), MAX_ERROR)}" if part.is_error else ""
        return CompletedCall(
            f"{_describe_call(call)}  {'failed' if part.is_error else 'ok'}, {took}{why}", not part.is_error
        )


class AuditLines(AuditWatcher):
    """Prints a line on standard error for each event. The model's text is printed line by line."""

    def __init__(self) -> None:
        self._place = ""
        self._calls = PendingCalls()
        self._text = ""

    def page_begins(self, number: int, count: int, url: str) -> None:
        self._place = f"page {number} of {count}"
        _print_line(f"{self._place}: {_shorten(url)}")

    def step(self, name: str) -> None:
        _print_line(f"  {_shorten(name)}")

    def part(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                *lines, self._text = f"{self._text}{part.text_delta}".split("\n")
                for line in lines:
                    _print_line(f"  | {make_plain(line)}".rstrip())
            case ToolCallPart():
                self._calls.begin(part)
            case ToolResultPart():
                self._end_text()
                _print_line(f"  {self._calls.end(part).text}")
            case _:
                self._end_text()

    def page_ends(self, audit: Audit) -> None:
        self._end_text()
        _print_line(f"{self._place}: {describe_page(audit.pages[-1])}")

    def _end_text(self) -> None:
        text, self._text = self._text, ""
        if text.strip():
            _print_line(f"  | {make_plain(text)}")


def describe_page(page: PageAudit) -> str:
    """Return one line with the status and the number of findings of a page."""
    if page.error is not None:
        return f"failed after {format_duration(page.duration_ms)}: {_shorten(page.error)}"
    counts = describe_counts(count_severities(page.findings))
    return f"{page.status}, {counts}, {format_duration(page.duration_ms)}"


def describe_usage(usage: Usage) -> str:
    return f"{format_count(usage.requests, 'request')}, {usage.tokens:,} tokens"


def _describe_call(call: ToolCallPart) -> str:
    return " ".join(filter(None, (_shorten(call.tool_name), _describe_input(call.input))))


def _describe_input(arguments: Mapping[str, Any]) -> str:
    """Return the arguments without `text`, because typed text may be a password."""
    parts = (f"{name}={value}" for name, value in arguments.items() if name != "text")
    return _shorten(" ".join(parts), MAX_INPUT)


def _shorten(text: str, longest: int = 200) -> str:
    return make_plain(shorten(text, longest))


def _print_line(line: str) -> None:
    warn(line, prefix="")
