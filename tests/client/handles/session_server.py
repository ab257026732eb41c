"""A server with named sessions, on the Python SDK alone, that keeps a journal of its calls.

    python -m tests.client.handles.session_server [--registry VARIANT] [--journal FILE]

The journal has a line for the start of the process, and one for the beginning and the end of each call, so
that it can be seen what ran beside what. `hold` lasts until `release`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from footlight.protocol.tools import Tool, read_tool

Variant = Literal["plain", "renamed", "changed", "swapped", "reordered", "described", "fewer"]
Entry = Mapping[str, Any]
OnEvent = Callable[[Entry], None]

PAGE = 3
"""The number of tools on a page of the list."""
SNAPSHOT = "- button" + " " * 3_839
"""A text of 3847 characters, as in the specification."""
PICTURE = "iVBORw0KGgo" * 50
"""A small image in base64."""


def _tool(name: str, description: str, *, session: bool = True, **properties: str) -> types.Tool:
    keys = {**({"sessionName": "string"} if session else {}), **properties}
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in keys.items()},
        "required": list(keys),
    }
    return types.Tool(name=name, description=description, input_schema=schema)


TOOLS = (
    _tool("session.open", "Open a session"),
    _tool("session.close", "Close a session"),
    _tool("nav.goto", "Go to a URL", url="string"),
    _tool("nav.back", "Go back"),
    _tool("browser.snapshot", "See the page"),
    _tool("browser.take_screenshot", "Take a picture of the page"),
    _tool("browser.run_test", "Run tests", grep="string"),
    _tool("browser.run.file", "Run a file", path="string"),
    _tool("session_free", "Takes a session's name like any other argument", session=False),
    _tool("hold", "Last until `release`", id="string"),
    _tool("release", "End all `hold`s", session=False),
    _tool("fail", "Fail with a text", text="string"),
    _tool("say", "Answer with a text", session=False, text="string"),
    _tool("health", "Whether the server is well", session=False),
    _tool("die", "End the process at once", session=False),
)


def registry(variant: Variant) -> tuple[types.Tool, ...]:
    """Return the tools of the registry, with the difference of this variant."""
    by_name = {tool.name: tool.model_copy(deep=True) for tool in TOOLS}
    goto, snapshot = by_name["nav.goto"], by_name["browser.snapshot"]
    if variant == "renamed":
        goto.name = "nav.visit"
    elif variant == "changed":
        goto.input_schema["properties"]["url"]["type"] = "integer"
    elif variant == "swapped":
        goto.input_schema, snapshot.input_schema = snapshot.input_schema, goto.input_schema
    elif variant == "described":
        for tool in by_name.values():
            tool.title, tool.description = "Title", "Described in other words"
    elif variant == "fewer":
        del by_name["health"]
    tools = tuple(by_name.values())
    return tools[::-1] if variant == "reordered" else tools


def list_registered_tools(variant: Variant = "plain") -> list[Tool]:
    """Return the tools as a client sees them."""
    return [read_tool(tool.model_dump(by_alias=True, exclude_none=True)) for tool in registry(variant)]


class SessionServer:
    """A server of named sessions. It passes the beginning and the end of each call to `on_event`."""

    def __init__(self, on_event: OnEvent, variant: Variant = "plain") -> None:
        self._on_event = on_event
        self._tools = registry(variant)
        self._released = asyncio.Event()
        self._last = 0
        self._never = False

    def refuse_to_close(self) -> None:
        """Let `session.close` fail from now on."""
        self._never = True

    def release(self) -> None:
        """Do what the tool `release` does."""
        self._released.set()
        self._released = asyncio.Event()

    def offer_later(self, name: str) -> None:
        """Add a tool, which takes a session and a text."""
        self._tools = (*self._tools, _tool(name, "Came later", text="string"))

    def server(self) -> Server[Any]:
        return Server("session-server", version="1.0.0", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        start = int(params.cursor) if params and params.cursor else 0
        end = start + PAGE
        return types.ListToolsResult(
            tools=list(self._tools[start:end]), next_cursor=str(end) if end < len(self._tools) else None
        )

    async def _call(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self._last += 1
        number, arguments = self._last, dict(params.arguments or {})
        self._on_event({"began": number, "name": params.name, "arguments": arguments})
        try:
            return await self._answer(params.name, arguments)
        finally:
            self._on_event({"ended": number, "name": params.name})

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        if name not in {tool.name for tool in self._tools}:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")
        if name == "hold":
            await self._released.wait()
        elif name == "release":
            self.release()
        elif name == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "session.close" and self._never:
            return _answer_error("the browser is gone")
        elif name == "nav.goto" and arguments.get("url") == "https://nowhere.test":
            return _answer_error("net::ERR_NAME_NOT_RESOLVED")
        elif name == "fail":
            return _answer_error(str(arguments["text"]))
        return _answers(name, arguments)


def _answers(name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    if name == "browser.take_screenshot":
        picture = types.ImageContent(data=PICTURE, mime_type="image/png")
        return types.CallToolResult(content=[types.TextContent(text="taken"), picture])
    said = {
        "session.open": '{"opened":true}',
        "session.close": '{"closed":true}',
        "browser.snapshot": SNAPSHOT,
        "browser.run_test": '{"passed":1,"failed":0}',
        "browser.run.file": json.dumps({"ran": arguments.get("path")}),
        "health": "well",
        "say": arguments.get("text"),
        "session_free": json.dumps(arguments),
    }.get(name)
    return types.CallToolResult(content=[] if said is None else [types.TextContent(text=said)])


def _answer_error(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


async def serve(variant: Variant, journal: Path | None) -> None:
    def on_event(entry: Entry) -> None:
        if journal is not None:
            with journal.open("a") as file:
                file.write(json.dumps(entry) + "\n")

    on_event({"started": os.getpid()})
    server = SessionServer(on_event, variant).server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve named sessions.")
    parser.add_argument("--registry", default="plain")
    parser.add_argument("--journal", type=Path)
    flags = parser.parse_args()
    asyncio.run(serve(flags.registry, flags.journal))


if __name__ == "__main__":
    main()
