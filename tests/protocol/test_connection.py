"""A JSON-RPC connection, state by state: each request waits, and ends in exactly one way."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

from footlight.protocol import connection as connection_module
from footlight.protocol.callbacks import MAX_ANSWERS, MAX_RUNNING, MAX_SENDERS, MAX_SERVED
from footlight.protocol.connection import Connection
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError, is_timeout
from footlight.protocol.messages import encode
from tests.client.channels import LIMIT_SECONDS, Place, Refusal, Wire

pytestmark = pytest.mark.anyio

SHORT_MS = 5.0
LONG_MS = LIMIT_SECONDS * 1000
LOST = MCPConnectionError("The process ended", server_command="server")


class Ends:
    """Both: a connection, and what it is connected to."""

    def __init__(self, connection: Connection, wire: Wire) -> None:
        self.connection = connection
        self.wire = wire

    def ask(self, method: str = "x", timeout_ms: float | None = LONG_MS, **more: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(self.connection.request(method, timeout_ms=timeout_ms, **more))

    async def asking(self, *methods: str) -> list[asyncio.Task[Any]]:
        """Requests that wait: each was sent."""
        tasks: list[asyncio.Task[Any]] = []
        for method in methods:
            tasks.append(self.ask(method))
            await self.wire.asked(method)
        return tasks

    async def settle(self) -> None:
        """Send a message there and back, so that all earlier ones have been read."""
        task = self.ask("settled")
        count = len(self.wire.of("settled")) + 1
        self.wire.answer(await self.wire.asked("settled", count), {})
        await task


async def open_connection(place: Place | None = None, **more: Any) -> Ends:
    place = place or Place(script={})
    connection = Connection(**more)
    await connection.open(place)
    return Ends(connection, place.wire)


@pytest.fixture
async def ends() -> AsyncGenerator[Ends]:
    ends = await open_connection()
    yield ends
    await ends.connection.close()


async def failure(task: asyncio.Task[Any]) -> MCPError:
    async with asyncio.timeout(LIMIT_SECONDS):
        with pytest.raises(MCPError) as caught:
            await task
    return caught.value


# Before, and the plain way


async def test_unopened_connection_refuses_to_send() -> None:
    connection = Connection()

    assert not connection.alive
    with pytest.raises(MCPConnectionError, match="There is no connection") as refused:
        await connection.request("x", timeout_ms=LONG_MS)
    with pytest.raises(MCPConnectionError, match="There is no connection"):
        await connection.notify("x", timeout_ms=LONG_MS)
    assert refused.value.reason == "not_connected"


async def test_request_waits_for_its_response(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    assert not task.done()
    ends.wire.answer(ends.wire.sent[0], {"a": 1})

    assert await task == {"a": 1}
    assert ends.wire.sent == [{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {}}]


async def test_request_ids_start_at_1_and_increase(ends: Ends) -> None:
    tasks = await ends.asking("a", "b", "c")

    assert [message["id"] for message in ends.wire.sent] == [1, 2, 3]
    for message in ends.wire.sent.copy():
        ends.wire.answer(message, {"is": message["method"]})
    assert await asyncio.gather(*tasks) == [{"is": "a"}, {"is": "b"}, {"is": "c"}]


async def test_responses_out_of_order_reach_their_requests(ends: Ends) -> None:
    tasks = await ends.asking(*(f"m{number}" for number in range(20)))
    for message in reversed(ends.wire.sent.copy()):
        ends.wire.answer(message, {"is": message["method"]})

    assert await asyncio.gather(*tasks) == [{"is": f"m{number}"} for number in range(20)]


async def test_response_may_arrive_before_sending_completes() -> None:
    ends = await open_connection(Place(script={"x": {"a": 1}}))

    assert await ends.connection.request("x", timeout_ms=LONG_MS) == {"a": 1}
    await ends.connection.close()


async def test_headers_are_passed_to_the_channel_only(ends: Ends) -> None:
    task = ends.ask(headers={"Mcp-Param-Region": "eu"})
    ends.wire.answer(await ends.wire.asked("x"), {})
    await task

    assert ends.wire.headers == [{"Mcp-Param-Region": "eu"}]
    assert ends.wire.sent == [{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {}}]


async def test_connection_metadata_overrides_request_metadata(ends: Ends) -> None:
    ends.connection.meta = {"version": "2026-07-28"}
    params = {"a": 1, "_meta": {"mine": 1, "version": "none"}}
    task = ends.ask(params=params, on_progress=lambda *_: None)
    request = await ends.wire.asked("x")
    ends.wire.answer(request, {})
    await task

    assert request["params"] == {
        "a": 1,
        "_meta": {"mine": 1, "version": "2026-07-28", "progressToken": request["id"]},
    }
    assert params == {"a": 1, "_meta": {"mine": 1, "version": "none"}}


async def test_a_notification_is_sent_without_an_id(ends: Ends) -> None:
    await ends.connection.notify("notifications/initialized", timeout_ms=LONG_MS)

    assert ends.wire.sent == [{"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}]


async def test_unsent_notification_times_out(ends: Ends) -> None:
    ends.wire.stuck = asyncio.Event()

    with pytest.raises(MCPTimeoutError, match=r"^n could not be sent within 5ms$"):
        await ends.connection.notify("n", timeout_ms=SHORT_MS)


# Answers that are none


@pytest.mark.parametrize("identifier", [2, 0, -1, True, "2", "one", 1.0, 1.5, "", None, [], {}])
async def test_response_with_an_unknown_id_is_ignored(ends: Ends, identifier: object) -> None:
    """Python takes True and 1.0 for 1; the protocol does not."""
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": identifier, "result": {"wrong": True}})
    if identifier is not None:
        ends.wire.comes({"jsonrpc": "2.0", "id": identifier, "error": {"code": 1, "message": "wrong"}})
    await ends.settle()
    assert not task.done()
    ends.wire.answer(ends.wire.sent[0], {"right": True})

    assert await task == {"right": True}


async def test_response_id_may_be_returned_as_a_string(ends: Ends) -> None:
    """Some servers make texts of all ids."""
    tasks = await ends.asking("a", "b")
    ends.wire.comes({"jsonrpc": "2.0", "id": "2", "result": {"of": "b"}})
    ends.wire.comes({"jsonrpc": "2.0", "id": "1", "error": {"code": 1, "message": "of a"}})

    assert (await failure(tasks[0])).message == "of a"
    assert await tasks[1] == {"of": "b"}


@pytest.mark.parametrize("identifier", [2, 0, -1, "one", "9" * 30, 10**30])
async def test_response_with_a_wrong_id_fails_the_only_request_early(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, identifier: int | str
) -> None:
    """To who waits alone; the right answer still has a moment to come."""
    monkeypatch.setattr(connection_module, "STRAY_SECONDS", 0.01)
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": identifier, "result": {}})

    error = await failure(task)

    assert (error.reason, error.rpc_code) == ("protocol", -32600)
    assert error.message == f"The server answered x with the id {identifier!r:.40} instead of 1"
    assert caplog.messages == [f"the server answered with the id {identifier!r:.40}, which no request has"]
    assert ends.connection.alive


async def test_late_response_of_an_earlier_request_fails_no_other(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection_module, "STRAY_SECONDS", 0.01)
    with pytest.raises(MCPTimeoutError):
        await ends.connection.request("x", timeout_ms=SHORT_MS)
    task = ends.ask("y")
    request = await ends.wire.asked("y")
    ends.wire.comes({"jsonrpc": "2.0", "id": 1, "result": {}})
    await asyncio.wait([task], timeout=0.1)
    ends.wire.answer(request, {"right": True})

    assert await task == {"right": True}
    assert caplog.messages == []


async def test_error_without_id_fails_the_only_pending_request(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})

    error = await failure(task)

    assert (error.message, error.reason, error.rpc_code) == ("Parse error", "peer", -32700)


async def test_error_without_id_fails_neither_of_two_requests(ends: Ends) -> None:
    tasks = await ends.asking("a", "b")
    ends.wire.comes({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
    for message in ends.wire.sent.copy():
        ends.wire.answer(message, {})

    assert await asyncio.gather(*tasks) == [{}, {}]


async def test_first_response_wins(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.answer(ends.wire.sent[0], {"first": True})
    ends.wire.answer(ends.wire.sent[0], {"second": True})
    ends.wire.refuse(ends.wire.sent[0], Refusal(1))

    assert await task == {"first": True}


@pytest.mark.parametrize("result", [None, 1, "x", [], [{}], True])
async def test_result_that_is_not_an_object_is_an_error(ends: Ends, result: object) -> None:
    (task,) = await ends.asking("x")
    ends.wire.answer(ends.wire.sent[0], result)

    error = await failure(task)

    assert (error.message, error.reason) == ("The result of x is not an object", "protocol")


async def test_result_with_null_error_is_a_result(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}, "error": None})

    assert await task == {"a": 1}


async def test_server_error_is_raised(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.refuse(ends.wire.sent[0], Refusal(-32602, "Not that", {"why": "so"}))

    error = await failure(task)

    assert error.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "Not that",
        "reason": "peer",
        "rpcCode": -32602,
        "data": {"why": "so"},
    }


@pytest.mark.parametrize(
    "error",
    ["no", 7, [], True, {}, {"code": "x"}, {"message": 1}, {"code": float("inf"), "message": "No"}],
)
async def test_malformed_error_still_fails_its_request(ends: Ends, error: object) -> None:
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": 1, "error": error})

    raised = await failure(task)

    assert (raised.reason, raised.rpc_code) == ("peer", -32603)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "1.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": [1]},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": "x"},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [1]}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": {}}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": None},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": None}},
        {"jsonrpc": "2.0", "id": {}, "error": {"message": "x"}},
    ],
)
async def test_invalid_message_does_not_end_the_connection(ends: Ends, message: dict[str, Any]) -> None:
    (task,) = await ends.asking("x")
    ends.wire.comes(message)
    ends.wire.answer(ends.wire.sent[0], {"right": True})

    assert await task == {"right": True}
    assert ends.connection.alive


# Time


async def test_timed_out_request_is_cancelled_on_the_server(ends: Ends) -> None:
    with pytest.raises(MCPTimeoutError) as late:
        await ends.connection.request("x", timeout_ms=SHORT_MS)
    reported = await ends.wire.asked("notifications/cancelled")

    assert late.value.to_dict() == {
        "name": "TimeoutError",
        "code": "TIMEOUT_ERROR",
        "message": "x had no answer within 5ms",
        "reason": "timeout",
        "rpcCode": -32000,
        "timeout": 5.0,
    }
    assert reported == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "the client's time limit"},
    }


async def test_response_after_the_timeout_is_ignored(ends: Ends) -> None:
    with pytest.raises(MCPTimeoutError):
        await ends.connection.request("x", timeout_ms=SHORT_MS)
    ends.wire.answer(ends.wire.sent[0], {"late": True})
    await ends.settle()

    assert ends.connection.alive


async def test_zero_timeout_expires_at_once(ends: Ends) -> None:
    with pytest.raises(MCPTimeoutError, match="within 0ms"):
        await ends.connection.request("x", timeout_ms=0)


@pytest.mark.parametrize("timeout_ms", [None, float("inf")])
async def test_request_may_wait_without_a_timeout(ends: Ends, timeout_ms: float | None) -> None:
    task = ends.ask(timeout_ms=timeout_ms)
    ends.wire.answer(await ends.wire.asked("x"), {})

    assert await task == {}


async def test_timeout_includes_the_time_to_send(ends: Ends) -> None:
    ends.wire.stuck = asyncio.Event()

    with pytest.raises(MCPTimeoutError):
        await ends.connection.request("x", timeout_ms=SHORT_MS)
    await ends.wire.until(lambda: len(ends.wire.sent) == 2)

    assert ends.wire.abandoned == [{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {}}]
    ends.wire.stuck.set()


async def test_initialize_is_never_cancelled(ends: Ends) -> None:
    with pytest.raises(MCPTimeoutError):
        await ends.connection.request("initialize", timeout_ms=SHORT_MS)
    await ends.settle()

    assert ends.wire.methods == ["initialize", "settled"]


async def test_no_cancellation_is_sent_when_closing_the_stream_cancels(ends: Ends) -> None:
    ends.wire.cancels_by_closing = True
    ends.wire.stuck = asyncio.Event()
    with pytest.raises(MCPTimeoutError):
        await ends.connection.request("x", timeout_ms=SHORT_MS)
    ends.wire.stuck.set()
    await ends.settle()

    assert ends.wire.methods == ["x", "settled"]
    assert [message["id"] for message in ends.wire.abandoned] == [1]


async def test_timeout_of_the_caller_cancels_the_request(ends: Ends) -> None:
    """A TimeoutError of a timeout around us must not be taken for ours."""
    with pytest.raises(TimeoutError) as late:
        async with asyncio.timeout(SHORT_MS / 1000):
            await ends.connection.request("x", timeout_ms=LONG_MS)
    reported = await ends.wire.asked("notifications/cancelled")

    assert not is_timeout(late.value)
    assert reported["params"] == {"requestId": 1, "reason": "the caller gave up"}


# The caller gives up


async def test_cancelled_caller_sends_a_cancellation(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    reported = await ends.wire.asked("notifications/cancelled")

    assert reported["params"] == {"requestId": 1, "reason": "the caller gave up"}
    assert ends.connection.alive


async def test_cancelling_one_request_does_not_affect_others(ends: Ends) -> None:
    first, second = await ends.asking("a", "b")
    first.cancel()
    ends.wire.answer(ends.wire.of("b")[0], {"b": 1})

    assert await second == {"b": 1}
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_unsendable_cancellation_is_only_logged(ends: Ends, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "footlight.protocol.connection")
    ends.wire.script["notifications/cancelled"] = MCPConnectionError("Broken pipe")
    with pytest.raises(MCPTimeoutError):
        await ends.connection.request("x", timeout_ms=SHORT_MS)
    await ends.wire.asked("notifications/cancelled")
    await ends.settle()

    assert caplog.messages == ["could not send notifications/cancelled: Broken pipe"]


# Sending fails


async def test_request_that_cannot_be_sent_fails(ends: Ends) -> None:
    ends.wire.script["x"] = MCPError("A 500", reason="http", status=500)

    error = await failure(ends.ask())

    assert (error.message, error.status) == ("A 500", 500)
    assert ends.connection.alive


async def test_response_received_before_a_send_failure_wins(ends: Ends) -> None:
    ends.wire.stuck = asyncio.Event()
    ends.wire.script["x"] = MCPError("The stream broke")
    (task,) = await ends.asking("x")
    ends.wire.answer(ends.wire.sent[0], {"a": 1})
    ends.wire.stuck.set()

    assert await task == {"a": 1}


async def test_arguments_without_json_form_are_an_invalid_request() -> None:
    class Encoding(Wire):
        async def send(self, message: Mapping[str, Any], *, headers: Mapping[str, str]) -> None:
            encode(message)
            await super().send(message, headers=headers)

    connection = Connection()

    class There(Place):
        async def open(self, receiver: Any) -> Wire:
            return Encoding(receiver, {})

    await connection.open(There())
    with pytest.raises(MCPError) as refused:
        await connection.request("x", {"a": {1, 2}}, timeout_ms=LONG_MS)

    assert refused.value.reason == "invalid"
    assert connection.alive
    await connection.close()


# Lost


async def test_pending_requests_each_get_their_own_error(ends: Ends) -> None:
    """A traceback is added to what is raised, so two callers cannot share one."""
    tasks = await ends.asking("a", "b", "c")
    ends.wire.lose(LOST)

    errors = [await failure(task) for task in tasks]

    assert [error.to_dict() for error in errors] == [LOST.to_dict()] * 3
    assert len({id(error) for error in [*errors, LOST]}) == 4
    assert LOST.__traceback__ is None


async def test_request_after_connection_loss_fails_at_once(ends: Ends) -> None:
    ends.wire.lose(LOST)

    errors = [await failure(ends.ask()) for _ in range(2)]

    assert not ends.connection.alive
    assert ends.connection.end_error is LOST
    assert [error.to_dict() for error in errors] == [LOST.to_dict()] * 2
    assert errors[0] is not errors[1]
    assert ends.wire.sent == []


async def test_first_loss_remains_the_reason(ends: Ends) -> None:
    ends.wire.lose(LOST)
    ends.wire.lose(MCPConnectionError("Also the other side"))
    await ends.connection.close()

    assert ends.connection.end_error is LOST


async def test_no_cancellation_is_sent_after_connection_loss(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.lose(LOST)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, MCPConnectionError)):
        await task

    assert ends.wire.methods == ["x"]


async def test_response_received_before_connection_loss_wins(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.answer(ends.wire.sent[0], {"a": 1})
    ends.wire.lose(LOST)

    assert await task == {"a": 1}


async def test_loss_during_open_is_raised_by_the_first_request() -> None:
    class Gone(Place):
        async def open(self, receiver: Any) -> Wire:
            receiver.on_connection_lost(LOST)
            return await super().open(receiver)

    connection = Connection()
    await connection.open(Gone(script={}))

    assert not connection.alive
    with pytest.raises(MCPConnectionError, match="The process ended"):
        await connection.request("x", timeout_ms=LONG_MS)
    await connection.close()


# Closing


async def test_closing_fails_pending_requests(ends: Ends) -> None:
    tasks = await ends.asking("a", "b")
    await ends.connection.close()

    errors = [await failure(task) for task in tasks]

    assert [(error.message, error.reason) for error in errors] == [
        ("The client was closed", "not_connected")
    ] * 2
    assert ends.wire.closed == 1


async def test_repeated_close_closes_the_channel_once(ends: Ends) -> None:
    await asyncio.gather(ends.connection.close(), ends.connection.close())
    await ends.connection.close()

    assert ends.wire.closed == 1
    with pytest.raises(MCPConnectionError, match="The client was closed"):
        await ends.connection.request("x", timeout_ms=LONG_MS)


async def test_unopened_connection_can_be_closed() -> None:
    await Connection().close()


async def test_closing_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    ends = await open_connection(handlers={"roots/list": wait_forever})
    ends.wire.stuck = asyncio.Event()
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "roots/list"})

    await ends.connection.close()
    await asyncio.wait([task])

    assert asyncio.all_tasks() - {task} == before
    assert isinstance(task.exception(), MCPConnectionError)


async def test_connection_can_be_closed_in_another_task() -> None:
    ends = await asyncio.create_task(open_connection())
    (task,) = await ends.asking("x")
    await asyncio.create_task(ends.connection.close())

    assert (await failure(task)).reason == "not_connected"
    assert ends.wire.closed == 1


async def test_messages_received_during_close_are_ignored(ends: Ends) -> None:
    class Chatty:
        async def close(self) -> None:
            ends.wire.comes({"jsonrpc": "2.0", "id": "late", "method": "ping"})
            ends.wire.notify("notifications/message", data="bye")
            ends.wire.lose(LOST)

    ends.connection._channel = Chatty()  # type: ignore[assignment]
    await ends.connection.close()

    assert ends.wire.sent == []


async def test_no_unretrieved_exception_is_logged(ends: Ends, caplog: pytest.LogCaptureFixture) -> None:
    """What the event loop complains of when a future's exception was never looked at."""
    tasks = await ends.asking("a", "b", "c")
    ends.wire.lose(LOST)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await ends.connection.close()
    results = [task.cancelled() or task.exception() is not None for task in tasks]
    del tasks, task
    gc.collect()

    assert results == [True] * 3
    assert [record for record in caplog.records if record.name == "asyncio"] == []


