"""A client whose calls to tools are in the log, whoever makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footlight.client.connection import OnProgress, Result
from footlight.client.mcp_client import MCPClient
from footlight.client.results import read_result
from footlight.client.runtime.logger import Call, CallLog
from footlight.client.runtime.recording import recorded

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
        call = Call(name, arguments or {})
        self.last_arguments = call.arguments
        with recorded(self._log, call) as ended:
            raw = await super()._call(name, arguments, timeout_ms, on_progress)
            ended(read_result(raw))
        return raw
