"""Send a request to a model, with retries and within the limits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from footlight.audit.model.failures import ModelRequestFailedError, check_end, translate_failure
from footlight.audit.model.http_client import close_responses
from footlight.audit.model.stream import Usage
from footlight.audit.model.tools import AITool

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from footlight.audit.model.provider import ChatModel

__all__ = ["Limits", "Requests"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a model's work. `requests` and `tokens` cover all stages together.

    Every request counts, including failed ones and retries. The tokens of a request are known after its
    answer, so the request that exceeds the limit is the last. Tokens of failed requests count as far as the
    provider reports them.

    `retries` applies to each question. The wait before a retry is the one that the provider asks for, else
    `backoff_s`, doubled each time up to `longest_wait_s`. A provider that asks for more gets no retry.
    """

    requests: int = 40
    tokens: int | None = 300_000
    retries: int = 3
    request_timeout_s: float = 120.0
    backoff_s: float = 1.0
    longest_wait_s: float = 60.0


class Requests:
    """The requests of one stage to a model. `usage` counts these requests only."""

    def __init__(self, model: ChatModel, tools: Sequence[AITool], *, limits: Limits, spent: Usage) -> None:
        self._model = model
        self._tools = tools
        self._limits = limits
        self._spent = spent
        self.usage = Usage()

    @property
    def allowed(self) -> bool:
        """Return whether the limits allow another request."""
        total = self._spent + self.usage
        tokens = self._limits.tokens
        return total.requests < self._limits.requests and (tokens is None or total.tokens < tokens)

    async def ask(self, messages: Sequence[ModelMessage]) -> AsyncGenerator[str | ModelResponse]:
        """Yield the text as it arrives, then the whole answer.

        A retry is made only before the first piece, so that no piece comes twice.

        Raises:
            ModelError: the provider failed and retries did not help, or the model refused.
        """
        retries = 0
        while True:
            has_yielded = False
            try:
                async with aclosing(self._ask_once(messages)) as pieces:
                    async for piece in pieces:
                        has_yielded = True
                        yield piece
                    return
            except ModelRequestFailedError as error:
                failure = error
            # Raised outside of the handler: the chained errors of the library may contain the request.
            wait_s = self._wait_s(failure, retries)
            if has_yielded or wait_s is None or retries >= self._limits.retries or not self.allowed:
                raise failure.error
            retries += 1
            await anyio.sleep(wait_s)

    def _wait_s(self, failure: ModelRequestFailedError, retries: int) -> float | None:
        """Return the wait before a retry, or None if there should be no retry."""
        if not failure.error.retryable:
            return None
        if failure.retry_after_s is None:
            return min(self._limits.backoff_s * 2**retries, self._limits.longest_wait_s)
        return failure.retry_after_s if failure.retry_after_s <= self._limits.longest_wait_s else None

    async def _ask_once(self, messages: Sequence[ModelMessage]) -> AsyncGenerator[str | ModelResponse]:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.exceptions import AgentRunError

        model, parameters = self._model.model, _parameters(self._tools)
        # The libraries would retry on their own, without counting.
        settings: ModelSettings = {"request_timeout": self._limits.request_timeout_s, "max_retries": 0}
        self.usage += Usage(requests=1)
        try:
            async with (
                close_responses(),
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
            raise translate_failure(error, self._model) from None
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
