"""The beginning: which revision of the protocol both sides speak, and what the server says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from footlight.client.errors import MCPConnectionError, MCPError, MCPTimeoutError
from footlight.client.loose import an_object, items, text
from footlight.client.versions import (
    DEFAULT_VERSION,
    HANDSHAKE_VERSIONS,
    SERVER_INFO_KEY,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    is_stateless,
    request_meta,
)

if TYPE_CHECKING:
    from footlight.client.channel import Channel
    from footlight.client.connection import Connection, Result

__all__ = ["Identity", "Introduction", "Wanted", "introduce"]

Wanted = str | Literal["auto"] | None
"""A revision; `auto`, the newest that the server has; None, document 001's, or else what the server has."""

STATELESS_PROOF = (-32020, -32021, UNSUPPORTED_VERSION)
"""Errors that only a server of the stateless protocol gives."""
REFUSALS = (-32600, -32601, -32602, *STATELESS_PROOF)
"""How a server without a handshake refuses one."""
PROBE_MS = 5_000.0
"""A server that has never heard of a question may never answer it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the client is, and what it can do for a server."""

    info: Mapping[str, Any]
    capabilities: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Introduction:
    """What the server said of itself. `version` is the revision that is spoken from now on."""

    version: str
    server_info: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    instructions: str | None = None


async def introduce(
    connection: Connection, channel: Channel, *, wanted: Wanted, identity: Identity, timeout_ms: float
) -> Introduction:
    """Agree on a revision of the protocol.

    Raises:
        MCPConnectionError: there is none that both speak, or what answers is no MCP server (`handshake`).
        MCPError: the server cannot be reached, or takes too long.
    """
    beginning = _Beginning(connection, channel, identity, timeout_ms)
    try:
        if wanted == "auto":
            return await beginning.newest()
        if wanted is not None and is_stateless(wanted):
            return await beginning.discover([wanted])
        try:
            return await beginning.initialize(wanted or DEFAULT_VERSION)
        except MCPError as error:
            if wanted is not None or not _may_be_stateless(error):
                raise
            return await beginning.discover_after(error)
    except MCPError as error:
        raise _explained(error) from error


def _may_be_stateless(error: MCPError) -> bool:
    return error.reason in ("peer", "http") and (
        error.rpc_code in REFUSALS or error.status in (400, 404, 405)
    )


def _explained(error: MCPError) -> MCPError:
    """What the server says no to, and what no MCP server would say, is a failed handshake."""
    if error.reason == "peer" or (error.reason == "protocol" and not isinstance(error, MCPConnectionError)):
        return MCPConnectionError(
            f"The handshake failed: {error.message}",
            reason="handshake",
            rpc_code=error.rpc_code,
            data=error.data,
            status=error.status,
        )
    return error


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The ways to begin."""

    connection: Connection
    channel: Channel
    identity: Identity
    timeout_ms: float

    async def initialize(self, version: str) -> Introduction:
        params = {
            "protocolVersion": version,
            "capabilities": self.identity.capabilities,
            "clientInfo": self.identity.info,
        }
        self._speak(None)
        result = await self.connection.request("initialize", params, timeout_ms=self.timeout_ms)
        spoken = result.get("protocolVersion")
        if spoken not in HANDSHAKE_VERSIONS:
            raise MCPError(
                f"the server speaks the protocol's revision {spoken!r:.40}, and this client "
                f"{', '.join(HANDSHAKE_VERSIONS)}",
                reason="protocol",
            )
        self.channel.negotiated(spoken)
        await self.connection.notify("notifications/initialized", timeout_ms=self.timeout_ms)
        return _introduction(spoken, result, result.get("serverInfo"))

    async def newest(self) -> Introduction:
        """Stateless if the server says a word that only such a server would, otherwise by handshake."""
        try:
            return await self.discover(STATELESS_VERSIONS, timeout_ms=min(self.timeout_ms, PROBE_MS))
        except MCPError as error:
            unknown = error.reason in ("peer", "http", "protocol") and error.rpc_code not in STATELESS_PROOF
            if not (unknown or isinstance(error, MCPTimeoutError)):
                raise
        try:
            return await self.initialize(HANDSHAKE_VERSIONS[-1])
        except MCPError as error:
            # It started slowly, and took the question that we gave up for the choice of the protocol.
            if error.rpc_code not in STATELESS_PROOF:
                raise
            return await self.discover(STATELESS_VERSIONS)

    async def discover_after(self, refusal: MCPError) -> Introduction:
        """The handshake was refused: perhaps the server has none."""
        try:
            return await self.discover(STATELESS_VERSIONS, timeout_ms=min(self.timeout_ms, PROBE_MS))
        except MCPError:
            raise refusal from None

    async def discover(self, versions: Sequence[str], *, timeout_ms: float | None = None) -> Introduction:
        """Ask in the newest of these revisions, and once more in another if the server names one."""
        version = versions[-1]
        timeout_ms = timeout_ms or self.timeout_ms
        try:
            self._speak(version)
            result = await self.connection.request("server/discover", timeout_ms=timeout_ms)
        except MCPError as error:
            version = _shared(versions, _supported(error))
            if error.rpc_code != UNSUPPORTED_VERSION or version is None:
                raise
            self._speak(version)
            result = await self.connection.request("server/discover", timeout_ms=timeout_ms)
        offered = result.get("supportedVersions")
        agreed = _shared(versions, items(offered))
        if agreed is None:
            raise MCPError(
                f"the server speaks {offered!r:.100}, and this client was asked for {', '.join(versions)}",
                reason="protocol",
            )
        self._speak(agreed)
        return _introduction(agreed, result, an_object(result.get("_meta")).get(SERVER_INFO_KEY))

    def _speak(self, version: str | None) -> None:
        """From now on requests are stateless ones of this revision; None: they are of the handshake."""
        self.connection.meta = (
            {}
            if version is None
            else request_meta(
                version, client_info=self.identity.info, capabilities=self.identity.capabilities
            )
        )
        self.channel.negotiated(version or DEFAULT_VERSION)


def _supported(error: MCPError) -> list[object]:
    return items(an_object(error.data).get("supported"))


def _shared(mine: Sequence[str], theirs: Sequence[object]) -> str | None:
    return next((version for version in reversed(mine) if version in theirs), None)


def _introduction(version: str, result: Result, server_info: object) -> Introduction:
    return Introduction(
        version=version,
        server_info=an_object(server_info),
        capabilities=an_object(result.get("capabilities")),
        instructions=text(result.get("instructions")),
    )
