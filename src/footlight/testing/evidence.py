"""Collect a snapshot and a screenshot of the browser when a test has failed."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError
from footlight.protocol.results import Content, ToolResult, value_of

__all__ = ["FailureEvidence", "collect_evidence"]

SNAPSHOTS = ("snapshot", "browser.snapshot", "browser_snapshot", "take_snapshot")
SCREENSHOTS = (
    *("screenshot", "extract.screenshot", "browser.take_screenshot"),
    *("browser_take_screenshot", "take_screenshot"),
)
TIMEOUT_MS = 4_000.0

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureEvidence:
    """The state of the browser when a test failed. `missing` has the reasons for missing parts."""

    snapshot: str | None = None
    picture: bytes | None = None
    mime_type: str = "image/png"
    missing: Sequence[str] = ()

    @property
    def file_ending(self) -> str:
        return _ENDINGS.get(self.mime_type, "bin")


async def collect_evidence(client: MCPClient, session: Mapping[str, Any]) -> FailureEvidence:
    """Collect a snapshot and a screenshot. Errors are returned in `missing`.

    `session` contains the arguments that identify the session.
    """
    missing: list[str] = []
    if not client.connected:
        return FailureEvidence(
            missing=["no snapshot and no screenshot: the connection to the server is lost"]
        )
    snapshot = picture = None
    mime_type = "image/png"
    try:
        result = await _call_first(client, SNAPSHOTS, session)
        snapshot = _read_text(result)
    except MCPError as error:
        missing.append(f"no snapshot: {error}")
    try:
        result = await _call_first(client, SCREENSHOTS, session)
        mime_type, picture = await _read_image(client, result)
    except (MCPError, ValueError) as error:  # The data of the image may be no base64.
        missing.append(f"no screenshot: {error}")
    return FailureEvidence(snapshot=snapshot, picture=picture, mime_type=mime_type, missing=missing)


async def _call_first(client: MCPClient, names: Sequence[str], session: Mapping[str, Any]) -> ToolResult:
    """Call the first tool of `names` that the server has."""
    tools = {tool.name: tool for tool in await client.list_tools()}
    name = next((name for name in names if name in tools), None)
    if name is None:
        raise MCPError(f"the server has none of the tools {', '.join(names)}", reason="invalid")
    known = cast("Mapping[str, Any]", tools[name].input_schema.get("properties") or {})
    arguments = {key: value for key, value in session.items() if key in known}
    return await client.call_tool(name, arguments, timeout_ms=TIMEOUT_MS)


def _read_text(result: ToolResult) -> str:
    """Return the text of the snapshot. If the result is an object, the snapshot is one of its fields."""
    value = value_of(result)
    if isinstance(value, Mapping):
        answer = cast("Mapping[str, Any]", value)
        data = answer.get("data", answer)
        if isinstance(data, Mapping) and isinstance(snapshot := data.get("snapshot"), str):  # pyright: ignore[reportUnknownVariableType]
            return f"{data.get('url')}\n{snapshot}"  # pyright: ignore[reportUnknownMemberType]
    return result.text


async def _read_image(client: MCPClient, result: ToolResult) -> tuple[str, bytes]:
    for part in result.content:
        if part.type == "image" and part.data:
            return part.mime_type or "image/png", base64.b64decode(part.data)
        if part.type == "resource_link" and part.uri:  # A large image is sent as a link.
            return await _read_linked_image(client, part)
    raise MCPError("the answer has no image", reason="protocol")


async def _read_linked_image(client: MCPClient, part: Content) -> tuple[str, bytes]:
    for content in await client.read_resource(part.uri or ""):
        if content.blob:
            mime_type = content.mime_type or part.mime_type or "image/png"
            return mime_type, base64.b64decode(content.blob)
    raise MCPError("the linked image is empty", reason="protocol")
