"""Read the media type, the body, and the error of an HTTP response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, suppress
from typing import Any

import httpx2

from footlight.client.transports.network import retry_after_ms
from footlight.client.transports.secret_mask import mask_secrets
from footlight.protocol.errors import MCPError
from footlight.protocol.messages import kind_of, peer_error
from footlight.protocol.untrusted_json import an_object, text

__all__ = ["check_coding", "drain", "media_type", "read_body", "read_chunks", "read_refusal"]

MAX_ERROR_SIZE = 64 << 10
MAX_MESSAGE = 200
GATEWAY_STATUSES = (401, 403, 407, 413, 421, 429)
"""Statuses that a proxy or gateway may send, with any body, if the request did not reach the MCP server."""


def media_type(response: httpx2.Response) -> str:
    """Return the media type in lower case without parameters, or an empty string."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def check_coding(response: httpx2.Response) -> None:
    """Check that the body can be decompressed.

    Raises:
        MCPError: the body has a content coding that the request does not accept.
    """
    if coding := _find_unknown_coding(response):
        raise MCPError(
            f"The server's answer is compressed with {coding!r:.40}, which the client did not ask for",
            reason="protocol",
            status=response.status_code,
        )


def _find_unknown_coding(response: httpx2.Response) -> str | None:
    asked = _split_list(response.request.headers.get("Accept-Encoding", ""))
    codings = _split_list(response.headers.get("Content-Encoding", ""))
    return next((coding for coding in codings if coding not in (*asked, "identity")), None)


def _split_list(header: str) -> list[str]:
    return [word for part in header.split(",") if (word := part.partition(";")[0].strip().lower())]


async def read_body(response: httpx2.Response, *, max_size: int) -> bytes:
    """Return the whole body.

    Raises:
        MCPError: the body has more than `max_size` bytes, or cannot be decompressed.
    """
    check_coding(response)
    body, whole = await _read(response, max_size)
    if not whole:
        raise MCPError(f"The server's answer has more than {max_size} bytes", reason="protocol")
    return body


async def read_chunks(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield the decompressed chunks of the body.

    Other tasks run after each chunk, because a few compressed bytes may become gigabytes without any wait for
    the network. Deadlines would pass unnoticed meanwhile.
    """
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            yield chunk
            await asyncio.sleep(0)


async def drain(response: httpx2.Response) -> None:
    """Read the rest of a short body, so that the connection can be reused.

    A body that ends with the connection and an event stream are not read, because they may never end.
    """
    framed = response.status_code == 204 or {"content-length", "transfer-encoding"} & response.headers.keys()
    if framed and media_type(response) != "text/event-stream":
        with suppress(httpx2.HTTPError):
            await _read(response, MAX_ERROR_SIZE)


async def read_refusal(response: httpx2.Response, *, where: str, secrets: Collection[str]) -> MCPError:
    """Return the error of a response with an error status. A JSON-RPC error in its body takes precedence.

    The `secrets` are masked in a text before it is shortened. The caller masks them in the error.
    """
    data = await _error_data(response)
    status = response.status_code
    if kind_of(data) == "error":
        error = peer_error(data["error"], status=status)
        if status in GATEWAY_STATUSES:
            error.reason = "http"
    else:
        phrase = f"{status} {response.reason_phrase}".rstrip()
        message = f"{where} answers {phrase:.200}{_advice(response)}"
        message += _read_message(data, media_type(response), secrets)
        error = MCPError(message, reason="http", rpc_code=status, status=status, data=data)
    headers = response.headers
    error.retry_after_ms = retry_after_ms(headers.get("Retry-After"), date=headers.get("Date"))
    return error


def _advice(response: httpx2.Response) -> str:
    if response.status_code != 401:
        return ""
    if "Authorization" in response.request.headers:
        return ": it does not accept the credentials"
    return ": credentials are required; give `auth`, or a header `Authorization`"


def _read_message(data: object, media: str, secrets: Collection[str]) -> str:
    """Return the message in a plain text or JSON body, in the form `: message`, or an empty string."""
    if media == "text/plain":
        message = text(data)
    elif media.endswith("json"):
        fields = an_object(data)
        names = ("message", "detail", "error_description", "error", "title")
        error = an_object(fields.get("error"))
        message = text(error.get("message")) or next(
            (found for name in names if (found := text(fields.get(name)))), None
        )
    else:
        message = None
    message = " ".join(mask_secrets(message or "", secrets)[: 2 * MAX_MESSAGE].split())
    if not message or not message.isprintable():
        return ""
    return f": {message}" if len(message) <= MAX_MESSAGE else f": {message[:MAX_MESSAGE]}…"


async def _error_data(response: httpx2.Response) -> Any:
    """Return the body as JSON or text, or None if it is empty."""
    if _find_unknown_coding(response):
        return None
    try:
        body, _ = await _read(response, MAX_ERROR_SIZE)
    except httpx2.HTTPError:
        return None  # The error is reported with the status only.
    found = body.decode(errors="replace")
    try:
        return json.loads(found)
    except (ValueError, RecursionError):
        return found or None


async def _read(response: httpx2.Response, max_size: int) -> tuple[bytes, bool]:
    """Return the first `max_size` bytes of the body, and whether the body is complete."""
    parts: list[bytes] = []
    size = 0
    async with aclosing(read_chunks(response)) as chunks:
        async for chunk in chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > max_size:
                return b"".join(parts)[:max_size], False
    return b"".join(parts), True
