"""What an HTTP answer says: its kind, its body within bounds, and its status as an error."""

from __future__ import annotations

import json
from contextlib import aclosing, suppress
from typing import Any

import httpx2

from footlight.client.errors import MCPError
from footlight.client.messages import kind_of, peer_error

__all__ = ["drain", "media_type", "read_body", "refusal"]

MAX_ERROR_SIZE = 64 << 10
DOORKEEPERS = (401, 403, 407, 413, 421, 429)
"""Statuses of who stands before the protocol, which never saw the request, in whatever form they say it."""


def media_type(response: httpx2.Response) -> str:
    """In lower case, without parameters; empty where there is none."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


async def read_body(response: httpx2.Response, *, max_size: int) -> bytes:
    """All of it.

    Raises:
        MCPError: it is too large.
    """
    body, whole = await _read(response, max_size)
    if not whole:
        raise MCPError(f"The server's answer has more than {max_size} bytes", reason="protocol")
    return body


async def drain(response: httpx2.Response) -> None:
    """Read what little there should be, so that the connection can carry the next request.

    What ends only with the connection, or is a stream, could last for ever.
    """
    framed = response.status_code == 204 or {"content-length", "transfer-encoding"} & response.headers.keys()
    if framed and media_type(response) != "text/event-stream":
        with suppress(httpx2.HTTPError):
            await _read(response, MAX_ERROR_SIZE)


async def refusal(response: httpx2.Response, *, where: str) -> MCPError:
    """Why the server answers with this status. A JSON-RPC error in the body says it better (R001-35)."""
    data = await _error_data(response)
    status = response.status_code
    if kind_of(data) == "error":
        error = peer_error(data["error"], status=status)
        if status in DOORKEEPERS:
            error.reason = "http"
        return error
    phrase = f"{status} {response.reason_phrase}".rstrip()
    message = f"{where} answers {phrase}{_advice(response)}"
    return MCPError(message, reason="http", rpc_code=status, status=status, data=data)


def _advice(response: httpx2.Response) -> str:
    if response.status_code != 401:
        return ""
    if "Authorization" in response.request.headers:
        return ": it does not accept the credentials"
    return ": it wants credentials; give `auth`, or a header `Authorization`"


async def _error_data(response: httpx2.Response) -> Any:
    """The body as JSON or as text; None where it is empty."""
    try:
        body, _ = await _read(response, MAX_ERROR_SIZE)
    except httpx2.HTTPError:
        return None  # The status says enough.
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace") or None


async def _read(response: httpx2.Response, max_size: int) -> tuple[bytes, bool]:
    """The body up to this size, and whether that is all of it."""
    parts: list[bytes] = []
    size = 0
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > max_size:
                return b"".join(parts)[:max_size], False
    return b"".join(parts), True
