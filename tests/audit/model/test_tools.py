"""Offering the tools of a server to a model."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field, HttpUrl, ValidationError

from footlight.audit.model.tools import AIToolDefinition, ToolAnswer, ToolInput, ai_tool_from_mcp
from footlight.audit.page.model_tools import FOOTLIGHT, PLAYWRIGHT_MCP
from footlight.audit.page.page import AuditedPage
from footlight.errors import ConfigurationError
from tests.audit.conftest import client_of

pytestmark = pytest.mark.anyio


class Address(ToolInput):
    url: Annotated[HttpUrl, Field(description="The URL to navigate to")]


RIGHT: dict[str, Any] = {
    "mcp_tool_name": "browser_navigate",
    "ai_tool_name": "navigateToPage",
    "description": "Navigate to a web page URL to begin analysis",
    "input_schema": Address,
}


def test_documented_example_equals_our_definition() -> None:
    (ours,) = [each for each in PLAYWRIGHT_MCP if each.ai_tool_name == "navigateToPage"]
    example = AIToolDefinition(**RIGHT)

    assert (ours.mcp_tool_name, ours.description) == (example.mcp_tool_name, example.description)
    assert ours.input_schema.model_json_schema() == {
        "type": "object",
        "properties": {
            "url": {
                "description": "The URL to navigate to",
                "format": "uri",
                "maxLength": 2083,
                "minLength": 1,
                "type": "string",
            }
        },
        "required": ["url"],
        "additionalProperties": False,
    }
    with pytest.raises(ValidationError):
        ours.input_schema.model_validate({"url": "not a url"})


def test_both_tool_families_have_equal_names_and_descriptions() -> None:
    ours, others = ({each.ai_tool_name: each for each in family} for family in (FOOTLIGHT, PLAYWRIGHT_MCP))

    assert ours.keys() == others.keys() - {"answerDialog"}
    assert all(each.description == others[name].description for name, each in ours.items())


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"mcp_tool_name": ""}, "mcp_tool_name is not a valid tool name: ''"),
        (
            {"ai_tool_name": "navigate_to"},
            "ai_tool_name must be in camel case, such as navigateToPage: 'navigate_to'",
        ),
        ({"description": " "}, "navigateToPage: description must say what the tool is for"),
        ({"input_schema": dict}, "navigateToPage: input_schema must be a pydantic model"),
    ],
)
def test_invalid_tool_definition_is_refused(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        AIToolDefinition(**{**RIGHT, **wrong})

    assert caught.value.message == problem


class Session(ToolInput):
    session_id: str = Field(alias="sessionId")


async def test_server_tool_can_be_offered_to_the_model(page: AuditedPage) -> None:
    """Any tool can be made one of the model's."""
    definition = AIToolDefinition(
        mcp_tool_name="list_sessions",
        ai_tool_name="listSessions",
        description="Which sessions there are",
        input_schema=ToolInput,
    )

    answer = await ai_tool_from_mcp(definition, client_of(page)).run(ToolInput())

    assert (answer.is_error, '"sessions"' in answer.text) == (False, True)


async def test_failures_are_reported_to_the_model(page: AuditedPage) -> None:
    """Nothing is raised, so that its work goes on."""
    definition = AIToolDefinition(
        mcp_tool_name="close_session",
        ai_tool_name="closeSession",
        description="Close a session",
        input_schema=Session,
    )
    given = Session(sessionId="00000000000000000000000000000000")

    answer = await ai_tool_from_mcp(definition, client_of(page)).run(given)

    assert (answer.is_error, answer.text[:17]) == (True, "SESSION_NOT_FOUND")


async def test_missing_server_tools_are_reported_to_the_model(page: AuditedPage) -> None:
    definition = AIToolDefinition(**{**RIGHT, "mcp_tool_name": "no_such_tool"})

    answer = await ai_tool_from_mcp(definition, client_of(page)).run(Address(url=HttpUrl("http://x/")))

    assert isinstance(answer, ToolAnswer)
    assert (answer.is_error, "no_such_tool" in answer.text) == (True, True)
