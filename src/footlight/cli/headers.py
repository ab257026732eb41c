"""`--header NAME:VALUE`, for a server that has a URL."""

from __future__ import annotations

from collections.abc import Sequence

from footlight.cli.arguments import BadUsage

__all__ = ["read_headers"]


def read_headers(given: Sequence[str]) -> dict[str, str] | None:
    """None where there are none. Raises BadUsage, and never says what was given: it may be a token."""
    headers: dict[str, str] = {}
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise BadUsage("--header is NAME:VALUE")
        headers[name.strip()] = value.strip()
    return headers or None
