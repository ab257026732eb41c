"""An open way to a server over Streamable HTTP (document 001)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from footlight.client.errors import MCPConnectionError, MCPError, ServerNotAvailableError
from footlight.client.messages import is_id, kind_of, parse, peer_error
from footlight.client.transports.closing import outlast
from footlight.client.transports.http_answer import drain, media_type, read_body
from footlight.client.transports.http_listening import Listening
from footlight.client.transports.http_session import Session
from footlight.client.transports.http_stream import EventStream, Take
from footlight.client.versions import is_stateless

if TYPE_CHECKING:
    import httpx2

    from footlight.client.channel import Receiver
    from footlight.client.messages import Message, RequestId
    from footlight.client.transports.http import StreamableHTTP
    from footlight.client.transports.http_endpoint import Endpoint

__all__ = ["HttpChannel"]

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0


class HttpChannel:
    """`Channel` and `HttpSession`."""

    def __init__(self, endpoint: Endpoint, receiver: Receiver, *, transport: StreamableHTTP) -> None:
        self.cancels_by_closing = False
        self._endpoint = endpoint
        self._receiver = receiver
        self._transport = transport
        self._session = Session(endpoint, transport.headers)
        self._exchanges: set[asyncio.Task[None]] = set()
        self._listening: Listening | None = None
        self._end: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"HttpChannel({self._endpoint.where!r})"

    def negotiated(self, version: str) -> None:
        self._session.version = version
        self.cancels_by_closing = is_stateless(version)

    async def close(self) -> None:
        """What runs fails. The session, if there is one, stays: see `terminate`."""
        if self._end is None:
            self._end = asyncio.create_task(self._close())
        await outlast(self._end)

    async def _close(self) -> None:
        await self.stop_listening()
        running = set(self._exchanges)
        for exchange in running:
            exchange.cancel()
        if running:
            await asyncio.wait(running, timeout=CLOSE_SECONDS)
        await self._endpoint.close()

    # The session

    @property
    def session_id(self) -> str | None:
        return self._session.id

    async def terminate(self) -> bool:
        await self.stop_listening()
        return self._end is None and await self._session.delete()

    async def listen(
        self, on_message: Callable[[Message], None], on_error: Callable[[MCPError], None]
    ) -> bool:
        """As `HttpSession` has it.

        Raises:
            MCPError: it could not be opened at all.
        """
        await self.stop_listening()
        self._check_open()

        def take(message: Message) -> bool:
            self._receiver.receive(message)
            on_message(message)
            return False

        self._listening = Listening(self._stream(self.session_id, strict=False), take, on_error)
        return await self._listening.opened()

    async def stop_listening(self) -> None:
        listening, self._listening = self._listening, None
        if listening is not None:
            await listening.close()

    # Messages

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:
        self._check_open()
        exchange = asyncio.create_task(self._exchange(message, headers))
        self._exchanges.add(exchange)
        exchange.add_done_callback(self._ended)
        try:
            await exchange
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                self._check_open()
            raise

    def _ended(self, exchange: asyncio.Task[None]) -> None:
        self._exchanges.discard(exchange)
        if not exchange.cancelled():
            exchange.exception()  # Nobody else may look: the sender may have been cancelled just now.

    async def _exchange(self, message: Message, headers: Mapping[str, str]) -> None:
        if kind_of(message) == "request":
            await self._ask(message, headers)
        else:
            await self._tell(message, headers)

    async def _tell(self, message: Message, headers: Mapping[str, str]) -> None:
        """Send what has no answer (R001-6)."""
        async with self._session.post(message, headers) as (response, _):
            await drain(response)

    async def _ask(self, message: Message, headers: Mapping[str, str]) -> None:
        """Send a request, and receive all that comes until its answer."""
        take = self._until(message["id"])
        stream: EventStream | None = None
        end = MCPError("The response ended without the answer", reason="protocol")
        try:
            async with self._session.post(message, headers) as (response, session_id):
                if media_type(response) != "text/event-stream":
                    done = take(await self._only_message(response))
                else:
                    stream = self._stream(session_id, strict=True)
                    done = await stream.read(response, take)
        except MCPConnectionError as error:
            if stream is None:
                raise
            done, end = False, error
        if done:
            return
        if stream is None or stream.last_event_id is None or self._session.is_stateless(message):
            raise end
        logger.debug("the answer was cut: %s", end)
        await self._resume(stream, take, end)

    async def _resume(self, stream: EventStream, take: Take, end: MCPError) -> None:
        """Go on where the answer to a request was cut.

        Raises:
            MCPError: `end`, if the server does not let us.
        """
        try:
            await stream.follow(take)
        except ServerNotAvailableError as error:
            # It was available when it took the request, so nobody may think that it did not.
            raise MCPConnectionError(error.message) from None
        except MCPError as error:
            if error.status is None or error.reason == "session_expired":
                raise
            raise end from None

    async def _only_message(self, response: httpx2.Response) -> Message:
        """The body of an answer that is no stream (R001-9, R001-36)."""
        status, media = response.status_code, media_type(response)
        body = await read_body(response, max_size=self._transport.max_body_size)
        if not body.strip():
            raise MCPError(f"The server gave no answer ({status}, empty)", reason="protocol", status=status)
        if media != "application/json":
            found = repr(media[:80]) if media else "no content type"
            raise MCPError(f"An answer is JSON or events, not {found}", reason="protocol", status=status)
        return parse(body, unit="body")

    def _until(self, identifier: RequestId) -> Take:
        """Receives messages; the answer to this request is the last."""

        def take(message: Message) -> bool:
            kind = kind_of(message)
            if kind == "error" and message.get("id") is None:
                # What a server says that could not even read which request it was.
                raise peer_error(message["error"])
            self._receiver.receive(message)
            return kind in ("response", "error") and is_id(message["id"]) and message["id"] == identifier

        return take

    def _stream(self, session_id: str | None, *, strict: bool) -> EventStream:
        return EventStream(
            self._session,
            session_id=session_id,
            max_event_size=self._transport.max_event_size,
            strict=strict,
        )

    def _check_open(self) -> None:
        if self._end is not None:
            raise MCPConnectionError("The connection was closed", reason="not_connected")
