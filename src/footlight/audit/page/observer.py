"""Call a server's tools for a model, so that every answer shows the effect of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from footlight.audit.page.model_tools import CHARACTERS, FOOTLIGHT, PLAYWRIGHT_MCP
from footlight.audit.page.observation import (
    PageObservation,
    diff_lines,
    read_footlight_answer,
    read_playwright_mcp_answer,
    truncate_lines,
)
from footlight.audit.page.page import AuditedPage
from footlight.audit.page.server_page import FootlightPage
from footlight.browser_client.dialects.footlight import FootlightDialect
from footlight.browser_client.dialects.markdown_answer import value_of
from footlight.browser_client.dialects.playwright_mcp import PlaywrightMcpDialect
from footlight.browser_client.operation import Operation
from footlight.protocol.errors import ToolInvocationError
from footlight.protocol.untrusted_json import an_object, items, text

if TYPE_CHECKING:
    from footlight.audit.model.tools import AIToolDefinition
    from footlight.client.mcp_client import MCPClient
    from footlight.protocol.results import ToolResult
    from footlight.protocol.tools import Tool

__all__ = ["PageObserver", "observer_for"]

TIMEOUT_MS = 60_000
_TABS = re.compile(r"^### Open tabs\n((?:- \d+: .*\n)+)", re.MULTILINE)
_LOOKING_TOOLS = ("browser_snapshot", "browser_take_screenshot")


class PageObserver(Protocol):
    """Calls tools and observes the page. Calls raise MCPError with a readable message if they fail."""

    definitions: ClassVar[Sequence[AIToolDefinition]]
    tools: Mapping[str, Tool]
    """The tools of the server by name."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> PageObservation: ...

    async def takes_password(self, target: str) -> bool: ...

    def forget(self) -> None:
        """Forget what was shown of a page that was left."""
        ...


async def observer_for(page: AuditedPage, client: MCPClient) -> PageObserver:
    tools = {tool.name: tool for tool in await client.list_tools()}
    if isinstance(page, FootlightPage):
        return _FootlightObserver(page, client, tools)
    return _PlaywrightMcpObserver(client, tools)


class _FootlightObserver:
    """Calls Footlight in the page's session. Its actions report what changed."""

    definitions: ClassVar[Sequence[AIToolDefinition]] = FOOTLIGHT

    def __init__(self, page: FootlightPage, client: MCPClient, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._page = page
        self._client = client

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> PageObservation:
        result = await self._answer(tool, arguments)
        if not _is_known(tool, self.definitions):
            return PageObservation(text=truncate_lines(result.text, CHARACTERS))
        seen = read_footlight_answer(result)
        opened = items(an_object(an_object(result.structured_content).get("data")).get("newPages"))
        if opened and "tabs" in self.tools and (id := text(an_object(opened[-1]).get("pageId"))):
            # Browsers bring a new tab to the front.
            front = {"action": "select", "pageId": id, "observe": "diff", "budget": CHARACTERS}
            return replace(read_footlight_answer(await self._answer("tabs", front)), events=seen.events)
        return seen

    async def takes_password(self, target: str) -> bool:
        asked = {"selector": target, "attribute": "type"}
        answer = an_object((await self._answer("get_attribute", asked)).structured_content)
        return an_object(answer.get("data")).get("value") == "password"

    def forget(self) -> None:
        pass

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        operation = Operation(self._client, tool=tool, timeout_ms=TIMEOUT_MS)
        try:
            return await operation.call(tool, {**arguments, **self._session(tool)})
        except ToolInvocationError as error:
            raise FootlightDialect().translate_error(error, operation) from None

    def _session(self, tool: str) -> Mapping[str, str]:
        session = self._page.session
        if session is None or tool not in self.tools:
            return {}
        parameters = an_object(self.tools[tool].input_schema.get("properties"))
        return {"sessionId": session} if "sessionId" in parameters else {}


class _PlaywrightMcpObserver:
    """Calls `@playwright/mcp`. It takes a snapshot after each call and compares it with the last one."""

    definitions: ClassVar[Sequence[AIToolDefinition]] = PLAYWRIGHT_MCP

    def __init__(self, client: MCPClient, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._client = client
        self.forget()

    def forget(self) -> None:
        self._before = PageObservation()
        self._tabs = 1

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> PageObservation:
        result = await self._answer(tool, arguments)
        if not _is_known(tool, self.definitions):
            return PageObservation(text=truncate_lines(result.text, CHARACTERS))
        seen = read_playwright_mcp_answer(result)
        if tool == "browser_snapshot" and not arguments:
            return self._describe_whole(seen)
        if tool in _LOOKING_TOOLS or seen.events:
            return replace(seen, text=truncate_lines(seen.text, CHARACTERS))
        await self._follow(result)
        return self._describe_changes(read_playwright_mcp_answer(await self._answer("browser_snapshot", {})))

    async def takes_password(self, target: str) -> bool:
        asked = {"target": target, "function": "element => element.type"}
        return value_of((await self._answer("browser_evaluate", asked)).text) == "password"

    async def _follow(self, result: ToolResult) -> None:
        """Select a tab that the call opened, as a browser does."""
        listed = _TABS.search(result.text)
        tabs = listed[1].count("\n") if listed else 1
        if tabs > self._tabs and "browser_tabs" in self.tools:
            await self._answer("browser_tabs", {"action": "select", "index": tabs - 1})
        self._tabs = tabs

    def _describe_changes(self, now: PageObservation) -> PageObservation:
        before, self._before = self._before, now
        changed = diff_lines(before.text, now.text) if before.url == now.url else None
        if changed is None:
            return self._describe_whole(now)
        return replace(now, text=truncate_lines(changed, CHARACTERS))

    def _describe_whole(self, now: PageObservation) -> PageObservation:
        self._before = now
        return replace(now, text=truncate_lines(now.text, CHARACTERS), whole=True)

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        operation = Operation(self._client, tool=tool, timeout_ms=TIMEOUT_MS)
        try:
            return await operation.call(tool, arguments)
        except ToolInvocationError as error:
            raise PlaywrightMcpDialect().translate_error(error, operation) from None


def _is_known(tool: str, definitions: Sequence[AIToolDefinition]) -> bool:
    """Return whether the tool is one of ours. Answers of additional tools are passed on unchanged."""
    return any(each.mcp_tool_name == tool for each in definitions)
