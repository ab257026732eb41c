"""Collect the text and the tool calls of an analysis from its parts. Reads the clock, no other I/O."""

from __future__ import annotations

import time
from collections.abc import Sequence

from footlight.audit.model.stream import (
    AIStreamPart,
    TextDeltaPart,
    ToolCallPart,
    ToolCallRecord,
    ToolResultPart,
)

__all__ = ["Transcript"]


class Transcript:
    """Collects the parts that are passed to `add`."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[ToolCallRecord] = []
        self._pending: dict[str, tuple[ToolCallPart, float, float]] = {}

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def tool_calls(self) -> Sequence[ToolCallRecord]:
        """Return the calls in the order in which they ended; interrupted calls come last."""
        now = time.monotonic()
        interrupted = [
            _record(part, at, now - began, error="it was interrupted")
            for part, at, began in self._pending.values()
        ]
        return (*self._calls, *interrupted)

    def add(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                self._text.append(part.text_delta)
            case ToolCallPart():
                self._pending[part.tool_call_id] = part, time.time(), time.monotonic()
            case ToolResultPart():
                call, at, began = self._pending.pop(part.tool_call_id)
                error = str(part.result) if part.is_error else None
                self._calls.append(_record(call, at, time.monotonic() - began, error=error))
            case _:
                pass


def _record(part: ToolCallPart, at: float, seconds: float, *, error: str | None) -> ToolCallRecord:
    return ToolCallRecord(
        id=part.tool_call_id,
        name=part.tool_name,
        timestamp=int(at * 1000),
        duration=round(seconds * 1000, 3),
        status="success" if error is None else "error",
        error=error,
    )
