"""The page under audit through the tools of a server: ours, or `@playwright/mcp`."""

from __future__ import annotations

import base64
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from footlight.client.dialects import family_of
from footlight.client.dialects.footlight import FootlightDialect
from footlight.client.dialects.playwright_mcp import PlaywrightMcpDialect
from footlight.client.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.client.loose import an_object, items, text
from footlight.client.operation import Operation
from footlight.client.validation import is_url
from footlight.ux.console_text import read_console
from footlight.ux.page import AuditedPage, ConsoleMessage, Opened, View

if TYPE_CHECKING:
    from footlight.client.dialects.dialect import Dialect
    from footlight.client.mcp_client import MCPClient

__all__ = ["page_of"]

TIMEOUT_MS = 60_000
"""Of an operation."""
LOADING_SHARE = 0.5
"""So long a page may need to load. After that it is measured as it is."""
_THERE = "() => ({ url: location.href, title: document.title, state: document.readyState })"

Value = TypeVar("Value")

_REF = re.compile(r"\[ref=((?:f\d+)?e\d+)\]")


async def page_of(
    client: MCPClient, *, timeout_ms: int = TIMEOUT_MS, session: Mapping[str, Any] | None = None
) -> AuditedPage:
    """For a connected client. The client stays its owner's.

    Args:
        session: what `create_session` is given beside the viewport at each visit, by our server alone.

    Raises:
        ToolInvocationError: the server has no browser tools that we know, or none that runs a script, or it
            has no sessions to be given something.
    """
    tools = {tool.name: tool for tool in await client.list_tools()}
    family = family_of([*tools.values()], wanted="evaluate")
    page = FootlightPage if family is FootlightDialect else PlaywrightMcpPage
    if page.scripts not in tools:
        raise ToolInvocationError(
            f"The server has no tool {page.scripts}, by which a page is measured: {page.hint}",
            tool_name=page.scripts,
            reason="unknown_tool",
        )
    if page is FootlightPage:
        return FootlightPage(client, timeout_ms, session or {})
    if session:
        raise ToolInvocationError(
            f"The server has no sessions that could be given {', '.join(session)}: start it with what it has "
            "for that",
            tool_name="create_session",
            reason="unknown_tool",
        )
    return PlaywrightMcpPage(client, timeout_ms)


class _ToolPage(ABC):
    scripts: ClassVar[str]
    """The tool that runs a script."""
    hint: ClassVar[str]
    """How the server could have it."""

    def __init__(self, client: MCPClient, timeout_ms: int) -> None:
        self.client = client
        self._timeout_ms = timeout_ms
        self._dialect: Dialect | None = None

    @property
    def server(self) -> str:
        told = an_object(self.client.get_server_info())
        return " ".join(filter(None, (text(told.get("name")), text(told.get("version"))))) or "a server"

    async def evaluate(self, script: str) -> Any:
        return await self._run("evaluate", lambda dialect, run: dialect.evaluate(run, script))

    async def screenshot(self, *, full_page: bool = False) -> bytes:
        taken = await self._run(
            "screenshot", lambda dialect, run: dialect.screenshot(run, format="png", full_page=full_page)
        )
        return base64.b64decode(taken.screenshot)

    async def _navigated(self, url: str) -> Opened:
        try:
            there = await self._run(
                "navigate", lambda dialect, run: dialect.navigate(run, url), share=LOADING_SHARE
            )
        except MCPTimeoutError:
            if (unfinished := await self._unfinished()) is None:
                raise
            return unfinished
        return Opened(url=there.url, title=there.title or "", status=there.status)

    async def _unfinished(self) -> Opened | None:
        """What is there already of a page that does not stop loading: readers do not wait for the rest."""
        try:
            told = an_object(await self.evaluate(_THERE))
        except MCPError:
            return None
        url, state = text(told.get("url")) or "", told.get("state")
        if state not in ("interactive", "complete") or not is_url(url) or url.startswith("about:"):
            return None
        return Opened(url=url, title=text(told.get("title")) or "", status=None)

    async def _run(
        self, tool: str, work: Callable[[Dialect, Operation], Awaitable[Value]], *, share: float = 1
    ) -> Value:
        """`share`: how much of the time that an operation may take."""
        dialect = await self._spoken()
        operation = Operation(self.client, tool=tool, timeout_ms=int(self._timeout_ms * share))
        try:
            return await work(dialect, operation)
        except ToolInvocationError as error:
            raise (dialect.retold(error, operation) if error.result is not None else error) from None
        except TimeoutError:
            raise operation.timed_out() from None
        except ValueError as error:  # what the dialects raise where an answer cannot be read
            raise ToolInvocationError(
                f"{operation.tool}: {error}", tool_name=operation.tool, reason="protocol"
            ) from error

    async def _spoken(self) -> Dialect:
        if self._dialect is None:
            self._dialect = self._speak()
            self._dialect.tools = {tool.name: tool for tool in await self.client.list_tools()}
        return self._dialect

    @abstractmethod
    def _speak(self) -> Dialect: ...


