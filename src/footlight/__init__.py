"""A real browser for language models and test suites, over the Model Context Protocol."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.client.errors import (
        MCPConnectionError,
        MCPError,
        MCPTimeoutError,
        ServerNotAvailableError,
        ToolInvocationError,
        is_network_error,
        is_session_expired,
        is_timeout,
        is_tool_not_found,
    )
    from footlight.client.mcp_client import MCPClient

__version__ = "0.1.0"

__all__ = [
    "MCPClient",
    "MCPConnectionError",
    "MCPError",
    "MCPTimeoutError",
    "ServerNotAvailableError",
    "ToolInvocationError",
    "__version__",
    "is_network_error",
    "is_session_expired",
    "is_timeout",
    "is_tool_not_found",
]

_HOMES = {"MCPClient": "footlight.client.mcp_client"}
"""Which module has a name; the others are errors."""


def __getattr__(name: str) -> Any:
    """Imported when they are asked for: a server and a command line do not pay for the client."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "footlight.client.errors")), name)


def __dir__() -> list[str]:
    return __all__
