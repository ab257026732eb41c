"""Read the headers and bodies of a request and its response from the browser on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from footlight.browser.driver.playwright_api import Error, cause, is_closed
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import Request, Response

    from footlight.browser.network.request_log import LogEntry, RequestLog

__all__ = ["Exchange", "Part", "get_exchange"]

Part = Literal["summary", "request_headers", "request_body", "response_headers", "response_body"]

READ_SECONDS = 5.0
"""How long the browser may take for one part. The body of a stream may be endless."""

T = TypeVar("T")


class Exchange:
    """An entry of the log with its Playwright request.

    Parts that cannot be read raise InvalidParameterError with the reason.
    """

    def __init__(self, entry: LogEntry, request: Request) -> None:
        self.entry = entry
        self._request = request

    async def request_headers(self) -> Mapping[str, str]:
        """Return the headers, including those that the browser adds."""
        return await self._read("request_headers", self._request.all_headers())

    async def request_body(self) -> bytes:
        """Return the body, or b"" if there is none."""
        try:
            return self._request.post_data_buffer or b""
        except Error as error:
            raise self._unreadable_error("request_body", cause(error)) from error

    async def response_headers(self) -> Mapping[str, str]:
        response = await self._response("response_headers")
        return await self._read("response_headers", response.all_headers())

    async def response_body(self) -> bytes:
        response = await self._response("response_body")
        if not self.entry.ended:
            raise self._unreadable_error("response_body", "the response has not ended yet")
        return await self._read("response_body", response.body())

    async def content_type(self, part: Part) -> str:
        headers = self._request.headers if part == "request_body" else (await self._response(part)).headers
        return headers.get("content-type", "")

    async def _response(self, part: Part) -> Response:
        if self.entry.failure is not None and self.entry.status == 0:
            raise self._unreadable_error(part, f"the request failed: {self.entry.failure}")
        if self.entry.status == 0:
            raise self._unreadable_error(part, "there is no response yet")
        response = await self._read(part, self._request.response())
        if response is None:
            raise self._unreadable_error(part, "there is no response")
        return response

    async def _read(self, part: Part, reading: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(READ_SECONDS):
                return await reading
        except TimeoutError:
            raise self._unreadable_error(
                part, f"the browser did not respond within {READ_SECONDS:.0f}s"
            ) from None
        except Error as error:
            raise self._unreadable_error(part, _failure_reason(error)) from error

    def _unreadable_error(self, part: Part, why: str) -> InvalidParameterError:
        return InvalidParameterError(
            f"part: the {part.replace('_', ' ')} of {self.entry.id} cannot be read: {why}",
            parameter="part",
            suggestion="The part `summary` can always be read.",
            url=self.entry.url,
        )


def get_exchange(log: RequestLog, id: str) -> Exchange:
    """Return the exchange with this id.

    Raises:
        InvalidParameterError: no request has this id, or the request is too old.
    """
    entry, request = log.find(id), log.find_request(id)
    if entry is None:
        known = " to ".join(dict.fromkeys(log.ids)) if log.ids else "none"
        raise InvalidParameterError(
            f"requestId: no request {id} is in the log; in it: {known}. get_request_log lists them",
            parameter="requestId",
        )
    if request is None:
        raise InvalidParameterError(
            f"requestId: {id} was too long ago; only the latest requests can be read",
            parameter="requestId",
        )
    return Exchange(entry, request)


def _failure_reason(error: Error) -> str:
    """Return Playwright's explanation, which is on the line after the browser's message."""
    if is_closed(error):
        return "its page is closed"
    lines = [line.strip() for line in error.message.splitlines() if line.strip()]
    return lines[1] if len(lines) > 1 and "not available" in lines[1] else cause(error)
