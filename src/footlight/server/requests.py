"""A request of a client, independent of the transport and of the revision of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from footlight.caller import Caller
from footlight.protocol.versions import HANDSHAKE_VERSIONS

__all__ = [
    "INVALID_PARAMS",
    "METHOD_NOT_FOUND",
    "ClientConnection",
    "ClientRequestError",
    "Handler",
    "ProtocolError",
    "Request",
    "invalid_params",
]

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601

MAX_CHARACTERS = 1_000
"""The maximum length of a text of the request in an error."""
_META = "_meta"


class ProtocolError(Exception):
    """The JSON-RPC error that answers a request.

    Long texts from the request are cut, because a name may have megabytes.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = _shorten(message)
        self.data = _shorten(data)
        super().__init__(self.message)


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shorten(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, str) and len(value) > MAX_CHARACTERS:
        return f"{value[:MAX_CHARACTERS]}…"
    return value


class ClientRequestError(Exception):
    """A request to the client failed, because it answered with an error or the connection ended."""


def invalid_params() -> ProtocolError:
    """Return the error for parameters that do not match the protocol."""
    return ProtocolError(INVALID_PARAMS, "Invalid request parameters", "")


class ClientConnection(Protocol):
    """A connection in the handshake revisions, on which notifications can be sent at any time."""

    async def notify(self, method: str, params: Mapping[str, Any]) -> None: ...

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the connection ends."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, with methods that read its untrusted parameters and send messages to its client.

    The methods that read parameters raise `ProtocolError` if a parameter has another type.
    """

    id: int | str
    params: Mapping[str, Any]
    caller: Caller
    connection: ClientConnection
    notify: Callable[[str, Mapping[str, Any]], Awaitable[None]]
    """Sends a notification that belongs to this request."""
    version: str = HANDSHAKE_VERSIONS[-1]
    """The revision of the protocol in which the request was sent."""
    send_request: Callable[[str, Mapping[str, Any]], Awaitable[Any]] | None = None
    """Sends a request to the client and returns its result. It is None if the client cannot receive requests.

    It raises `ClientRequestError`. If the caller is cancelled, the request is cancelled.
    """
    client_capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The capabilities that the client declared in the handshake or in the `_meta` of a stateless request."""

    def text(self, *path: str) -> str:
        value = self.optional_text(*path)
        if value is None:
            raise invalid_params()
        return value

    def optional_text(self, *path: str) -> str | None:
        value = self._find(path)
        if value is not None and not isinstance(value, str):
            raise invalid_params()
        return value

    def object(self, *path: str) -> Mapping[str, Any]:
        """Return an object, or an empty one if it is absent."""
        value = self._find(path)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise invalid_params()
        return cast("Mapping[str, Any]", value)

    def texts_by_name(self, *path: str) -> Mapping[str, str]:
        """Return an object whose values are strings, or an empty one if it is absent."""
        found = self.object(*path)
        if not all(isinstance(value, str) for value in found.values()):
            raise invalid_params()
        return found

    def texts(self, *path: str) -> list[str]:
        """Return a list of strings, or an empty one if it is absent."""
        value = self._find(path)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[Any]", value)):
            raise invalid_params()
        return cast("list[str]", value)

    def flag(self, *path: str) -> bool:
        """Return a boolean, or False if it is absent."""
        value = self._find(path)
        if value is not None and not isinstance(value, bool):
            raise invalid_params()
        return bool(value)

    @property
    def progress_token(self) -> int | str | None:
        """Return the token for progress notifications, or None if the client does not request them."""
        meta = self.params.get(_META)
        token = cast("Mapping[str, Any]", meta).get("progressToken") if isinstance(meta, dict) else None
        return token if isinstance(token, int | str) and not isinstance(token, bool) else None

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send a progress notification, if the client requests them."""
        token = self.progress_token
        if token is None:
            return
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.notify("notifications/progress", params)

    def _find(self, path: tuple[str, ...]) -> Any:
        value: Any = self.params
        for name in path:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise invalid_params()
            value = cast("Mapping[str, Any]", value).get(name)
        return value


Handler = Callable[[Request], Awaitable[dict[str, Any]]]
"""Answers a request with its result, in the protocol's format."""
