"""The steps of a session as its report tells them: when, for how long, after what. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from footlight.knowledge.rows import Row, explained, row_of

__all__ = ["ReportedStep", "clock", "mapping", "pretty", "reported"]


@dataclass(frozen=True, slots=True)
class ReportedStep:
    number: int
    row: Row
    record: Mapping[str, Any]
    earlier: Row | None
    """The step before."""

    start_ms: int
    """Since the first step."""

    same_as: int
    """The first of the steps on end that saw the same elements: its own number, if it is that."""

    @property
    def screenshot(self) -> Mapping[str, Any]:
        return mapping(mapping(self.record.get("artifacts")).get("screenshot"))

    @property
    def bar(self) -> str:
        """The class of its bar."""
        return "ok-bar" if self.row.ok else "failed-bar"

    def extent(self, total_ms: int, *, least: float) -> dict[str, str]:
        """Of its bar, in percent, wide enough to be seen."""
        width = max(least, 100 * self.duration_ms / total_ms)
        return {"x": f"{min(100 * self.start_ms / total_ms, 100 - least):.3f}%", "width": f"{width:.3f}%"}

    @property
    def duration_ms(self) -> int:
        return self.row.duration_ms or 0


def reported(records: Iterable[Mapping[str, Any]], session_id: str) -> Iterator[ReportedStep]:
    """Those of them that are StepRecords, in the order of time."""
    read = [(row, record) for record in records if (row := row_of(record, session_id=session_id))]
    read.sort(key=lambda each: each[0].at_ms)
    earlier: Row | None = None
    same_as = 0
    rows = explained(row for row, _ in read)
    for number, (row, (_, record)) in enumerate(zip(rows, read, strict=True), 1):
        same_as = same_as if earlier and earlier.look.nodes == row.look.nodes else number
        yield ReportedStep(number, row, record, earlier, row.at_ms - read[0][0].at_ms, same_as)
        earlier = row


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def clock(ms: int) -> str:
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{f'{hours}:' if hours else ''}{minutes:0{2 if hours else 1}}:{rest / 1000:04.1f}"


def pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
