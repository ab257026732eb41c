"""The steps of a report with their start, duration and previous step. This module does no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from footlight.knowledge.rows import StepRow, explain_rows, make_row

__all__ = ["ReportedStep", "as_mapping", "format_clock", "format_json", "read_steps"]


@dataclass(frozen=True, slots=True)
class ReportedStep:
    number: int
    row: StepRow
    record: Mapping[str, Any]
    earlier: StepRow | None
    """The previous step."""

    start_ms: int
    """Milliseconds since the first step."""

    same_as: int
    """Number of the first of the consecutive steps, up to this one, that saw the same elements."""

    @property
    def screenshot(self) -> Mapping[str, Any]:
        return as_mapping(as_mapping(self.record.get("artifacts")).get("screenshot"))

    @property
    def bar(self) -> str:
        """The CSS class of the step's bar."""
        return "ok-bar" if self.row.ok else "failed-bar"

    def extent(self, total_ms: int, *, least: float) -> dict[str, str]:
        """Return position and width of the step's bar in percent. The width is at least `least`."""
        width = max(least, 100 * self.duration_ms / total_ms)
        return {"x": f"{min(100 * self.start_ms / total_ms, 100 - least):.3f}%", "width": f"{width:.3f}%"}

    @property
    def duration_ms(self) -> int:
        return self.row.duration_ms or 0


def read_steps(records: Iterable[Mapping[str, Any]], session_id: str) -> Iterator[ReportedStep]:
    """Yield the valid step records in order of time."""
    read = [(row, record) for record in records if (row := make_row(record, session_id=session_id))]
    read.sort(key=lambda each: each[0].at_ms)
    earlier: StepRow | None = None
    same_as = 0
    rows = explain_rows(row for row, _ in read)
    for number, (row, (_, record)) in enumerate(zip(rows, read, strict=True), 1):
        same_as = same_as if earlier and earlier.look.nodes == row.look.nodes else number
        yield ReportedStep(number, row, record, earlier, row.at_ms - read[0][0].at_ms, same_as)
        earlier = row


def as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def format_clock(ms: int) -> str:
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{f'{hours}:' if hours else ''}{minutes:0{2 if hours else 1}}:{rest / 1000:04.1f}"


def format_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
