"""`MCPClient`: a connection to one MCP server, over any transport (documents 001 and 004)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from footlight.client.connection import NO_HANDLER, Handler, OnNotification, OnProgress, Result
from footlight.client.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.client.handshake import Identity, Wanted
from footlight.client.listeners import Told
from footlight.client.loose import items, text
from footlight.client.mirrored import check_annotations, mirrored
from footlight.client.results import CallResult, Tool, ToolResult, error_of, read_call, read_result
from footlight.client.session import Session, State, check_timeout
from footlight.client.streams import OnError, OnMessage, Stream
from footlight.client.target import transport_for
from footlight.client.tool_list import ToolList
from footlight.client.versions import DEFAULT_VERSION, VERSIONS, is_stateless

if TYPE_CHECKING:
    import httpx2

    from footlight.client.channel import Transport
    from footlight.client.listings import (
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
MOST_PAGES = 1_000

_NAME = re.compile(r"[A-Za-z0-9-]+")
_NUMBER = r"(0|[1-9][0-9]*)"
_BEFORE = rf"({_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_BEFORE}(\.{_BEFORE})*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
"""semver.org's."""

Value = TypeVar("Value")


class MCPClient:
    """A client of one server.

    `target` is a URL (`http`, `https`, `ws`, `wss`), a command line, a transport, or a server in this
    process; the first call connects, or `async with`, or `connect`. Without one, `connect` is given a
    command. All methods may be called from any task of one event loop, and at once. `timeout_ms` bounds each
    call that gives no time of its own.

    `protocol_version` is a revision, or `auto` for the newest that both sides speak; without it 2025-06-18 is
    offered, and what the server has is taken. `roots` are what `roots/list` answers; `sampling` and
    `elicitation` answer a server's questions, which are refused without them.
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
        protocol_version: Wanted = None,
        on_notification: OnNotification | None = None,
        roots: Sequence[str] | None = None,
        sampling: Handler | None = None,
        elicitation: Handler | None = None,
    ) -> None:
        """
        Raises:
            MCPError: one of them cannot be (`invalid`).
        """
        _check(name, version, timeout_ms, protocol_version)
        self.name = name
        self.version = version
        self.timeout_ms = timeout_ms
        self._wanted: Wanted = protocol_version
        handlers = _handlers(roots, sampling, elicitation)
        self._on_notification = on_notification
        self._tools = ToolList()
        self._stream: Stream | None = None
        self._session = Session(
            None if target is None else transport_for(target, headers=headers, auth=auth, env=env, cwd=cwd),
            identity=Identity({"name": name, "version": version}, _capabilities(handlers)),
            wanted=protocol_version,
            timeout_ms=timeout_ms,
            handlers=handlers,
            listens=bool(handlers) or on_notification is not None,
            on_notification=self._notified,
            on_forgotten=self._tools.forget,
        )

    def __repr__(self) -> str:
        transport = self._session.transport
        where = "" if transport is None else f" {transport.where}"
        return f"<MCPClient {self.name}{where} {self.state}>"

    # Its life

    @property
    def state(self) -> State:
        """`error` once the connection is lost, until `reconnect` or `close`."""
        return self._session.state

    @property
    def connected(self) -> bool:
        return self.state == "connected"

    def is_connected(self) -> bool:
        return self.connected

    @property
    def transport(self) -> Transport | None:
        """None unless connected (R004-5)."""
        return self._session.transport if self.connected else None

    async def connect(
        self,
        command: str | None = None,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        """Connect: to the target, or start this command and speak with it over its standard streams.

        Raises:
            MCPError: the client is connected already, or has nothing to connect to (`invalid`).
            ServerNotAvailableError: there is no server. Nothing is left running.
            MCPConnectionError: what is there does not speak MCP.
            MCPTimeoutError: it takes too long.
        """
        if command is None and (args or env is not None or cwd is not None):
            raise MCPError("command: args, env and cwd are for one; name it", reason="invalid")
        named = None if command is None else transport_for([command, *args], env=env, cwd=cwd)
        await self._session.connect(named)

    async def reconnect(self) -> None:
        """Connect anew to the same server, whatever became of the connection. Raises what `connect` does."""
        await self.close_stream()
        await self._session.reconnect()

    async def close(self) -> None:
        """End the session, the streams, and the process if we started one. May be called twice."""
        try:
            await self.close_stream()
        finally:
            await self._session.close()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Result:
        """Any request of the protocol, and its result as it came.

        Raises:
            MCPTimeoutError: no answer within `timeout_ms`; the server was told to stop.
            MCPConnectionError: the connection is over, or was never there; or the HTTP session expired, and
                the next call begins another.
            MCPError: the server refused, or what came is no answer.
        """
        return await self._session.request(method, params, timeout_ms=timeout_ms, on_progress=on_progress)

    def _notified(self, method: str, params: Mapping[str, Any]) -> Told:
        if method == "notifications/tools/list_changed":
            self._tools.forget()
        if self._stream is not None:
            self._stream.notified(method, params)
        return None if self._on_notification is None else self._on_notification(method, params)

    # What the server is

    def get_server_info(self) -> Mapping[str, Any]:
        """Its name and version, as it gave them; empty while disconnected."""
        return {} if self._session.introduction is None else self._session.introduction.server_info

    def get_server_capabilities(self) -> Mapping[str, Any]:
        return {} if self._session.introduction is None else self._session.introduction.capabilities

    def get_instructions(self) -> str | None:
        """What the server tells a model about its use."""
        return None if self._session.introduction is None else self._session.introduction.instructions

    def get_protocol_version(self) -> str:
        """The revision that is spoken; while disconnected the one that would be offered (R001-54)."""
        if self._session.introduction is not None:
            return self._session.introduction.version
        return self._wanted if self._wanted in VERSIONS else DEFAULT_VERSION

    def get_session_id(self) -> str | None:
        """The `Mcp-Session-Id`, which is a secret; None where there is none (R001-21)."""
        return None if self._session.http is None else self._session.http.session_id

    async def ping(self, *, timeout_ms: float | None = None) -> None:
        """Whether the server answers. The stateless protocol has no ping: it is asked what it is."""
        _, introduction = await self._session.ready()
        method = "server/discover" if is_stateless(introduction.version) else "ping"
        await self.request(method, timeout_ms=timeout_ms)

    # Tools

    async def list_tools(self, refresh: bool = False) -> tuple[Tool, ...]:
        """All pages. Kept until the server says that they changed, `refresh`, or the end (R001-44 to 47).

        In the stateless protocol, for as long as the server says.
        """
        _, introduction = await self._session.ready()
        mirrors = is_stateless(introduction.version) and self._session.http is not None
        return await self._tools.get(
            lambda: self._pages("tools/list"), refresh=refresh, usable=_can_mirror if mirrors else None
        )

    async def get_tool(self, name: str) -> Tool | None:
        """The tool of this name, or None."""
        return next((tool for tool in await self.list_tools() if tool.name == name), None)

    async def search_tools(self, query: str) -> tuple[Tool, ...]:
        """Those with every word of the query in their name, title or description, in any case."""
        words = query.lower().split()
        return tuple(
            tool
            for tool in await self.list_tools()
            if all(
                word in f"{tool.name} {tool.title or ''} {tool.description or ''}".lower() for word in words
            )
        )

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> ToolResult:
        """Call a tool, and raise where it failed (R004-29).

        Raises:
            ToolInvocationError: the server refused the call, or the tool failed; `result` is what it said,
                and `data` its error, such as `{code, message, details}`, where it tells one as an object.
            MCPTimeoutError: no answer within `timeout_ms`.
            MCPError: as `request`.
        """
        result = read_result(await self._call(name, arguments, timeout_ms, on_progress))
        if result.is_error:
            told, error = error_of(result)
            raise ToolInvocationError(
                told or f"The tool {name} failed and does not say why",
                tool_name=name,
                tool_args=arguments,
                reason="unknown_tool" if _says_unknown(told, name) else "tool",
                data=error,
                result=result,
            )
        return result

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        """Call a tool. A failure that the tool tells of is returned, not raised (R001-37 to R001-43).

        Raises:
            ToolInvocationError: the server refused the call.
            MCPTimeoutError: no answer within `timeout_ms`.
            MCPError: as `request`.
        """
        return read_call(await self._call(name, arguments, timeout_ms, on_progress))

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        timeout_ms: float | None,
        on_progress: OnProgress | None,
    ) -> Result:
        params = {"name": name, "arguments": arguments or {}}
        try:
            headers = await self._mirrored(name, arguments or {})
            return await self._session.request(
                "tools/call", params, timeout_ms=timeout_ms, on_progress=on_progress, headers=headers
            )
        except MCPTimeoutError as error:
            raise MCPTimeoutError(
                f"The tool {name} gave no answer within {error.timeout_ms:.0f}ms",
                timeout_ms=error.timeout_ms,
                tool_name=name,
            ) from None
        except MCPError as error:
            if error.reason != "peer":
                raise
            raise _refused(error, name, arguments) from error

    async def _mirrored(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        _, introduction = await self._session.ready()
        if not is_stateless(introduction.version) or self._session.http is None:
            return {}
        # Many servers let no list be kept: it would be asked for before every call.
        tool = self._tools.last_seen(name) or await self.get_tool(name)
        return {} if tool is None else mirrored(tool.input_schema, arguments)

    # Resources, prompts, completion: not imported before they are asked for, as most who start never do

    async def list_resources(self) -> tuple[Resource, ...]:
        from footlight.client.listings import read_resource

        return await self._entries("resources/list", "resources", read_resource)

    async def list_resource_templates(self) -> tuple[ResourceTemplate, ...]:
        from footlight.client.listings import read_template

        return await self._entries("resources/templates/list", "resourceTemplates", read_template)

    async def read_resource(self, uri: str) -> tuple[ResourceContents, ...]:
        from footlight.client.listings import read_contents

        result = await self.request("resources/read", {"uri": uri})
        return tuple(read_contents(entry) for entry in items(result.get("contents")))

    async def subscribe_resource(self, uri: str) -> None:
        """News of it come as notifications. In the stateless protocol `open_stream` takes the URIs."""
        await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe_resource(self, uri: str) -> None:
        await self.request("resources/unsubscribe", {"uri": uri})

    async def list_prompts(self) -> tuple[Prompt, ...]:
        from footlight.client.listings import read_prompt

        return await self._entries("prompts/list", "prompts", read_prompt)

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        from footlight.client.listings import read_prompt_result

        return read_prompt_result(
            await self.request("prompts/get", {"name": name, "arguments": arguments or {}})
        )

    async def complete(
        self,
        reference: Mapping[str, str],
        argument: str,
        value: str,
        *,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        """What the argument's value may be.

        `reference` is `{"type": "ref/prompt", "name": …}` or `{"type": "ref/resource", "uri": …}`; `context`
        holds the arguments that are chosen already.
        """
        from footlight.client.listings import read_completion

        params: dict[str, Any] = {"ref": reference, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": context}
        return read_completion(await self.request("completion/complete", params))

    async def set_logging_level(self, level: str) -> None:
        """What the server logs to the client: `notifications/message`, from this level on."""
        await self.request("logging/setLevel", {"level": level})

    async def _entries(self, method: str, key: str, read: Callable[[object], Value]) -> tuple[Value, ...]:
        return tuple(read(entry) for page in await self._pages(method) for entry in items(page.get(key)))

    async def _pages(self, method: str) -> list[Result]:
        """All of them (R001-47)."""
        pages: list[Result] = []
        cursors: set[str] = set()
        cursor: str | None = None
        while True:
            pages.append(await self.request(method, {} if cursor is None else {"cursor": cursor}))
            cursor = text(pages[-1].get("nextCursor"))
            if cursor is None:
                return pages
            if cursor in cursors or len(pages) >= MOST_PAGES:
                raise MCPError(f"The pages of {method} have no end", reason="protocol")
            cursors.add(cursor)

    # Streams and the HTTP session

    async def open_stream(
        self, on_message: OnMessage, on_error: OnError | None = None, *, resources: Sequence[str] = ()
    ) -> bool:
        """Hear what the server says of itself; False where it does not support that (R001-23 to 27).

        Over HTTP it is the GET stream, which is opened again by itself after a drop (a client with handlers
        or `on_notification` has it from the beginning); in the stateless
        protocol a subscription to all lists and these resources; over other transports they come anyway.
        `on_message` takes each message. There is one stream; another call replaces it.
        """
        connection, introduction = await self._session.ready()
        await self.close_stream()
        self._stream = stream = Stream(on_message, on_error)
        opened = False
        try:
            if is_stateless(introduction.version):
                opened = await stream.subscribe(connection, resources, timeout_ms=self.timeout_ms)
            elif self._session.http is not None:
                opened = await stream.listen(self._session, self.timeout_ms)
            else:
                opened = True
        finally:
            # Another call may have put its own in this one's place.
            if not opened and self._stream is stream:
                await self.close_stream()
        return opened

    async def close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None and not self._session.loop_ended:
            await stream.close()

    async def terminate_session(self) -> bool:
        """End the HTTP session at the server: whether it did; False too where there is none (R001-20).

        The next call begins another.
        """
        await self.close_stream()
        return await self._session.terminate()


def _check(name: str, version: str, timeout_ms: float, protocol_version: Wanted) -> None:
    """R004-1."""
    if not _is_text(name) or not _NAME.fullmatch(name):
        raise MCPError(f"name: {name!r:.60} must be letters, digits and hyphens", reason="invalid")
    if not _is_text(version) or not _VERSION.fullmatch(version):
        raise MCPError(f"version: {version!r:.60} must be like 1.0.0", reason="invalid")
    check_timeout(timeout_ms)
    if protocol_version not in (None, "auto", *VERSIONS):
        raise MCPError(
            f"protocol_version: {protocol_version!r:.60} must be auto or one of {', '.join(VERSIONS)}",
            reason="invalid",
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _can_mirror(tool: Tool) -> bool:
    """A tool whose schema misuses `x-mcp-header` must not be used over HTTP."""
    try:
        check_annotations(tool.input_schema)
    except MCPError as error:
        logger.warning("left out the tool %s: %s", tool.name, error)
        return False
    return True


def _handlers(
    roots: Sequence[str] | None, sampling: Handler | None, elicitation: Handler | None
) -> dict[str, Handler]:
    handlers: dict[str, Handler] = {}
    if isinstance(roots, str):
        raise MCPError("roots: must be a list of URIs, not one of them", reason="invalid")
    if roots is not None:
        handlers["roots/list"] = lambda _: {"roots": [{"uri": uri} for uri in roots]}
    if sampling is not None:
        handlers["sampling/createMessage"] = sampling
    if elicitation is not None:
        handlers["elicitation/create"] = elicitation
    return handlers


def _capabilities(handlers: Mapping[str, Handler]) -> dict[str, Any]:
    names = {"roots/list": "roots", "sampling/createMessage": "sampling", "elicitation/create": "elicitation"}
    return {names[method]: {} for method in handlers}


def _refused(error: MCPError, name: str, arguments: Mapping[str, Any] | None) -> ToolInvocationError:
    """The server's error as the call's (R001-30: both SDKs send -32602 for a tool that is not there)."""
    ours = error.rpc_code == -32601 and error.message.startswith(NO_HANDLER)
    unknown = error.rpc_code == -32601 or (error.rpc_code == -32602 and _says_unknown(error.message, name))
    return ToolInvocationError(
        error.message,
        tool_name=name,
        tool_args=arguments,
        reason="protocol" if ours else "unknown_tool" if unknown else "peer",
        rpc_code=error.rpc_code,
        data=error.data,
        status=error.status,
    )


def _says_unknown(message: str, name: str) -> bool:
    before = "(unknown tool|no such tool|tool not found)"
    quoted = rf"['\"`]?{re.escape(name)}['\"`]?"
    wrapped = r"(MCP error -?\d+: |### Error\s+)?"
    pattern = rf"{wrapped}({before}:? {quoted}|tool:? {quoted} (was )?not found)(?!\w).{{0,100}}"
    return re.fullmatch(pattern, message.strip(), re.IGNORECASE | re.DOTALL) is not None
