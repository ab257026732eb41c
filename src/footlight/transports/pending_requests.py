"""Limit the number and size of the pending requests of one client."""

from __future__ import annotations

import asyncio

from mcp_types import INTERNAL_ERROR, JSONRPCError, RequestId

from footlight.transports.messages import refusal

__all__ = ["LARGE_REQUESTS", "PendingRequests", "overload_error"]

LARGE_REQUESTS = 8
"""The number of requests of the maximum size that may be pending at the same time."""


class PendingRequests:
    """The pending requests of one client. Sizes are in bytes, or in characters for text."""

    def __init__(self, *, max_requests: int, max_size: int) -> None:
        self.idle = asyncio.Event()
        """Set while no request is pending."""
        self.idle.set()
        self._max_requests = max_requests
        self._max_size = max_size
        self._requests: list[tuple[RequestId, int]] = []
        """Ids and sizes. This is a list, because a faulty client may use an id twice."""

    def __bool__(self) -> bool:
        return bool(self._requests)

    @property
    def size(self) -> int:
        return sum(size for _, size in self._requests)

    def has(self, id: RequestId) -> bool:
        """Return whether the id is pending. Ids are compared as strings, as stream ids over HTTP are."""
        return any(str(each) == str(id) for each, _ in self._requests)

    def refuse(self, id: RequestId, size: int) -> JSONRPCError | None:
        """Return the error for a request that exceeds a limit, or None if it may be added."""
        if len(self._requests) >= self._max_requests:
            return overload_error(id, f"Too many requests without an answer ({self._max_requests})")
        if self.size + size > self._max_size:
            return overload_error(id, f"Requests without an answer are too large together ({self._max_size})")
        return None

    def add(self, id: RequestId, size: int) -> None:
        self._requests.append((id, size))
        self.idle.clear()

    def settle(self, id: RequestId | None) -> None:
        """Remove a request that has a response or will not get one. An unknown id is ignored."""
        ids = [str(each) for each, _ in self._requests]
        if id is not None and str(id) in ids:
            del self._requests[ids.index(str(id))]
        if not self._requests:
            self.idle.set()


def overload_error(id: RequestId, why: str) -> JSONRPCError:
    """Return an error that the client may retry."""
    return refusal(INTERNAL_ERROR, why, id, {"code": "RESOURCE_EXHAUSTED", "retryable": True})
