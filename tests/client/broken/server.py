"""A server with one fault, over any transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, Literal

from websockets.exceptions import ConnectionClosed

from footlight.protocol.channel import Transport

LIMIT_SECONDS = 10.0

SESSION_ID = "opensesame"
SECRETS = ("swordfish", "hunter2", "mellon", SESSION_ID)
"""The secrets of a connection: token, password, query of each URL, and session id."""

GONE = (ConnectionError, ConnectionClosed)

Message = Mapping[str, Any]
Fault = Callable[[Any, Message], Awaitable[None]]
"""Misbehaves instead of answering a request, through the server's means of sending."""
Over = Literal["stdio", "http json", "http events", "websocket", "memory"]


def subject(message: Message) -> str:
    """Return the subject of a message: the tool, or else the method."""
    return message["params"]["name"] if message.get("method") == "tools/call" else message.get("method", "")


class Broken:
    """`fault` happens once, when the server is asked for the tool or the method `at`.

    The tool `hold` is answered once it is `released`, every other at once.
    """

    transport: Transport

    def __init__(self, fault: Fault | None, at: str) -> None:
        self._fault = fault
        self._at = at
        self.messages: list[Message] = []
        self.released = asyncio.Event()
        self.failed = asyncio.Event()
        """The fault is over: where it waits for the client to go away, this has happened."""
        self.failures: list[BaseException] = []
        """What went wrong in here."""
        self._came = asyncio.Condition()
        self._open = 0
        self._none_open = asyncio.Event()
        self._none_open.set()

    def is_next(self, at: str) -> bool:
        return self._fault is not None and self._at == at

    async def take(self, message: Message, said: Any) -> None:
        """Answer messages, each in a task of its own."""
        async with self._came:
            self.messages.append(message)
            self._came.notify_all()
        if self.is_next(subject(message)):
            await self.fail(said, message)
        else:
            await self.answer(message, said)

    async def fail(self, said: Any, message: Message) -> None:
        fault, self._fault = self._fault, None
        assert fault is not None
        try:
            await fault(said, message)
        finally:
            self.failed.set()

    async def answer(self, message: Message, said: Any) -> None:
        if "id" not in message:
            return
        if subject(message) == "hold":
            async with asyncio.timeout(LIMIT_SECONDS):
                await self.released.wait()
        await said.say(well(message))

    async def heard(self, about: str) -> Message:
        """Wait for the first message with this subject."""

        def found() -> list[Message]:
            return [message for message in self.messages if subject(message) == about]

        async with asyncio.timeout(LIMIT_SECONDS), self._came:
            await self._came.wait_for(found)
        return found()[0]

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Callable[[Coroutine[Any, Any, None]], None]]:
        """Hold a connection open within the block, and cancel its tasks at the end."""
        tasks: set[asyncio.Task[None]] = set()
        self._open += 1
        self._none_open.clear()
        try:
            yield lambda work: tasks.add(asyncio.create_task(work))
        except GONE:
            pass
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            self.failures += [end for end in ends if isinstance(end, Exception) and not isinstance(end, GONE)]
            self._open -= 1
            if not self._open:
                self._none_open.set()

    async def deserted(self) -> None:
        """Wait until the client has left no connection, and check that nothing has failed."""
        async with asyncio.timeout(LIMIT_SECONDS):
            await self._none_open.wait()
        assert self.failures == []


def well(message: Message) -> Message:
    """Return the answer of a server without faults."""
    result: Any = None
    if message["method"] == "initialize":
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "broken", "version": "1"},
        }
    elif message["method"] == "ping":
        result = {}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": f"{subject(message)} is done"}]}
    if result is None:
        return failed(message, -32601, "Method not found")
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def failed(message: Message, code: int, text: str, **more: Any) -> Message:
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text, **more}}


def saying(change: Callable[[Message], Message]) -> Fault:
    """Return a fault of the answer itself, which can occur on every transport."""

    @wraps(change)
    async def fault(said: Any, request: Message) -> None:
        await said.say(change(request))

    return fault


# What can be wrong over every transport


async def silence(said: Any, request: Message) -> None:
    await said.nothing()


@saying
def wrong_id(request: Message) -> Message:
    return {**well(request), "id": request["id"] + 1000}


@saying
def no_object(request: Message) -> Message:
    return {**well(request), "result": 5}


@saying
def neither_result_nor_error(request: Message) -> Message:
    return {"jsonrpc": "2.0", "id": request["id"]}


@saying
def an_error(request: Message) -> Message:
    return failed(request, -32603, "The disk is full", data={"free": 0})


@saying
def an_error_for_nobody(request: Message) -> Message:
    """Send an error without an id, as a server does that could not parse the request."""
    return {**failed(request, -32603, "The disk is full"), "id": None}


@saying
def unheard_of_version(request: Message) -> Message:
    answer = well(request)
    return {**answer, "result": {**answer["result"], "protocolVersion": "1999-12-31"}}


@saying
def failed_tool(request: Message) -> Message:
    return {**well(request), "result": {"content": [{"type": "text", "text": "No report"}], "isError": True}}


@saying
def unknown_tool_of_the_sdks(request: Message) -> Message:
    return failed(request, -32602, "Unknown tool: broken")


@saying
def unknown_tool_of_the_document(request: Message) -> Message:
    return failed(request, -32601, "There is no broken")


@saying
def unknown_tool_as_a_result(request: Message) -> Message:
    text = {"type": "text", "text": "Unknown tool: broken"}
    return {**well(request), "result": {"content": [text], "isError": True}}
