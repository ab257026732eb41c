"""A JSON-RPC connection, which matches answers to requests and limits the time of each. No I/O is done.

A transport's channel sends messages, and passes incoming ones to `receive`. All methods must be called in one
event loop, from any of its tasks.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from footlight.log import LimitedWarnings
from footlight.protocol import messages
from footlight.protocol.callbacks import Handler, ListenerResult, Listeners, ServerRequests, find_handler_task
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError
from footlight.protocol.untrusted_json import an_object, number, text

if TYPE_CHECKING:
    from footlight.protocol.channel import Channel, Transport
    from footlight.protocol.messages import Message

__all__ = [
    "Connection",
    "OnError",
    "OnMessage",
    "OnNotification",
    "OnProgress",
    "Result",
]

logger = logging.getLogger(__name__)

Result = Mapping[str, Any]
OnMessage = Callable[["Message"], ListenerResult]
OnError = Callable[[MCPError], ListenerResult]
OnNotification = Callable[[str, Mapping[str, Any]], ListenerResult]
"""Receives the method and its params."""
OnProgress = Callable[[float, float | None, str | None], ListenerResult]
"""Receives the progress, the total and a message."""

UNAWAITED_SEND_SECONDS = 2.0
"""The time limit for sending a message that no caller waits for, such as a cancellation."""
CLOSE_SECONDS = 5.0
STRAY_SECONDS = 0.5
"""The time limit for the correct answer after one with an unknown id."""


@dataclass(slots=True)
class _PendingRequest:
    """A pending request. `answered_wrongly`: the server has since sent an answer with an unknown id."""

    method: str
    answer: asyncio.Future[Result]
    sending: asyncio.Task[None]
    on_progress: OnProgress | None
    answered_wrongly: bool = False

    def fail(self, error: MCPError) -> None:
        """Fail the request, unless it has been answered."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.sending.cancel()


