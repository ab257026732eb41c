"""Tools that send requests to the client during a call, as until revision 2025-11-25."""

from __future__ import annotations

import json

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata

from tests.protocol.fixtures import Call, Outcome, Schema, content, fixture, strings, text

USER: Schema = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}

DEFAULTS: Schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}


def _make_titled(*titles: str) -> list[dict[str, str]]:
    return [{"const": f"value{number}", "title": title} for number, title in enumerate(titles, 1)]


CHOICES: Schema = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": _make_titled("First Option", "Second Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": _make_titled("First Choice", "Second Choice")}},
    },
}


@fixture(strings("prompt"))
async def test_sampling(call: Call) -> Outcome:
    """Have the client's model complete a prompt."""
    call.require("sampling")
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=text(call.argument("prompt")))],
            max_tokens=100,
        )
    )
    # Without the id it would go out on the stream that the client may not have opened.
    result = await call.context.session.send_request(
        request,
        types.CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=call.context.request_id),
    )
    said = result.content.text if isinstance(result.content, types.TextContent) else result.content.type
    return content(text(f"LLM response: {said}"))


@fixture(strings("message"))
async def test_elicitation(call: Call) -> Outcome:
    """Have the client ask its user for a name and an address."""
    return await _elicit(call, call.argument("message"), USER, said="User response")


@fixture()
async def test_elicitation_sep1034_defaults(call: Call) -> Outcome:
    """Have the client show a form that is filled in already."""
    return await _elicit(call, "Check what is filled in", DEFAULTS, said="Elicitation completed")


@fixture()
async def test_elicitation_sep1330_enums(call: Call) -> Outcome:
    """Have the client show choices of every kind."""
    return await _elicit(call, "Choose", CHOICES, said="Elicitation completed")


async def _elicit(call: Call, message: str, schema: Schema, *, said: str) -> Outcome:
    call.require("elicitation")
    result = await call.context.session.elicit_form(message, dict(schema), call.context.request_id)
    return content(text(f"{said}: action={result.action}, content={json.dumps(result.content or {})}"))


TOOLS = (
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
)
