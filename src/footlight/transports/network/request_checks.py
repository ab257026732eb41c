"""Check every HTTP request before it is passed to the SDK.

The checks authenticate the caller (`AccessControl`), limit the size and time of a request, answer CORS
preflights and health checks (`/healthz`, `/readyz`), and attach the caller to the request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, JSONRPCError, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footlight.caller import SCOPE_KEY
from footlight.transports.activity import TrackActivity
from footlight.transports.messages import parse_message, to_json
from footlight.transports.network import health
from footlight.transports.network.access import AccessControl, AccessGrant, Refusal
from footlight.transports.network.health import Ready
from footlight.transports.network.http_sessions import (
    REQUEST_KEY,
    SESSION_HEADER,
    IncomingRequest,
)
from footlight.transports.network.protected_resource import metadata_path, resource_metadata

if TYPE_CHECKING:
    from footlight.config import ListenSettings

__all__ = ["RequestChecks", "Site"]

PATH = "/mcp"

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate",
}
PREFLIGHT = {
    "Access-Control-Allow-Headers": (
        "Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Authorization, "
        "Mcp-Method, Mcp-Name"
    ),
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Max-Age": "600",
}


class Site(Protocol):
    """An application for paths other than the MCP endpoint, such as those of the watch page."""

    def owns(self, path: str) -> bool: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class RequestChecks:
    """An ASGI application that checks a request and then passes it to another application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ListenSettings,
        access_control: AccessControl,
        ready: Ready,
        track_activity: TrackActivity,
        sites: Sequence[Site],
    ) -> None:
        self._sites = sites
        self._track_activity = track_activity
        self._app = app
        self._settings = settings
        self._access_control = access_control
        self._ready = ready
        self._metadata_path = metadata_path(settings)
        self._draining = False
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] in health.PATHS:
            status, body = await health.health(scope["path"], draining=self._draining, ready=self._ready)
            await JSONResponse(body, status)(scope, receive, send)
            return
        if scope["path"] == self._metadata_path:
            metadata = Response(resource_metadata(self._settings), media_type="application/json")
            await metadata(scope, receive, _with_cors(send))
            return
        for site in self._sites:
            if site.owns(scope["path"]):
                with self._track_activity():
                    await site(scope, receive, send)
                return
        await self._serve(scope, receive, _with_cors(send))

    async def drain(self) -> None:
        """Refuse new requests, and wait a limited time for the running ones."""
        self._draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.shutdown_timeout / 1000):
                await self._idle.wait()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        checked = (
            _refuse_repeated_headers(headers)
            or self._access_control.check_sender(headers)
            or self._refuse_request(scope)
        )
        if checked is None and _is_preflight(scope, headers):
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
            return
        if checked is None:
            checked = await self._access_control.check(headers)
        body = b""
        if isinstance(checked, AccessGrant) and scope["method"] == "POST":
            received = await _read_body(receive, headers, self._settings)
            checked, body = (received, b"") if isinstance(received, Refusal) else (checked, received)
        if isinstance(checked, Refusal):
            await _make_response(checked)(scope, receive, send)
            return
        item = parse_message(body, unit="body") if scope["method"] == "POST" else None
        if isinstance(item, JSONRPCError):
            # Send the same error as other transports. The SDK's error depends on the era.
            await Response(to_json(item), 400, media_type="application/json")(scope, receive, send)
            return
        in_session = self._attach_caller(scope, headers, checked)
        if in_session and item is not None and isinstance(request := item.message, JSONRPCRequest):
            scope[REQUEST_KEY] = IncomingRequest(request.id, len(body))
        with self._track_activity():
            await self._count(scope, _replay(body, receive), send)

    def _refuse_request(self, scope: Scope) -> Refusal | None:
        """Return the refusal of a request that is not allowed for any caller, or None."""
        stateless = self._settings.stateless
        if scope["path"] != PATH and not (stateless and scope["path"] == "/"):
            return Refusal(404, f"Not found: the MCP endpoint is {_endpoint(scope)}")
        if stateless and scope["method"] != "POST" and not _is_preflight(scope, Headers(scope=scope)):
            return Refusal(405, "Method not allowed: this server keeps no sessions", {"Allow": "POST"})
        if self._draining:
            return Refusal(503, "The server is shutting down", {"Connection": "close"})
        return None

    def _attach_caller(self, scope: Scope, headers: Headers, grant: AccessGrant) -> bool:
        """Attach the caller to the scope. Return whether the request belongs to a transport session."""
        version = headers.get("mcp-protocol-version")
        in_session = not self._settings.stateless and (
            version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        )
        scope[SCOPE_KEY] = grant.caller(headers.get(SESSION_HEADER) if in_session else None)
        if grant.access is not None:
            # The SDK binds a transport session to the user that opened it.
            scope["user"] = AuthenticatedUser(grant.access)
        if self._settings.stateless:
            # Simple clients do not send these headers, which the SDK requires.
            header_fields = MutableHeaders(scope=scope)
            header_fields["content-type"] = "application/json"
            header_fields["accept"] = "application/json, text/event-stream"
        return in_session

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        self._running += 1
        self._idle.clear()
        try:
            if self._settings.stateless:
                await _run_until_disconnect(self._app, scope, receive, send)
            else:
                await self._app(scope, receive, send)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()


async def _run_until_disconnect(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Cancel a request when its client disconnects, which the SDK does not detect in JSON mode."""
    body = await receive()
    disconnected = asyncio.Event()

    async def watch(cancel: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        disconnected.set()
        cancel.cancel()

    async def replay() -> Message:
        nonlocal body
        if body["type"] == "http.disconnect":
            await disconnected.wait()
        message, body = body, {"type": "http.disconnect"}
        return message

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, tasks.cancel_scope)
        await app(scope, replay, send)
        tasks.cancel_scope.cancel()


def _refuse_repeated_headers(headers: Headers) -> Refusal | None:
    """Refuse a request that repeats a checked header, because the unchecked value could be used."""
    for name in ("host", "origin", "authorization"):
        if len(headers.getlist(name)) > 1:
            return Refusal(400, f"Bad request: there is more than one {name.title()} header")
    return None


def _endpoint(scope: Scope) -> str:
    """Return the URL of the endpoint, with the client's Host header, which has been checked."""
    host = Headers(scope=scope).get("host")
    return f"{scope['scheme']}://{host}{PATH}" if host else PATH


def _is_preflight(scope: Scope, headers: Mapping[str, str]) -> bool:
    return scope["method"] == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


async def _read_body(receive: Receive, headers: Headers, settings: ListenSettings) -> bytes | Refusal:
    """Return the whole body, or a refusal if it is too large or takes too long."""
    too_large = Refusal(413, f"Request body too large: at most {settings.max_message_size} bytes")
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > settings.max_message_size:
        return too_large
    body = bytearray()
    try:
        async with asyncio.timeout(settings.read_timeout / 1000):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Refusal(400, "The request ended before its body did")
                body += message.get("body", b"")
                if len(body) > settings.max_message_size:
                    return too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return Refusal(
            408, f"The request took longer than {settings.read_timeout}ms to arrive", {"Connection": "close"}
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _make_response(refusal: Refusal) -> Response:
    code = INTERNAL_ERROR if refusal.status >= 500 else INVALID_REQUEST
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": refusal.message}}
    return Response(
        json.dumps(error), refusal.status, {**refusal.headers, "Content-Type": "application/json"}
    )


def _with_cors(send: Send) -> Send:
    async def send_with_cors(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(CORS)
        await send(message)

    return send_with_cors
