"""The transport sessions of Streamable HTTP: how many there are, and what each of them may resume.

The SDK keeps a session for half an hour after its last request, and at its limit opens no new one. Clients
that open one for each call and never end it are common, so here the limit ends the one that is idle longest
instead. And its event store is one for all sessions, whose stream ids are the clients' request ids: without
a key of its own, a client could resume into the answers of another.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import OrderedDict, deque
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import INVALID_REQUEST, JSONRPCError, JSONRPCMessage, JSONRPCResponse, RequestId
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footlight.transports.lazy_json import answer_in
from footlight.transports.messages import refusal, to_json
from footlight.transports.unanswered import Unanswered, exhausted

__all__ = ["REQUEST_KEY", "SESSION_HEADER", "Arrived", "RecentEvents", "TransportSessions"]

logger = logging.getLogger(__name__)

SESSION_HEADER = "mcp-session-id"
RESUME_HEADER = "last-event-id"
EVENT_BYTES = 1_000
"""What an event takes beside its text."""


REQUEST_KEY = "footlight.request"
"""Where a request of the handshake era is left in the ASGI scope, as an `Arrived`."""


class Arrived(NamedTuple):
    """A request's id, and the bytes it came in."""

    id: RequestId
    size: int


@dataclass(eq=False, slots=True)
class _Session:
    user: object
    unanswered: Unanswered
    """A request goes on when its connection is gone, so connections do not bound them."""
    id: str = ""
    busy: int = 0
    last_used: float = field(default_factory=time.monotonic)


_current: ContextVar[_Session | None] = ContextVar("transport session", default=None)
"""Set where a request comes in; the tasks that the SDK starts for a session inherit it from the first."""


class TransportSessions:
    """ASGI middleware around all that answers. `limit` is the most, `idle_seconds` when the SDK ends one.

    In each at most `max_requests` are unanswered, and of `max_size` together; in all of them of four times
    that.
    """

    def __init__(
        self, app: ASGIApp, *, limit: int, idle_seconds: float, max_requests: int, max_size: int
    ) -> None:
        self._app = app
        self._limit = limit
        self._max_requests = max_requests
        self._max_size = max_size
        self._idle_seconds = idle_seconds
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        id = headers.get(SESSION_HEADER, "")
        session = self._sessions.get(id)
        if session is None or _principal(session.user) != _principal(scope.get("user")):
            unanswered = Unanswered(max_requests=self._max_requests, max_size=self._max_size)
            id, session = "", _Session(scope.get("user"), unanswered)
        request: Arrived | None = scope.get(REQUEST_KEY)
        if request is not None:
            if (refused := self._refusal(session, request)) is not None:
                await refused(scope, receive, send)
                return
            session.unanswered.add(*request)
        token = _current.set(session)
        session.busy += 1
        if scope["method"] == "GET" and RESUME_HEADER in headers:
            send = _ending_with_answer(send)
        with ExitStack() as use:
            use.callback(self._used, session)
            try:
                await self._app(scope, receive, self._watching(session, id, scope, send, use))
            finally:
                _current.reset(token)

    def _refusal(self, session: _Session, request: Arrived) -> Response | None:
        """The SDK would forget the first of two requests with one id, and answer it never."""
        if session.unanswered.has(request.id):
            fault = refusal(INVALID_REQUEST, "Invalid request: this id is in use", request.id)
            return Response(to_json(fault), 400, media_type="application/json")
        fault = session.unanswered.refuse(*request)
        if sum(each.unanswered.size for each in self._sessions.values()) + request.size > 4 * self._max_size:
            fault = exhausted(request.id, "The requests of all clients are too large together")
        return Response(to_json(fault), 429, media_type="application/json") if fault else None

    def _used(self, session: _Session) -> None:
        session.busy -= 1
        session.last_used = time.monotonic()
        if session.id in self._sessions:
            self._sessions.move_to_end(session.id)

    def _watching(self, session: _Session, id: str, scope: Scope, send: Send, use: ExitStack) -> Send:
        """Learn from the answers which sessions there are, and when the use of one is over."""
        method: str = scope["method"]
        request: Arrived | None = scope.get(REQUEST_KEY)

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                status: int = message["status"]
                told = Headers(raw=message["headers"]).get(SESSION_HEADER, "")
                if told and status < 400 and not session.id:
                    session.id = told
                    self._sessions[told] = session
                if not session.id:
                    # The SDK tells it also where it opened none, and clients would keep it.
                    del MutableHeaders(scope=message)[SESSION_HEADER]
                if status >= 400 and request is not None:
                    session.unanswered.settle(request.id)
                if id and (status == 404 or (method == "DELETE" and status < 400)):
                    self._sessions.pop(id, None)
            elif not message.get("more_body", False):
                # Before its client hears the end, because the client's next request may depend on it.
                use.close()
                if session.id and not id:
                    await self._make_room(session)
            await send(message)

        return watch

    async def _make_room(self, opened: _Session) -> None:
        """Not by ending the new one, whose client would open another, and so on for ever."""
        expired = time.monotonic() - self._idle_seconds
        idle = [each for each in self._sessions.values() if not each.busy and each is not opened]
        for session in idle:
            if session.last_used < expired:
                del self._sessions[session.id]
        too_many = len(self._sessions) - self._limit
        # Those last whose calls still run: their clients may come back for the answers.
        left = sorted(
            (each for each in idle if each.id in self._sessions), key=lambda each: bool(each.unanswered)
        )
        for session in left[: max(0, too_many)]:
            logger.info("transport session ended to make room for another")
            del self._sessions[session.id]
            await self._end(session)

    async def _end(self, session: _Session) -> None:
        """As its client would have done."""

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(_: Message) -> None:
            pass

        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "DELETE",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(SESSION_HEADER.encode(), session.id.encode())],
            "user": session.user,
        }
        await self._app(scope, receive, send)


def _principal(user: object) -> object:
    return authorization_context(user) if isinstance(user, AuthenticatedUser) else None


def _ending_with_answer(send: Send) -> Send:
    """The SDK leaves a resumed stream open when all is said."""
    ended = False

    async def send_until_answer(message: Message) -> None:
        nonlocal ended
        if ended:
            return
        ended = message["type"] == "http.response.body" and bool(answer_in(message.get("body", b"")))
        await send({**message, "more_body": False} if ended else message)

    return send_until_answer


class _Event(NamedTuple):
    number: int
    session: _Session | None
    stream: str
    message: JSONRPCMessage | None
    size: int


class RecentEvents(EventStore):
    """What was sent lately, for clients that come back with `Last-Event-ID`. The oldest are forgotten."""

    def __init__(self, *, max_bytes: int) -> None:
        self._left = max_bytes
        self._numbers = itertools.count(1)
        self._events: deque[_Event] = deque()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        if isinstance(message, (JSONRPCResponse, JSONRPCError)) and (session := _current.get()):
            session.unanswered.settle(message.id)
        size = EVENT_BYTES + (len(message.model_dump_json(by_alias=True)) if message else 0)
        event = _Event(next(self._numbers), _current.get(), stream_id, message, size)
        self._events.append(event)
        self._left -= size
        while self._left < 0:
            self._left += self._events.popleft().size
        return str(event.number)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = next((event for event in self._events if str(event.number) == last_event_id), None)
        if last is None or last.session is not _current.get() or _is_answer(last):
            return None
        for event in list(self._events):
            same = event.session is last.session and event.stream == last.stream
            if same and event.number > last.number and event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return last.stream


def _is_answer(event: _Event) -> bool:
    return isinstance(event.message, (JSONRPCResponse, JSONRPCError))
