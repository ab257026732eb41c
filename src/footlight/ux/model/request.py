"""One question to a model, asked again while its provider fails, and within the limits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from footlight.ux.model.ai_tool import AITool
from footlight.ux.model.client import responses_closed
from footlight.ux.model.failure import ModelFailed, check_end, failed
from footlight.ux.stream import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from footlight.ux.model.provider import ChatModel

__all__ = ["Limits", "Requests"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a model may cost. `requests` and `tokens` are of all stages together.

    Every request that is sent counts as one, those that failed and those that are made again too, so that
    there are never more than `requests`. Tokens are known when an answer has come: the one that passes the
    limit is the last. Those of a failed request count as far as its provider told them.

    `retries` are of one question. Before each it is waited as long as the provider says, or else for
    `backoff_s`, twice that, and so on, up to `longest_wait_s`; who asks for more is not waited for.
    """

    requests: int = 40
    tokens: int | None = 300_000
    retries: int = 3
    request_timeout_s: float = 120.0
    backoff_s: float = 1.0
    longest_wait_s: float = 60.0


class Requests:
    """To one model, with the tools of one stage. `usage` is of these requests alone."""

    def __init__(self, model: ChatModel, tools: Sequence[AITool], *, limits: Limits, spent: Usage) -> None:
        self._model = model
        self._tools = tools
        self._limits = limits
        self._spent = spent
        self.usage = Usage()

    @property
    def allowed(self) -> bool:
        """Whether another may be made within the limits."""
        total = self._spent + self.usage
        tokens = self._limits.tokens
        return total.requests < self._limits.requests and (tokens is None or total.tokens < tokens)

    async def ask(self, messages: Sequence[ModelMessage]) -> AsyncGenerator[str | ModelResponse]:
        """The pieces of text as they come, then the whole answer.

        It is asked again only while nothing of an answer was told: no piece comes twice.

        Raises:
            ModelError: the provider failed for good, or in the middle, or the model refused.
        """
        retries = 0
        while True:
            told = False
            try:
                async with aclosing(self._ask_once(messages)) as pieces:
                    async for piece in pieces:
                        told = True
                        yield piece
                    return
            except ModelFailed as caught:
                failure = caught
            # Raised out here, the error carries none of those it came from: theirs may hold the request.
            wait_s = self._wait_s(failure, retries)
            if told or wait_s is None or retries >= self._limits.retries or not self.allowed:
                raise failure.error
            retries += 1
            await anyio.sleep(wait_s)

    def _wait_s(self, failure: ModelFailed, retries: int) -> float | None:
        """Before it is asked again; None if that would not help, or not soon."""
        if not failure.error.retryable:
            return None
        if failure.retry_after_s is None:
            return min(self._limits.backoff_s * 2**retries, self._limits.longest_wait_s)
        return failure.retry_after_s if failure.retry_after_s <= self._limits.longest_wait_s else None

    async def _ask_once(self, messages: Sequence[ModelMessage]) -> AsyncGenerator[str | ModelResponse]:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.exceptions import AgentRunError

        model, parameters = self._model.model, _parameters(self._tools)
        # The libraries would try again by themselves, uncounted.
        settings: ModelSettings = {"request_timeout": self._limits.request_timeout_s, "max_retries": 0}
        self.usage += Usage(requests=1)
        try:
            async with (
                responses_closed(),
                model_request_stream(
                    model,
                    model.prepare_messages([*messages], parameters),
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                ) as stream,
            ):
                try:
                    async for text in _texts(stream):
                        yield text
                finally:
                    used = stream.usage
                    self.usage += Usage(input_tokens=used.input_tokens, output_tokens=used.output_tokens)
        except AgentRunError as error:
            raise failed(error, self._model) from None
        response = stream.get()
        check_end(response, self._model)
        yield response


async def _texts(stream: StreamedResponse) -> AsyncGenerator[str]:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    async for event in stream:
        match event:
            case PartStartEvent(part=TextPart(content=text)) if text:
                yield text
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                yield text
            case _:
                pass


def _parameters(tools: Sequence[AITool]) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters.model_json_schema(),
            )
            for tool in tools
        ]
    )
