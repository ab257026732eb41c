"""The server's browser, worked by tool calls; each call and its answer stand in the transcript."""

from time import perf_counter

from mcp import Client

from footlight.demo.answer import Answer, StepError, ToolError, UnexpectedAnswer, read_answer
from footlight.demo.transcript import Transcript

__all__ = ["RemoteBrowser", "ToolRefused"]


class ToolRefused(StepError):
    """The server answered with an error."""

    def __init__(self, tool: str, error: ToolError) -> None:
        super().__init__(f"{tool}: {error.code}: {error.message}")
        self.error = error


class RemoteBrowser:
    """Calls the server's tools one after the other."""

    def __init__(self, client: Client, transcript: Transcript) -> None:
        self._client = client
        self._transcript = transcript

    async def call(self, tool: str, /, **arguments: object) -> Answer:
        """Call a tool. Raises: ToolRefused, UnexpectedAnswer."""
        answer = await self._answer(tool, arguments)
        if answer.error:
            raise ToolRefused(tool, answer.error)
        return answer

    async def refusal(self, tool: str, /, **arguments: object) -> ToolError:
        """Call a tool that must be refused. Raises: UnexpectedAnswer where it is not."""
        answer = await self._answer(tool, arguments)
        if answer.error is None:
            raise UnexpectedAnswer(tool, "this should have been refused")
        return answer.error

    async def _answer(self, tool: str, arguments: dict[str, object]) -> Answer:
        self._transcript.call(tool, arguments)
        start = perf_counter()
        result = await self._client.call_tool(tool, arguments)
        answer = read_answer(tool, result, elapsed_ms=(perf_counter() - start) * 1000)
        self._transcript.answer(answer)
        return answer