class Connection:
    """A JSON-RPC connection.

    `handlers` answer requests of the server by method. `ping` needs no handler; other requests are refused.
    """

    def __init__(
        self,
        *,
        handlers: Mapping[str, Handler] | None = None,
        on_notification: OnNotification | None = None,
        on_session_ended: Callable[[], None] | None = None,
    ) -> None:
        self._on_notification = on_notification
        self._on_session_ended = on_session_ended
        self._last_id = 0
        self._warnings = LimitedWarnings(logger)
        self._pending: dict[int, _PendingRequest] = {}
        self._server_requests = ServerRequests(handlers or {}, send=self._send_answer, start=self._start)
        self._listeners = Listeners(self._start)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._channel: Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end_error: MCPError | None = None
        self.meta: Mapping[str, Any] = {}
        """The `_meta` of all requests, which identifies the client in the stateless protocol."""

    async def open(self, transport: Transport) -> Channel:
        """Connect. Raises the errors of the transport."""
        self._loop = asyncio.get_running_loop()
        self._channel = await transport.open(self)
        return self._channel

    @property
    def alive(self) -> bool:
        return self._channel is not None and self.end_error is None

    @property
    def end_error(self) -> MCPError | None:
        """Return the error with which the connection has ended, or None."""
        if self._end_error is None and self.loop_ended:
            return MCPConnectionError("The event loop that the client was connected in has ended")
        return self._end_error

    @property
    def loop_ended(self) -> bool:
        """Return whether the event loop was closed while the connection was open."""
        return self._loop is not None and self._loop.is_closed()

    @property
    def running_handlers(self) -> Sequence[str]:
        """Return the methods of the server's requests that handlers are answering."""
        return self._server_requests.running

    def check_loop(self) -> None:
        """Check that the caller runs in the event loop of the connection.

        Raises:
            MCPConnectionError: that event loop has ended.
            MCPError: the caller runs in another event loop (`invalid`).
        """
        if self._loop is asyncio.get_running_loop():
            return
        if self.loop_ended and self.end_error is not None:
            raise copy.copy(self.end_error)
        raise MCPError("The client is connected in another event loop; use it there", reason="invalid")

    # Outgoing messages

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """Send a request and return its result. If `timeout_ms` is None, there is no time limit.

        If the time limit passes or the caller is cancelled, the request is cancelled at the server.

        Raises:
            MCPTimeoutError: there was no answer in time.
            MCPConnectionError: the connection has ended.
            MCPError: the server refused the request (`peer`), or the exchange failed.
        """
        channel = self._get_channel()
        self._last_id = identifier = self._last_id + 1
        message = messages.request(identifier, method, self._add_meta(params, identifier, on_progress))
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        sending = self._start(channel.send(message, headers=headers or {}))
        sending.add_done_callback(lambda task: _fail_if_unsent(answer, task))
        self._pending[identifier] = _PendingRequest(method, answer, sending, on_progress)
        limit = asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000)
        try:
            async with limit:
                return await answer
        except TimeoutError:
            if not limit.expired():
                raise
            self._abandon(channel, identifier, sending, "the client's time limit")
            raise MCPTimeoutError(
                f"{method} had no answer within {timeout_ms:.0f}ms", timeout_ms=cast("float", timeout_ms)
            ) from None
        except asyncio.CancelledError:
            self._abandon(channel, identifier, sending, "the caller gave up")
            raise
        finally:
            del self._pending[identifier]

    async def notify(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_ms: float | None
    ) -> None:
        """Send a notification.

        Raises:
            MCPError: the notification could not be sent.
        """
        channel = self._get_channel()
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                await channel.send(messages.notification(method, params or {}), headers={})
        except TimeoutError:
            raise MCPTimeoutError(
                f"{method} could not be sent within {timeout_ms:.0f}ms", timeout_ms=cast("float", timeout_ms)
            ) from None

    async def close(self) -> None:
        """Fail all pending requests and close the channel. It is safe to call this twice."""
        self.on_connection_lost(MCPConnectionError("The client was closed", reason="not_connected"))
        for task in self._tasks:
            task.cancel()
        # A handler that closes its own client must not wait for itself.
        if tasks := self._tasks - {find_handler_task()}:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close()

    def _get_channel(self) -> Channel:
        if (error := self.end_error) is not None:
            raise copy.copy(error)
        if self._channel is None:
            raise MCPConnectionError("There is no connection", reason="not_connected")
        return self._channel

    def _add_meta(
        self, params: Mapping[str, Any] | None, identifier: int, on_progress: OnProgress | None
    ) -> dict[str, Any]:
        params_with_meta = dict(params or {})
        progress = {} if on_progress is None else {"progressToken": identifier}
        if meta := {**an_object(params_with_meta.get("_meta")), **self.meta, **progress}:
            params_with_meta["_meta"] = meta
        return params_with_meta

    def _abandon(self, channel: Channel, identifier: int, sending: asyncio.Task[None], reason: str) -> None:
        sending.cancel()
        # The protocol does not allow cancelling `initialize`.
        if channel.cancels_by_closing or self._pending[identifier].method == "initialize" or not self.alive:
            return
        params = {"requestId": identifier, "reason": reason}
        self._start(self._send_quietly(channel, messages.notification("notifications/cancelled", params)))

    async def _send_answer(self, answer: Message) -> None:
        if self._channel is not None:
            await self._send_quietly(self._channel, answer)

    async def _send_quietly(self, channel: Channel, message: Message) -> None:
        """Send a message that no caller waits for. Errors are only logged."""
        try:
            async with asyncio.timeout(UNAWAITED_SEND_SECONDS):
                await channel.send(message, headers={})
        except (MCPError, TimeoutError) as error:
            logger.debug("could not send %s: %s", message.get("method", "an answer"), error)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Incoming messages

    def receive(self, message: Message) -> None:
        kind = messages.kind_of(message)
        if kind in ("response", "error"):
            self._receive_answer(message, failed=kind == "error")
        elif kind == "request":
            if self._channel is not None and self._end_error is None:
                self._server_requests.receive(message)
        elif kind == "notification":
            self._receive_notification(message["method"], an_object(message.get("params")))

    def on_connection_lost(self, error: MCPError) -> None:
        if self._end_error is None:
            self._end_error = error
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(copy.copy(error))

    def on_session_ended(self) -> None:
        if self._on_session_ended is not None:
            self._on_session_ended()

    def _receive_answer(self, message: Message, *, failed: bool) -> None:
        pending = self._find_request(message)
        if pending is None:
            self._receive_stray(message.get("id"))
        elif pending.answer.done():
            logger.debug("another answer to %s", pending.method)
        elif failed:  # A response with a result may also have an `error` of null, and is not failed.
            pending.answer.set_exception(messages.peer_error(message["error"]))
        elif isinstance(message["result"], Mapping):
            pending.answer.set_result(cast("Result", message["result"]))
        else:
            result = message["result"]
            why = result.why if isinstance(result, messages.UnreadableResult) else "is not an object"
            error = MCPError(f"The result of {pending.method} {why}", reason="protocol")
            pending.answer.set_exception(error)

    def _find_request(self, message: Message) -> _PendingRequest | None:
        identifier = message.get("id")
        if identifier is None and len(self._pending) == 1:
            # A server that could not parse a request does not know its id. Only one request is pending.
            return next(iter(self._pending.values()))
        request_id = messages.own_id(identifier)
        return None if request_id is None else self._pending.get(request_id)

    def _receive_stray(self, identifier: object) -> None:
        """Handle an answer whose id belongs to no pending request.

        Either the answer is late, or the server sends wrong ids. In the second case, the correct answer is
        unlikely to arrive, so if only one request is pending, it fails soon.
        """
        request_id = messages.own_id(identifier)
        if request_id is not None and 0 < request_id <= self._last_id:
            logger.debug("ignored a late answer: id %d", request_id)
            return
        self._warnings.log("the server answered with the id %.40r, which no request has", identifier)
        if len(self._pending) != 1:
            return
        [(asked, pending)] = self._pending.items()
        if not pending.answered_wrongly:
            pending.answered_wrongly = True
            error = MCPError(
                f"The server answered {pending.method} with the id {identifier!r:.40} instead of {asked}",
                reason="protocol",
            )
            asyncio.get_running_loop().call_later(STRAY_SECONDS, pending.fail, error)

    def _receive_notification(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/progress":
            self._receive_progress(params)
        elif method == "notifications/cancelled":
            self._server_requests.cancel(params.get("requestId"))
        if self._on_notification is not None:
            self._listeners.call(self._on_notification, method, params)

    def _receive_progress(self, params: Mapping[str, Any]) -> None:
        token, progress = params.get("progressToken"), number(params.get("progress"))
        pending = self._pending.get(token) if isinstance(token, int) and token is not True else None
        if pending is None or pending.on_progress is None or pending.answer.done() or progress is None:
            return
        total, message = number(params.get("total")), text(params.get("message"))
        self._listeners.call(pending.on_progress, progress, total, message)

    async def handle(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the handler of a method and return its result.

        Raises:
            MCPError: there is no handler, it refused the request, or it failed, which is logged.
        """
        return await self._server_requests.handle(method, params)


def _fail_if_unsent(answer: asyncio.Future[Result], sending: asyncio.Task[None]) -> None:
    """Fail a request that could not be sent."""
    if sending.cancelled():
        return
    error = sending.exception()
    if error is not None and not answer.done():
        answer.set_exception(error)
