"""The revisions of the protocol, and the metadata of stateless requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "DEFAULT_VERSION",
    "FULL_SCHEMAS",
    "HANDSHAKE_VERSIONS",
    "SERVER_INFO_KEY",
    "STATELESS_VERSIONS",
    "UNSUPPORTED_VERSION",
    "VERSIONS",
    "is_stateless",
    "request_meta",
]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)
VERSIONS = HANDSHAKE_VERSIONS + STATELESS_VERSIONS
DEFAULT_VERSION = "2025-06-18"
"""The revision that a client offers by default."""

UNSUPPORTED_VERSION = -32022

FULL_SCHEMAS = "footlight/full-schemas"
"""The experimental capability of a client that uses the output schemas, limits and defaults of tools."""

_META = "io.modelcontextprotocol/"
SERVER_INFO_KEY = f"{_META}serverInfo"
"""The key in `_meta` for the server's information in a stateless result."""


def is_stateless(version: str) -> bool:
    """Return whether the revision (2026-07-28) has no handshake, so that each request names its client."""
    return version in STATELESS_VERSIONS


def request_meta(
    version: str, *, client_info: Mapping[str, Any], capabilities: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the `_meta` of a stateless request."""
    return {
        f"{_META}protocolVersion": version,
        f"{_META}clientInfo": client_info,
        f"{_META}clientCapabilities": capabilities,
    }
