"""Control the audited page through the tools of a server: Footlight or `@playwright/mcp`."""

from __future__ import annotations

import base64
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from footlight.audit.page.page import AuditedPage, AuditViewport, ConsoleMessage, OpenResult
from footlight.browser_client.dialects import family_of
from footlight.browser_client.dialects.footlight import FootlightDialect
from footlight.browser_client.dialects.playwright_mcp import PlaywrightMcpDialect
from footlight.browser_client.operation import Operation
from footlight.browser_client.validation import is_url
from footlight.protocol.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.protocol.untrusted_json import an_object, items, text

if TYPE_CHECKING:
    from footlight.browser_client.dialects.dialect import Dialect
    from footlight.browser_client.results import NavigateResult
    from footlight.client.mcp_client import MCPClient

__all__ = ["page_of", "read_console"]

TIMEOUT_MS = 60_000
"""The time limit of an operation."""
LOADING_SHARE = 0.5
"""The share of the time limit that a page may take to load. Then it is measured as it is."""
_THERE = "() => ({ url: location.href, state: document.readyState })"

Value = TypeVar("Value")

_REF = re.compile(r"\[ref=((?:f\d+)?e\d+)\]")


async def page_of(
    client: MCPClient, *, timeout_ms: int = TIMEOUT_MS, session: Mapping[str, Any] | None = None
) -> AuditedPage:
    """Return the audited page of a connected client. The caller closes the client.

    Args:
        session: further arguments of `create_session`, for Footlight only.

    Raises:
        ToolInvocationError: the server has no supported browser tools, no tool that runs scripts, or no
            sessions for the arguments in `session`.
    """
    tools = {tool.name: tool for tool in await client.list_tools()}
    family = family_of([*tools.values()], tool_name="evaluate")
    page = FootlightPage if family is FootlightDialect else PlaywrightMcpPage
    if page.scripts not in tools:
        raise ToolInvocationError(
            f"The server has no tool {page.scripts}, which measuring a page requires: {page.hint}",
            tool_name=page.scripts,
            reason="unknown_tool",
        )
    if page is FootlightPage:
        return FootlightPage(client, timeout_ms, session or {})
    if session:
        raise ToolInvocationError(
            f"The server has no sessions, so it cannot apply {', '.join(session)}: "
            "use the server's own options for this",
            tool_name="create_session",
            reason="unknown_tool",
        )
    return PlaywrightMcpPage(client, timeout_ms)


class _ToolPage(ABC):
    scripts: ClassVar[str]
    """The name of the tool that runs scripts."""
    hint: ClassVar[str]
    """How to enable that tool."""

    def __init__(self, client: MCPClient, timeout_ms: int) -> None:
        self.client = client
        self._timeout_ms = timeout_ms
        self._dialect: Dialect | None = None

    @property
    def server(self) -> str:
        info = an_object(self.client.get_server_info())
        return " ".join(filter(None, (text(info.get("name")), text(info.get("version"))))) or "a server"

    async def evaluate(self, script: str) -> Any:
        return await self._run("evaluate", lambda dialect, run: dialect.evaluate(run, script))

    async def screenshot(self, *, full_page: bool = False) -> bytes:
        answer = await self._run(
            "screenshot", lambda dialect, run: dialect.screenshot(run, format="png", full_page=full_page)
        )
        return base64.b64decode(answer.screenshot)

    async def _navigate(self, url: str) -> OpenResult:
        try:
            answer = await self._run(
                "navigate", lambda dialect, run: self._go(dialect, run, url), share=LOADING_SHARE
            )
        except MCPTimeoutError:
            if (unfinished := await self._find_loading_page()) is None:
                raise
            return unfinished
        return OpenResult(url=answer.url, status=answer.status)

    async def _go(self, dialect: Dialect, operation: Operation, url: str) -> NavigateResult:
        return await dialect.navigate(operation, url)

    async def _find_loading_page(self) -> OpenResult | None:
        """Return a page that is still loading if it can be used already, else None."""
        try:
            answer = an_object(await self.evaluate(_THERE))
        except MCPError:
            return None
        url, state = text(answer.get("url")) or "", answer.get("state")
        if state not in ("interactive", "complete") or not is_url(url) or url.startswith("about:"):
            return None
        return OpenResult(url=url, status=None)

    async def _run(
        self, tool: str, work: Callable[[Dialect, Operation], Awaitable[Value]], *, share: float = 1
    ) -> Value:
        """Run an operation of the dialect within this share of the time limit."""
        dialect = await self._get_dialect()
        operation = Operation(self.client, tool=tool, timeout_ms=int(self._timeout_ms * share))
        try:
            return await work(dialect, operation)
        except ToolInvocationError as error:
            raise (dialect.translate_error(error, operation) if error.result is not None else error) from None
        except TimeoutError:
            raise operation.timeout_error() from None
        except ValueError as error:  # raised by the dialects for an answer that cannot be read
            raise ToolInvocationError(
                f"{operation.tool}: {error}", tool_name=operation.tool, reason="protocol"
            ) from error

    async def _get_dialect(self) -> Dialect:
        if self._dialect is None:
            self._dialect = self._make_dialect()
            self._dialect.tools = {tool.name: tool for tool in await self.client.list_tools()}
        return self._dialect

    @abstractmethod
    def _make_dialect(self) -> Dialect: ...


