"""The synchronous client, for scripts and notebooks. Each call waits for its answer.

```python

with MCPClient("footlight serve") as client:
    print(client.call("navigate", {"url": "http://127.0.0.1:8000"}).data)
```

Each client runs an event loop in its own thread, so it also works where another event loop is running.
Several threads may use one client, but a forked process needs one of its own. Callbacks and handlers are
called in the client's thread: they must not call the client, and must not take long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from footlight.client import mcp_client
from footlight.client.loop_thread import LoopThread

if TYPE_CHECKING:
    import httpx2

    from footlight.client.client_session import State
    from footlight.protocol.callbacks import Handler
    from footlight.protocol.channel import Transport
    from footlight.protocol.connection import OnError, OnMessage, OnNotification, OnProgress, Result
    from footlight.protocol.handshake import RequestedVersion
    from footlight.protocol.listings import (
        Completion,
        Prompt,
        PromptResult,
        Resource,
        ResourceContents,
        ResourceTemplate,
    )
    from footlight.protocol.results import CallResult, ToolResult
    from footlight.protocol.tools import Tool

__all__ = ["MCPClient"]


class MCPClient:
    """The synchronous form of `footlight.MCPClient`, which documents the methods and their errors."""

    def __init__(
        self,
        target: object = None,
        *,
        name: str = "footlight",
        version: str = "0.1.0",
        timeout_ms: float = 30_000.0,
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
        self._client = mcp_client.MCPClient(
            target,
            name=name,
            version=version,
            timeout_ms=timeout_ms,
            headers=headers,
            auth=auth,
            env=env,
            cwd=cwd,
            protocol_version=protocol_version,
            on_notification=on_notification,
            roots=roots,
            sampling=sampling,
            elicitation=elicitation,
        )
        self._thread = LoopThread()

    def __repr__(self) -> str:
        return repr(self._client)

    @property
    def name(self) -> str:
        return self._client.name

    @property
    def version(self) -> str:
        return self._client.version

    @property
    def timeout_ms(self) -> float:
        return self._client.timeout_ms

    @property
    def state(self) -> State:
        return self._client.state

    @property
    def connected(self) -> bool:
        return self._client.connected

    @property
    def transport(self) -> Transport | None:
        return self._client.transport

    def is_connected(self) -> bool:
        return self._client.is_connected()

    def connect(
        self,
        command: str | None = None,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        self._thread.run(self._client.connect(command, args, env=env, cwd=cwd))

    def reconnect(self) -> None:
        self._thread.run(self._client.reconnect())

    def close(self) -> None:
        """Close the client and end its thread. A later call starts a new thread."""
        try:
            self._thread.run(self._client.close())
        finally:
            self._thread.end()

    def __enter__(self) -> Self:
        try:
            self.connect()
        except BaseException:
            if self.state == "disconnected":  # The client may have been connected before.
                self._thread.end()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Result:
        return self._thread.run(
            self._client.request(method, params, timeout_ms=timeout_ms, on_progress=on_progress)
        )

    def get_server_info(self) -> Mapping[str, Any]:
        return self._client.get_server_info()

    def get_server_capabilities(self) -> Mapping[str, Any]:
        return self._client.get_server_capabilities()

    def get_instructions(self) -> str | None:
        return self._client.get_instructions()

    def get_protocol_version(self) -> str:
        return self._client.get_protocol_version()

    def get_session_id(self) -> str | None:
        return self._client.get_session_id()

    def ping(self, *, timeout_ms: float | None = None) -> None:
        self._thread.run(self._client.ping(timeout_ms=timeout_ms))

    def list_tools(self, refresh: bool = False) -> tuple[Tool, ...]:
        return self._thread.run(self._client.list_tools(refresh))

    def get_tool(self, name: str) -> Tool | None:
        return self._thread.run(self._client.get_tool(name))

    def search_tools(self, query: str) -> tuple[Tool, ...]:
        return self._thread.run(self._client.search_tools(query))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> ToolResult:
        return self._thread.run(
            self._client.call_tool(name, arguments, timeout_ms=timeout_ms, on_progress=on_progress)
        )

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        return self._thread.run(
            self._client.call(name, arguments, timeout_ms=timeout_ms, on_progress=on_progress)
        )

    def list_resources(self) -> tuple[Resource, ...]:
        return self._thread.run(self._client.list_resources())

    def list_resource_templates(self) -> tuple[ResourceTemplate, ...]:
        return self._thread.run(self._client.list_resource_templates())

    def read_resource(self, uri: str) -> tuple[ResourceContents, ...]:
        return self._thread.run(self._client.read_resource(uri))

    def subscribe_resource(self, uri: str) -> None:
        self._thread.run(self._client.subscribe_resource(uri))

    def unsubscribe_resource(self, uri: str) -> None:
        self._thread.run(self._client.unsubscribe_resource(uri))

    def list_prompts(self) -> tuple[Prompt, ...]:
        return self._thread.run(self._client.list_prompts())

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        return self._thread.run(self._client.get_prompt(name, arguments))

    def complete(
        self,
        reference: Mapping[str, str],
        argument: str,
        value: str,
        *,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        return self._thread.run(self._client.complete(reference, argument, value, context=context))

    def set_logging_level(self, level: str) -> None:
        self._thread.run(self._client.set_logging_level(level))

    def open_stream(
        self, on_message: OnMessage, on_error: OnError | None = None, *, resources: Sequence[str] = ()
    ) -> bool:
        return self._thread.run(self._client.open_stream(on_message, on_error, resources=resources))

    def close_stream(self) -> None:
        self._thread.run(self._client.close_stream())

    def terminate_session(self) -> bool:
        return self._thread.run(self._client.terminate_session())
