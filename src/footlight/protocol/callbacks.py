"""Call the client's functions for what the server sends: handlers for requests, listeners for notifications.

A request is either a message, which a handler answers, or a result that requests input (`input_required`),
after which the client's request is sent again with the answers.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from footlight.log import LimitedWarnings
from footlight.protocol import messages
from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, text

if TYPE_CHECKING:
    from footlight.protocol.messages import Message, RequestId

__all__ = [
    "MAX_ANSWERS",
    "MAX_ROUNDS",
    "MAX_RUNNING",
    "MAX_SENDERS",
    "MAX_SERVED",
    "NO_HANDLER",
    "Handler",
    "ListenerResult",
    "Listeners",
    "ServerRequests",
    "find_handler_task",
    "request_until_complete",
]

logger = logging.getLogger(__name__)

Handler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]] | Mapping[str, Any]]
"""Receives the params of a request of the server and returns the result.

An `MCPError` is sent to the server.
"""

MAX_SERVED = 500
"""The maximum number of requests of the server that handlers answer at the same time."""
MAX_ID_CHARS = 1_000
"""The maximum length of the id of a request. Answers that wait to be sent contain it."""
MAX_METHOD_CHARS = 200
"""The maximum length of a method that an answer quotes."""
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
NO_HANDLER = "This client does not answer"
"""The beginning of the refusal of a server's request.

