"""A call to a tool, written to the log before and after."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from footlight.client.errors import ToolInvocationError
from footlight.client.mcp_client import MCPClient
from footlight.client.results import ToolResult, error_of
from footlight.client.runtime.logger import Call, CallLog

__all__ = ["RecordedClient", "recorded"]


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
        """Raises what the client's `call_tool` raises."""
        call = Call(name, dict(arguments or {}))
        with recorded(self.log, call, seq=seq) as ended:
            result = await self.client.call_tool(name, call.arguments, timeout_ms=timeout_ms)
            ended(result)
        return result


@contextmanager
def recorded(log: CallLog, call: Call, *, seq: int | None = None) -> Generator[Callable[[ToolResult], None]]:
    """Two lines, whatever becomes of the call. What this gives is told its result."""
    number = log.next_seq() if seq is None else seq
    log.before(call, number)
    began = time.monotonic()

    def ms() -> float:
        return (time.monotonic() - began) * 1000

    def ended(result: ToolResult) -> None:
        if result.is_error:
            told, data = error_of(result)
            error = ToolInvocationError(told or "failed", tool_name=call.name, data=data, result=result)
            log.after_failure(call, error, ms(), number)
        else:
            log.after_success(call, result, ms(), number)

    try:
        yield ended
    except BaseException as error:  # A cancelled call has ended too, and its line says so.
        log.after_failure(call, error, ms(), number)
        raise
