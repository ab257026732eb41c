"""A server of notes whose ids differ in each run, over stdio or in this process."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

COMMAND = (sys.executable, "-m", "tests.client.replay.notes_server")

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "create_session": (),
    "close_session": ("sessionId",),
    "add": ("sessionId", "text"),
    "read": ("sessionId", "id"),
    "remove": ("sessionId", "id"),
    "echo": ("text", "sessionId_of_nobody"),
    "long": ("sessionId", "lines"),
    "picture": ("sessionId",),
}


class Notes:
    """The server's state: `calls` are the received calls, `open` the open sessions."""

    def __init__(self, *, greeting: str = "hello") -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.open: set[str] = set()
        self._notes: dict[str, str] = {}
        self._greeting = greeting

    def server(self) -> Server[Any]:
        return Server("notes", version="1", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, _: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name, input_schema={"type": "object", "properties": {each: {} for each in given}}
                )
                for name, given in PARAMETERS.items()
            ]
        )

    async def _call(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        given = dict(params.arguments or {})
        self.calls.append((params.name, given))
        if "sessionId" in PARAMETERS.get(params.name, ()) and given.get("sessionId") not in self.open:
            return _answer_error(f"no session {given.get('sessionId')}")
        method = getattr(self, f"_{params.name}", None)
        return method(given) if method else _answer_error(f"no tool {params.name}")

    def _create_session(self, _: Mapping[str, Any]) -> types.CallToolResult:
        id = secrets.token_hex(16)
        self.open.add(id)
        return _answer({"data": {"sessionId": id}})

    def _close_session(self, given: Mapping[str, Any]) -> types.CallToolResult:
        self.open.remove(given["sessionId"])
        return _answer({"closed": True})

    def _add(self, given: Mapping[str, Any]) -> types.CallToolResult:
        note = f"note-{secrets.token_hex(4)}"
        self._notes[note] = given["text"]
        return _answer({"note": note, "createdAt": datetime.now(UTC).isoformat(), "count": len(self._notes)})

    def _read(self, given: Mapping[str, Any]) -> types.CallToolResult:
        text = self._notes.get(given["id"])
        if text is None:
            return _answer_error(f"there is no note {given['id']}")
        return _answer({"text": text, "greeting": self._greeting})

    def _remove(self, given: Mapping[str, Any]) -> types.CallToolResult:
        text = self._notes.pop(given["id"], None)
        return (
            _answer_error(f"there is no note {given['id']}") if text is None else _answer({"removed": text})
        )

    def _echo(self, given: Mapping[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text=given["text"])])

    def _long(self, given: Mapping[str, Any]) -> types.CallToolResult:
        lines = [f"{self._greeting} {number}" for number in range(given["lines"])]
        return types.CallToolResult(content=[types.TextContent(text="\n".join(lines))])

    def _picture(self, _: Mapping[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(content=[types.ImageContent(data="aGk=", mime_type="image/png")])


def _answer(value: Mapping[str, Any]) -> types.CallToolResult:
    text = types.TextContent(text=json.dumps(value))
    return types.CallToolResult(content=[text], structured_content=dict(value))


def _answer_error(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)


async def _serve() -> None:
    notes = Notes(greeting=sys.argv[1] if len(sys.argv) > 1 else "hello")
    server = notes.server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
