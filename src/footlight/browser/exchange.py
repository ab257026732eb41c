"""A request and its response in full. The browser is asked for them only when somebody wants to read them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from footlight.browser._playwright import Error, cause, is_closed
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Request, Response

    from footlight.browser.network import LogEntry, RequestLog

__all__ = ["Exchange", "Part", "get_exchange"]

Part = Literal["summary", "request_headers", "request_body", "response_headers", "response_body"]

READ_SECONDS = 5.0
"""How long the browser may take to give a part of it; what a page streams comes to no end."""

T = TypeVar("T")


class Exchange:
    """One entry of the log, and Playwright's request of it.

    What cannot be read raises InvalidParameter, which says why.
    """

    def __init__(self, entry: LogEntry, request: Request) -> None:
        self.entry = entry
        self._request = request

    async def request_headers(self) -> Mapping[str, str]:
        """With those that the browser adds by itself."""
        return await self._read("request_headers", self._request.all_headers())

    async def request_body(self) -> bytes:
        """Empty where there is none."""
        try:
            return self._request.post_data_buffer or b""
        except Error as error:
            raise self._unreadable("request_body", cause(error)) from error

    async def response_headers(self) -> Mapping[str, str]:
        response = await self._response("response_headers")
        return await self._read("response_headers", response.all_headers())

    async def response_body(self) -> bytes:
        response = await self._response("response_body")
        if not self.entry.ended:
            raise self._unreadable("response_body", "the response has not ended yet")
        return await self._read("response_body", response.body())

    async def content_type(self, part: Part) -> str:
        headers = self._request.headers if part == "request_body" else (await self._response(part)).headers
        return headers.get("content-type", "")

    async def _response(self, part: Part) -> Response:
        if self.entry.failure is not None and self.entry.status == 0:
            raise self._unreadable(part, f"the request failed: {self.entry.failure}")
        if self.entry.status == 0:
            raise self._unreadable(part, "there is no response yet")
        response = await self._read(part, self._request.response())
        if response is None:
            raise self._unreadable(part, "there is no response")
        return response

    async def _read(self, part: Part, reading: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(READ_SECONDS):
                return await reading
        except TimeoutError:
            raise self._unreadable(part, f"the browser gave no answer within {READ_SECONDS:.0f}s") from None
        except Error as error:
            raise self._unreadable(part, _why(error)) from error

    def _unreadable(self, part: Part, why: str) -> InvalidParameter:
        return InvalidParameter(
            f"part: the {part.replace('_', ' ')} of {self.entry.id} cannot be read: {why}",
            parameter="part",
            suggestion="The part `summary` can be read always.",
            url=self.entry.url,
        )


def get_exchange(log: RequestLog, id: str) -> Exchange:
    """Raises InvalidParameter: there is none of this id, or it was too long ago."""
    entry, request = log.find(id), log.find_request(id)
    if entry is None:
        known = " to ".join(dict.fromkeys(log.ids)) if log.ids else "none"
        raise InvalidParameter(
            f"requestId: no request {id} is in the log; in it: {known}. get_request_log lists them",
            parameter="requestId",
        )
    if request is None:
        raise InvalidParameter(
            f"requestId: {id} was too long ago; only the latest requests can be read",
            parameter="requestId",
        )
    return Exchange(entry, request)


def _why(error: Error) -> str:
    """Playwright explains in a second line what the browser says in the first."""
    if is_closed(error):
        return "its page is closed"
    lines = [line.strip() for line in error.message.splitlines() if line.strip()]
    return lines[1] if len(lines) > 1 and "not available" in lines[1] else cause(error)
