"""What the requests to one server share: the protocol's revision, the session's id, the caller's headers."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from footlight.client.errors import MCPConnectionError, MCPError
from footlight.client.messages import encode
from footlight.client.transports import http_headers
from footlight.client.transports.http_answer import drain, refusal
from footlight.client.versions import DEFAULT_VERSION, is_stateless

if TYPE_CHECKING:
    import httpx2

    from footlight.client.messages import Message
    from footlight.client.transports.http_endpoint import Endpoint

__all__ = ["Session", "expired"]

logger = logging.getLogger(__name__)

DELETE_SECONDS = 5.0

_NO_SESSION = re.compile(
    r"(no valid|invalid|unknown|expired) session|session (id )?not found|server not initialized",
    re.IGNORECASE,
)


class Session:
    def __init__(self, endpoint: Endpoint, custom: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._custom = custom
        self.version = DEFAULT_VERSION
        self.id: str | None = None
        """None: there is none, or no more."""

    def is_stateless(self, message: Message) -> bool:
        """Whether a message is of the protocol that has no sessions."""
        return http_headers.names_version(message) or is_stateless(self.version)

    @asynccontextmanager
    async def post(
        self, message: Message, parameters: Mapping[str, str]
    ) -> AsyncGenerator[tuple[httpx2.Response, str | None]]:
        """Send a message; yield the answer, and the id of its session. `initialize` begins another.

        Raises:
            MCPError: the answer is no success, or there is none.
        """
        begins = message.get("method") == "initialize"
        session_id = None if begins or self.is_stateless(message) else self.id
        headers = http_headers.of_post(
            message, version=self.version, session_id=session_id, custom=self._custom, parameters=parameters
        )
        async with self._endpoint.request("POST", headers, encode(message)) as response:
            await self._check(response, session_id)
            if begins:
                session_id = self.id = _id_in(response)
            yield response, session_id

    @asynccontextmanager
    async def get(
        self, *, session_id: str | None, last_event_id: str | None
    ) -> AsyncGenerator[httpx2.Response]:
        """Ask for a stream of this session (R001-23); raises like `post`."""
        if session_id != self.id:
            raise expired()
        headers = http_headers.of_get(
            version=self.version, session_id=session_id, custom=self._custom, last_event_id=last_event_id
        )
        async with self._endpoint.request("GET", headers) as response:
            await self._check(response, session_id)
            yield response

    async def delete(self) -> bool:
        """End the session: whether the server did. The id is forgotten in any case (R001-20)."""
        session_id, self.id = self.id, None
        if session_id is None:
            return False
        headers = http_headers.of_delete(version=self.version, session_id=session_id, custom=self._custom)
        try:
            async with asyncio.timeout(DELETE_SECONDS), self._endpoint.request("DELETE", headers) as response:
                await drain(response)
        except (MCPError, TimeoutError) as error:
            logger.info("the session could not be ended: %s", str(error) or "no answer in time")
            return False
        return response.is_success or response.status_code == 404

    async def _check(self, response: httpx2.Response, session_id: str | None) -> None:
        """Raises MCPError unless the status is a success. `session_id` is what the request had."""
        if response.is_success:
            return
        error = await refusal(response, where=self._endpoint.where)
        if session_id is None or not _says_expired(error):
            raise error
        if self.id == session_id:
            self.id = None
        raise expired(error.status)


def expired(status: int | None = 404) -> MCPError:
    """R001-18."""
    return MCPConnectionError("Session expired", reason="session_expired", status=status)


def _says_expired(error: MCPError) -> bool:
    """404, or what many servers say instead: those after the SDKs' own examples."""
    return error.status == 404 or (
        error.status == 400 and error.reason == "peer" and _NO_SESSION.search(error.message) is not None
    )


def _id_in(response: httpx2.Response) -> str | None:
    """What the server gave, if it did (R001-16, R001-17).

    Raises:
        MCPError: it is not visible ASCII, and could not be sent back.
    """
    session_id = response.headers.get(http_headers.SESSION_HEADER)
    if session_id and not http_headers.is_visible_ascii(session_id):
        raise MCPError("The server's session id is not visible ASCII", reason="protocol")
    return session_id or None
