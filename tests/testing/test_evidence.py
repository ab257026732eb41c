"""The evidence of a failed test, from a server in this process."""

from __future__ import annotations

import pytest
from mcp.server import MCPServer
from mcp_types import ImageContent, ResourceLink

from footlight.client.mcp_client import MCPClient
from footlight.client.transports.memory import InMemory
from footlight.testing.evidence import FailureEvidence, collect_evidence

pytestmark = pytest.mark.anyio

PICTURE = b"RIFF of a picture"


async def test_screenshot_behind_a_link_is_read() -> None:
    server = MCPServer("pictures")

    @server.tool(structured_output=False)
    def snapshot() -> str:
        return 'button "Send"'

    @server.tool(structured_output=False)
    def screenshot() -> ResourceLink:
        return ResourceLink(uri="picture://1", name="picture")

    @server.resource("picture://1", mime_type="image/webp")
    def picture() -> bytes:
        return PICTURE

    async with MCPClient(InMemory(server)) as client:
        evidence = await collect_evidence(client, {})

    assert evidence == FailureEvidence(
        snapshot='button "Send"', picture=PICTURE, mime_type="image/webp", missing=[]
    )
    assert evidence.file_ending == "webp"


async def test_image_that_is_not_base64_is_a_missing_screenshot() -> None:
    server = MCPServer("broken pictures")

    @server.tool(structured_output=False)
    def snapshot() -> str:
        return 'button "Send"'

    @server.tool(structured_output=False)
    def screenshot() -> ImageContent:
        return ImageContent(data="é", mimeType="image/png")

    async with MCPClient(InMemory(server)) as client:
        evidence = await collect_evidence(client, {})

    assert (evidence.snapshot, evidence.picture) == ('button "Send"', None)
    assert [each.partition(":")[0] for each in evidence.missing] == ["no screenshot"]