# Progress


async def test_progress_reaches_its_own_request(ends: Ends) -> None:
    news: dict[str, list[Any]] = {"a": [], "b": []}
    tasks = [
        ends.ask(each, on_progress=lambda *progress_values, each=each: news[each].append(progress_values))
        for each in news
    ]
    a, b = await ends.wire.asked("a"), await ends.wire.asked("b")
    progress = "notifications/progress"
    ends.wire.notify(progress, progressToken=b["params"]["_meta"]["progressToken"], progress=1, total=2)
    ends.wire.notify(progress, progressToken=a["params"]["_meta"]["progressToken"], progress=0.5, message="x")
    ends.wire.notify(progress, progressToken=True, progress=9)
    ends.wire.notify(progress, progressToken="1", progress=9)
    ends.wire.notify(progress, progressToken=0, progress=9)
    ends.wire.notify(progress, progressToken=1, progress="9")
    ends.wire.answer(a, {})
    ends.wire.notify(progress, progressToken=1, progress=10)
    ends.wire.answer(b, {})
    await asyncio.gather(*tasks)
    ends.wire.notify(progress, progressToken=2, progress=10)

    assert news == {"a": [(0.5, None, "x")], "b": [(1, 2, None)]}


async def test_request_without_a_listener_requests_no_progress(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.notify("notifications/progress", progressToken=1, progress=1)
    ends.wire.answer(ends.wire.sent[0], {})

    assert await task == {}
    assert "_meta" not in ends.wire.sent[0]["params"]


async def test_failing_progress_listener_does_not_affect_the_request(
    ends: Ends, caplog: pytest.LogCaptureFixture
) -> None:
    def careless(*news: object) -> None:
        raise ZeroDivisionError

    task = ends.ask(on_progress=careless)
    request = await ends.wire.asked("x")
    ends.wire.notify("notifications/progress", progressToken=1, progress=1)
    ends.wire.answer(request, {})

    assert await task == {}
    assert caplog.messages == ["a listener failed"]


async def test_notifications_are_delivered_in_order_despite_listener_errors(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[tuple[str, Mapping[str, Any]]] = []

    def listen(method: str, params: Mapping[str, Any]) -> None:
        heard.append((method, params))
        raise ZeroDivisionError

    ends = await open_connection(on_notification=listen)
    ends.wire.notify("a", n=1)
    ends.wire.comes({"jsonrpc": "2.0", "method": "b"})
    ends.wire.comes({"jsonrpc": "2.0", "method": "c", "params": [1]})
    await ends.settle()
    await ends.connection.close()

    assert heard == [("a", {"n": 1}), ("b", {}), ("c", {})]
    assert caplog.messages == ["a listener failed"] * 3


async def test_flood_of_notifications_starts_a_limited_number_of_listeners(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def listen(method: str, params: Mapping[str, Any]) -> None:
        await asyncio.Event().wait()

    ends = await open_connection(on_notification=listen)
    before = len(asyncio.all_tasks())
    for _ in range(MAX_RUNNING + 100):
        ends.wire.notify("a")
    tasks = len(asyncio.all_tasks()) - before
    await ends.connection.close()

    assert tasks == MAX_RUNNING
    assert caplog.messages == [f"dropped a message, as {MAX_RUNNING} listeners are still running"]


# What the server asks


async def wait_forever(params: Mapping[str, Any]) -> Mapping[str, Any]:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("identifier", [1, 0, "", "abc", -7])
async def test_server_ping_is_answered(ends: Ends, identifier: int | str) -> None:
    """Lessons 2.1: requests of the server's were never answered."""
    ends.wire.comes({"jsonrpc": "2.0", "id": identifier, "method": "ping"})

    assert await ends.wire.answered(identifier) == {"jsonrpc": "2.0", "id": identifier, "result": {}}


@pytest.mark.parametrize("meta", [None, "x", 1])
async def test_metadata_that_is_not_an_object_is_ignored(ends: Ends, meta: object) -> None:
    asking = asyncio.create_task(ends.connection.request("x", {"_meta": meta}, timeout_ms=LONG_MS))
    ends.wire.answer(await ends.wire.asked("x"), {})

    assert await asking == {}


async def test_ping_with_the_same_id_does_not_answer_a_request(ends: Ends) -> None:
    (task,) = await ends.asking("x")
    ends.wire.comes({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    await ends.wire.answered(1)
    assert not task.done()
    ends.wire.answer(ends.wire.sent[0], {"a": 1})

    assert await task == {"a": 1}


async def test_unsupported_server_request_is_refused(ends: Ends) -> None:
    ends.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "roots/list"})

    assert await ends.wire.answered("s") == {
        "jsonrpc": "2.0",
        "id": "s",
        "error": {"code": -32601, "message": "This client does not answer roots/list"},
    }


async def test_flood_of_server_requests_uses_bounded_tasks_and_memory(ends: Ends) -> None:
    """The answers wait in a queue, also where the server does not read them."""
    stuck = ends.wire.stuck = asyncio.Event()
    before = len(asyncio.all_tasks())
    for number in range(MAX_ANSWERS + 100):
        method = "ping" if number % 2 else "roots/list"
        ends.wire.comes({"jsonrpc": "2.0", "id": number, "method": method})
    tasks = len(asyncio.all_tasks()) - before
    ends.wire.stuck = None
    stuck.set()
    await ends.settle()
    async with asyncio.timeout(LIMIT_SECONDS):
        await ends.wire.answered(MAX_ANSWERS - 1)

    assert tasks <= MAX_SENDERS
    assert ends.wire.methods.count("an answer") == MAX_ANSWERS


async def test_number_of_concurrent_handlers_is_limited() -> None:
    most = MAX_SERVED
    ends = await open_connection(handlers={"m": wait_forever})
    for number in range(most + 1):
        ends.wire.comes({"jsonrpc": "2.0", "id": number, "method": "m"})

    error = {"code": -32603, "message": f"This client answers {most} requests at once"}
    assert (await ends.wire.answered(most))["error"] == error
    await ends.connection.close()


async def test_requests_with_odd_ids_are_bounded() -> None:
    """A repeated id would hide a running handler, and answers with huge ids would fill the queue."""
    ends = await open_connection(handlers={"m": wait_forever})
    before = len(asyncio.all_tasks())
    for _ in range(MAX_SERVED + 1):
        ends.wire.comes({"jsonrpc": "2.0", "id": "same", "method": "m"})
    ends.wire.comes({"jsonrpc": "2.0", "id": "x" * 1_001, "method": "ping"})
    ends.wire.comes({"jsonrpc": "2.0", "id": "odd", "method": "x" * 1_000})
    tasks = len(asyncio.all_tasks()) - before

    error = {"code": -32600, "message": "This client is answering a request with this id"}
    assert (await ends.wire.answered("same"))["error"] == error
    assert (await ends.wire.answered("odd"))["error"]["message"] == f"This client does not answer {'x' * 200}"
    assert not any(len(message["id"]) > 1_000 for message in ends.wire.sent)
    assert tasks <= 1 + MAX_SENDERS
    await ends.connection.close()


async def later(params: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"asked": params}


def refuse(params: Mapping[str, Any]) -> Mapping[str, Any]:
    raise MCPError("Not today", rpc_code=-1)


def fail(params: Mapping[str, Any]) -> Mapping[str, Any]:
    raise ZeroDivisionError("a secret")


async def fail_later(params: Mapping[str, Any]) -> Mapping[str, Any]:
    raise ZeroDivisionError("a secret")


async def wait_for_what_is_cancelled(params: Mapping[str, Any]) -> Mapping[str, Any]:
    work = asyncio.create_task(later(params))
    work.cancel()
    return await work


FAILED = {"error": {"code": -32603, "message": "The client's handler of m failed"}}


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        (lambda params: {"asked": params}, {"result": {"asked": {"a": 1}}}),
        (later, {"result": {"asked": {"a": 1}}}),
        (refuse, {"error": {"code": -1, "message": "Not today"}}),
        (fail, FAILED),
        (fail_later, FAILED),
        (wait_for_what_is_cancelled, FAILED),
        (lambda _: None, FAILED),
        (lambda _: ["x"], FAILED),
        (lambda _: {"x": {1, 2}}, FAILED),
        (lambda _: {"x": float("nan")}, FAILED),
    ],
)
async def test_handler_result_or_error_is_sent_to_the_server(handler: Any, answer: dict[str, Any]) -> None:
    """Of a mistake in a handler the server hears no more than that there was one."""
    ends = await open_connection(handlers={"m": handler})
    ends.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "m", "params": {"a": 1}})

    assert await ends.wire.answered("s") == {"jsonrpc": "2.0", "id": "s", **answer}
    await ends.connection.close()


