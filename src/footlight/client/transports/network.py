"""Check headers, parse `Retry-After` and describe network errors, for HTTP and WebSocket. No I/O is done."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from footlight.protocol.errors import MCPError

__all__ = ["check_headers", "describe_os_error", "retry_after_ms"]

_DETAILS = re.compile(r"^\[[^\]]*\] | \(_ssl\.c:\d+\)$")


def describe_os_error(error: OSError) -> str:
    """Return the system's message for a network error, without addresses and source locations."""
    import ssl  # Imported late, because plain HTTP needs no TLS.

    if isinstance(error, ssl.SSLError):
        no_tls = error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST")
        return "the server does not speak TLS" if no_tls else _DETAILS.sub("", error.strerror or "no TLS")
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return error.strerror or str(error) or "the connection broke"


_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

_MAX_SECONDS_DIGITS = 9

_MAX_DATE = 100


def check_headers(headers: object) -> None:
    """Check the headers that the caller passed.

    Raises:
        MCPError: they are not a mapping, or a name or value is not valid in HTTP (`invalid`).
    """
    if not isinstance(headers, Mapping):
        raise MCPError("headers: must map names to values", reason="invalid")
    for name, value in cast("Mapping[object, object]", headers).items():
        if not _matches(name, _NAME) or not _matches(value, _VALUE):
            # The message does not contain the value, because that may be a token.
            raise MCPError(f"headers: the name or value of {name!r:.60} is not valid", reason="invalid")


def _matches(value: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def retry_after_ms(value: str | None, *, date: str | None = None) -> float | None:
    """Parse a `Retry-After` header, which has seconds or a date. Return milliseconds, or None.

    `date` is the server's `Date` header, to which a date in `value` is relative.
    """
    value = (value or "").strip()
    if value.isascii() and value.isdigit():
        return float(value) * 1000 if len(value) <= _MAX_SECONDS_DIGITS else None
    moment = _parse_date(value)
    if moment is None:
        return None
    now = _parse_date(date or "") or datetime.now(UTC)
    return max(0.0, (moment - now).total_seconds() * 1000)


def _parse_date(value: str) -> datetime | None:
    import email.utils  # Imported late, because it is slow and rarely needed.

    try:
        date = email.utils.parsedate_to_datetime(value[:_MAX_DATE])
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
