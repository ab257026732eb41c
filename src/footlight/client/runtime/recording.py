"""A call to a tool, written to the log before and after."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footlight.client.mcp_client import MCPClient
from footlight.client.results import ToolResult
from footlight.client.runtime.logger import Call, CallLog

__all__ = ["RecordedClient"]


@dataclass(frozen=True, slots=True)
class RecordedClient:
    """Calls tools as a client does. What an adapter calls is logged by it as well (R000-65)."""

    client: MCPClient
    log: CallLog

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        seq: int | None = None,
    ) -> ToolResult:
        """Two lines, whatever becomes of the call. Raises what the client's `call_tool` raises."""
        call = Call(name, dict(arguments or {}))
        seq = self.log.next_seq() if seq is None else seq
        self.log.before(call, seq)
        began = time.monotonic()
        try:
            result = await self.client.call_tool(name, call.arguments, timeout_ms=timeout_ms)
        except BaseException as error:  # A cancelled call has ended too, and its line says so.
            self.log.after_failure(call, error, (time.monotonic() - began) * 1000, seq)
            raise
        self.log.after_success(call, result, (time.monotonic() - began) * 1000, seq)
        return result
