"""A client whose calls to tools are in the log, whoever makes them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from footlight.client.connection import OnProgress, Result
from footlight.client.errors import ToolInvocationError
from footlight.client.mcp_client import MCPClient
from footlight.client.results import read_result
from footlight.client.runtime.logger import Call, CallLog

__all__ = ["LoggedClient"]


class LoggedClient(MCPClient):
    """`last_arguments` are those of the last call, None before the first."""

    def __init__(self, target: object, *, log: CallLog) -> None:
        super().__init__(target)
        self._log = log
        self.last_arguments: Mapping[str, Any] | None = None

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        timeout_ms: float | None,
        on_progress: OnProgress | None,
    ) -> Result:
        call, seq = Call(name, arguments or {}), self._log.next_seq()
        self.last_arguments = call.arguments
        self._log.before(call, seq)
        began = time.monotonic()
        try:
            raw = await super()._call(name, arguments, timeout_ms, on_progress)
            result = read_result(raw)
            if result.is_error:
                error = ToolInvocationError(result.text or "failed", tool_name=name, result=result)
                self._log.after_failure(call, error, _ms(began), seq)
            else:
                self._log.after_success(call, result, _ms(began), seq)
        except BaseException as error:
            self._log.after_failure(call, error, _ms(began), seq)
            raise
        return raw


def _ms(began: float) -> float:
    return (time.monotonic() - began) * 1000
