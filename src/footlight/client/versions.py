"""The revisions of the protocol that the client speaks, and how a stateless request says its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "DEFAULT_VERSION",
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
"""Document 001's."""

UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
SERVER_INFO_KEY = f"{_META}serverInfo"
"""Where a stateless result says who made it."""


def is_stateless(version: str) -> bool:
    """Whether the revision has no handshake: each request says who sends it (2026-07-28)."""
    return version in STATELESS_VERSIONS


def request_meta(
    version: str, *, client_info: Mapping[str, Any], capabilities: Mapping[str, Any]
) -> dict[str, Any]:
    """The `_meta` of a stateless request."""
    return {
        f"{_META}protocolVersion": version,
        f"{_META}clientInfo": client_info,
        f"{_META}clientCapabilities": capabilities,
    }
