"""Serve a fake vendor on a port of loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from tests.audit.vendors.script import Failure, Received, Script, Turn
from tests.serving import listen_on_free_port, serve_app

__all__ = ["Vendor", "VendorServer", "event", "serve_vendor"]


class Vendor(Protocol):
    """The wire format of a vendor: how answers are written, and requests read."""

    name: str
    variable: str
    model: str

    def base_url(self, url: str) -> str: ...
    def beginning(self, turn: Turn) -> Iterator[bytes]:
        """Yield the events of an answer before its text."""
        ...

    def rest(self, turn: Turn) -> Iterator[bytes]: ...
    def error(self, failure: Failure) -> dict[str, Any]: ...
    def error_event(self, failure: Failure) -> bytes: ...
    def key(self, received: Received) -> str | None: ...
    def tools(self, received: Received) -> list[str]: ...
    def results(self, received: Received) -> list[tuple[str, str]]:
        """Return the tool results in a request, by the id of the call."""
        ...

    def images(self, received: Received) -> list[str]:
        """Return all images in a request, in base64."""
        ...


class VendorServer:
    """A running fake vendor. `left` is set when a client disconnects in the middle of an answer."""

    def __init__(self, vendor: Vendor, port: int) -> None:
        self.vendor = vendor
        self.url = f"http://127.0.0.1:{port}"
        self.forget()

    def forget(self) -> None:
        """Forget all scripts and requests."""
        self.received: list[Received] = []
        self.left = asyncio.Event()
        self._script: list[Turn | Failure] = []

    @property
    def base_url(self) -> str:
        return self.vendor.base_url(self.url)

    def answers(self, script: Script) -> None:
        self._script = [*script]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = json.loads(await request.body())
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.received.append(Received(path, dict(request.headers), body))
        answer = (
            self._script.pop(0) if self._script else Failure(status=500, message="The script is at its end.")
        )
        if isinstance(answer, Failure):
            response = JSONResponse(self.vendor.error(answer), answer.status, dict(answer.headers))
            await response(scope, receive, send)
        else:
            await self._stream(answer, receive, send)

    async def _stream(self, turn: Turn, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        left = turn.cut_after
        async for event in self._events(turn, receive):
            piece = event if left is None else event[:left]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if left is not None and (left := left - len(piece)) == 0:
                if not turn.clean:
                    return  # The server ends the connection of a body that has no end.
                break
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _events(self, turn: Turn, receive: Receive) -> AsyncGenerator[bytes]:
        for event in self.vendor.beginning(turn):
            yield event
        if turn.hold is not None and not await self._waits(turn.hold, receive):
            return
        if turn.fails is not None:
            yield self.vendor.error_event(turn.fails)
            return
        for event in self.vendor.rest(turn):
            yield event

    async def _waits(self, hold: asyncio.Event, receive: Receive) -> bool:
        """Wait until `hold` is set or the client has disconnected."""
        held, gone = asyncio.ensure_future(hold.wait()), asyncio.ensure_future(receive())
        await asyncio.wait((held, gone), return_when=asyncio.FIRST_COMPLETED)
        for waiting in (held, gone):
            waiting.cancel()
        if not hold.is_set():
            self.left.set()
        return hold.is_set()


@asynccontextmanager
async def serve_vendor(vendor: Vendor) -> AsyncGenerator[VendorServer]:
    """Serve a vendor's API. The port is closed at the end of the block."""
    listener = listen_on_free_port()
    app = VendorServer(vendor, listener.getsockname()[1])
    async with serve_app(app, listener):
        yield app


def event(data: Mapping[str, Any], *, name: str | None = None) -> bytes:
    """Return a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
