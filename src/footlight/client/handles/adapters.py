"""Adapters, which open, close and name the tool sessions of a server, such as browser sessions.

Only adapters depend on the parameter that names a session. A custom adapter is any object with the members
of `Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, cast

from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult, value_of
from footlight.protocol.tools import Tool

__all__ = [
    "ADAPTERS",
    "Adapter",
    "AdapterChoice",
    "BrowserSession",
    "KnownAdapter",
    "NoSession",
    "SzkrabokSession",
    "ToolClient",
    "browser_session",
    "choose_adapter",
    "choose_fitting_adapter",
    "is_lifecycle",
    "list_injected_keys",
    "no_session",
    "szkrabok_session",
    "without_traces",
]


class ToolClient(Protocol):
    """A client that calls tools, with or without logging."""

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult: ...


class Adapter(Protocol):
    """Opens and closes a session, and adds its name to the arguments of the tools that take one.

    Handles use only these four methods. An adapter may also have `is_lifecycle(name)`, like `KnownAdapter`.
    Without it, a replay repeats the calls that opened and closed the logged session.
    """

    async def open(self, client: ToolClient, session_name: str, /) -> str | None:
        """Open the session. Return its name at the server, or None if that is `session_name`.

        The other methods receive that name. If this method raises an error, `close` is called with
        `session_name`, unless the error shows that no session was opened.
        """
        ...

    async def close(self, client: ToolClient, session_name: str, /) -> None: ...

    def inject_session(self, arguments: Mapping[str, Any], session_name: str, /) -> Mapping[str, Any]:
        """Return the arguments with the session's key in front of them."""
        ...

    def has_session(self, tool: Tool, /) -> bool:
        """Return whether the tool takes the session's key."""
        ...


class KnownAdapter(Adapter, Protocol):
    """An adapter of Footlight. Codegen, replay and export can choose it by the server's tools."""

    opens: ClassVar[str | None]
    """The tool that opens a session. A server that has it is recognised by it."""
    injected_keys: ClassVar[Sequence[str]]
    """The parameters that `inject_session` fills in. Generated methods do not have them."""

    def is_lifecycle(self, name: str, /) -> bool:
        """Return whether the tool opens or closes sessions. Handles have no method for it."""
        ...


AdapterChoice = Callable[[Sequence[Tool]], Adapter]
"""Returns the adapter that fits the server's tools."""


def list_injected_keys(adapter: Adapter) -> tuple[str, ...]:
    """Return the parameters that the adapter fills in."""
    return tuple(adapter.inject_session({}, ""))


def is_lifecycle(adapter: Adapter, name: str) -> bool:
    """Return whether the tool opens or closes sessions, or False if the adapter does not implement this."""
    method = getattr(adapter, "is_lifecycle", None)
    return method is not None and bool(method(name))


def takes_parameter(tool: Tool, key: str) -> bool:
    """Return whether the schema of the tool names the parameter."""
    properties = tool.input_schema.get("properties")
    return isinstance(properties, Mapping) and key in properties


BROWSER_OPEN = "create_session"
BROWSER_KEY = "sessionId"


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """Opens sessions with `create_session`, whose arguments are `options`, and closes them.

    The server names the session. The name that was passed to the handle is not sent.
    """

    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    server_names_sessions: ClassVar[bool] = True
    opens: ClassVar[str | None] = BROWSER_OPEN
    injected_keys: ClassVar[Sequence[str]] = (BROWSER_KEY,)

    async def open(self, client: ToolClient, session_name: str) -> str:  # noqa: ARG002 - the server names it
        made = value_of(await client.call_tool(BROWSER_OPEN, self.options))
        data = cast("Mapping[str, Any]", made).get("data") if isinstance(made, Mapping) else None
        id = cast("Mapping[str, Any]", data).get(BROWSER_KEY) if isinstance(data, Mapping) else None
        if not isinstance(id, str):
            raise MCPError(f"{BROWSER_OPEN} answered without a {BROWSER_KEY}", reason="protocol")
        return id

    async def close(self, client: ToolClient, session_name: str) -> None:
        await client.call_tool("close_session", {BROWSER_KEY: session_name})

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:
        return {BROWSER_KEY: session_name, **arguments}

    def has_session(self, tool: Tool) -> bool:
        return takes_parameter(tool, BROWSER_KEY)

    def is_lifecycle(self, name: str) -> bool:
        return name in (BROWSER_OPEN, "close_session")


