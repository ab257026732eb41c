"""Tools that return each kind of content, and schemas that must arrive unchanged."""

from __future__ import annotations

import mcp_types as types

from tests.protocol.fixtures import Call, Outcome, content, embed, fixture, image, text

SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
"""A WAV file of one sample."""

CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""Keywords of JSON Schema 2020-12 that no one on the way may drop (SEP-1613, SEP-2106)."""

REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
"""An argument that comes in a header too, `Mcp-Param-Region` (SEP-2243)."""


@fixture()
async def test_simple_text(call: Call) -> Outcome:
    """Answer with text."""
    return content(text("This is a simple text response for testing."))


@fixture()
async def test_image_content(call: Call) -> Outcome:
    """Answer with an image."""
    return content(image())


@fixture()
async def test_audio_content(call: Call) -> Outcome:
    """Answer with a sound."""
    return content(types.AudioContent(type="audio", data=SILENCE, mime_type="audio/wav"))


@fixture()
async def test_embedded_resource(call: Call) -> Outcome:
    """Answer with a resource."""
    return content(embed("test://embedded-resource", "text/plain", "This is an embedded resource content."))


@fixture()
async def test_multiple_content_types(call: Call) -> Outcome:
    """Answer with text, an image and a resource."""
    return content(
        text("Multiple content types test:"),
        image(),
        embed("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    )


@fixture()
async def test_error_handling(call: Call) -> Outcome:
    """Fail."""
    return types.CallToolResult(
        content=[text("This tool intentionally returns an error for testing")], is_error=True
    )


@fixture(CONTACT)
async def json_schema_2020_12_tool(call: Call) -> Outcome:
    """Answer with text; the schema is what matters."""
    return content(text("done"))


@fixture(REGION)
async def test_x_mcp_header(call: Call) -> Outcome:
    """Answer with the region."""
    return content(text(f"The region is {call.argument('region')}."))


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    json_schema_2020_12_tool,
    test_x_mcp_header,
)
