"""The envelope of document 003: `{success: true, data}` or `{success: false, error}`."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import mcp_types as types

from footlight.server.untrusted import META, marked, parts_from_page

if TYPE_CHECKING:
    from footlight.server.answer import Answer, Image, Link
    from footlight.server.tool import Tool

__all__ = ["SuccessEnvelope", "image_parts", "link_parts", "page_parts"]


class SuccessEnvelope:
    """As structured content, and as JSON text, beside which stands what a page says."""

    def schema(self, tool: Tool) -> dict[str, Any]:
        return tool.output_schema

    def result(self, tool: Tool, answer: Answer) -> types.CallToolResult:
        from_page = parts_from_page(tool, answer)
        meta = {META: from_page} if from_page else None
        return types.CallToolResult(
            content=[
                types.TextContent(type="text", text=answer.text, _meta=meta),
                *page_parts(answer),
                *image_parts(answer.images),
                *link_parts(answer.links),
            ],
            structured_content=dict(answer.content),
            is_error=not answer.success,
        )


def page_parts(answer: Answer) -> list[types.TextContent]:
    """What a page says, between marks."""
    return [
        types.TextContent(type="text", text=marked(text, source=answer.source or "page"))
        for text in answer.page_texts
        if text
    ]


def image_parts(images: Iterable[Image]) -> list[types.ImageContent]:
    return [
        types.ImageContent(
            type="image", data=base64.b64encode(image.data).decode("ascii"), mime_type=image.mime_type
        )
        for image in images
    ]


def link_parts(links: Iterable[Link]) -> list[types.ResourceLink]:
    return [
        types.ResourceLink(
            type="resource_link", uri=link.uri, name=link.name, mime_type=link.mime_type, size=link.bytes
        )
        for link in links
    ]
