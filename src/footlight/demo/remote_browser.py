"""Call the server's tools through an MCP client, and read their answers. The transcript shows each call."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import ToolInvocationError
from footlight.protocol.results import ToolResult

if TYPE_CHECKING:
    from footlight.demo.transcript import DemoTranscript

__all__ = [
    "BrowserAnswer",
    "RemoteBrowser",
    "StepError",
    "ToolError",
    "ToolRefusedError",
    "UnexpectedAnswerError",
    "read_answer",
]

_T = TypeVar("_T")


class ToolError(BaseModel):
    """The error of a failed call."""

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
    """A step failed."""


class UnexpectedAnswerError(StepError):
    """An answer lacks what the tool promises."""

    def __init__(self, tool: str, problem: str) -> None:
        super().__init__(f"{tool}: {problem}")


@dataclass(frozen=True, kw_only=True)
class BrowserAnswer:
    """The answer of a tool: its data or error, its image if it has one, and the elapsed time."""

    tool: str
    data: Mapping[str, Any]
    error: ToolError | None
    image: bytes | None
    elapsed_ms: float

    def text(self, key: str) -> str:
        """Return a text of the data."""
        return self._get(key, str)

    def flag(self, key: str) -> bool:
        """Return a boolean of the data."""
        return self._get(key, bool)

    def rows(self, *headers: str) -> list[dict[str, str]]:
        """Return the rows of a table with exactly these headers."""
        if self.data.get("headers") != list(headers):
            raise UnexpectedAnswerError(
                self.tool, f"headers {self.data.get('headers')} instead of {list(headers)}"
            )
        return self._get("rows", list[dict[str, str]])

    def downloads(self) -> list[dict[str, Any]]:
        """Return the files that the browser downloaded during the call."""
        return self._get("downloads", list[dict[str, Any]])

    def picture(self) -> bytes:
        """Return the image of the answer."""
        if self.image is None:
            raise UnexpectedAnswerError(self.tool, "the answer has no image")
        return self.image

    def _get(self, key: str, kind: type[_T]) -> _T:
        try:
            return TypeAdapter(kind).validate_python(self.data.get(key), strict=True)
        except ValidationError as error:
            raise UnexpectedAnswerError(self.tool, f"{key} is {self.data.get(key)!r}") from error


def read_answer(tool: str, result: ToolResult, *, elapsed_ms: float) -> BrowserAnswer:
    """Read the result of a call."""
    try:
        envelope = _Envelope.model_validate(result.structured_content)
    except ValidationError as error:
        raise UnexpectedAnswerError(tool, result.text or "no structured content") from error
    images = (item.data for item in result.content if item.type == "image" and item.data)
    image = next((base64.b64decode(data) for data in images), None)
    return BrowserAnswer(
        tool=tool, data=envelope.data, error=envelope.error, image=image, elapsed_ms=elapsed_ms
    )


class ToolRefusedError(StepError):
    """The server answered with an error."""

    def __init__(self, tool: str, error: ToolError) -> None:
        super().__init__(f"{tool}: {error.code}: {error.message}")
        self.error = error


class RemoteBrowser:
    """Calls the server's tools one after the other."""

    def __init__(self, client: MCPClient, transcript: "DemoTranscript") -> None:
        self._client = client
        self._transcript = transcript

    async def call(self, tool: str, /, **arguments: object) -> BrowserAnswer:
        """Call a tool.

        Raises:
            ToolRefusedError: the server answered with an error.
            UnexpectedAnswerError: the answer has another shape.
        """
        answer = await self._answer(tool, arguments)
        if answer.error:
            raise ToolRefusedError(tool, answer.error)
        return answer

    async def call_refused(self, tool: str, /, **arguments: object) -> ToolError:
        """Call a tool that must fail, and return its error.

        Raises:
            UnexpectedAnswerError: the call succeeded.
        """
        answer = await self._answer(tool, arguments)
        if answer.error is None:
            raise UnexpectedAnswerError(tool, "this should have been refused")
        return answer.error

    async def _answer(self, tool: str, arguments: dict[str, object]) -> BrowserAnswer:
        self._transcript.call(tool, arguments)
        start = perf_counter()
        try:
            result = await self._client.call_tool(tool, arguments)
        except ToolInvocationError as error:
            if error.result is None:
                raise
            result = error.result
        answer = read_answer(tool, result, elapsed_ms=(perf_counter() - start) * 1000)
        self._transcript.answer(answer)
        return answer