async def test_handler_always_receives_an_object() -> None:
    ends = await open_connection(handlers={"m": later})
    ends.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "m", "params": [1]})

    assert await ends.wire.answered("s") == {"jsonrpc": "2.0", "id": "s", "result": {"asked": {}}}
    await ends.connection.close()


async def test_handler_may_send_a_request_to_the_server() -> None:
    async def ask(params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"got": await ends.connection.request("y", timeout_ms=LONG_MS)}

    ends = await open_connection(Place(script={"y": {"a": 1}}), handlers={"m": ask})
    ends.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "m"})

    assert (await ends.wire.answered("s"))["result"] == {"got": {"a": 1}}
    await ends.connection.close()


@pytest.mark.parametrize("cancelled", [True, 1.0, "1", 2, None])
async def test_server_can_cancel_only_its_own_request(cancelled: object) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait(params: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        try:
            return await wait_forever(params)
        finally:
            ended.set()

    ends = await open_connection(handlers={"m": wait})
    ends.wire.comes({"jsonrpc": "2.0", "id": 1, "method": "m"})
    async with asyncio.timeout(LIMIT_SECONDS):
        await begun.wait()
        ends.wire.notify("notifications/cancelled", requestId=cancelled)
        await ends.settle()
        assert not ended.is_set()
        ends.wire.notify("notifications/cancelled", requestId=1, reason="enough")
        await ended.wait()
    await ends.settle()
    await ends.connection.close()

    assert "an answer" not in ends.wire.methods


async def test_running_handler_is_cancelled_on_close() -> None:
    begun = asyncio.Event()
    ended: list[str] = []

    async def wait(params: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        try:
            return await wait_forever(params)
        finally:
            ended.append("ended")

    ends = await open_connection(handlers={"m": wait})
    ends.wire.comes({"jsonrpc": "2.0", "id": 1, "method": "m"})
    async with asyncio.timeout(LIMIT_SECONDS):
        await begun.wait()
        await ends.connection.close()

    assert ended == ["ended"]
    assert ends.wire.sent == []


async def test_unread_response_does_not_block_closing(ends: Ends) -> None:
    ends.wire.stuck = asyncio.Event()
    ends.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "ping"})
    await ends.wire.answered("s")
    async with asyncio.timeout(LIMIT_SECONDS):
        await ends.connection.close()

    assert ends.wire.abandoned == [{"jsonrpc": "2.0", "id": "s", "result": {}}]