Many servers return it as the error of the tool call.
"""

MAX_ANSWERS = 10_000
"""The maximum number of answers that wait to be sent. A server with more does not read them."""
MAX_SENDERS = 4
"""The maximum number of tasks that send answers. One task for each answer could block the event loop."""
ANSWERS_IN_A_TURN = 20

MAX_ROUNDS = 10
"""The maximum number of times that a server may request input for one request."""

MAX_RUNNING = 10_000
"""The maximum number of tasks of async listeners. A server may send messages faster than they are handled."""

ListenerResult = Awaitable[None] | None
"""The result of a callback. An async callback is awaited in a separate task."""

Ask = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Sends a request with the given params."""
Handle = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a request of the server with the given method and params."""

_handler_task: ContextVar[asyncio.Task[Any] | None] = ContextVar("handler_task", default=None)
"""The task that answers a request of the server, if the code runs in its handler."""


def find_handler_task() -> asyncio.Task[Any] | None:
    """Return the task that answers a request of the server if the caller runs in its handler, or None."""
    return _handler_task.get()


class _Served(NamedTuple):
    """A request of the server that a handler is answering."""

    method: str
    task: asyncio.Task[None]


class ServerRequests:
    """Answers the requests of one connection.

    `handlers` answer them by method. `ping` needs no handler; other requests are refused. `send` sends an
    answer and does not raise errors. `start` starts a task that the connection cancels when it is closed.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        send: Callable[[Message], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        self._handlers: Mapping[str, Handler] = {"ping": _pong, **handlers}
        self._send = send
        self._start = start
        self._serving: dict[RequestId, _Served] = {}
        self._queue = _AnswerQueue(send, start)

    @property
    def running(self) -> Sequence[str]:
        """Return the methods of the requests that handlers are answering, each once."""
        return list(dict.fromkeys(served.method for served in self._serving.values()))

    def receive(self, message: Message) -> None:
        identifier, method = message["id"], message["method"]
        if isinstance(identifier, str) and len(identifier) > MAX_ID_CHARS:
            logger.debug("ignored a request with an id of %d characters", len(identifier))
            return
        handler = self._handlers.get(method)
        if handler is _pong:
            self._queue.add(messages.answer_to(identifier, result={}))
        elif handler is None:
            error = {"code": METHOD_NOT_FOUND, "message": f"{NO_HANDLER} {method:.{MAX_METHOD_CHARS}}"}
            self._queue.add(messages.answer_to(identifier, error=error))
        elif len(self._serving) >= MAX_SERVED:
            error = {"code": INTERNAL_ERROR, "message": f"This client answers {MAX_SERVED} requests at once"}
            self._queue.add(messages.answer_to(identifier, error=error))
        elif identifier in self._serving:
            error = {"code": INVALID_REQUEST, "message": "This client is answering a request with this id"}
            self._queue.add(messages.answer_to(identifier, error=error))
        else:
            task = self._start(self._serve(message))
            self._serving[identifier] = _Served(method, task)
            task.add_done_callback(lambda _: self._serving.pop(identifier, None))

    def cancel(self, identifier: object) -> None:
        """Cancel the handler of a request, if it is still running."""
        served = self._serving.get(identifier) if messages.is_id(identifier) else None
        if served is not None:
            served.task.cancel()

    async def _serve(self, message: Message) -> None:
        _handler_task.set(asyncio.current_task())
        await self._send(await self._answer(message))

    async def _answer(self, message: Message) -> Message:
        identifier, method = message["id"], message["method"]
        try:
            result = await self.handle(method, an_object(message.get("params")))
            return messages.answer_to(identifier, result=result)
        except MCPError as error:
            response_error = {"code": error.rpc_code or INTERNAL_ERROR, "message": error.message}
            return messages.answer_to(identifier, error=response_error)

    async def handle(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the handler of a method and return its result.

        Raises:
            MCPError: there is no handler, it refused the request, or it failed, which is logged.
        """
        handler = self._handlers.get(method)
        if handler is None:
            raise MCPError(f"{NO_HANDLER} {method}", reason="protocol", rpc_code=METHOD_NOT_FOUND)
        try:
            answer = handler(params)
            return _check_result(await answer if inspect.isawaitable(answer) else answer)
        except MCPError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # Otherwise, only something that the handler waits for was cancelled.
            logger.exception("the handler of %s failed", method)
            raise MCPError(
                f"The client's handler of {method} failed", reason="protocol", rpc_code=INTERNAL_ERROR
            ) from error


class _AnswerQueue:
    """Queues answers that no handler creates, such as those to pings, and sends them."""

    def __init__(
        self,
        send: Callable[[Message], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._send = send
        self._start = start
        self._answers: deque[Message] = deque()
        self._senders = 0

    def add(self, answer: Message) -> None:
        """Queue an answer. It is dropped if `MAX_ANSWERS` answers are waiting."""
        if len(self._answers) >= MAX_ANSWERS:
            logger.debug("dropped an answer, as %d are not sent yet", MAX_ANSWERS)
            return
        self._answers.append(answer)
        if self._senders < MAX_SENDERS:
            self._senders += 1
            self._start(self._send_all())

    async def _send_all(self) -> None:
        sent = 0
        try:
            while self._answers:
                await self._send(self._answers.popleft())
                sent += 1
                if sent % ANSWERS_IN_A_TURN == 0:
                    await asyncio.sleep(0)
        finally:
            self._senders -= 1


def _pong(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}


def _check_result(result: object) -> Mapping[str, Any]:
    """Return the result of a handler.

    Raises:
        TypeError: the result is not a JSON object.
    """
    if not isinstance(result, Mapping):
        raise TypeError("A handler must return an object")
    try:
        messages.encode(cast("Mapping[str, Any]", result))
    except MCPError as error:
        raise TypeError(error.message) from None
    return cast("Mapping[str, Any]", result)


async def request_until_complete(ask: Ask, handle: Handle, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send the request, and send it again with the requested input, until its result is complete.

    A result without a `resultType` is complete.

    Raises:
        MCPError: the `resultType` is unknown, the server requested input more than `MAX_ROUNDS` times, or the
            client has no handler for it.
    """
    asked = params
    for _ in range(MAX_ROUNDS):
        result = await ask(asked)
        kind = result.get("resultType", "complete")
        if kind == "complete":
            return result
        if kind != "input_required":
            raise MCPError(f"The server gave a result of the unknown kind {kind!r:.40}", reason="protocol")
        # Each round repeats the original request, with the answers to the last requests for input.
        asked = {**params, **await _answers(result, handle)}
    raise MCPError(f"The server asked back more than {MAX_ROUNDS} times", reason="protocol")


async def _answers(result: Mapping[str, Any], handle: Handle) -> dict[str, Any]:
    questions = an_object(result.get("inputRequests"))
    answers = {key: await _answer(key, question, handle) for key, question in questions.items()}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return ({"inputResponses": answers} if answers else {}) | state


async def _answer(key: str, question: object, handle: Handle) -> Mapping[str, Any]:
    request = an_object(question)
    method = text(request.get("method"))
    if method is None:
        raise MCPError(f"The server's question {key!r:.40} names no method", reason="protocol")
    return await handle(method, an_object(request.get("params")))


class Listeners:
    """Calls listeners and logs their exceptions. `start` starts the task of an async listener."""

    def __init__(self, start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]) -> None:
        self._start = start
        self._running = 0
        self._warnings = LimitedWarnings(logger, most=1)

    def call(self, listener: Callable[..., ListenerResult], *news: Any) -> None:
        """Call a listener. An async one is not started if `MAX_RUNNING` are still running."""
        try:
            result = listener(*news)
        except Exception:
            logger.exception("a listener failed")
            return
        if not inspect.isawaitable(result):
            return
        if self._running >= MAX_RUNNING:
            self._warnings.log("dropped a message, as %d listeners are still running", MAX_RUNNING)
            _close_coroutine(result)
            return
        self._running += 1
        self._start(_await_listener(result)).add_done_callback(lambda _: self._end(result))

    def _end(self, result: Awaitable[None]) -> None:
        self._running -= 1
        _close_coroutine(result)


def _close_coroutine(result: Awaitable[None]) -> None:
    """Close a coroutine. Otherwise, Python warns if its task was cancelled before it started."""
    if isinstance(result, Coroutine):
        result.close()


async def _await_listener(result: Awaitable[None]) -> None:
    try:
        await result
    except Exception:
        logger.exception("a listener failed")
