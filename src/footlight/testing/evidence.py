"""What the browser shows when a test has failed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from footlight.client.errors import MCPError
from footlight.client.mcp_client import MCPClient
from footlight.client.results import Content, ToolResult
from footlight.client.value import value_of

__all__ = ["Evidence", "gather"]

SNAPSHOTS = ("snapshot", "browser.snapshot", "browser_snapshot", "take_snapshot")
SCREENSHOTS = (
    *("screenshot", "extract.screenshot", "browser.take_screenshot"),
    *("browser_take_screenshot", "take_screenshot"),
)
TIMEOUT_MS = 4_000.0

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Of what there is none, `missing` says why."""

    snapshot: str | None = None
    picture: bytes | None = None
    mime_type: str = "image/png"
    missing: Sequence[str] = ()

    @property
    def ending(self) -> str:
        return _ENDINGS.get(self.mime_type, "bin")


async def gather(client: MCPClient, session: Mapping[str, Any]) -> Evidence:
    """`session` are the arguments that name it. Never fails: it must not hide why the test did."""
    missing: list[str] = []
    if not client.connected:
        return Evidence(missing=["no snapshot and no screenshot: the connection to the server is lost"])
    snapshot = picture = None
    mime_type = "image/png"
    try:
        result = await _called(client, SNAPSHOTS, session)
        snapshot = _text(result)
    except MCPError as error:
        missing.append(f"no snapshot: {error}")
    try:
        result = await _called(client, SCREENSHOTS, session)
        mime_type, picture = await _image(client, result)
    except (MCPError, binascii.Error) as error:
        missing.append(f"no screenshot: {error}")
    return Evidence(snapshot=snapshot, picture=picture, mime_type=mime_type, missing=missing)


async def _called(client: MCPClient, names: Sequence[str], session: Mapping[str, Any]) -> ToolResult:
    tools = {tool.name: tool for tool in await client.list_tools()}
    name = next((name for name in names if name in tools), None)
    if name is None:
        raise MCPError(f"the server has no tool for it ({', '.join(names)})", reason="invalid")
    known = cast("Mapping[str, Any]", tools[name].input_schema.get("properties") or {})
    arguments = {key: value for key, value in session.items() if key in known}
    return await client.call_tool(name, arguments, timeout_ms=TIMEOUT_MS)


def _text(result: ToolResult) -> str:
    """Where the answer is an object, the snapshot in it."""
    value = value_of(result)
    if isinstance(value, Mapping):
        answer = cast("Mapping[str, Any]", value)
        data = answer.get("data", answer)
        if isinstance(data, Mapping) and isinstance(snapshot := data.get("snapshot"), str):  # pyright: ignore[reportUnknownVariableType]
            return f"{data.get('url')}\n{snapshot}"  # pyright: ignore[reportUnknownMemberType]
    return result.text


async def _image(client: MCPClient, result: ToolResult) -> tuple[str, bytes]:
    for part in result.content:
        if part.type == "image" and part.data:
            return part.mime_type or "image/png", base64.b64decode(part.data)
        if part.type == "resource_link" and part.uri:  # Of a large one there is only a link.
            return await _linked(client, part)
    raise MCPError("the answer has no image", reason="protocol")


async def _linked(client: MCPClient, part: Content) -> tuple[str, bytes]:
    for content in await client.read_resource(part.uri or ""):
        if content.blob:
            mime_type = content.mime_type or part.mime_type or "image/png"
            return mime_type, base64.b64decode(content.blob)
    raise MCPError("the linked image is empty", reason="protocol")
