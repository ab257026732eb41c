"""Access control for requests over HTTP and WebSocket.

The Host header must name this server, against DNS rebinding. The Origin header, if there is one, must name an
allowed site, against pages of other sites. The token must be valid. The checks are made in this order, so
that a page of another site cannot find out whether a token is valid.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import logging
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mcp.server.auth.provider import AccessToken, TokenVerifier, principal_components

from footlight.caller import ANONYMOUS, Caller
from footlight.transports.loopback import is_loopback

__all__ = ["AccessControl", "AccessGrant", "Refusal", "SharedToken"]

logger = logging.getLogger(__name__)

VERIFY_SECONDS = 10.0
"""The time limit for a verifier, which may send a request to another server."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The HTTP response to a refused request."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class AccessGrant:
    """The identity of the caller of an accepted request. The fields are those of `Caller`."""

    principal: str
    named: bool = False
    shares_default: bool = False
    access: AccessToken | None = None

    def caller(self, connection: str | None) -> Caller:
        """Return the caller of requests over a connection."""
        return Caller(
            self.principal, connection=connection, named=self.named, shares_default=self.shares_default
        )


class SharedToken(TokenVerifier):
    """A verifier that accepts one token, which all callers share."""

    def __init__(self, token: str) -> None:
        self._digest = _digest(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        # Compare digests, because the comparison takes constant time only for equal lengths.
        if not hmac.compare_digest(_digest(token), self._digest):
            return None
        return AccessToken(token=token, client_id="shared-token", scopes=[])


class AccessControl:
    """Checks the Host, Origin and Authorization headers of requests.

    `bound` is the address on which the server listens. Without a `verifier`, no token is required.
    `metadata_url` is sent to callers without a valid token, so that they can get one.
    """

    def __init__(
        self,
        *,
        bound: str,
        verifier: TokenVerifier | None = None,
        hosts: list[str] | None = None,
        origins: list[str] | None = None,
        share_default: bool = False,
        metadata_url: str | None = None,
    ) -> None:
        self._bound = bound
        self._verifier = verifier
        self._hosts = {host.lower() for host in hosts or ()}
        self._origins = {origin.lower().rstrip("/") for origin in origins or ()}
        self._share_default = share_default
        self._metadata_url = metadata_url

    async def check(self, headers: Mapping[str, str]) -> AccessGrant | Refusal:
        """Check a request. The names of `headers` must be in lower case."""
        return self.check_sender(headers) or await self._check_token(headers.get("authorization", ""))

    def check_sender(self, headers: Mapping[str, str]) -> Refusal | None:
        """Check only Host and Origin, for example of a CORS preflight, which has no token."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_ours(host):
            logger.warning("refused a request to the host %.100r", host)
            return Refusal(421, "Misdirected request: the Host header does not name this server")
        if origin is not None and not self._may_call(origin):
            logger.warning("refused a request from the origin %.100r", origin)
            return Refusal(403, "Forbidden: pages of this origin may not call this server")
        return None

    def _is_ours(self, host: str) -> bool:
        name = _host_name(f"//{host}")
        if name is None:
            return False
        if is_loopback(name) or name == self._bound.lower() or name in self._hosts:
            return True
        # DNS rebinding requires a host name. A request with an IP address as Host was sent to that address.
        return not is_loopback(self._bound) and _is_address(name)

    def _may_call(self, origin: str) -> bool:
        if origin.lower() in self._origins or "*" in self._origins:
            return True
        name = _host_name(origin)
        return name is not None and origin.startswith(("http://", "https://")) and is_loopback(name)

    async def _check_token(self, authorization: str) -> AccessGrant | Refusal:
        if self._verifier is None:
            return AccessGrant(ANONYMOUS.principal, shares_default=self._share_default)
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return self._unauthorized("a bearer token is required")
        access = await self._verify(token.strip())
        if access is None:
            logger.warning("refused a wrong token")
            return self._unauthorized("the token is not valid", error="invalid_token")
        return AccessGrant(
            "\0".join(part or "" for part in principal_components(access)),
            named=not isinstance(self._verifier, SharedToken),
            shares_default=self._share_default,
            access=access,
        )

    def _unauthorized(self, why: str, *, error: str | None = None) -> Refusal:
        """Return a 401 response, with the URL of the resource metadata if it is known (RFC 9728 §5.1)."""
        parameters = {"error": error, "resource_metadata": self._metadata_url}
        details = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value is not None)
        return Refusal(401, f"Unauthorized: {why}", {"WWW-Authenticate": f"Bearer {details}".rstrip()})

    async def _verify(self, token: str) -> AccessToken | None:
        assert self._verifier is not None
        try:
            async with asyncio.timeout(VERIFY_SECONDS):
                access = await self._verifier.verify_token(token)
            expired = access is not None and access.expires_at is not None and access.expires_at < time.time()
        except Exception:  # noqa: BLE001 - it is third-party code; a token that it cannot verify is not valid
            # The error may contain the token, which may be valid.
            text = traceback.format_exc().replace(token, "[token]")
            logger.error("the verifier of tokens failed\n%s", text)
            return None
        return None if expired else access


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host_name(url: str) -> str | None:
    """Return the host in lower case, without port and brackets, or None if the URL is not valid."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # Raises ValueError if the port is not a number.
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return parts.hostname


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
