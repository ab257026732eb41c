"""Negotiate a revision of the protocol, and read the server's introduction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from footlight.protocol.deadline import CallDeadline
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError
from footlight.protocol.untrusted_json import an_object, items, text
from footlight.protocol.versions import (
    DEFAULT_VERSION,
    HANDSHAKE_VERSIONS,
    SERVER_INFO_KEY,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    is_stateless,
    request_meta,
)

if TYPE_CHECKING:
    from footlight.protocol.channel import Channel
    from footlight.protocol.connection import Connection, Result

__all__ = ["ClientIdentity", "RequestedVersion", "ServerIntroduction", "negotiate"]

RequestedVersion = str | Literal["auto"] | None
"""A revision, `auto` for the newest one that both sides support, or None to offer 2025-06-18 and accept the
server's choice.
"""

STATELESS_PROOF = (-32020, -32021, UNSUPPORTED_VERSION)
"""Error codes that only servers of the stateless protocol send."""
REFUSALS = (-32600, -32601, -32602, *STATELESS_PROOF)
"""Error codes with which a server that does not support the handshake refuses it."""
PROBE_MS = 5_000.0
"""The maximum time for a request that the server may not know and may never answer."""


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """The name, version and capabilities of the client."""

    info: Mapping[str, Any]
    capabilities: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServerIntroduction:
    """The server's description of itself. `version` is the negotiated revision of the protocol."""

    version: str
    server_info: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    instructions: str | None = None


async def negotiate(
    connection: Connection,
    channel: Channel,
    *,
    requested_version: RequestedVersion,
    identity: ClientIdentity,
    timeout_ms: float,
    longest_probe_ms: float = math.inf,
) -> ServerIntroduction:
    """Negotiate a revision of the protocol within `timeout_ms`.

    A request that the server may not know has at most half of that time, and at most `longest_probe_ms`.

    Raises:
        MCPConnectionError: there is no common revision, or the server is not an MCP server (`handshake`).
        MCPError: the server cannot be reached, or does not answer in time.
    """
    probe_ms = min(PROBE_MS, timeout_ms / 2, longest_probe_ms)
    negotiation = _Negotiation(connection, channel, identity, CallDeadline(timeout_ms), probe_ms)
    try:
        if requested_version == "auto":
            return await negotiation.newest()
        if requested_version is not None and is_stateless(requested_version):
            return await negotiation.discover([requested_version])
        try:
            return await negotiation.initialize(requested_version or DEFAULT_VERSION)
        except MCPError as error:
            if requested_version is not None or not _may_be_stateless(error):
                raise
            return await negotiation.discover_after(error)
    except MCPError as error:
        raise _as_handshake_error(error) from error


def _may_be_stateless(error: MCPError) -> bool:
    return error.reason in ("peer", "http") and (
        error.rpc_code in REFUSALS or error.status in (400, 404, 405)
    )


def _as_handshake_error(error: MCPError) -> MCPError:
    """Convert a refusal of the server, or an answer that is not MCP, to a handshake error."""
    if error.reason == "peer" or (error.reason == "protocol" and not isinstance(error, MCPConnectionError)):
        failed = MCPConnectionError(
            f"The handshake failed: {error.message}",
            reason="handshake",
            rpc_code=error.rpc_code,
            data=error.data,
            status=error.status,
        )
        failed.retry_after_ms = error.retry_after_ms
        return failed
    return error


@dataclass(frozen=True, slots=True)
class _Negotiation:
    """Implements the ways to negotiate a revision."""

    connection: Connection
    channel: Channel
    identity: ClientIdentity
    deadline: CallDeadline
    probe_ms: float

    async def initialize(self, version: str) -> ServerIntroduction:
        params = {
            "protocolVersion": version,
            "capabilities": self.identity.capabilities,
            "clientInfo": self.identity.info,
        }
        self._use_version(None)
        result = await self.connection.request("initialize", params, timeout_ms=self.deadline.left_ms)
        answered_version = result.get("protocolVersion")
        if answered_version not in HANDSHAKE_VERSIONS:
            raise MCPError(
                f"the server speaks the protocol's revision {answered_version!r:.40}, and this client "
                f"{', '.join(HANDSHAKE_VERSIONS)}",
                reason="protocol",
            )
        self.channel.use_version(answered_version)
        await self.connection.notify("notifications/initialized", timeout_ms=self.deadline.left_ms)
        return _read_introduction(answered_version, result, result.get("serverInfo"))

    async def newest(self) -> ServerIntroduction:
        """Discover a stateless server, or else initialize with the newest revision that has a handshake."""
        try:
            return await self.discover(STATELESS_VERSIONS, timeout_ms=self.probe_ms)
        except MCPError as error:
            unknown = error.reason in ("peer", "http", "protocol") and error.rpc_code not in STATELESS_PROOF
            if not (unknown or isinstance(error, MCPTimeoutError)):
                raise
        try:
            return await self.initialize(HANDSHAKE_VERSIONS[-1])
        except MCPError as error:
            # A server that starts slowly may have chosen the protocol by the abandoned probe.
            if error.rpc_code not in STATELESS_PROOF:
                raise
            return await self.discover(STATELESS_VERSIONS)

    async def discover_after(self, refusal: MCPError) -> ServerIntroduction:
        """Discover a stateless server after it refused the handshake. On failure, raise the refusal."""
        try:
            return await self.discover(STATELESS_VERSIONS, timeout_ms=self.probe_ms)
        except MCPError:
            raise refusal from None

    async def discover(
        self, versions: Sequence[str], *, timeout_ms: float | None = None
    ) -> ServerIntroduction:
        """Send `server/discover` in the newest of these revisions, or in another if the server names one."""
        version = versions[-1]
        limit = self.deadline if timeout_ms is None else CallDeadline(min(timeout_ms, self.deadline.left_ms))
        try:
            self._use_version(version)
            result = await self.connection.request("server/discover", timeout_ms=limit.left_ms)
        except MCPError as error:
            version = _newest_common(versions, _read_supported_versions(error))
            if error.rpc_code != UNSUPPORTED_VERSION or version is None:
                raise
            self._use_version(version)
            result = await self.connection.request("server/discover", timeout_ms=limit.left_ms)
        offered = result.get("supportedVersions")
        agreed = _newest_common(versions, items(offered))
        if agreed is None:
            raise MCPError(
                f"the server speaks {offered!r:.100}, and this client was asked for {', '.join(versions)}",
                reason="protocol",
            )
        self._use_version(agreed)
        return _read_introduction(agreed, result, an_object(result.get("_meta")).get(SERVER_INFO_KEY))

    def _use_version(self, version: str | None) -> None:
        """Use this stateless revision for all further requests, or that of the handshake if it is None."""
        self.connection.meta = (
            {}
            if version is None
            else request_meta(
                version, client_info=self.identity.info, capabilities=self.identity.capabilities
            )
        )
        self.channel.use_version(version or DEFAULT_VERSION)


def _read_supported_versions(error: MCPError) -> list[object]:
    return items(an_object(error.data).get("supported"))


def _newest_common(mine: Sequence[str], theirs: Sequence[object]) -> str | None:
    return next((version for version in reversed(mine) if version in theirs), None)


def _read_introduction(version: str, result: Result, server_info: object) -> ServerIntroduction:
    return ServerIntroduction(
        version=version,
        server_info=an_object(server_info),
        capabilities=an_object(result.get("capabilities")),
        instructions=text(result.get("instructions")),
    )
