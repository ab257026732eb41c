"""The HTTP session of a channel, with its id and the detection of its expiry.

A session begins with the response to `initialize`. It ends in `forget`, which is called on request, or when a
response shows that the session has expired (`_check_status`). `on_session_ended` reports the end: the channel
fails the GET stream, and `client_session.ClientSession` discards the server's introduction, so that the next
request negotiates again.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from footlight.client.transports import http_headers
from footlight.client.transports.http_answer import drain, read_refusal
from footlight.protocol.errors import MCPConnectionError, MCPError
from footlight.protocol.messages import encode
from footlight.protocol.versions import DEFAULT_VERSION, is_stateless

if TYPE_CHECKING:
    import httpx2

    from footlight.client.transports.http_endpoint import HttpEndpoint
    from footlight.protocol.messages import Message

__all__ = ["HttpSession", "session_expired_error"]

logger = logging.getLogger(__name__)

DELETE_SECONDS = 5.0

_EXPIRY_MESSAGE = re.compile(
    r"(no valid|invalid|unknown|expired) session|session (id )?not found|server not initialized",
    re.IGNORECASE,
)


class HttpSession:
    """Sends the requests of a session, with the headers that they have in common."""

    def __init__(
        self, endpoint: HttpEndpoint, custom: Mapping[str, str], *, on_session_ended: Callable[[], None]
    ) -> None:
        self._endpoint = endpoint
        self._custom = custom
        self._on_session_ended = on_session_ended
        self.version = DEFAULT_VERSION
        self.id: str | None = None
        """None before the session begins and after it has ended."""

    def is_stateless(self, message: Message) -> bool:
        """Return whether the message belongs to the stateless protocol, which has no sessions."""
        return http_headers.names_version(message) or is_stateless(self.version)

    @asynccontextmanager
    async def post(
        self, message: Message, param_headers: Mapping[str, str]
    ) -> AsyncGenerator[tuple[httpx2.Response, str | None]]:
        """Send a message. Yield the response and the id of its session. `initialize` begins a new session.

        Raises:
            MCPError: the status is an error, or there is no response.
        """
        is_initialize = message.get("method") == "initialize"
        session_id = None if is_initialize or self.is_stateless(message) else self.id
        headers = http_headers.post_headers(
            message,
            version=self.version,
            session_id=session_id,
            custom=self._custom,
            parameters=param_headers,
        )
        async with self._endpoint.request("POST", headers, encode(message)) as response:
            await self._check_status(response, session_id)
            if is_initialize:
                session_id = self.id = _read_session_id(response)
            yield response, session_id

    @asynccontextmanager
    async def get(
        self, *, session_id: str | None, last_event_id: str | None, continues: bool
    ) -> AsyncGenerator[httpx2.Response]:
        """Request a stream of this session.

        For a stream that `continues`, 404 means that the session has expired. For the first request, it may
        also mean that the server has no such stream, so it is an ordinary error.

        Raises:
            MCPError: the status is an error, or there is no response.
        """
        if session_id != self.id:
            raise session_expired_error()
        headers = http_headers.get_headers(
            version=self.version, session_id=session_id, custom=self._custom, last_event_id=last_event_id
        )
        async with self._endpoint.request("GET", headers) as response:
            await self._check_status(response, session_id, is_404_expiry=continues)
            yield response

    def forget(self) -> str | None:
        """Forget the session and return its id."""
        session_id, self.id = self.id, None
        if session_id is not None:
            self._on_session_ended()
        return session_id

    async def delete(self, session_id: str) -> bool:
        """End a session at the server. Return whether it has ended."""
        headers = http_headers.delete_headers(
            version=self.version, session_id=session_id, custom=self._custom
        )
        try:
            async with asyncio.timeout(DELETE_SECONDS), self._endpoint.request("DELETE", headers) as response:
                await drain(response)
        except (MCPError, TimeoutError) as error:
            logger.info("the session could not be ended: %s", str(error) or "no answer in time")
            return False
        return response.is_success or response.status_code == 404

    async def _check_status(
        self, response: httpx2.Response, session_id: str | None, *, is_404_expiry: bool = True
    ) -> None:
        """Forget the session if the response shows that it has expired. `session_id` is the id that was sent.

        Raises:
            MCPError: the status is an error.
        """
        if response.is_success:
            return
        error = await read_refusal(
            response, where=self._endpoint.where, secrets=self._endpoint.find_secrets()
        )
        if session_id is None or not _is_expiry(error, is_404_expiry=is_404_expiry):
            raise error
        if self.id == session_id:
            self.forget()
        raise session_expired_error(error.status)


def session_expired_error(status: int | None = 404) -> MCPError:
    return MCPConnectionError("Session expired", reason="session_expired", status=status)


def _is_expiry(error: MCPError, *, is_404_expiry: bool) -> bool:
    """Return whether an error means that the session has expired, by its status or its message."""
    if error.status == 404 and is_404_expiry:
        return True
    says_so = error.reason == "peer" and _EXPIRY_MESSAGE.search(error.message) is not None
    return says_so and error.status in (400, 404)


def _read_session_id(response: httpx2.Response) -> str | None:
    """Return the session id in the response, or None.

    Raises:
        MCPError: there are several, or the id is not visible ASCII, so it could not be sent back.
    """
    found = {each for each in response.headers.get_list(http_headers.SESSION_HEADER) if each}
    if len(found) > 1:
        raise MCPError("The server sent several session ids", reason="protocol")
    session_id = next(iter(found), None)
    if session_id and not http_headers.is_visible_ascii(session_id):
        raise MCPError("The server's session id is not visible ASCII", reason="protocol")
    return session_id
