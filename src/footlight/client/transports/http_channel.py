"""A channel to a server over Streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from footlight.client.tasks import wait_shielded
from footlight.client.transports.http_answer import drain, media_type, read_body
from footlight.client.transports.http_session import HttpSession, session_expired_error
from footlight.client.transports.http_stream import EventStream, StreamReader, Take
from footlight.client.transports.secret_mask import mask_answer
from footlight.protocol.errors import MCPConnectionError, MCPError, ServerNotAvailableError
from footlight.protocol.messages import is_answer_to, kind_of, parse, peer_error
from footlight.protocol.versions import is_stateless

if TYPE_CHECKING:
    import httpx2

    from footlight.client.transports.http_endpoint import HttpEndpoint
    from footlight.protocol.channel import Receiver
    from footlight.protocol.messages import Message, RequestId

__all__ = ["HttpChannel"]

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0


class HttpChannel:
    """A channel over Streamable HTTP. It implements `Channel` and `HttpFeatures`."""

    def __init__(
        self,
        endpoint: HttpEndpoint,
        receiver: Receiver,
        *,
        headers: Mapping[str, str],
        max_event_size: int,
        max_body_size: int,
    ) -> None:
        self.cancels_by_closing = False
        self._endpoint = endpoint
        self._receiver = receiver
        self._max_event_size = max_event_size
        self._max_body_size = max_body_size
        self._session = HttpSession(endpoint, headers, on_session_ended=self._session_ended)
        self._exchanges: set[asyncio.Task[None]] = set()
        self._get_stream: StreamReader | None = None
        self._end: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"HttpChannel({self._endpoint.where!r})"

    def use_version(self, version: str) -> None:
        self._session.version = version
        self.cancels_by_closing = is_stateless(version)

    async def close(self) -> None:
        """Fail running exchanges and close the connections.

        The HTTP session is not ended; see `terminate`.
        """
        if self._end is None:
            self._end = asyncio.create_task(self._close())
        await wait_shielded(self._end)

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
        # Forget the session first, so that closing the stream does not report that the session has ended.
        get_stream, self._get_stream = self._get_stream, None
        session_id = self._session.forget()
        if get_stream is not None:
            await get_stream.close()
        return self._end is None and session_id is not None and await self._session.delete(session_id)

    def _session_ended(self) -> None:
        """Fail the GET stream, which belongs to the session, and notify the receiver."""
        get_stream, self._get_stream = self._get_stream, None
        if get_stream is not None:
            get_stream.fail(session_expired_error())
        self._receiver.on_session_ended()

    async def listen(
        self, on_message: Callable[[Message], None], on_error: Callable[[MCPError], None]
    ) -> bool:
        """Open the GET stream, as `HttpFeatures` describes.

        Raises:
            MCPError: the stream could not be opened.
        """
        await self.stop_listening()
        self._check_open()

        def take(message: Message) -> bool:
            message = self._mask(message)
            self._receiver.receive(message)
            on_message(message)
            return False

        self._get_stream = StreamReader(self._make_stream(self.session_id, strict=False), take, on_error)
        return await self._get_stream.wait_open()

    async def stop_listening(self) -> None:
        get_stream, self._get_stream = self._get_stream, None
        if get_stream is not None:
            await get_stream.close()

    # Messages

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:
        self._check_open()
        exchange = asyncio.create_task(self._exchange(message, headers))
        self._exchanges.add(exchange)
        exchange.add_done_callback(self._forget_exchange)
        try:
            await exchange
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                self._check_open()
            raise

    def _forget_exchange(self, exchange: asyncio.Task[None]) -> None:
        self._exchanges.discard(exchange)
        if not exchange.cancelled():
            exchange.exception()  # Retrieve it, because a cancelled sender does not.

    async def _exchange(self, message: Message, headers: Mapping[str, str]) -> None:
        if kind_of(message) == "request":
            await self._send_request(message, headers)
        else:
            await self._send_notification(message, headers)

    async def _send_notification(self, message: Message, headers: Mapping[str, str]) -> None:
        async with self._session.post(message, headers) as (response, _):
            await drain(response)

    async def _send_request(self, message: Message, headers: Mapping[str, str]) -> None:
        """Send a request, and receive all messages up to its answer."""
        take = self._receive_until(message["id"])
        stream: EventStream | None = None
        end = MCPError("The response ended without the answer", reason="protocol")
        try:
            async with self._session.post(message, headers) as (response, session_id):
                if media_type(response) != "text/event-stream":
                    single = await self._read_single_message(response)
                    done = take(single)
                    if not done and kind_of(single) in ("response", "error"):
                        end = _wrong_id_error(message, single)
                else:
                    stream = self._make_stream(session_id, strict=True)
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
        """Continue the stream of an answer that was interrupted.

        Raises:
            MCPError: `end`, if the server refuses to continue the stream.
        """
        try:
            await stream.follow(take)
        except ServerNotAvailableError as error:
            # The server has received the request, so it must not be reported as unavailable.
            raise MCPConnectionError(error.message) from None
        except MCPError as error:
            if error.status is None or error.reason == "session_expired":
                raise
            raise end from None

    async def _read_single_message(self, response: httpx2.Response) -> Message:
        """Return the message in the body of an answer that is not a stream."""
        status, media = response.status_code, media_type(response)
        body = await read_body(response, max_size=self._max_body_size)
        if not body.strip():
            raise MCPError(f"The server sent an empty answer ({status})", reason="protocol", status=status)
        if media != "application/json":
            found = repr(media[:80]) if media else "no content type"
            raise MCPError(f"An answer is JSON or events, not {found}", reason="protocol", status=status)
        return parse(body, unit="body")

    def _receive_until(self, identifier: RequestId) -> Take:
        """Return a function that receives messages up to the answer to this request."""

        def take(message: Message) -> bool:
            kind = kind_of(message)
            if kind == "error" and message.get("id") is None:
                # The server could not read the id of the request.
                raise peer_error(message["error"])
            self._receiver.receive(self._mask(message))
            return kind in ("response", "error") and is_answer_to(identifier, message)

        return take

    def _mask(self, message: Message) -> Message:
        """Return the message, in which the secrets that were sent are masked if it is an error."""
        return mask_answer(message, self._endpoint.find_secrets()) if kind_of(message) == "error" else message

    def _make_stream(self, session_id: str | None, *, strict: bool) -> EventStream:
        return EventStream(
            self._session,
            session_id=session_id,
            max_event_size=self._max_event_size,
            strict=strict,
        )

    def _check_open(self) -> None:
        if self._end is not None:
            raise MCPConnectionError("The connection was closed", reason="not_connected")


def _wrong_id_error(request: Message, answer: Message) -> MCPError:
    return MCPError(
        f"The server answered {request['method']} with the id {answer.get('id')!r:.40} instead of "
        f"{request['id']}",
        reason="protocol",
    )
