"""The adapter for servers that choose the names of sessions."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest

from footlight.client.handles.adapters import BrowserSession, browser_session
from footlight.protocol.errors import MCPError
from footlight.protocol.tools import Tool
from tests.client.scripted_server import says, serve_script

pytestmark = pytest.mark.anyio

TOOLS = ("create_session", "close_session")


def answer_opened(id: object) -> types.CallToolResult:
    return says(success=True, data={"sessionId": id})


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 800, "height": 600}}], ids=repr)
async def test_session_name_assigned_by_the_server_is_used(options: dict[str, Any]) -> None:
    answers = {"create_session": answer_opened("s-1"), "close_session": says(success=True)}
    async with serve_script(TOOLS, answers) as (client, script):
        adapter = BrowserSession(options=options)
        name = await adapter.open(client, "never on the wire")
        await adapter.close(client, name)

    assert name == "s-1"
    assert script.calls == [("create_session", options), ("close_session", {"sessionId": "s-1"})]


async def test_session_id_may_be_in_the_text_only() -> None:
    answer = says('{"success": true, "data": {"sessionId": "s-1"}}')
    async with serve_script(TOOLS, {"create_session": answer}) as (client, _):
        assert await browser_session.open(client, "unused") == "s-1"


@pytest.mark.parametrize(
    "answer",
    [
        *(says(), says("no session"), says("[]"), says("null"), says(success=True)),
        *(says(success=True, data=[]), says(success=True, data={}), answer_opened(5), answer_opened(None)),
        says(image="AAAA"),
    ],
    ids=lambda answer: answer.model_dump_json(exclude_none=True),
)
async def test_answer_without_a_session_id_is_an_error(answer: types.CallToolResult) -> None:
    async with serve_script(TOOLS, {"create_session": answer}) as (client, _):
        with pytest.raises(MCPError) as caught:
            await browser_session.open(client, "unused")

    assert (str(caught.value), caught.value.reason) == (
        "create_session answered without a sessionId",
        "protocol",
    )


def test_adapter_recognises_lifecycle_tools_and_session_key() -> None:
    takes = Tool("click", input_schema={"properties": {"sessionId": {}}})

    assert browser_session.inject_session({"selector": "a"}, "s-1") == {"sessionId": "s-1", "selector": "a"}
    assert [browser_session.has_session(tool) for tool in (takes, Tool("health"))] == [True, False]
    assert [browser_session.is_lifecycle(name) for name in (*TOOLS, "list_sessions")] == [True, True, False]
    assert (browser_session.opens, tuple(browser_session.injected_keys)) == (
        "create_session",
        ("sessionId",),
    )
