"""The watch page `/watch` and its API, as an ASGI application behind the access control of its listener.

The page itself contains no data. It is served to every request with a valid Host header, so that it can
explain problems. All other requests need the token in a header, and requests from other sites are refused.
Every request ends after a limited time. The page sends the next request when it has shown the last result, so
a watcher that stops reading does not delay others.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from starlette.datastructures import Headers, QueryParams
from starlette.responses import FileResponse, Response

from footlight.server.answers.json_values import count_work
from footlight.transports.network.access import AccessControl, Refusal
from footlight.watch.tickets import Tickets
from footlight.watch.trace_viewer import InvalidTraceError, TraceViewer
from footlight.watch.watchers import Visitor, WatchRequestError, WatchState, refuse_sender

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from footlight.watch.watchers import WatchBackend

__all__ = ["PATH", "WatchSite", "WatchSites"]

logger = logging.getLogger(__name__)

PATH = "/watch"
WAIT_SECONDS = 10.0
"""The time limit for a request that waits for changes."""
SEND_SECONDS = 10.0
"""The time limit for a watcher to send a request, and to read an answer."""
FILE_SECONDS = 300.0
"""The time limit for a watcher to read a trace."""
MAX_BODY = 64 << 10
MAX_NEW_CALLS = 300
MAX_STATE_SIZE = 2_000_000
"""The maximum number of values and characters of the calls in a state."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_ASSETS = {
    "": ("watch.html", "text/html"),
    "/watch.css": ("watch.css", "text/css"),
    "/watch.js": ("watch.js", "text/javascript"),
    "/picture.js": ("picture.js", "text/javascript"),
    "/remote_input.js": ("remote_input.js", "text/javascript"),
    "/server.js": ("server.js", "text/javascript"),
    "/calls.js": ("calls.js", "text/javascript"),
}


class WatchSites:
    """The watch page on the listeners of a server, and its tickets. `backend` provides the sessions."""

    def __init__(self, backend: WatchBackend) -> None:
        self.tickets = Tickets()
        self._backend = backend
        self._trace_viewer = TraceViewer()
        self._sites: list[WatchSite] = []

    def make_site(self, access_control: AccessControl) -> WatchSite:
        """Return the site for a listener with this access control."""
        site = WatchSite(
            access_control, backend=self._backend, tickets=self.tickets, trace_viewer=self._trace_viewer
        )
        self._sites.append(site)
        return site

    def set_address(self, url: str) -> None:
        """Set the URL of the listener that serves the page, without a path."""
        self.tickets.url = f"{url}{PATH}"

    def read_app(self) -> str:
        """Return the live view for MCP clients, as one HTML file."""
        return files("footlight.watch").joinpath("assets", "app.html").read_text("utf-8")

    def close(self) -> None:
        for site in self._sites:
            site.close()


