"""How each family of servers is called for a model, so that every answer shows what came of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from footlight.client.dialects.footlight import FootlightDialect
from footlight.client.dialects.markdown_answer import value_of
from footlight.client.dialects.playwright_mcp import PlaywrightMcpDialect
from footlight.client.errors import ToolInvocationError
from footlight.client.loose import an_object, items, text
from footlight.client.operation import Operation
from footlight.ux.browser_tools import CHARACTERS, FOOTLIGHT, PLAYWRIGHT_MCP
from footlight.ux.page import AuditedPage
from footlight.ux.page_tools import FootlightPage
from footlight.ux.seen import Seen, changes, cut, seen_by_footlight, seen_by_playwright_mcp

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.client.results import Tool, ToolResult
    from footlight.ux.tools import AIToolDefinition

__all__ = ["Looking", "looking_at"]

TIMEOUT_MS = 60_000
_TABS = re.compile(r"^### Open tabs\n((?:- \d+: .*\n)+)", re.MULTILINE)
_LOOKS = ("browser_snapshot", "browser_take_screenshot")


class Looking(Protocol):
    """Every call raises MCPError where it failed, with what is for people in it."""

    definitions: ClassVar[Sequence[AIToolDefinition]]
    tools: Mapping[str, Tool]
    """What the server has."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Seen: ...

    async def takes_password(self, target: str) -> bool: ...

    def forget(self) -> None:
        """What was shown of a page that was left."""
        ...


async def looking_at(page: AuditedPage, client: MCPClient) -> Looking:
    tools = {tool.name: tool for tool in await client.list_tools()}
    if isinstance(page, FootlightPage):
        return _Footlight(page, client, tools)
    return _PlaywrightMcp(client, tools)


class _Footlight:
    """In the page's session, of which a model knows nothing. Its actions tell by themselves what changed."""

    definitions: ClassVar[Sequence[AIToolDefinition]] = FOOTLIGHT

    def __init__(self, page: FootlightPage, client: MCPClient, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._page = page
        self._client = client

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Seen:
        result = await self._answer(tool, arguments)
        if not _is_known(tool, self.definitions):
            return Seen(text=cut(result.text, CHARACTERS))
        seen = seen_by_footlight(result)
        opened = items(an_object(an_object(result.structured_content).get("data")).get("newPages"))
        if opened and "tabs" in self.tools and (id := text(an_object(opened[-1]).get("pageId"))):
            # As a browser does, which brings a new tab to the front.
            front = {"action": "select", "pageId": id, "observe": "diff", "budget": CHARACTERS}
            return replace(seen_by_footlight(await self._answer("tabs", front)), events=seen.events)
        return seen

    async def takes_password(self, target: str) -> bool:
        asked = {"selector": target, "attribute": "type"}
        told = an_object((await self._answer("get_attribute", asked)).structured_content)
        return an_object(told.get("data")).get("value") == "password"

    def forget(self) -> None:
        pass

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        operation = Operation(self._client, tool=tool, timeout_ms=TIMEOUT_MS)
        try:
            return await operation.call(tool, {**arguments, **self._session(tool)})
        except ToolInvocationError as error:
            raise FootlightDialect().retold(error, operation) from None

    def _session(self, tool: str) -> Mapping[str, str]:
        session = self._page.session
        if session is None or tool not in self.tools:
            return {}
        takes = an_object(self.tools[tool].input_schema.get("properties"))
        return {"sessionId": session} if "sessionId" in takes else {}


class _PlaywrightMcp:
    """It writes what it sees into files, so it is asked for it after each call, and compared here."""

    definitions: ClassVar[Sequence[AIToolDefinition]] = PLAYWRIGHT_MCP

    def __init__(self, client: MCPClient, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._client = client
        self.forget()

    def forget(self) -> None:
        self._before = Seen()
        self._tabs = 1

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Seen:
        result = await self._answer(tool, arguments)
        if not _is_known(tool, self.definitions):
            return Seen(text=cut(result.text, CHARACTERS))
        seen = seen_by_playwright_mcp(result)
        if tool == "browser_snapshot" and not arguments:
            return self._whole(seen)
        if tool in _LOOKS or seen.events:
            return replace(seen, text=cut(seen.text, CHARACTERS))
        await self._follow(result)
        return self._told(seen_by_playwright_mcp(await self._answer("browser_snapshot", {})))

    async def takes_password(self, target: str) -> bool:
        asked = {"target": target, "function": "element => element.type"}
        return value_of((await self._answer("browser_evaluate", asked)).text) == "password"

    async def _follow(self, result: ToolResult) -> None:
        """Bring a tab that was opened to the front, as a browser does."""
        listed = _TABS.search(result.text)
        tabs = listed[1].count("\n") if listed else 1
        if tabs > self._tabs and "browser_tabs" in self.tools:
            await self._answer("browser_tabs", {"action": "select", "index": tabs - 1})
        self._tabs = tabs

    def _told(self, now: Seen) -> Seen:
        before, self._before = self._before, now
        different = changes(before.text, now.text) if before.url == now.url else None
        return self._whole(now) if different is None else replace(now, text=cut(different, CHARACTERS))

    def _whole(self, now: Seen) -> Seen:
        self._before = now
        return replace(now, text=cut(now.text, CHARACTERS), whole=True)

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        operation = Operation(self._client, tool=tool, timeout_ms=TIMEOUT_MS)
        try:
            return await operation.call(tool, arguments)
        except ToolInvocationError as error:
            raise PlaywrightMcpDialect().retold(error, operation) from None


def _is_known(tool: str, definitions: Sequence[AIToolDefinition]) -> bool:
    """What others a caller has given a model are told as they are."""
    return any(each.mcp_tool_name == tool for each in definitions)
