"""Check the options of an `MCPClient`, and create the handlers of the server's requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from footlight.protocol.callbacks import Handler
from footlight.protocol.deadline import check_timeout
from footlight.protocol.errors import MCPError
from footlight.protocol.handshake import RequestedVersion
from footlight.protocol.versions import FULL_SCHEMAS, VERSIONS

__all__ = ["check_options", "list_capabilities", "make_handlers"]

_NAME = re.compile(r"[A-Za-z0-9-]+")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_BEFORE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_BEFORE}(?:\.{_BEFORE})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
"""Semantic versions, as semver.org defines them."""

CAPABILITIES = {
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}
"""The capability that a client announces if it has a handler for the method."""


def check_options(name: str, version: str, timeout_ms: float, protocol_version: RequestedVersion) -> None:
    """Check the values of options, which may come from untyped code.

    Raises:
        MCPError: a value is not valid (`invalid`).
    """
    if not _is_text(name) or not _NAME.fullmatch(name):
        raise MCPError(f"name: {name!r:.60} must be letters, digits and hyphens", reason="invalid")
    if not _is_text(version) or not _VERSION.fullmatch(version):
        raise MCPError(f"version: {version!r:.60} must be like 1.0.0", reason="invalid")
    check_timeout(timeout_ms)
    if protocol_version not in (None, "auto", *VERSIONS):
        raise MCPError(
            f"protocol_version: {protocol_version!r:.60} must be auto or one of {', '.join(VERSIONS)}",
            reason="invalid",
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def make_handlers(
    roots: Sequence[str] | None, sampling: Handler | None, elicitation: Handler | None
) -> dict[str, Handler]:
    """Return the handlers of the server's requests, by method.

    Raises:
        MCPError: `roots` is a string instead of a list (`invalid`).
    """
    handlers: dict[str, Handler] = {}
    if isinstance(roots, str):
        raise MCPError("roots: must be a list of URIs, not a string", reason="invalid")
    if roots is not None:
        handlers["roots/list"] = lambda _: {"roots": [{"uri": uri} for uri in roots]}
    if sampling is not None:
        handlers["sampling/createMessage"] = sampling
    if elicitation is not None:
        handlers["elicitation/create"] = elicitation
    return handlers


def list_capabilities(handlers: Mapping[str, Handler]) -> dict[str, Any]:
    """Return the capabilities that the client announces in the handshake."""
    offered: dict[str, Any] = {CAPABILITIES[method]: {} for method in handlers}
    return {**offered, "experimental": {FULL_SCHEMAS: {}}}
