"""A HAR without what lets its reader in: cookies, headers that carry logins, the secrets of the server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast
from urllib.parse import quote, quote_plus

__all__ = ["MARK", "SECRET_HEADERS", "masked"]

MARK = "[REDACTED]"

SECRET_HEADERS = frozenset(
    (
        *("authorization", "proxy-authorization", "cookie", "set-cookie"),
        *("x-api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token"),
    )
)


def masked(har: bytes, secrets: Sequence[str] = ()) -> bytes:
    """With a mark in place of each. `secrets` are found as they are, and as they are written in URLs."""
    document = json.loads(har)
    for entry in document["log"]["entries"]:
        for message in (entry.get("request", {}), entry.get("response", {})):
            _mask(message.get("cookies", ()))
            _mask(header for header in message.get("headers", ()) if header["name"].lower() in SECRET_HEADERS)
    spellings = {each for secret in secrets for each in _spellings(secret)}
    shown = _without(document, sorted(spellings, key=len, reverse=True)) if spellings else document
    return json.dumps(shown, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _spellings(secret: str) -> tuple[str, ...]:
    in_json = json.dumps(secret, ensure_ascii=False)[1:-1]
    return secret, in_json, quote(secret), quote(secret, safe=""), quote_plus(secret)


def _without(value: Any, spellings: Sequence[str]) -> Any:
    if isinstance(value, str):
        for spelling in spellings:
            value = value.replace(spelling, MARK)
        return value
    if isinstance(value, list):
        return [_without(item, spellings) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _without(item, spellings) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _mask(named: Iterable[Any]) -> None:
    for each in cast("Iterable[dict[str, str]]", named):
        each["value"] = MARK
