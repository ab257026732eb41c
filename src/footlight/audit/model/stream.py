"""The parts that an analysis yields while a model works: five kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import anyio

__all__ = [
    "AIStreamPart",
    "ErrorPart",
    "FinishPart",
    "FinishReason",
    "PartStream",
    "TextDeltaPart",
    "ToolCallPart",
    "ToolCallRecord",
    "ToolResultPart",
    "Usage",
]

FinishReason = Literal["stop", "length", "limit", "error"]
"""`stop`: the work is done. `length`: the answer was cut. `limit`: the budget is spent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """The model calls a tool; exactly one `ToolResultPart` with its id follows."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    input: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "toolCallId": self.tool_call_id,
            "toolName": self.tool_name,
            "input": dict(self.input),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPart:
    """The result of a tool call. `is_error`: the call failed, and the model got the reason."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    tool_call_id: str
    tool_name: str
    result: Any
    is_error: bool = False

    def to_dict(self) -> dict[str, Any]:
        fields = {
            "type": self.type,
            "toolCallId": self.tool_call_id,
            "toolName": self.tool_name,
            "result": self.result,
        }
        return {**fields, "isError": True} if self.is_error else fields


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDeltaPart:
    """The next piece of the analysis. All of them together are `analysis_text`."""

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    text_delta: str

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "textDelta": self.text_delta}


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPart:
    """The last part of an analysis that completed."""

    type: ClassVar[Literal["finish"]] = "finish"
    finish_reason: FinishReason

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "finishReason": self.finish_reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPart:
    """The last part of an analysis that failed, with a message that contains no keys."""

    type: ClassVar[Literal["error"]] = "error"
    error: str

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "error": self.error}


AIStreamPart = ToolCallPart | ToolResultPart | TextDeltaPart | FinishPart | ErrorPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRecord:
    """A tool call. `timestamp` is in milliseconds since 1970, `duration` in milliseconds."""

    id: str
    name: str
    timestamp: int
    duration: float
    status: Literal["success", "error"]
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "timestamp": self.timestamp,
            "duration": self.duration,
            "status": self.status,
        }
        return fields if self.error is None else {**fields, "error": self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The requests and tokens that a model used, as the provider counts them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def to_dict(self) -> dict[str, int]:
        return {
            "requests": self.requests,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
        }

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


class PartStream(ABC):
    """Yields the parts that `_work` yields. Iterate it once.

    `async with` and `aclose` end the work early. After iteration to the end neither is needed.
    """

    def __init__(self) -> None:
        self._parts = self._work()

    @abstractmethod
    def _work(self) -> AsyncGenerator[AIStreamPart]: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the work. May be called twice."""
        # Shielded: a cancelled caller must still not leave a request or a server behind.
        with anyio.CancelScope(shield=True):
            await self._parts.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AIStreamPart:
        return await anext(self._parts)