class WatchSite:
    """Answers requests for `/watch` and the paths below it. A named principal sees only its own sessions."""

    def __init__(
        self,
        access_control: AccessControl,
        *,
        backend: WatchBackend,
        tickets: Tickets,
        trace_viewer: TraceViewer,
    ) -> None:
        self._access_control = access_control
        self._backend = backend
        self._tickets = tickets
        self._trace_viewer = trace_viewer
        self._origin = secrets.token_hex(8)
        """The process to which the revisions belong."""
        self._closed = asyncio.Event()

    def owns(self, path: str) -> bool:
        return path == PATH or path.startswith(f"{PATH}/")

    def close(self) -> None:
        """Answer all waiting and later requests with the message that the server is shutting down."""
        self._closed.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            response = await self._answer(scope, headers, receive)
        except WatchRequestError as failed:
            response = _json({"error": failed.message}, failed.status)
        except Exception:
            logger.exception("a request of a watcher failed")
            response = _json({"error": "The server failed. The reason is in its log."}, 500)
        seconds = FILE_SECONDS if isinstance(response, FileResponse) else SEND_SECONDS
        try:
            async with asyncio.timeout(seconds):
                await response(scope, receive, send)
        except TimeoutError:
            logger.info("a watcher did not read its answer in %.0f s", seconds)
            raise

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive) -> Response:
        if any(len(headers.getlist(name)) > 1 for name in ("host", "origin", "authorization")):
            raise WatchRequestError(400, "A header occurs more than once.")
        path, method = scope["path"].removeprefix(PATH).rstrip("/"), scope["method"]
        if path in _ASSETS and method in ("GET", "HEAD"):
            _check_sender(self._access_control, headers)
            return _asset(path)
        if self._trace_viewer.owns(scope["path"]) and method in ("GET", "HEAD"):
            # Only a visitor that was allowed to open the trace knows its random path.
            _check_sender(self._access_control, headers)
            if (found := self._trace_viewer.find(scope["path"])) is not None:
                return found
            raise WatchRequestError(404, "There is no such trace.")
        visitor = await self._identify(headers)
        query = QueryParams(scope["query_string"])
        if self._closed.is_set():
            raise WatchRequestError(503, "The server is shutting down.")
        asked = {
            "/api/state": self._state,
            "/api/picture": self._picture,
            "/api/still": self._still,
            "/api/report": self._report,
        }
        if method == "GET" and path in asked:
            return await self._answer_while_there(asked[path](query, visitor), receive)
        if method == "POST" and path == "/api/open-trace":
            return await self._open_trace(await _body(receive), visitor)
        if method == "POST" and path in ("/api/take", "/api/give-back", "/api/act"):
            return await self._steer(path, await _body(receive), visitor)
        raise WatchRequestError(404, "There is no such page.")

    async def _answer_while_there(self, work: Coroutine[Any, Any, Response], receive: Receive) -> Response:
        """Return the answer, or stop the work when the watcher disconnects or the server shuts down."""
        working = asyncio.create_task(work)
        leaving = asyncio.create_task(_wait_until_gone(receive))
        closing = asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait((working, leaving, closing), return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return await working
            raise WatchRequestError(503, "The server is shutting down.")
        finally:
            for task in (working, leaving, closing):
                task.cancel()
            await asyncio.gather(working, leaving, closing, return_exceptions=True)

    async def _identify(self, headers: Headers) -> Visitor:
        _check_sender(self._access_control, headers)
        token = headers.get("authorization", "").partition(" ")[2].strip()
        if (ticket := self._tickets.find(token)) is not None:
            return Visitor(session_id=ticket.session_id)
        if self._tickets.is_closed(token):
            raise WatchRequestError(401, "The request for help is over, so this address is no longer valid.")
        # `_check_sender` has checked the origin, more strictly than the access control does.
        checked = await self._access_control.check(
            {name: value for name, value in headers.items() if name != "origin"}
        )
        if isinstance(checked, Refusal):
            message = {401: "The token is missing or wrong."}.get(checked.status, checked.message)
            raise WatchRequestError(checked.status, message)
        return Visitor(owner=checked.principal if checked.named else None)

    async def _state(self, query: QueryParams, visitor: Visitor) -> Response:
        watcher = query.get("watcher", "")[:64]
        self._backend.note_watcher(watcher)
        seconds = WAIT_SECONDS if query.get("wait") == "1" else 0
        state = await self._backend.read_state(_count(query, "after"), seconds)
        return _json({"origin": self._origin, **_render_state(state, visitor, watcher)})

    async def _picture(self, query: QueryParams, visitor: Visitor) -> Response:
        picture = await self._backend.read_picture(
            query.get("session", ""), query.get("page"), _count(query, "after"), visitor
        )
        headers, frame = {**_HEADERS, "X-Page": picture.page}, picture.frame
        if frame is None:
            return Response(status_code=204, headers=headers)
        facts = {
            "X-Frame": str(picture.number),
            "X-Size": f"{frame.width}x{frame.height}",
            "X-Drawn-At": f"{frame.at_ms:.0f}",
        }
        return Response(frame.data, headers={**headers, **facts}, media_type="image/jpeg")

    async def _still(self, query: QueryParams, visitor: Visitor) -> Response:
        picture = await self._backend.read_still(query.get("call", ""), visitor)
        return Response(picture, headers=_HEADERS, media_type="image/jpeg")

    async def _report(self, query: QueryParams, visitor: Visitor) -> Response:
        page = await self._backend.make_report(query.get("session", ""), visitor)
        return Response(page, headers=_HEADERS, media_type="text/html")

    async def _open_trace(self, body: Mapping[str, Any], visitor: Visitor) -> Response:
        """Open the trace that a call has written, or the last one of a session, in the trace viewer."""
        session, call = body.get("session"), body.get("call")
        trace = await self._backend.find_trace(
            None if session is None else str(session), None if call is None else str(call), visitor
        )
        try:
            owner = visitor.session_id or visitor.owner or ""
            return _json({"url": self._trace_viewer.open(trace, owner=owner)})
        except InvalidTraceError as error:
            raise WatchRequestError(410, str(error)) from None

    async def _steer(self, path: str, body: Mapping[str, Any], visitor: Visitor) -> Response:
        session, watcher = str(body.get("session", "")), str(body.get("watcher", ""))[:64]
        if not watcher:
            raise WatchRequestError(400, "watcher: required")
        if path == "/api/take":
            await self._backend.take(session, watcher, visitor)
        elif path == "/api/give-back":
            await self._backend.give_back(session, watcher, str(body.get("note", "")), visitor)
        else:
            events: object = body.get("events")
            if not isinstance(events, list):
                raise WatchRequestError(400, "events: must be a list of input events")
            await self._backend.act(session, watcher, cast("list[Any]", events), visitor)
        return _json({"ok": True})


def _render_state(state: WatchState, visitor: Visitor, watcher: str) -> dict[str, Any]:
    """Return the part of the state that the visitor may see."""
    sessions = [each for each in state.sessions if each.is_for(visitor)]
    open_ids = {each.session_id for each in sessions}
    calls = [each.view for each in state.calls if each.is_for(visitor)]
    latest = _take_latest(calls)
    return {
        "revision": state.revision,
        "captures": state.captures,
        "sessions": [{**each.view, "yours": each.person == watcher != ""} for each in sessions],
        "ended": [
            each.view for each in state.ended if each.is_for(visitor) and each.session_id not in open_ids
        ],
        "calls": latest,
        "left_out": len(calls) - len(latest),
    }


def _take_latest(calls: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the latest calls, in order, whose number and size are within the limits of a state."""
    room, kept = MAX_STATE_SIZE, 0
    for call in reversed(calls[-MAX_NEW_CALLS:]):
        room -= count_work(call, characters=1, most=room)
        if room < 0:
            break
        kept += 1
    return calls[len(calls) - kept :]


def _check_sender(access_control: AccessControl, headers: Headers) -> None:
    refusal = refuse_sender(access_control, headers)
    if refusal is not None:
        raise WatchRequestError(refusal.status, refusal.message)


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Receive) -> Mapping[str, Any]:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            body = await _read_all(receive)
    except TimeoutError:
        raise WatchRequestError(408, f"The request took longer than {SEND_SECONDS:.0f} seconds.") from None
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise WatchRequestError(400, "The body must be a JSON object.")
    return cast("dict[str, Any]", value)


async def _read_all(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise WatchRequestError(400, "The request ended before its body was complete.")
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise WatchRequestError(413, "The request is too large.")
        if not message.get("more_body", False):
            return bytes(body)


def _count(query: QueryParams, name: str) -> int:
    text = query.get(name, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers=_HEADERS, media_type="application/json")


@cache
def _asset(path: str) -> Response:
    name, kind = _ASSETS[path]
    data = files("footlight.watch").joinpath("assets", name).read_bytes()
    return Response(data, headers=_HEADERS, media_type=kind)
