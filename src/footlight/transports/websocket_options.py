"""Options for the library `websockets`, for the server and the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from websockets.typing import Subprotocol

__all__ = ["CLOSE_SECONDS", "SUBPROTOCOL", "WIRE"]

SUBPROTOCOL = Subprotocol("mcp")
CLOSE_SECONDS = 2.0
WIRE: Mapping[str, Any] = {
    "compression": None,  # Most data is images, which are compressed already.
    "ping_interval": 20.0,
    "ping_timeout": 120.0,  # The peer may be busy, or slow to read the data sent before the ping.
    "close_timeout": CLOSE_SECONDS,
    "max_queue": 4,  # Each message may have the maximum size.
}