class FootlightPage(_ToolPage):
    """A session for each visit, so that nothing is left of the one before."""

    scripts = "evaluate"
    hint = "start it with --enable-script-evaluation"

    def __init__(self, client: MCPClient, timeout_ms: int, session: Mapping[str, Any]) -> None:
        super().__init__(client, timeout_ms)
        self.session: str | None = None
        self._given = session

    def _speak(self) -> Dialect:
        return FootlightDialect(session=self.session)

    async def open(self, url: str, view: View) -> Opened:
        await self.close()
        viewport = {"width": view.width, "height": view.height}
        made = await self._call("create_session", {**self._given, "viewport": viewport})
        self.session, self._dialect = text(made.get("sessionId")), None
        await self.console()  # It is kept from the first question on.
        return await self._navigated(url)

    async def press(self, key: str) -> None:
        await self._call("press", {"key": key, "observe": "none", "settle": "none"})

    async def console(self) -> Sequence[ConsoleMessage]:
        told = await self._call("console_messages", {"levels": ["error", "warning"], "limit": 200})
        return [_message(an_object(each)) for each in items(told.get("messages"))]

    async def find_ref(self, selector: str) -> str | None:
        try:
            found = await self._call("snapshot", {"rootSelector": selector, "depth": 1, "format": "json"})
        except ToolInvocationError:
            return None
        return next(
            (ref for node in items(found.get("nodes")) if (ref := text(an_object(node).get("ref")))), None
        )

    async def close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            with suppress(MCPError):
                await self.client.call_tool(
                    "close_session", {"sessionId": session}, timeout_ms=self._timeout_ms
                )

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        given = {**arguments, **({"sessionId": self.session} if self.session else {})}
        try:
            result = await self.client.call_tool(tool, given, timeout_ms=self._timeout_ms)
        except ToolInvocationError as error:
            operation = Operation(self.client, tool=tool, timeout_ms=self._timeout_ms)
            raise (await self._spoken()).retold(error, operation) from None
        return dict(an_object(an_object(result.structured_content).get("data")))


class PlaywrightMcpPage(_ToolPage):
    """Its one browser. What a site stored at one visit is there at the next, unless it runs `--isolated`."""

    scripts = "browser_evaluate"
    hint = "allow it in the server's capabilities"

    def _speak(self) -> Dialect:
        return PlaywrightMcpDialect()

    async def open(self, url: str, view: View) -> Opened:
        await self.close()
        await self._text("browser_resize", {"width": view.width, "height": view.height})
        return await self._navigated(url)

    async def press(self, key: str) -> None:
        await self._text("browser_press_key", {"key": key})

    async def console(self) -> Sequence[ConsoleMessage]:
        return read_console(await self._text("browser_console_messages", {"level": "warning"}))

    async def find_ref(self, selector: str) -> str | None:
        try:
            found = _REF.search(await self._text("browser_snapshot", {"target": selector, "depth": 1}))
        except ToolInvocationError:
            return None
        return found[1] if found else None

    async def close(self) -> None:
        with suppress(MCPError):
            await self._text("browser_close", {})

    async def _text(self, tool: str, arguments: dict[str, Any]) -> str:
        async def called(_: Dialect, operation: Operation) -> str:
            return (await operation.call(tool, arguments)).text

        return await self._run(tool, called)


def _message(told: Any) -> ConsoleMessage:
    return ConsoleMessage(
        level=text(told.get("level")) or "error",
        text=text(told.get("text")) or "",
        source=text(told.get("source")) or "",
    )
