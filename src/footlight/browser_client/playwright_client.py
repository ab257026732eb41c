"""A typed client of a browser, through the tools of a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from footlight.browser_client.operation import Operation
from footlight.browser_client.results import (
    InvalidResultError,
    NavigateResult,
    ScreenshotResult,
    SnapshotResult,
)
from footlight.browser_client.validation import (
    DEFAULT_TIMEOUT_MS,
    validate_fields,
    validate_format,
    validate_host,
    validate_script,
    validate_selector,
    validate_timeout,
    validate_url,
)
from footlight.client.tasks import LoopLock
from footlight.protocol.errors import MCPConnectionError, MCPError, ToolInvocationError

if TYPE_CHECKING:
    from footlight.browser_client.dialects.dialect import Dialect
    from footlight.browser_client.mcp_config import MCPConfig
    from footlight.browser_client.results import ImageFormat
    from footlight.client.mcp_client import MCPClient

__all__ = ["PlaywrightClient"]

Value = TypeVar("Value")


class PlaywrightClient:
    """A client for `footlight serve` and `@playwright/mcp`, which it recognizes by their tools.

    Parameters are checked before anything is sent. Operations run one after the other; `timeout_ms` limits
    each from its start. `close` ends the browser's session; the connection belongs to its owner.

    Each operation raises:
        ToolInvocationError: a parameter is refused (`invalid`), the tool failed (`tool`), or the answer is
            not valid (`protocol`).
        MCPTimeoutError: it took too long.
        MCPConnectionError: the connection is lost.
    """

    def __init__(
        self, mcp_client: MCPClient, *, timeout_ms: int = DEFAULT_TIMEOUT_MS, resolve_hosts: bool = False
    ) -> None:
        """Create a client. With `resolve_hosts`, refuse to navigate to hosts that do not resolve here.

        Raises:
            MCPConnectionError: the client is not connected.
        """
        if not mcp_client.connected:
            raise MCPConnectionError(
                "PlaywrightClient needs a connected MCPClient: connect() it first", reason="not_connected"
            )
        self.mcp_client = mcp_client
        self.timeout_ms = validate_timeout(timeout_ms, tool="PlaywrightClient")
        self._resolve_hosts = resolve_hosts
        self._turn = LoopLock()
        self._dialect: Dialect | None = None

    @classmethod
    @asynccontextmanager
    async def launch(
        cls, config: MCPConfig | None = None, *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> AsyncGenerator[PlaywrightClient]:
        """Start the server of this configuration. When the block ends, the server and its browser have ended.

        Raises:
            ServerNotAvailableError: it cannot be started.
        """
        from footlight.browser_client.mcp_config import MCPConfig
        from footlight.client.mcp_client import MCPClient

        config = config or MCPConfig()
        config.ensure_command()
        async with MCPClient(config.transport(env=env, cwd=cwd), timeout_ms=config.timeout) as mcp_client:
            yield cls(mcp_client, timeout_ms=config.timeout)

    async def navigate(self, url: str, *, timeout_ms: int | None = None) -> NavigateResult:
        """Open a page (`http` or `https`). A status of 404 counts as a page too."""
        validate_url(url, tool="browser_navigate")
        if self._resolve_hosts:
            await validate_host(url, tool="browser_navigate")
        return await self._run(
            "browser_navigate", lambda dialect, run: dialect.navigate(run, url), timeout_ms
        )

    async def screenshot(
        self, *, format: ImageFormat = "png", full_page: bool = False, timeout_ms: int | None = None
    ) -> ScreenshotResult:
        """Take a screenshot of the visible part of the page, or of all of it."""
        validate_format(format, tool="browser_take_screenshot")
        return await self._run(
            "browser_take_screenshot",
            lambda dialect, run: dialect.screenshot(run, format=format, full_page=full_page),
            timeout_ms,
        )

    async def get_snapshot(self, *, timeout_ms: int | None = None) -> SnapshotResult:
        """Return the page's accessibility tree. `click` and `fill_form` accept its refs as selectors."""
        return await self._run("browser_snapshot", lambda dialect, run: dialect.snapshot(run), timeout_ms)

    async def click(self, selector: str, *, timeout_ms: int | None = None) -> None:
        """Click the element of this CSS selector or ref."""
        validate_selector(selector, tool="browser_click")
        await self._run("browser_click", lambda dialect, run: dialect.click(run, selector), timeout_ms)

    async def fill_form(self, fields: Mapping[str, str], *, timeout_ms: int | None = None) -> None:
        """Fill fields, by CSS selector or ref.

        A checkbox takes `true` or `false`, a list the label or the value of an option.
        """
        filled = validate_fields(fields, tool="browser_fill_form")
        await self._run("browser_fill_form", lambda dialect, run: dialect.fill_form(run, filled), timeout_ms)

    async def evaluate(self, script: str, *, timeout_ms: int | None = None) -> Any:
        """Return the JSON value of an expression, or of a function that is called without arguments."""
        validate_script(script, tool="browser_evaluate")
        return await self._run(
            "browser_evaluate", lambda dialect, run: dialect.evaluate(run, script), timeout_ms
        )

    async def close(self) -> None:
        """Close the browser's page and its session, if the server has a tool for that.

        A later operation opens another. May be called twice, and when the connection is gone.
        """
        with suppress(MCPConnectionError):
            if self.mcp_client.connected:
                await self._run("browser_close", lambda dialect, run: dialect.close(run), None)

    async def _run(
        self, tool: str, work: Callable[[Dialect, Operation], Awaitable[Value]], timeout_ms: int | None
    ) -> Value:
        limit = self.timeout_ms if timeout_ms is None else validate_timeout(timeout_ms, tool=tool)
        async with self._turn.here():
            operation = Operation(self.mcp_client, tool=tool, timeout_ms=limit)
            try:
                return await work(await self._choose_dialect(operation), operation)
            except ToolInvocationError as error:
                raise self._translate_failure(error, operation) from None
            except InvalidResultError as error:
                raise _as_protocol_error(error, operation) from error
            except TimeoutError:
                raise operation.timeout_error() from None

    async def _choose_dialect(self, operation: Operation) -> Dialect:
        """Choose the dialect by the current tools: the client may have reconnected to another server."""
        from footlight.browser_client.dialects import family_of

        tools = await operation.tools()
        family = family_of(tools, tool_name=operation.tool)
        if not isinstance(self._dialect, family):
            self._dialect = family()
        self._dialect.tools = {tool.name: tool for tool in tools}
        return self._dialect

    def _translate_failure(self, error: ToolInvocationError, operation: Operation) -> MCPError:
        """Translate the failure of a tool. Errors that no tool caused stay as they are."""
        translated: MCPError = error
        if error.result is not None and self._dialect is not None:
            translated = self._dialect.translate_error(error, operation)
        if isinstance(translated, ToolInvocationError) and translated.tool_args is not None:
            translated.tool_args = _without_values(translated.tool_args)
        return translated


def _as_protocol_error(error: InvalidResultError, operation: Operation) -> ToolInvocationError:
    return ToolInvocationError(
        f"{operation.tool}: {error}",
        tool_name=operation.tool,
        tool_args=_without_values(operation.arguments),
        reason="protocol",
        result=operation.result,
    )


def _without_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without the values that were filled in, which may be passwords."""
    return {key: "***" if key == "value" else _mask_values(key, each) for key, each in arguments.items()}


def _mask_values(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        if key == "fields":  # By the selectors of the fields.
            return dict.fromkeys(cast("Mapping[str, Any]", value), "***")
        return _without_values(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return [_mask_values("", each) for each in cast("list[Any]", value)]
    return value
