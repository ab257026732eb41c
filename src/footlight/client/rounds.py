"""Results that ask back (2026-07-28): the client answers what it was asked, and asks again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from footlight.client.connection import Result
from footlight.client.errors import MCPError
from footlight.client.loose import an_object, text

__all__ = ["MOST_ROUNDS", "finished"]

MOST_ROUNDS = 10

Ask = Callable[[Mapping[str, Any]], Awaitable[Result]]
"""Sends the request with these params."""
Handle = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a request of the server's."""


async def finished(ask: Ask, handle: Handle, params: Mapping[str, Any]) -> Result:
    """The result that asks nothing more. One without a `resultType` is complete.

    Raises:
        MCPError: a kind of result that is not known, more rounds than anyone needs, or a question that
            this client was given no handler for.
    """
    asked = params
    for _ in range(MOST_ROUNDS):
        result = await ask(asked)
        kind = result.get("resultType", "complete")
        if kind == "complete":
            return result
        if kind != "input_required":
            raise MCPError(f"The server gave a result of the unknown kind {kind!r:.40}", reason="protocol")
        # Each round is the first request again, with what was asked last.
        asked = {**params, **await _answers(result, handle)}
    raise MCPError(f"The server asked back more than {MOST_ROUNDS} times", reason="protocol")


async def _answers(result: Result, handle: Handle) -> dict[str, Any]:
    questions = an_object(result.get("inputRequests"))
    answers = {key: await _answer(key, question, handle) for key, question in questions.items()}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return ({"inputResponses": answers} if answers else {}) | state


async def _answer(key: str, question: object, handle: Handle) -> Mapping[str, Any]:
    asked = an_object(question)
    method = text(asked.get("method"))
    if method is None:
        raise MCPError(f"The server's question {key!r:.40} names no method", reason="protocol")
    return await handle(method, an_object(asked.get("params")))
