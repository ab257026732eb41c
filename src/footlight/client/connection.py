"""One JSON-RPC session: requests find their answers, in time or not at all. No I/O of its own.

A transport's channel sends; what comes is told to `receive` and `lost`. Everything runs on one event loop,
and in whichever of its tasks a caller likes.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from footlight.client import messages
from footlight.client.errors import MCPConnectionError, MCPError, MCPTimeoutError
from footlight.client.listeners import Told, tell
from footlight.client.loose import an_object, number, text

if TYPE_CHECKING:
    from footlight.client.channel import Channel, Transport
    from footlight.client.messages import Message, RequestId

__all__ = ["Connection", "Handler", "OnNotification", "OnProgress", "Result"]

logger = logging.getLogger(__name__)

Result = Mapping[str, Any]
Handler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]] | Mapping[str, Any]]
"""Answers a request of the server's: its params in, the result out. An `MCPError` is told to the server."""
OnNotification = Callable[[str, Mapping[str, Any]], Told]
"""Takes the method and its params. What is awaitable runs as a task beside what comes next."""
OnProgress = Callable[[float, float | None, str | None], Told]
"""Takes the progress, its total and a message."""

CANCEL_SECONDS = 2.0
"""For the word to the server that nobody waits any more."""
CLOSE_SECONDS = 5.0
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
NO_HANDLER = "This client does not answer"
"""Begins our refusal, which many servers hand back as that of the call for which they asked."""

_serving: ContextVar[asyncio.Task[Any] | None] = ContextVar("serving", default=None)
"""The task that a request of the server's has, in all that its handler does."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A request without its answer yet."""

    method: str
    answer: asyncio.Future[Result]
    on_progress: OnProgress | None


