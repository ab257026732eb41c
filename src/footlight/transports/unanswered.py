"""How much of us one client may take at once: requests that have no answer yet, by number and size."""

from __future__ import annotations

from mcp_types import INTERNAL_ERROR, JSONRPCError, RequestId

from footlight.transports.messages import refusal

__all__ = ["LARGE_REQUESTS", "Unanswered", "exhausted"]

LARGE_REQUESTS = 8
"""So many of the largest size may be without an answer together."""


class Unanswered:
    """The requests of one client. Sizes are bytes, or characters where text comes."""

    def __init__(self, *, max_requests: int, max_size: int) -> None:
        self._max_requests = max_requests
        self._max_size = max_size
        self._requests: list[tuple[RequestId, int]] = []
        """An id may be there twice, though it should not."""

    def __bool__(self) -> bool:
        return bool(self._requests)

    @property
    def size(self) -> int:
        return sum(size for _, size in self._requests)

    def has(self, id: RequestId) -> bool:
        """As text: 1 and "1" name the same stream over HTTP."""
        return any(str(each) == str(id) for each, _ in self._requests)

    def refuse(self, id: RequestId, size: int) -> JSONRPCError | None:
        """The answer to one more that is too many."""
        if len(self._requests) >= self._max_requests:
            return exhausted(id, f"Too many requests without an answer ({self._max_requests})")
        if self.size + size > self._max_size:
            return exhausted(id, f"Requests without an answer are too large together ({self._max_size})")
        return None

    def add(self, id: RequestId, size: int) -> None:
        self._requests.append((id, size))

    def settle(self, id: RequestId | None) -> None:
        """It is answered, or never will be. One that is not known is no matter."""
        ids = [str(each) for each, _ in self._requests]
        if id is not None and str(id) in ids:
            del self._requests[ids.index(str(id))]


def exhausted(id: RequestId, why: str) -> JSONRPCError:
    """The refusal of a request that may be sent again later."""
    return refusal(INTERNAL_ERROR, why, id, {"code": "RESOURCE_EXHAUSTED", "retryable": True})
