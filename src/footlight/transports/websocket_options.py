"""What `websockets` is told at both ends, ours and the client's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from websockets.typing import Subprotocol

__all__ = ["CLOSE_SECONDS", "SUBPROTOCOL", "WIRE"]

SUBPROTOCOL = Subprotocol("mcp")
CLOSE_SECONDS = 2.0
WIRE: Mapping[str, Any] = {
    "compression": None,  # Most bytes are images, and are compressed already.
    "ping_interval": 20.0,
    "ping_timeout": 120.0,  # The other end may be busy, or be slow to read what was sent before the ping.
    "close_timeout": CLOSE_SECONDS,
    "max_queue": 4,  # Each may have the largest size.
}