@dataclass(frozen=True, slots=True)
class NoSession:
    """An adapter for servers without tool sessions. It does not change arguments."""

    opens: ClassVar[str | None] = None
    injected_keys: ClassVar[Sequence[str]] = ()

    async def open(self, client: ToolClient, session_name: str) -> str:  # noqa: ARG002
        return session_name

    async def close(self, client: ToolClient, session_name: str) -> None: ...

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:  # noqa: ARG002
        return dict(arguments)

    def has_session(self, tool: Tool) -> bool:  # noqa: ARG002
        return False

    def is_lifecycle(self, name: str) -> bool:  # noqa: ARG002
        return False


SZKRABOK_OPEN = "session.open"
SZKRABOK_KEY = "sessionName"


@dataclass(frozen=True, slots=True)
class SzkrabokSession:
    """Opens and closes sessions of Szkrabok with `session.open` and `session.close`.

    The session starts at `url`, in a browser with the `launch_options`. Without `keep`, the session's files
    at the server are deleted when it is closed, even if closing fails.
    """

    url: str | None = None
    launch_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    keep: bool = True

    opens: ClassVar[str | None] = SZKRABOK_OPEN
    injected_keys: ClassVar[Sequence[str]] = (SZKRABOK_KEY,)

    async def open(self, client: ToolClient, session_name: str) -> str:
        arguments: dict[str, Any] = {SZKRABOK_KEY: session_name}
        if self.url is not None:
            arguments["url"] = self.url
        if self.launch_options:
            arguments["launchOptions"] = dict(self.launch_options)
        await client.call_tool(SZKRABOK_OPEN, arguments)
        return session_name

    async def close(self, client: ToolClient, session_name: str) -> None:
        """Close the session, and delete it unless it is kept.

        Raises:
            MCPError: closing or deleting failed. If both failed, a note has the second error.
        """
        try:
            await client.call_tool("session.close", {SZKRABOK_KEY: session_name})
        except MCPError as error:
            try:
                await self._delete(client, session_name)
            except MCPError as second:
                error.add_note(f"session.delete failed too: {second}")
            raise
        await self._delete(client, session_name)

    async def _delete(self, client: ToolClient, session_name: str) -> None:
        if not self.keep:
            await client.call_tool("session.delete", {SZKRABOK_KEY: session_name})

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:
        return {SZKRABOK_KEY: session_name, **arguments}

    def has_session(self, tool: Tool) -> bool:
        return takes_parameter(tool, SZKRABOK_KEY)

    def is_lifecycle(self, name: str) -> bool:
        return name.startswith("session.")


szkrabok_session = SzkrabokSession()
browser_session = BrowserSession()
no_session = NoSession()

ADAPTERS: Mapping[str, KnownAdapter] = {
    "szkrabok": szkrabok_session,
    "browser": browser_session,
    "none": no_session,
}


def choose_adapter(tools: Iterable[Tool]) -> str:
    """Return the name of the adapter that fits the server's tools, or `none`."""
    offered = {tool.name for tool in tools}
    fits = (name for name, adapter in ADAPTERS.items() if adapter.opens in offered)
    return next(fits, "none")


def choose_fitting_adapter(tools: Iterable[Tool]) -> Adapter:
    return ADAPTERS[choose_adapter(tools)]


def without_traces(adapter: Adapter) -> Adapter:
    """Return the adapter, changed so that closing a session deletes its files, if it supports that."""
    return replace(adapter, keep=False) if isinstance(adapter, SzkrabokSession) else adapter
