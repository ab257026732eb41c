"""Results that ask the client for input: answer the server's questions and send the request again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from footlight.protocol.connection import Result
from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, text

__all__ = ["MAX_ROUNDS", "request_until_complete"]

MAX_ROUNDS = 10

Ask = Callable[[Mapping[str, Any]], Awaitable[Result]]
"""Sends the request with these params."""
Handle = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a request of the server: its method and params."""


async def request_until_complete(ask: Ask, handle: Handle, params: Mapping[str, Any]) -> Result:
    """Send the request, answering what the server asks, until its result is complete.

    A result without a `resultType` is complete.

    Raises:
        MCPError: the kind of a result is unknown, the server asked more than `MAX_ROUNDS` times, or the
            client has no handler for a question.
    """
    asked = params
    for _ in range(MAX_ROUNDS):
        result = await ask(asked)
        kind = result.get("resultType", "complete")
        if kind == "complete":
            return result
        if kind != "input_required":
            raise MCPError(f"The server gave a result of the unknown kind {kind!r:.40}", reason="protocol")
        # Each round repeats the first request, with the answers to the last questions.
        asked = {**params, **await _answers(result, handle)}
    raise MCPError(f"The server asked back more than {MAX_ROUNDS} times", reason="protocol")


async def _answers(result: Result, handle: Handle) -> dict[str, Any]:
    questions = an_object(result.get("inputRequests"))
    answers = {key: await _answer(key, question, handle) for key, question in questions.items()}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return ({"inputResponses": answers} if answers else {}) | state


async def _answer(key: str, question: object, handle: Handle) -> Mapping[str, Any]:
    request = an_object(question)
    method = text(request.get("method"))
    if method is None:
        raise MCPError(f"The server's question {key!r:.40} names no method", reason="protocol")
    return await handle(method, an_object(request.get("params")))
