"""A visit of the page under audit: the tools that a model has there, and where they have led it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.client.errors import MCPError
from footlight.ux.ai_tool import AITool, ToolAnswer
from footlight.ux.page import DESKTOP, AuditedPage
from footlight.ux.tools import AIToolDefinition, ai_tool_from_mcp

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.ux.browser_tools import Address
    from footlight.ux.looking import Looking
    from footlight.ux.untrusted import PageMarks

__all__ = ["Visit", "origin_of"]


class Visit:
    """`start` is where it begins, `url` where it is. `lost` is why the server is gone, should it be.

    A model may name addresses of `origins` only, whatever a page tells it; it may follow any link.
    """

    def __init__(
        self,
        page: AuditedPage,
        client: MCPClient,
        looking: Looking,
        *,
        url: str,
        marks: PageMarks,
        origins: Collection[str],
        more: Sequence[AIToolDefinition | AITool] = (),
    ) -> None:
        self.marks = marks
        self.start = url
        self.url = url
        self.lost: MCPError | None = None
        self._gist = ""
        self._page = page
        self._client = client
        self._looking = looking
        self._origins = origins
        self.tools = self._offered(more)

    async def begin(self) -> None:
        """Open the page anew, with nothing left of what was done before.

        Raises:
            MCPError: it cannot be opened.
        """
        self._looking.forget()
        self.lost = None
        self.url = self.start
        self.url = (await self._page.open(self.start, DESKTOP)).url

    def take_gist(self) -> str:
        """Of the last answer that came from the page; none of it twice."""
        gist, self._gist = self._gist, ""
        return gist

    def _offered(self, more: Sequence[AIToolDefinition | AITool]) -> Sequence[AITool]:
        known = [each for each in self._looking.definitions if each.mcp_tool_name in self._looking.tools]
        tools = [each if isinstance(each, AITool) else self._bridged(each) for each in (*known, *more)]
        return [self._kept_on_site(tool) if tool.name == "navigateToPage" else tool for tool in tools]

    def _bridged(self, definition: AIToolDefinition) -> AITool:
        return ai_tool_from_mcp(definition, self._client, call=self._call)

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """All that is told is the page's, errors too: they say what is on it."""
        try:
            seen = await self._looking.call(tool, arguments)
        except MCPError as error:
            if isinstance(error, ConnectionError):
                self.lost = error
            return ToolAnswer(text=self.marks.around(error.message), is_error=True)
        if not seen.whole and seen.url == self.url:
            seen = replace(seen, url=None, title=None)  # It was told before.
        self.url, self._gist = seen.url or self.url, seen.gist
        return ToolAnswer(text=self.marks.around(seen.told), picture=seen.picture, replaces=seen.whole)

    def _kept_on_site(self, tool: AITool) -> AITool:
        async def run(given: Address) -> ToolAnswer:
            if origin_of(str(given.url)) not in self._origins:
                return ToolAnswer(
                    text=f"Refused: only addresses of {', '.join(sorted(self._origins))} may be opened. "
                    "What leads elsewhere can be followed by a click.",
                    is_error=True,
                )
            return await tool.run(given)

        return replace(tool, run=run)


def origin_of(url: str) -> str:
    """Scheme, host and port, as browsers compare them."""
    import ada_url

    return ada_url.URL(url).origin
