"""Writing calls down: what a recorder is asked for, and when. What becomes of it is the recorder's matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.tool import Tool, ToolCall

__all__ = ["Recorded", "Recorder"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A call that is over. `arguments` are as they came, valid or not; `call` is None where they were not."""

    tool: Tool
    arguments: Mapping[str, Any]
    answer: Answer
    call: ToolCall | None
    observed: object
    """What the recorder itself saw after the call."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


class Recorder(Protocol):
    async def observe(self, tool: Tool, call: ToolCall) -> object:
        """Look at what a call has led to, while no other runs in its session. Bounded in time."""
        ...

    async def record(self, recorded: Recorded) -> None:
        """Write it down. What is raised is logged, and does not touch the call."""
        ...