class Connection:
    """`handlers` answer requests of the server's by their method; `ping` needs none, others are refused."""

    def __init__(
        self, *, handlers: Mapping[str, Handler] | None = None, on_notification: OnNotification | None = None
    ) -> None:
        self._handlers: Mapping[str, Handler] = {"ping": lambda _: {}, **(handlers or {})}
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._waiting: dict[RequestId, _Waiting] = {}
        self._serving: dict[RequestId, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._channel: Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: MCPError | None = None
        self.meta: Mapping[str, Any] = {}
        """What every request says in its `_meta`: who sends it, in the stateless protocol."""

    async def open(self, transport: Transport) -> Channel:
        """Connect; the transport's errors pass."""
        self._loop = asyncio.get_running_loop()
        self._channel = await transport.open(self)
        return self._channel

    @property
    def alive(self) -> bool:
        return self._channel is not None and self.end is None

    @property
    def end(self) -> MCPError | None:
        """Why it is over, if it is."""
        if self._end is None and self.loop_ended:
            return MCPConnectionError("The event loop that the client was connected in has ended")
        return self._end

    @property
    def loop_ended(self) -> bool:
        """Whether its event loop was closed under it. Nothing of it can be waited for any more."""
        return self._loop is not None and self._loop.is_closed()

    def check_loop(self) -> None:
        """
        Raises:
            MCPConnectionError: the event loop that it was opened in has ended.
            MCPError: this is another one (`invalid`).
        """
        if self._loop is asyncio.get_running_loop():
            return
        if self.loop_ended and self.end is not None:
            raise copy.copy(self.end)
        raise MCPError("The client is connected in another event loop; use it there", reason="invalid")

    # What the client sends

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """The result. One deadline covers all of it; None has none. Without an answer in time the server is
        told that nobody waits.

        Raises:
            MCPTimeoutError: the time is over.
            MCPConnectionError: the connection is over, before or meanwhile.
            MCPError: the server refused (`peer`), or the exchange failed.
        """
        channel = self._alive_channel()
        identifier = next(self._ids)
        message = messages.request(identifier, method, self._stamped(params, identifier, on_progress))
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = _Waiting(method, answer, on_progress)
        sending = self._start(channel.send(message, headers=headers or {}))
        sending.add_done_callback(lambda task: _fail(answer, task))
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
            del self._waiting[identifier]

    async def notify(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_ms: float
    ) -> None:
        """Send what has no answer.

        Raises:
            MCPError: it did not arrive.
        """
        channel = self._alive_channel()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await channel.send(messages.notification(method, params or {}), headers={})
        except TimeoutError:
            raise MCPTimeoutError(
                f"{method} could not be sent within {timeout_ms:.0f}ms", timeout_ms=timeout_ms
            ) from None

    async def close(self) -> None:
        """Fail what waits, and close the channel. Nothing of it is left. May be called twice."""
        self.lost(MCPConnectionError("The client was closed", reason="not_connected"))
        for task in self._tasks:
            task.cancel()
        # A handler that closes its client waits for this.
        if tasks := self._tasks - {_serving.get()}:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close()

    def _alive_channel(self) -> Channel:
        if self._end is not None:
            raise copy.copy(self._end)
        if self._channel is None:
            raise MCPConnectionError("There is no connection", reason="not_connected")
        return self._channel

    def _stamped(
        self, params: Mapping[str, Any] | None, identifier: int, on_progress: OnProgress | None
    ) -> dict[str, Any]:
        stamped = dict(params or {})
        progress = {} if on_progress is None else {"progressToken": identifier}
        if meta := {**an_object(stamped.get("_meta")), **self.meta, **progress}:
            stamped["_meta"] = meta
        return stamped

    def _abandon(self, channel: Channel, identifier: int, sending: asyncio.Task[None], reason: str) -> None:
        sending.cancel()
        # The handshake is the one request that must not be cancelled.
        if channel.cancels_by_closing or self._waiting[identifier].method == "initialize" or not self.alive:
            return
        params = {"requestId": identifier, "reason": reason}
        self._start(self._say(channel, messages.notification("notifications/cancelled", params)))

    async def _say(self, channel: Channel, message: Message) -> None:
        """Send what nobody waits for."""
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await channel.send(message, headers={})
        except (MCPError, TimeoutError) as error:
            logger.debug("could not send %s: %s", message.get("method", "an answer"), error)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # What the server sends

    def receive(self, message: Message) -> None:
        kind = messages.kind_of(message)
        if kind in ("response", "error"):
            self._receive_answer(message, failed=kind == "error")
        elif kind == "request":
            self._receive_request(message)
        elif kind == "notification":
            self._receive_notification(message["method"], an_object(message.get("params")))

    def lost(self, error: MCPError) -> None:
        if self._end is None:
            self._end = error
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(copy.copy(error))

    def _receive_answer(self, message: Message, *, failed: bool) -> None:
        waiting = self._whose(message)
        if waiting is None or waiting.answer.done():
            logger.debug("an answer to no request that waits: id %.40r", message.get("id"))
        elif failed:  # A result may stand beside an `error` of null.
            waiting.answer.set_exception(messages.peer_error(message["error"]))
        elif isinstance(message["result"], Mapping):
            waiting.answer.set_result(cast("Result", message["result"]))
        else:
            error = MCPError(f"The result of {waiting.method} is no object", reason="protocol")
            waiting.answer.set_exception(error)

    def _whose(self, message: Message) -> _Waiting | None:
        identifier = message.get("id")
        if identifier is None and len(self._waiting) == 1:
            # A server that could not read a request cannot name it either; there was only this one.
            return next(iter(self._waiting.values()))
        return self._waiting.get(identifier) if messages.is_id(identifier) else None

    def _receive_notification(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/progress":
            self._receive_progress(params)
        elif method == "notifications/cancelled":
            self._receive_cancelled(params.get("requestId"))
        if self._on_notification is not None:
            self._tell(self._on_notification, method, params)

    def _receive_progress(self, params: Mapping[str, Any]) -> None:
        token, progress = params.get("progressToken"), number(params.get("progress"))
        waiting = self._waiting.get(token) if messages.is_id(token) else None
        if waiting is None or waiting.on_progress is None or waiting.answer.done() or progress is None:
            return
        total, message = number(params.get("total")), text(params.get("message"))
        self._tell(waiting.on_progress, progress, total, message)

    def _tell(self, listener: Callable[..., Told], *news: Any) -> None:
        if (hearing := tell(listener, *news)) is not None:
            self._start(hearing)

    def _receive_cancelled(self, identifier: object) -> None:
        task = self._serving.get(identifier) if messages.is_id(identifier) else None
        if task is not None:
            task.cancel()

    def _receive_request(self, message: Message) -> None:
        channel = self._channel
        if channel is None or self._end is not None:
            return
        task = self._start(self._serve(channel, message))
        self._serving[message["id"]] = task
        task.add_done_callback(lambda _: self._serving.pop(message["id"], None))

    async def _serve(self, channel: Channel, message: Message) -> None:
        _serving.set(asyncio.current_task())
        await self._say(channel, await self._response(message))

    async def _response(self, message: Message) -> Message:
        identifier, method = message["id"], message["method"]
        try:
            result = await self.handle(method, an_object(message.get("params")))
            return messages.answer_to(identifier, result=result)
        except MCPError as error:
            told = {"code": error.rpc_code or INTERNAL_ERROR, "message": error.message}
            return messages.answer_to(identifier, error=told)

    async def handle(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the handler of this method says.

        Raises:
            MCPError: there is none, or it refuses; or it failed, which is logged.
        """
        handler = self._handlers.get(method)
        if handler is None:
            raise MCPError(f"{NO_HANDLER} {method}", reason="protocol", rpc_code=METHOD_NOT_FOUND)
        try:
            given = handler(params)
            return _sendable(await given if inspect.isawaitable(given) else given)
        except MCPError:
            raise
        except Exception as error:
            logger.exception("the handler of %s failed", method)
            raise MCPError(
                f"The client's handler of {method} failed", reason="protocol", rpc_code=INTERNAL_ERROR
            ) from error


def _fail(answer: asyncio.Future[Result], sending: asyncio.Task[None]) -> None:
    """A request that could not be sent has no answer."""
    if sending.cancelled():
        return
    error = sending.exception()
    if error is not None and not answer.done():
        answer.set_exception(error)


def _sendable(result: object) -> Result:
    """
    Raises:
        TypeError: it is no JSON object.
    """
    if not isinstance(result, Mapping):
        raise TypeError("A handler gave no object")
    try:
        messages.encode(cast("Result", result))
    except MCPError as error:
        raise TypeError(error.message) from None
    return cast("Result", result)
