"""Adapters: how a server's sessions of tools, such as browser sessions, are opened, closed and named.

Only an adapter knows the parameter that names a session. Your own adapter is an object with the members of
`Adapter`.
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
    """Calls tools: a client, or one that logs."""

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult: ...


class Adapter(Protocol):
    """Opens and closes a session, and adds its name to the arguments of the tools that take one.

    A handle needs only these four members. An adapter may also have `is_lifecycle(name)`, as `KnownAdapter`
    has: without it, a replay repeats the calls that opened and closed the logged session.
    """

    async def open(self, client: ToolClient, session_name: str, /) -> str | None:
        """Open the session. Return the name by which the server knows it, or None for `session_name`.

        The other methods get that name. If this raises, `close` is called with `session_name`.
        """
        ...

    async def close(self, client: ToolClient, session_name: str, /) -> None: ...

    def inject_session(self, arguments: Mapping[str, Any], session_name: str, /) -> Mapping[str, Any]:
        """Return the arguments with the session's key before all others."""
        ...

    def has_session(self, tool: Tool, /) -> bool:
        """Return whether the tool takes the key."""
        ...


class KnownAdapter(Adapter, Protocol):
    """An adapter of Footlight, which codegen, replay and export can choose by a server's tools."""

    opens: ClassVar[str | None]
    """The tool that opens a session, by which such a server is recognised."""
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
    """Return whether the adapter says that the tool opens or closes sessions."""
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
    """Uses `create_session`, with `options` as its arguments, and `close_session`.

    The server names the session. The name that was given to the handle is not sent.
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
    """Opens no session and adds nothing to the arguments. Every tool has its method."""

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
    """Uses `session.open` and `session.close`. `url` is opened first; `launch_options` are the browser's.

    Unless `keep`, what the session left on the server's disk is deleted when it is closed, also if closing
    fails.
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
            MCPError: it was not closed, or not deleted. If both failed, a note says so.
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
    """Return the name of the adapter whose tool for opening a session the server has, or `none`."""
    offered = {tool.name for tool in tools}
    fits = (name for name, adapter in ADAPTERS.items() if adapter.opens in offered)
    return next(fits, "none")


def choose_fitting_adapter(tools: Iterable[Tool]) -> Adapter:
    return ADAPTERS[choose_adapter(tools)]


def without_traces(adapter: Adapter) -> Adapter:
    """Return the adapter for sessions that leave nothing at the server."""
    return replace(adapter, keep=False) if isinstance(adapter, SzkrabokSession) else adapter
