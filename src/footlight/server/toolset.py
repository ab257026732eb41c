"""A toolset: tools that are offered together, what is said of them, and how their answers leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import mcp_types as types

    from footlight.server.answer import Answer
    from footlight.server.tool import Tool

__all__ = ["Envelope", "Toolset"]


class Envelope(Protocol):
    """How an answer becomes a message of the protocol, and what a client may expect of it."""

    def schema(self, tool: Tool) -> dict[str, Any] | None:
        """JSON Schema of the structured content; None where a tool answers with text alone."""
        ...

    def result(self, tool: Tool, answer: Answer) -> types.CallToolResult: ...


@dataclass(frozen=True, kw_only=True)
class Toolset:
    """What `app.py` serves. `minimal` are the few tools that most work needs."""

    name: str
    tools: tuple[Tool, ...]
    minimal: tuple[str, ...]
    instructions: str
    about_secrets: Callable[[Sequence[str]], str]
    """What a model must know of the secrets of this server, by their names."""
    about_extensions: str = ""
    """What it must know where the browsers have extensions."""
    make_envelope: Callable[[], Envelope]
    """Called when the protocol's types are needed anyway: importing them is half of a start."""
