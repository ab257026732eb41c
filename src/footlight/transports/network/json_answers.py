"""Send a response as plain JSON if it is the only message of its event stream.

The SDK answers every request of the handshake era with an event stream. Many clients limit the size of an
event to 1 MiB and could not receive a screenshot, and a stream with one event has an overhead for all
clients. So the start of the stream is delayed: if the response is the first message and arrives soon, it is
sent as JSON; otherwise the stream is sent.
"""

from __future__ import annotations

import asyncio
import json
from typing import cast

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["JsonAnswers", "answer_in"]

PATIENCE_SECONDS = 1.0
"""The delay after which the stream is sent, with the event id that the client needs to resume it."""


class JsonAnswers:
    """ASGI middleware around the SDK's app, for POST requests."""

    def __init__(self, app: ASGIApp, *, patience: float = PATIENCE_SECONDS) -> None:
        self._app = app
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        reply = _DelayedResponse(send, self._patience)
        try:
            await self._app(scope, receive, reply.send)
        finally:
            reply.end()


class _DelayedResponse:
    """An HTTP response, which is delayed while it may still be a single JSON-RPC response."""

    def __init__(self, send: Send, patience: float) -> None:
        self._send = send
        self._patience = patience
        self._lock = asyncio.Lock()
        self._held: list[Message] = []
        self._answered = False
        self._timer: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        async with self._lock:
            if self._answered:
                return  # Ignore the end of the stream after its only event was sent as JSON.
            if _begins_stream(message):
                self._held.append(message)
                self._timer = asyncio.create_task(self._commit_later())
            elif not self._held:
                await self._send(message)
            else:
                await self._add(message)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    async def _add(self, message: Message) -> None:
        body: bytes = message.get("body", b"")
        if answer := answer_in(body):
            await self._answer(answer)
            return
        self._held.append(message)
        primes = body and not _data(body)
        if not primes:  # A notification, a request of the server, or the end of the stream.
            await self._commit()

    async def _answer(self, data: bytes) -> None:
        start, self._held = self._held[0], []
        self._answered = True
        self.end()
        headers = MutableHeaders(scope=start)
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(data))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": data})

    async def _commit_later(self) -> None:
        await asyncio.sleep(self._patience)
        async with self._lock:
            await self._commit()

    async def _commit(self) -> None:
        messages, self._held = self._held, []
        for message in messages:
            await self._send(message)


def _begins_stream(message: Message) -> bool:
    return message["type"] == "http.response.start" and MutableHeaders(scope=message).get(
        "content-type", ""
    ).startswith("text/event-stream")


def answer_in(body: bytes) -> bytes:
    """Return the JSON-RPC response in an event, or empty bytes if the event has none."""
    data = _data(body)
    return data if data and _is_answer(data) else b""


def _data(body: bytes) -> bytes:
    """Return the data of an event, which is empty for an event that has only an id."""
    lines = (line for line in body.splitlines() if line.startswith(b"data:"))
    return b"\n".join(line.removeprefix(b"data:").removeprefix(b" ") for line in lines)


def _is_answer(data: bytes) -> bool:
    try:
        message: object = json.loads(data)
    except ValueError:
        return False
    return (
        isinstance(message, dict) and "id" in message and "method" not in cast("dict[str, object]", message)
    )
