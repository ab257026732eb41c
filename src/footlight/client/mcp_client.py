"""The client of an MCP server, over any transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from footlight.client.client_options import check_options, list_capabilities, make_handlers
from footlight.client.client_session import ClientSession, State
from footlight.client.server_tools import ServerTools, check_success, find_tool, has_words
from footlight.client.streams import Streams
from footlight.client.target import transport_for
from footlight.client.tool_list import ToolList
from footlight.protocol.callbacks import Handler, ListenerResult
from footlight.protocol.connection import (
    OnError,
    OnMessage,
    OnNotification,
    OnProgress,
    Result,
)
from footlight.protocol.deadline import CallDeadline, check_timeout
from footlight.protocol.errors import MCPError
from footlight.protocol.handshake import ClientIdentity, RequestedVersion
from footlight.protocol.results import CallResult, ToolResult, read_call, read_result
from footlight.protocol.tools import Tool
from footlight.protocol.untrusted_json import items
from footlight.protocol.versions import DEFAULT_VERSION, VERSIONS, is_stateless

if TYPE_CHECKING:
    import httpx2

    from footlight.client.server_listings import ServerListings
    from footlight.protocol.channel import Transport
    from footlight.protocol.listings import (
        Completion,
        Prompt,
        PromptResult,
        Resource,
        ResourceContents,
        ResourceTemplate,
    )

__all__ = ["MCPClient"]

logger = logging.getLogger(__name__)

DEFAULT_TIMEOUT_MS = 30_000.0
MAX_PARTS = 5_000
"""The maximum number of parts of a result that are read in the event loop, which takes 20 ms."""

T = TypeVar("T")


class MCPClient:
    """A client of one MCP server.

    `target` is a URL (`http`, `https`, `ws`, `wss`), a command line, a transport, or a server in this
    process. Without a target, pass a command to `connect`. The client connects on `async with`, on `connect`,
    or on the first call. All methods may be called concurrently from any task of one event loop. `timeout_ms`
    is the default time limit of calls.

    `protocol_version` is a revision of the protocol, or `auto` for the newest that both sides support. By
    default, the client offers 2025-06-18 and accepts the server's choice. `roots` answers `roots/list`;
    `sampling` and `elicitation` answer the server's requests, which are refused without them.
    """

    def __init__(
        self,
        target: object = None,
        *,
        name: str = "footlight",
        version: str = "0.1.0",
        timeout_ms: float = DEFAULT_TIMEOUT_MS,
        headers: Mapping[str, str] | None = None,
        auth: httpx2.Auth | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        protocol_version: RequestedVersion = None,
        on_notification: OnNotification | None = None,
        roots: Sequence[str] | None = None,
        sampling: Handler | None = None,
        elicitation: Handler | None = None,
    ) -> None:
        """Create a client that is not connected yet.

        Raises:
            MCPError: an argument is not valid (`invalid`).
        """
        check_options(name, version, timeout_ms, protocol_version)
        self.name = name
        self.version = version
        self.timeout_ms = timeout_ms
        self._requested_version: RequestedVersion = protocol_version
        handlers = make_handlers(roots, sampling, elicitation)
        self._on_notification = on_notification
        tool_list = ToolList()
        self._session = ClientSession(
            None if target is None else transport_for(target, headers=headers, auth=auth, env=env, cwd=cwd),
            identity=ClientIdentity({"name": name, "version": version}, list_capabilities(handlers)),
            requested_version=protocol_version,
            timeout_ms=timeout_ms,
            handlers=handlers,
            opens_stream=bool(handlers) or on_notification is not None,
            on_notification=self._on_connection_notification,
            on_server_forgotten=tool_list.forget,
        )
        self._tools = ServerTools(self._session, tool_list)
        self._streams = Streams(self._session)

    def __repr__(self) -> str:
        transport = self._session.transport
        where = "" if transport is None else f" {transport.where}"
        return f"<MCPClient {self.name}{where} {self.state}>"

    # Connection

    @property
    def state(self) -> State:
        """Return the state.

        It is `error` after the connection was lost, until `reconnect` or `close` is called.
        """
        return self._session.state

    @property
    def connected(self) -> bool:
        return self.state == "connected"

    def is_connected(self) -> bool:
        return self.connected

    @property
    def transport(self) -> Transport | None:
        """Return the transport, or None while disconnected."""
        return self._session.transport if self.connected else None

    async def connect(
        self,
        command: str | None = None,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        """Connect to the target, or start this command and connect to its standard streams.

        Raises:
            MCPError: the client is connected already, or there is no target and no command (`invalid`).
            ServerNotAvailableError: the server cannot be reached. No process is left running.
            MCPConnectionError: the server does not speak MCP.
            MCPTimeoutError: connecting took too long.
        """
        if command is None and (args or env is not None or cwd is not None):
            raise MCPError("command: args, env and cwd need a command", reason="invalid")
        named = None if command is None else transport_for([command, *args], env=env, cwd=cwd)
        await self._session.connect(named)

    async def reconnect(self) -> None:
        """Connect to the same server again, in any state of the connection.

        Raises:
            MCPError: what `connect` raises.
        """
        await self.close_stream()
        await self._session.reconnect()

    async def close(self) -> None:
        """End the session, its streams, and the process that was started. It is safe to call this twice."""
        try:
            await self.close_stream()
        finally:
            await self._session.close()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Result:
        """Send any request of the protocol and return its result unchanged.

        Raises:
            MCPTimeoutError: there was no answer within `timeout_ms`. The request was cancelled at the server.
            MCPConnectionError: the connection was lost or never made; or the HTTP session expired, and the
                next call begins another.
            MCPError: the server refused the request, or its answer is malformed.
        """
        return await self._session.request(
            method, params, deadline=self._deadline(timeout_ms), on_progress=on_progress
        )

    def _deadline(self, timeout_ms: float | None = None) -> CallDeadline:
        """Start the deadline of a call. The default is the client's `timeout_ms`."""
        if timeout_ms is None:
            return CallDeadline(self.timeout_ms)
        check_timeout(timeout_ms)
        return CallDeadline(timeout_ms)

    def _on_connection_notification(self, method: str, params: Mapping[str, Any]) -> ListenerResult:
        if method == "notifications/tools/list_changed":
            self._tools.forget()
        self._streams.handle_notification(method, params)
        return None if self._on_notification is None else self._on_notification(method, params)

    # Server information

    def get_server_info(self) -> Mapping[str, Any]:
        """Return the server's `serverInfo`, such as its name and version. It is empty while disconnected."""
        return {} if self._session.introduction is None else self._session.introduction.server_info

    def get_server_capabilities(self) -> Mapping[str, Any]:
        return {} if self._session.introduction is None else self._session.introduction.capabilities

    def get_instructions(self) -> str | None:
        """Return the server's instructions for a model, or None."""
        return None if self._session.introduction is None else self._session.introduction.instructions

    def get_protocol_version(self) -> str:
        """Return the revision of the protocol in use or, while disconnected, the one that will be offered."""
        if self._session.introduction is not None:
            return self._session.introduction.version
        return self._requested_version if self._requested_version in VERSIONS else DEFAULT_VERSION

    def get_session_id(self) -> str | None:
        """Return the `Mcp-Session-Id`, which is a secret, or None if there is no HTTP session."""
        return None if self._session.http is None else self._session.http.session_id

    async def ping(self, *, timeout_ms: float | None = None) -> None:
        """Check that the server answers.

        In the stateless protocol, which has no ping, send `server/discover`.
        """
        deadline = self._deadline(timeout_ms)
        _, introduction = await self._session.ensure_connected(deadline)
        method = "server/discover" if is_stateless(introduction.version) else "ping"
        await self._session.request(method, deadline=deadline)

    # Tools

    async def list_tools(self, refresh: bool = False) -> tuple[Tool, ...]:
        """Return all tools, from all pages.

        The list is cached until the server reports a change, the session ends, or `refresh` is set. In the
        stateless protocol, the server limits how long it is cached.
        """
        return await self._tools.list_tools(self._deadline(), refresh=refresh)

    async def get_tool(self, name: str) -> Tool | None:
        """Return the tool with this name, or None."""
        return find_tool(name, await self.list_tools())

    async def search_tools(self, query: str) -> tuple[Tool, ...]:
        """Return the tools that have every word of the query in their name, title or description.

        The search ignores case.
        """
        words = query.lower().split()
        return tuple(tool for tool in await self.list_tools() if has_words(tool, words))

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> ToolResult:
        """Call a tool, and raise an error if it failed.

        Raises:
            ToolInvocationError: the server refused the call, or the tool failed. `result` is the tool's
                result, and `data` is its error object, if it has one, such as `{code, message, details}`.
            MCPTimeoutError: there was no answer within `timeout_ms`.
            MCPError: what `request` raises.
        """
        raw = await self._call(name, arguments, timeout_ms, on_progress)
        result = await _read_off_loop(read_result, raw)
        check_success(result, name, arguments)
        return result

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        """Call a tool. A failure of the tool is returned, not raised.

        Raises:
            ToolInvocationError: the server refused the call.
            MCPTimeoutError: there was no answer within `timeout_ms`.
            MCPError: what `request` raises.
        """
        raw = await self._call(name, arguments, timeout_ms, on_progress)
        return await _read_off_loop(read_call, raw)

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        timeout_ms: float | None,
        on_progress: OnProgress | None,
    ) -> Result:
        return await self._tools.call(name, arguments, self._deadline(timeout_ms), on_progress)

    # Resources, prompts, completion

    @cached_property
    def _listings(self) -> ServerListings:
        from footlight.client.server_listings import ServerListings  # Most clients never use it.

        return ServerListings(self._session)

    async def list_resources(self) -> tuple[Resource, ...]:
        return await self._listings.list_resources(self._deadline())

    async def list_resource_templates(self) -> tuple[ResourceTemplate, ...]:
        return await self._listings.list_resource_templates(self._deadline())

    async def read_resource(self, uri: str) -> tuple[ResourceContents, ...]:
        return await self._listings.read_resource(uri, self._deadline())

    async def subscribe_resource(self, uri: str) -> None:
        """Subscribe to notifications of changes. In the stateless protocol, pass URIs to `open_stream`."""
        await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe_resource(self, uri: str) -> None:
        await self.request("resources/unsubscribe", {"uri": uri})

    async def list_prompts(self) -> tuple[Prompt, ...]:
        return await self._listings.list_prompts(self._deadline())

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        return await self._listings.get_prompt(name, arguments, self._deadline())

    async def complete(
        self,
        reference: Mapping[str, str],
        argument: str,
        value: str,
        *,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        """Return suggestions for the value of an argument.

        `reference` is `{"type": "ref/prompt", "name": …}` or `{"type": "ref/resource", "uri": …}`. `context`
        has the arguments that were chosen before.
        """
        return await self._listings.complete(reference, argument, value, context, self._deadline())

    async def set_logging_level(self, level: str) -> None:
        """Ask the server for log messages (`notifications/message`) of this level and above."""
        await self.request("logging/setLevel", {"level": level})

    # Streams and the HTTP session

    async def open_stream(
        self, on_message: OnMessage, on_error: OnError | None = None, *, resources: Sequence[str] = ()
    ) -> bool:
        """Receive messages that the server sends outside of calls. Return False if the server has no such
        stream, or another call has replaced it while it was opened.

        `on_message` receives each message. Over HTTP, this is the GET stream, which is reopened after an
        interruption. A client with handlers or `on_notification` opens it when it connects. In the stateless
        protocol, this is a subscription to changes of all lists and of `resources`. Other transports need no
        stream. There is at most one stream; opening another one replaces it.
        """
        return await self._streams.open(on_message, on_error, resources, deadline=self._deadline())

    async def close_stream(self) -> None:
        await self._streams.close()

    async def terminate_session(self) -> bool:
        """End the HTTP session at the server, and return whether it ended. The next call begins another."""
        await self.close_stream()
        return await self._session.terminate()


async def _read_off_loop(read: Callable[[Result], T], result: Result) -> T:
    """Read the result of a tool, in a thread if it has many parts."""
    if len(items(result.get("content"))) <= MAX_PARTS:
        return read(result)
    return await asyncio.to_thread(read, result)
