"""The interface of a recorder of calls."""

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
    """A completed call. Calls with invalid arguments are not recorded."""

    tool: Tool
    arguments: Mapping[str, Any]
    """The arguments as the client sent them."""
    answer: Answer
    call: ToolCall
    observed: object
    """The value that `Recorder.observe` returned after the call."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def typed_field(self) -> TypedField | None:
        """Return the only field into which the call types, in the format of a record, or None."""
        fields = [*self.typed_fields.values()]
        return fields[0] if len(fields) == 1 else None

    @property
    def typed_fields(self) -> Mapping[str, TypedField]:
        """Return the fields into which the call types, by selector, in the format of a record."""
        kinds = self.call.report.typed_into
        if not kinds:
            return {}
        from footlight.knowledge.redaction_rules import TypedField

        return {
            selector: TypedField(
                tag=kind.tag,
                type=kind.type,
                autocomplete=kind.autocomplete,
                test_id=kind.test_id,
                name=kind.name,
                hint=kind.hint,
            )
            for selector, kind in kinds.items()
        }


class Recorder(Protocol):
    async def observe(self, tool: Tool, call: ToolCall) -> object:
        """Observe the result of a call, under the session's lock. This must end in bounded time."""
        ...

    async def record(self, recorded: RecordedCall) -> None:
        """Record a call. Errors are logged, and do not affect the call."""
        ...
