"""The interface of a recorder of calls: what it is asked for, and when. It decides what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from footlight.knowledge.redaction_rules import TypedField
    from footlight.server.answers.answer import Answer
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["RecordedCall", "Recorder"]


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that is over. Calls with invalid arguments are not recorded."""

    tool: Tool
    arguments: Mapping[str, Any]
    """The arguments as the client sent them."""
    answer: Answer
    call: ToolCall
    observed: object
    """What `Recorder.observe` returned after the call."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def typed_field(self) -> TypedField | None:
        """Return the field that the call typed into, as a record describes it."""
        kind = self.call.report.typed_into
        if kind is None:
            return None
        from footlight.knowledge.redaction_rules import TypedField

        return TypedField(
            tag=kind.tag,
            type=kind.type,
            autocomplete=kind.autocomplete,
            test_id=kind.test_id,
            name=kind.name,
            hint=kind.hint,
        )


class Recorder(Protocol):
    async def observe(self, tool: Tool, call: ToolCall) -> object:
        """Look at the result of a call, while no other call runs in its session. Must end in bounded time."""
        ...

    async def record(self, recorded: RecordedCall) -> None:
        """Record a call. An error is logged, and does not affect the call."""
        ...
