"""Clients that share a connection, and clients that write their calls to the log of a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from footlight.client.handles.call_log import Call, CallLog
from footlight.client.handles.recording import record_call
from footlight.client.mcp_client import MCPClient
from footlight.protocol.connection import OnProgress, Result
from footlight.protocol.results import read_result

__all__ = ["BorrowedClient", "LoggedClient"]


class BorrowedClient(MCPClient):
    """A client on the connection of another one. Closing it leaves the connection open."""

    _lender: MCPClient
    _is_closed = False

    @classmethod
    def of(cls, client: MCPClient) -> Self:
        borrowed = cls.__new__(cls)
        borrowed.__dict__.update(client.__dict__)
        borrowed._lender = client
        return borrowed

    @property
    def connected(self) -> bool:
        return not self._is_closed and self._lender.connected

    def is_connected(self) -> bool:
        return self.connected

    async def close(self) -> None:
        self._is_closed = True
        await self.close_stream()

    async def open_stream(self, *arguments: Any, **keywords: Any) -> Any:
        # The connection only passes notifications to the client that opened it.
        return await self._lender.open_stream(*arguments, **keywords)

    async def close_stream(self) -> None:
        await self._lender.close_stream()


class LoggedClient(BorrowedClient):
    """A client that logs all tool calls.

    `last_arguments` contains the arguments of the last call, or is None before the first call.
    """

    log: CallLog
    last_arguments: Mapping[str, Any] | None = None

    @classmethod
    def with_log(cls, client: MCPClient, log: CallLog) -> Self:
        logged = cls.of(client)
        logged.log = log
        return logged

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        timeout_ms: float | None,
        on_progress: OnProgress | None,
    ) -> Result:
        call = Call(name, arguments or {})
        self.last_arguments = call.arguments
        with record_call(self.log, call) as log_result:
            raw = await super()._call(name, arguments, timeout_ms, on_progress)
            log_result(read_result(raw))
        return raw
