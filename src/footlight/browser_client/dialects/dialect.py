"""The operations that the typed Playwright client needs of a server, independent of its tools' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from footlight.protocol.errors import MCPError, ToolInvocationError

if TYPE_CHECKING:
    from footlight.browser_client.operation import Operation
    from footlight.browser_client.results import ImageFormat, NavigateResult, ScreenshotResult, SnapshotResult
    from footlight.protocol.tools import Tool

__all__ = ["Dialect", "ensure_tool"]


class Dialect(Protocol):
    """A family of servers. Parameters are checked already; an unreadable result raises InvalidResultError."""

    server: ClassVar[str]
    """The name of the server, for people."""
    needs: ClassVar[frozenset[str]]
    """The tools by which it is recognised."""
    tools: Mapping[str, Tool]
    """The tools that the server has now."""

    def __init__(self) -> None: ...

    async def navigate(self, operation: Operation, url: str) -> NavigateResult: ...

    async def screenshot(
        self, operation: Operation, *, format: ImageFormat, full_page: bool
    ) -> ScreenshotResult: ...

    async def snapshot(self, operation: Operation) -> SnapshotResult: ...

    async def click(self, operation: Operation, selector: str) -> None: ...

    async def fill_form(self, operation: Operation, fields: Mapping[str, str]) -> None: ...

    async def evaluate(self, operation: Operation, script: str) -> Any: ...

    async def close(self, operation: Operation) -> None: ...

    def translate_error(self, error: ToolInvocationError, operation: Operation) -> MCPError:
        """Return a tool's failure as an error for people, without the text that the server adds to
        every error.
        """
        ...


def ensure_tool(tools: Mapping[str, Tool], name: str, *, hint: str) -> None:
    """Check that the server has the tool called `name`.

    Raises:
        ToolInvocationError: the server has no such tool; `hint` says how to get it.
    """
    if name not in tools:
        raise ToolInvocationError(
            f"The server has no tool {name}: {hint}", tool_name=name, reason="unknown_tool"
        )
