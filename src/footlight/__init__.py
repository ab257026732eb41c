"""A real browser for language models and test suites, over the Model Context Protocol."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.client.controllers import BrowserAutomation, MCPConnectionController
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
    from footlight.client.mcp_config import MCPConfig
    from footlight.client.playwright_client import PlaywrightClient
    from footlight.client.playwright_results import NavigateResult, ScreenshotResult, SnapshotResult
    from footlight.client.results import CallResult, Content, Tool, ToolResult
    from footlight.client.runtime.dynamic import connect_dynamic
    from footlight.client.runtime.handle import Handle
    from footlight.client.runtime.logger import CallLog, create_logger
    from footlight.client.runtime.registry import RegistryDriftError
    from footlight.client.runtime.sequence import run_sequence
    from footlight.client.transports.http import StreamableHTTP
    from footlight.client.transports.memory import InMemory
    from footlight.client.transports.stdio import Stdio
    from footlight.client.transports.websocket import WebSocket

__version__ = "0.1.0"

__all__ = [
    "BrowserAutomation",
    "CallLog",
    "CallResult",
    "Content",
    "Handle",
    "InMemory",
    "MCPClient",
    "MCPConfig",
    "MCPConnectionController",
    "MCPConnectionError",
    "MCPError",
    "MCPTimeoutError",
    "NavigateResult",
    "PlaywrightClient",
    "RegistryDriftError",
    "ScreenshotResult",
    "ServerNotAvailableError",
    "SnapshotResult",
    "Stdio",
    "StreamableHTTP",
    "Tool",
    "ToolInvocationError",
    "ToolResult",
    "WebSocket",
    "__version__",
    "connect_dynamic",
    "create_logger",
    "is_network_error",
    "is_session_expired",
    "is_timeout",
    "is_tool_not_found",
    "run_sequence",
]

_HOMES = {
    "controllers": ("BrowserAutomation", "MCPConnectionController"),
    "mcp_client": ("MCPClient",),
    "mcp_config": ("MCPConfig",),
    "playwright_client": ("PlaywrightClient",),
    "playwright_results": ("NavigateResult", "ScreenshotResult", "SnapshotResult"),
    "results": ("CallResult", "Content", "Tool", "ToolResult"),
    "runtime.dynamic": ("connect_dynamic",),
    "runtime.handle": ("Handle",),
    "runtime.logger": ("CallLog", "create_logger"),
    "runtime.registry": ("RegistryDriftError",),
    "runtime.sequence": ("run_sequence",),
    "transports.http": ("StreamableHTTP",),
    "transports.memory": ("InMemory",),
    "transports.stdio": ("Stdio",),
    "transports.websocket": ("WebSocket",),
}
"""Which of the client's modules has a name; the others are errors."""


def __getattr__(name: str) -> Any:
    """Imported when they are asked for: a server and a command line do not pay for the client."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "errors")
    return getattr(importlib.import_module(f"footlight.client.{home}"), name)


def __dir__() -> list[str]:
    return __all__
