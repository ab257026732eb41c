"""The tools of Playwright's own server, `@playwright/mcp`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from footlight.browser_client.dialects.aria_yaml import read_aria_yaml
from footlight.browser_client.dialects.dialect import ensure_tool
from footlight.browser_client.dialects.markdown_answer import (
    dialog_of,
    error_of,
    page_of,
    snapshot_of,
    value_of,
)
from footlight.browser_client.results import (
    InvalidResultError,
    NavigateResult,
    ScreenshotResult,
    SnapshotResult,
)
from footlight.javascript import page_function
from footlight.protocol.errors import MCPError, ToolInvocationError
from footlight.protocol.untrusted_json import an_object, items

if TYPE_CHECKING:
    from footlight.browser_client.operation import Operation
    from footlight.browser_client.results import ImageFormat
    from footlight.protocol.tools import Tool

__all__ = ["PlaywrightMcpDialect"]

_REF = re.compile(r"(f\d+)?e\d+")


class PlaywrightMcpDialect:
    """The dialect of a server with one browser and no sessions."""

    server: ClassVar[str] = "@playwright/mcp"
    needs: ClassVar[frozenset[str]] = frozenset(
        {"browser_navigate", "browser_take_screenshot", "browser_snapshot", "browser_click"}
    )

    def __init__(self) -> None:
        self.tools: Mapping[str, Tool] = {}

    async def navigate(self, operation: Operation, url: str) -> NavigateResult:
        answer = await self._navigate_and_read(operation, url)
        page = page_of(answer) or page_of(await self._text(operation, "browser_snapshot", {}))
        if page is None:
            raise InvalidResultError("the answer does not say which page it is")
        if (dialog := dialog_of(answer)) is not None and not _same_place(page.url, url):
            # The server reports it as a successful navigation.
            raise ToolInvocationError(
                f"The page did not leave {page.url}: a dialog is open, which browser_handle_dialog answers: "
                f"{dialog}",
                tool_name=operation.tool,
                tool_args={"url": url},
            )
        return NavigateResult(success=True, url=page.url, title=page.title, status=page.status)

    async def _navigate_and_read(self, operation: Operation, url: str) -> str:
        try:
            return await self._text(operation, "browser_navigate", {"url": url})
        except ToolInvocationError:
            # The browser's own error page loads late, and would interrupt the next navigation.
            with suppress(MCPError):
                await self._evaluate(operation, "() => null", {})
            raise

    async def screenshot(
        self, operation: Operation, *, format: ImageFormat, full_page: bool
    ) -> ScreenshotResult:
        arguments = {"type": format, **({"fullPage": True} if full_page else {})}
        result = await operation.call("browser_take_screenshot", arguments)
        image = next((part.data for part in result.content if part.type == "image"), None)
        if image is None:
            raise InvalidResultError("the answer has no image; start it without --image-responses omit")
        return ScreenshotResult.of(image)

    async def snapshot(self, operation: Operation) -> SnapshotResult:
        answer = await self._text(operation, "browser_snapshot", {})
        page, yaml = page_of(answer), snapshot_of(answer)
        if page is None or yaml is None:
            raise InvalidResultError("the answer has no snapshot")
        try:
            nodes = read_aria_yaml(yaml)
        except ValueError as error:
            raise InvalidResultError(str(error)) from None
        return SnapshotResult.of(nodes, url=page.url, title=page.title)

    async def click(self, operation: Operation, selector: str) -> None:
        self._ensure_targets(selector)
        await operation.call("browser_click", {"target": selector})

    async def fill_form(self, operation: Operation, fields: Mapping[str, str]) -> None:
        self._ensure_targets(*fields)
        ensure_tool(self.tools, "browser_fill_form", hint="use a newer one")
        kinds = await self._kinds(operation, fields)
        entries = [
            {"name": selector, "target": selector, "type": kind, "value": value}
            for selector, (kind, value) in zip(fields, kinds, strict=True)
        ]
        await operation.call("browser_fill_form", {"fields": entries})

    async def evaluate(self, operation: Operation, script: str) -> Any:
        ensure_tool(self.tools, "browser_evaluate", hint="allow it in the server's capabilities")
        # The server puts the script in parentheses, which a semicolon or a comment at the end would break.
        expression = f"{script.strip().rstrip(';')}\n" if "//" in script else script.strip().rstrip(";")
        answer = await self._text(operation, "browser_evaluate", {"function": expression})
        try:
            return value_of(answer)
        except (ValueError, RecursionError) as error:
            raise InvalidResultError(f"the script's value cannot be read: {error}") from None

    async def close(self, operation: Operation) -> None:
        if "browser_close" in self.tools:
            await operation.call("browser_close", {})

    async def _text(self, operation: Operation, tool: str, arguments: Mapping[str, Any]) -> str:
        return (await operation.call(tool, arguments)).text

    async def _kinds(self, operation: Operation, fields: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the kind of each field, which the server requires. The page is asked in one call, except for
        refs.

        If the page cannot answer, `textbox` is assumed: if that is wrong, the server reports an error.
        """
        asked = [selector for selector in fields if not _REF.fullmatch(selector)]
        values = json.dumps([(selector, fields[selector]) for selector in asked])
        script = f"() => ({_script('describeFields')})({values})"
        results = items(await self._evaluate(operation, script, {})) if asked else []
        answers = dict(zip(asked, results, strict=False))
        for ref in fields.keys() - set(asked):
            script = f"element => ({_script('describeField')})(element, {json.dumps(fields[ref])})"
            answers[ref] = await self._evaluate(operation, script, {"target": ref})
        return [_kind(answers.get(selector), value) for selector, value in fields.items()]

    async def _evaluate(self, operation: Operation, script: str, target: Mapping[str, str]) -> object:
        """Return the value of a script, or None if the page or the server does not run scripts."""
        if "browser_evaluate" not in self.tools:
            return None
        try:
            answer = await self._text(operation, "browser_evaluate", {"function": script, **target})
            return value_of(answer)
        except (ToolInvocationError, ValueError):
            return None

    def _ensure_targets(self, *selectors: str) -> None:
        """Check that selectors are refs: versions before 2026 accept nothing else."""
        properties = an_object(self.tools["browser_click"].input_schema.get("properties"))
        if "target" not in properties:
            raise ToolInvocationError(
                "This @playwright/mcp takes no selectors; use 0.0.83 or newer",
                tool_name="browser_click",
                tool_args={"target": list(selectors)},
                reason="invalid",
            )

    def translate_error(self, error: ToolInvocationError, operation: Operation) -> MCPError:
        del operation
        return ToolInvocationError(
            error_of(error.message, log=error.tool_name != "browser_fill_form") or error.message,
            tool_name=error.tool_name,
            tool_args=error.tool_args,
            reason=error.reason,
            rpc_code=error.rpc_code,
            data=error.data,
            status=error.status,
            result=error.result,
        )


def _same_place(one: str, other: str) -> bool:
    return _without_end(one) == _without_end(other)


def _without_end(url: str) -> str:
    return url.partition("#")[0].rstrip("/")


@cache
def _script(function: str) -> str:
    return page_function(Path(__file__).parent, ["field_kinds"], function)


def _kind(entry: object, value: str) -> tuple[str, str]:
    match items(entry):
        case [str(kind), str(expected)]:
            return kind, expected
        case _:
            return "textbox", value