class FootlightPage(_ToolPage):
    """A page in a server of ours, with a new session for each visit."""

    scripts = "evaluate"
    hint = "start it with --enable-script-evaluation"

    def __init__(self, client: MCPClient, timeout_ms: int, session: Mapping[str, Any]) -> None:
        super().__init__(client, timeout_ms)
        self.session: str | None = None
        self._session_arguments = session
        self._is_isolated = False

    def _make_dialect(self) -> Dialect:
        return FootlightDialect(session=self.session)

    async def open(self, url: str, view: AuditViewport) -> OpenResult:
        await self.close()
        viewport = {"width": view.width, "height": view.height}
        made = await self._call("create_session", {**self._session_arguments, "viewport": viewport})
        self.session, self._dialect = text(made.get("sessionId")), None
        await self.console()  # The server records the console from the first call on.
        return await self._navigate(url)

    async def _go(self, dialect: Dialect, operation: Operation, url: str) -> NavigateResult:
        # The measurement asks the document itself for its title.
        return await cast("FootlightDialect", dialect).navigate(operation, url, titled=False)

    async def evaluate(self, script: str) -> Any:
        # The scripts of an audit wait themselves for what they start.
        return await self._run(
            "evaluate",
            lambda dialect, run: cast("FootlightDialect", dialect).evaluate(
                run, script, settles=False, isolated=self._is_isolated
            ),
        )

    async def isolate(self, *, isolated: bool) -> bool:
        self._is_isolated = isolated
        if isolated:
            try:
                await self.evaluate("async () => null")
            except ToolInvocationError:  # The browser is not Chromium, or the server is an older one.
                self._is_isolated = False
        return self._is_isolated

    async def press(self, key: str) -> None:
        await self._call("press", {"key": key, "observe": "none", "settle": "none"})

    async def console(self) -> Sequence[ConsoleMessage]:
        answer = await self._call("console_messages", {"levels": ["error", "warning"], "limit": 200})
        return [_read_message(an_object(each)) for each in items(answer.get("messages"))]

    async def find_ref(self, selector: str) -> str | None:
        try:
            found = await self._call("snapshot", {"rootSelector": selector, "depth": 1, "format": "json"})
        except ToolInvocationError:
            return None
        return next(
            (ref for node in items(found.get("nodes")) if (ref := text(an_object(node).get("ref")))), None
        )

    async def new_page(self) -> AuditedPage:
        return FootlightPage(self.client, self._timeout_ms, self._session_arguments)

    async def close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            with suppress(MCPError):
                await self.client.call_tool(
                    "close_session", {"sessionId": session}, timeout_ms=self._timeout_ms
                )

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        call_arguments = {**arguments, **({"sessionId": self.session} if self.session else {})}
        try:
            result = await self.client.call_tool(tool, call_arguments, timeout_ms=self._timeout_ms)
        except ToolInvocationError as error:
            operation = Operation(self.client, tool=tool, timeout_ms=self._timeout_ms)
            raise (await self._get_dialect()).translate_error(error, operation) from None
        return dict(an_object(an_object(result.structured_content).get("data")))


class PlaywrightMcpPage(_ToolPage):
    """A page of `@playwright/mcp`. Its storage persists between visits unless it runs with `--isolated`."""

    scripts = "browser_evaluate"
    hint = "allow it in the server's capabilities"

    def _make_dialect(self) -> Dialect:
        return PlaywrightMcpDialect()

    async def open(self, url: str, view: AuditViewport) -> OpenResult:
        await self.close()
        await self._text("browser_resize", {"width": view.width, "height": view.height})
        return await self._navigate(url)

    async def isolate(self, *, isolated: bool) -> bool:
        del isolated
        return False

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

    async def new_page(self) -> None:
        return None

    async def close(self) -> None:
        with suppress(MCPError):
            await self._text("browser_close", {})

    async def _text(self, tool: str, arguments: dict[str, Any]) -> str:
        async def call(_: Dialect, operation: Operation) -> str:
            return (await operation.call(tool, arguments)).text

        return await self._run(tool, call)


def _read_message(answer: Any) -> ConsoleMessage:
    return ConsoleMessage(
        level=text(answer.get("level")) or "error",
        text=text(answer.get("text")) or "",
        source=text(answer.get("source")) or "",
    )


_LEVEL = re.compile(r"\[(ERROR|WARNING)\] (.*)")
_PLACE = re.compile(r" @ (\S+:\d+)$")
_FRAME = re.compile(r"\s+at (?:.*\()?([^\s()]+:\d+:\d+)\)?$")


def read_console(answer: str) -> Sequence[ConsoleMessage]:
    """Read the console messages. Uncaught exceptions have no level; their trace has the source."""
    _, _, body = answer.partition("\n\n")
    return [_parse_message(lines) for lines in _group_lines(body.splitlines())]


def _group_lines(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each message: up to its source, or to the end of its trace."""
    group: list[str] = []
    for line in lines:
        begins = _LEVEL.match(line) or (_is_complete(group) and not _FRAME.match(line))
        if begins and group:
            yield group
            group = []
        if group or line.strip():
            group.append(line)
    if group:
        yield group


def _is_complete(group: Sequence[str]) -> bool:
    return not group or bool(_PLACE.search(group[-1]) or _FRAME.match(group[-1]))


def _parse_message(lines: Sequence[str]) -> ConsoleMessage:
    message = "\n".join(line for line in lines if not _FRAME.match(line))
    level = _LEVEL.match(lines[0])
    place = _PLACE.search(message)
    frames = [found[1] for line in lines if (found := _FRAME.match(line))]
    text = _PLACE.sub("", message)
    return ConsoleMessage(
        level=level[1].lower() if level else "error",
        text=text[len(level[1]) + 3 :] if level else text,
        source=place[1] if place else next(iter(frames), ""),
    )
