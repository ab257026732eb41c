"""Results that require input, until one does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from footlight.protocol.callbacks import MAX_ROUNDS, request_until_complete
from footlight.protocol.errors import MCPError

pytestmark = pytest.mark.anyio

ASKS = {"method": "elicitation/create", "params": {"message": "Who?"}}


class Server:
    """Says these results, one after another."""

    def __init__(self, *results: Mapping[str, Any]) -> None:
        self.results = list(results)
        self.asked: list[Mapping[str, Any]] = []

    async def ask(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(params)
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


async def handle(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"to": method, "said": params}


async def test_complete_result_is_returned_unchanged() -> None:
    for result in ({"a": 1}, {"a": 1, "resultType": "complete"}):
        server = Server(result)

        assert await request_until_complete(server.ask, handle, {"name": "t"}) is result
        assert server.asked == [{"name": "t"}]


async def test_input_requests_are_answered_with_the_request_state() -> None:
    server = Server(
        {
            "resultType": "input_required",
            "inputRequests": {"who": ASKS, "roots": {"method": "roots/list"}},
            "requestState": {"opaque": [1]},
        },
        {"resultType": "input_required", "inputRequests": {"again": ASKS}},
        {"resultType": "input_required", "requestState": None},
        {"resultType": "complete", "done": True},
    )
    params = {"name": "t", "arguments": {}}

    result = await request_until_complete(server.ask, handle, params)

    answer = {"to": "elicitation/create", "said": {"message": "Who?"}}
    assert result == {"resultType": "complete", "done": True}
    assert server.asked == [
        params,
        {
            **params,
            "inputResponses": {"who": answer, "roots": {"to": "roots/list", "said": {}}},
            "requestState": {"opaque": [1]},
        },
        {**params, "inputResponses": {"again": answer}},
        {**params, "requestState": None},
    ]


@pytest.mark.parametrize("kind", ["task", "", None, 5, []])
async def test_unknown_result_type_is_refused(kind: object) -> None:
    with pytest.raises(MCPError, match="unknown kind") as refused:
        await request_until_complete(Server({"resultType": kind}).ask, handle, {})

    assert refused.value.reason == "protocol"


async def test_endless_input_requests_are_stopped() -> None:
    server = Server({"resultType": "input_required", "inputRequests": {"who": ASKS}})

    with pytest.raises(MCPError, match=f"asked back more than {MAX_ROUNDS} times") as refused:
        await request_until_complete(server.ask, handle, {})

    assert refused.value.reason == "protocol"
    assert len(server.asked) == MAX_ROUNDS


@pytest.mark.parametrize("question", [None, 5, [], {}, {"method": None}, {"method": 5}])
async def test_input_request_without_a_method_is_refused(question: object) -> None:
    server = Server({"resultType": "input_required", "inputRequests": {"who": question}})

    with pytest.raises(MCPError, match="question 'who' names no method") as refused:
        await request_until_complete(server.ask, handle, {})

    assert refused.value.reason == "protocol"


async def test_handler_error_ends_the_call() -> None:
    async def refuse(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        raise MCPError("Not today", reason="invalid")

    server = Server({"resultType": "input_required", "inputRequests": {"who": ASKS}})

    with pytest.raises(MCPError, match="Not today"):
        await request_until_complete(server.ask, refuse, {})

    assert len(server.asked) == 1


@pytest.mark.parametrize("questions", [None, [], "x", 5])
async def test_malformed_input_requests_are_treated_as_empty(questions: object) -> None:
    server = Server({"resultType": "input_required", "inputRequests": questions}, {"done": True})

    assert await request_until_complete(server.ask, handle, {"a": 1}) == {"done": True}
    assert server.asked == [{"a": 1}, {"a": 1}]
