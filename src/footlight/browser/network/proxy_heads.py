"""Read, check and forward the heads of HTTP requests and responses for the proxy.

Ambiguous heads are refused, and headers for a single connection are not forwarded.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["HEAD_BYTES", "ProxiedRequest", "ProxyError", "format_head", "read_request", "read_response_head"]

HEAD_BYTES = 64 * 1024
HEAD_S = 10.0

Header = tuple[str, str]


class ProxyError(Exception):
    """An error for which the proxy sends a response to the client instead of connecting it."""

    def __init__(self, status: int, text: str, *headers: Header) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers

    def response(self) -> bytes:
        body = f"{self}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
            ("X-Footlight-Proxy", str(self).encode("ascii", "replace").decode()),
            *self.headers,
        ]
        return format_head(f"HTTP/1.1 {self.status} {_REASONS[self.status]}", headers) + body


_REASONS = {
    400: "Bad Request",
    403: "Forbidden",
    408: "Request Timeout",
    411: "Length Required",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
}


@dataclass(frozen=True, slots=True)
class ProxiedRequest:
    """A request to the proxy. `target` is in origin form; `headers` are those to forward."""

    method: str
    host: str
    port: int
    target: str
    headers: Sequence[Header]
    body_bytes: int


async def read_request(reader: asyncio.StreamReader) -> ProxiedRequest | None:
    """Read the request, or return None if the client closed the connection without one."""
    try:
        async with asyncio.timeout(HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        raise ProxyError(408, f"No request within {HEAD_S:g} seconds") from None
    except asyncio.LimitOverrunError:
        raise ProxyError(431, f"The head of a request has at most {HEAD_BYTES} bytes") from None
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise ProxyError(400, "The request ends within its head") from None
    return _parse_request(head.decode("latin-1"))


_REQUEST_LINE = re.compile(r"([!#$%&'*+.^_`|~\w-]+) ([^\x00-\x20\x7f]+) HTTP/1\.[01]", re.ASCII)
_HEADER = re.compile(r"([!#$%&'*+.^_`|~\w-]+):[ \t]*+([^\x00-\x08\x0a-\x1f\x7f]*)", re.ASCII)
_ABSOLUTE = re.compile(r"http://([^/?#]*)([^#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[\w.~-]+)(?::(\d*))?", re.IGNORECASE | re.ASCII)


def _parse_request(head: str) -> ProxiedRequest:
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    found = _REQUEST_LINE.fullmatch(line)
    if not found:
        raise ProxyError(400, "Not an HTTP request")
    method, target = found.groups()
    headers = _parse_headers(lines)
    if headers is None:
        raise ProxyError(400, "A malformed header")
    if method == "CONNECT":
        host, port = _parse_authority(target, None)
        return ProxiedRequest(method, host, port, "", (), 0)
    absolute = _ABSOLUTE.fullmatch(target)
    if not absolute:
        raise ProxyError(400, "This is a proxy: a request names its target as http://host/path")
    authority, path = absolute.groups()
    host, port = _parse_authority(authority, 80)
    end_to_end = _end_to_end(headers, ("host",))
    return ProxiedRequest(
        method,
        host,
        port,
        path if path.startswith("/") else f"/{path}",
        (("Host", authority), *end_to_end, ("Connection", "close")),
        _body_bytes(headers),
    )


def _parse_headers(lines: Iterable[str]) -> list[Header] | None:
    found = [_HEADER.fullmatch(line) for line in lines]
    return [(match[1], match[2].rstrip(" \t")) for match in found if match] if all(found) else None


def _parse_authority(authority: str, default_port: int | None) -> tuple[str, int]:
    found = _AUTHORITY.fullmatch(authority)
    port = int(found[2] or 0) if found and len(found[2] or "") <= 5 else -1
    if found and not found[2]:
        port = default_port or -1
    host = _normalize_host(found[1]) if found else None
    if host is None or not 0 < port < 65536:
        raise ProxyError(400, "The target names no host and port")
    return host, port


def _normalize_host(host: str) -> str | None:
    """Return the host in the form that the policy expects, or None for a number that is not an address.

    Resolvers disagree about such numbers.
    """
    host = host.lower().removesuffix(".")
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host.strip("[]"))
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (mapped or address).compressed
    last = host.rpartition(".")[2]
    is_number = last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last)
    return None if not last or is_number or host.startswith("[") else host


_HOP_BY_HOP = {"connection", "keep-alive", "te", "upgrade", "x-footlight-refused", "x-footlight-proxy"}
"""Headers that are not forwarded, besides every `Proxy-*`. The last two are specific to this proxy."""


def _end_to_end(headers: Sequence[Header], left_out: Iterable[str] = ()) -> list[Header]:
    named = {
        option.strip().lower()
        for name, value in headers
        if name.lower() == "connection"
        for option in value.split(",")
    }
    # If `Connection` names these headers, they are kept: they frame the body.
    dropped = _HOP_BY_HOP | set(left_out) | (named - {"content-length", "transfer-encoding"})
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in dropped and not name.lower().startswith("proxy-")
    ]


def _body_bytes(headers: Sequence[Header]) -> int:
    if any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise ProxyError(411, "A request's body comes with its length")
    lengths = {value for name, value in headers if name.lower() == "content-length"}
    if not lengths:
        return 0
    length = lengths.pop()
    if lengths or not re.fullmatch(r"[0-9]{1,18}", length):
        raise ProxyError(400, "A malformed Content-Length")
    return int(length)


def format_head(line: str, headers: Iterable[Header]) -> bytes:
    return "\r\n".join([line, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("latin-1")


_STATUS_LINE = re.compile(r"HTTP/1\.[01] (\d{3})(?: [^\x00-\x08\x0a-\x1f\x7f]*)?", re.ASCII)


async def read_response_head(upstream: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return the status of a response, and the head to forward."""
    try:
        head = (await upstream.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise ProxyError(502, "The server did not answer with a response") from None
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    found = _STATUS_LINE.fullmatch(line)
    headers = _parse_headers(lines)
    if not found or headers is None or found[1] == "101":
        raise ProxyError(502, "The server answered with a malformed response")
    status = int(found[1])
    ending = [] if status < 200 else [("Connection", "close")]
    return status, format_head(line, [*_end_to_end(headers), *ending])
