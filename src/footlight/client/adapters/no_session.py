"""A server without sessions, or whose sessions the caller names in the arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from footlight.client.adapters.adapter import ToolCaller
from footlight.client.results import Tool

__all__ = ["NoSession"]


@dataclass(frozen=True, slots=True)
class NoSession:
    """Nothing is opened, nothing is put into the arguments, and every tool has its method."""

    opens: ClassVar[str | None] = None
    injected_keys: ClassVar[Sequence[str]] = ()

    async def open(self, client: ToolCaller, session_name: str) -> str:  # noqa: ARG002
        return session_name

    async def close(self, client: ToolCaller, session_name: str) -> None: ...

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:  # noqa: ARG002
        return dict(arguments)

    def has_session(self, tool: Tool) -> bool:  # noqa: ARG002
        return False

    def is_lifecycle(self, name: str) -> bool:  # noqa: ARG002
        return False
