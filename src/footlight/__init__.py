"""A real browser for language models and test suites, over the Model Context Protocol."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.browser_client.controllers import BrowserAutomation, MCPConnectionController
    from footlight.browser_client.mcp_config import MCPConfig
    from footlight.browser_client.playwright_client import PlaywrightClient
    from footlight.browser_client.results import NavigateResult, ScreenshotResult, SnapshotResult
    from footlight.client.handles.call_log import CallLog, create_logger
    from footlight.client.handles.dynamic import connect_dynamic
    from footlight.client.handles.handle import Handle
    from footlight.client.handles.registry import RegistryDriftError
    from footlight.client.mcp_client import MCPClient
    from footlight.client.replay.runner import run_sequence
    from footlight.client.target import transport_from_config
    from footlight.client.transports.http import StreamableHTTP
    from footlight.client.transports.memory import InMemory
    from footlight.client.transports.stdio import Stdio
    from footlight.client.transports.websocket import WebSocket
    from footlight.protocol.errors import (
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
    from footlight.protocol.results import CallResult, Content, ToolResult
    from footlight.protocol.tools import Tool

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
    "transport_from_config",
]

_HOMES = {
    "browser_client.controllers": ("BrowserAutomation", "MCPConnectionController"),
    "client.mcp_client": ("MCPClient",),
    "browser_client.mcp_config": ("MCPConfig",),
    "browser_client.playwright_client": ("PlaywrightClient",),
    "browser_client.results": ("NavigateResult", "ScreenshotResult", "SnapshotResult"),
    "protocol.results": ("CallResult", "Content", "ToolResult"),
    "protocol.tools": ("Tool",),
    "client.handles.dynamic": ("connect_dynamic",),
    "client.handles.handle": ("Handle",),
    "client.handles.call_log": ("CallLog", "create_logger"),
    "client.handles.registry": ("RegistryDriftError",),
    "client.replay.runner": ("run_sequence",),
    "client.target": ("transport_from_config",),
    "client.transports.http": ("StreamableHTTP",),
    "client.transports.memory": ("InMemory",),
    "client.transports.stdio": ("Stdio",),
    "client.transports.websocket": ("WebSocket",),
}
"""The public names by module. All other names are in `protocol.errors`."""


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that the server and the command line do not load the client."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "protocol.errors")
    return getattr(importlib.import_module(f"footlight.{home}"), name)


def __dir__() -> list[str]:
    return __all__
