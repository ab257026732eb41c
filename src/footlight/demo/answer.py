"""What a tool call gave back."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, TypeAdapter, ValidationError

__all__ = ["Answer", "StepError", "ToolError", "UnexpectedAnswer", "read_answer"]

_T = TypeVar("_T")


class ToolError(BaseModel):
    """The server's account of a call that failed."""

    code: str
    message: str
    details: dict[str, Any] = {}
    retryable: bool = False
    suggestion: str | None = None


class _Envelope(BaseModel):
    success: bool
    data: dict[str, Any] = {}
    error: ToolError | None = None


class StepError(Exception):
    """Why a step did not come to its end."""


class UnexpectedAnswer(StepError):
    """An answer that does not hold what the tool promises."""

    def __init__(self, tool: str, problem: str) -> None:
        super().__init__(f"{tool}: {problem}")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer: its data or its error, its picture if it has one, and the time it took."""

    tool: str
    data: Mapping[str, Any]
    error: ToolError | None
    image: bytes | None
    elapsed_ms: float

    def text(self, key: str) -> str:
        """A text of the data."""
        return self._get(key, str)

    def flag(self, key: str) -> bool:
        """A truth of the data."""
        return self._get(key, bool)

    def rows(self, *headers: str) -> list[dict[str, str]]:
        """The rows of a table that has exactly these headers."""
        if self.data.get("headers") != list(headers):
            raise UnexpectedAnswer(
                self.tool, f"headers {self.data.get('headers')} instead of {list(headers)}"
            )
        return self._get("rows", list[dict[str, str]])

    def downloads(self) -> list[dict[str, Any]]:
        """The files that the call made the browser download."""
        return self._get("downloads", list[dict[str, Any]])

    def picture(self) -> bytes:
        """The picture beside the data."""
        if self.image is None:
            raise UnexpectedAnswer(self.tool, "no picture came with it")
        return self.image

    def _get(self, key: str, kind: type[_T]) -> _T:
        try:
            return TypeAdapter(kind).validate_python(self.data.get(key), strict=True)
        except ValidationError as error:
            raise UnexpectedAnswer(self.tool, f"{key} is {self.data.get(key)!r}") from error


def read_answer(tool: str, result: CallToolResult, *, elapsed_ms: float) -> Answer:
    """The answer in a result from the wire."""
    try:
        envelope = _Envelope.model_validate(result.structured_content)
    except ValidationError as error:
        raise UnexpectedAnswer(tool, _texts(result) or "no structured content") from error
    image = next(
        (base64.b64decode(item.data) for item in result.content if isinstance(item, ImageContent)), None
    )
    return Answer(tool=tool, data=envelope.data, error=envelope.error, image=image, elapsed_ms=elapsed_ms)


def _texts(result: CallToolResult) -> str:
    return " ".join(item.text for item in result.content if isinstance(item, TextContent))
