"""Log calls before and after they are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from footlight.client.handles.call_log import Call, CallLog
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import ToolInvocationError
from footlight.protocol.results import ToolResult, error_of

__all__ = ["RecordedClient", "record_call"]


@dataclass(frozen=True, slots=True)
class RecordedClient:
    """Calls tools like a client, and logs the calls, including those of adapters."""

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
        """Call a tool. Raises what the client's `call_tool` raises."""
        call = Call(name, dict(arguments or {}))
        with record_call(self.log, call, seq=seq) as log_result:
            result = await self.client.call_tool(name, call.arguments, timeout_ms=timeout_ms)
            log_result(result)
        return result


@contextmanager
def record_call(
    log: CallLog, call: Call, *, seq: int | None = None
) -> Generator[Callable[[ToolResult], None]]:
    """Log a call before and after the block. Pass the call's result to the yielded function."""
    number = log.next_seq() if seq is None else seq
    log.before(call, number)
    started = time.monotonic()

    def ms() -> float:
        return (time.monotonic() - started) * 1000

    def log_result(result: ToolResult) -> None:
        if result.is_error:
            message, data = error_of(result)
            error = ToolInvocationError(message or "failed", tool_name=call.name, data=data, result=result)
            log.after_failure(call, error, ms(), number)
        else:
            log.after_success(call, result, ms(), number)

    try:
        yield log_result
    except BaseException as error:  # A cancelled call is logged as well.
        log.after_failure(call, error, ms(), number)
        raise
