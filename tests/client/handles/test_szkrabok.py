"""The adapter for sessions that the user names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from footlight.client.handles.adapters import SzkrabokSession, ToolClient, szkrabok_session
from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult
from footlight.protocol.tools import Tool

pytestmark = pytest.mark.anyio


class Calls:
    """What was called; every call succeeds, except those of the tools that `fail`."""

    def __init__(self, *fail: str) -> None:
        self.made: list[tuple[str, dict[str, Any]]] = []
        self._fail = fail

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        self.made.append((name, dict(arguments or {})))
        if name in self._fail:
            raise MCPError(f"{name} fails", reason="tool")
        return ToolResult()


async def test_a_session_is_opened_and_closed_by_its_name() -> None:
    calls = Calls()
    client: ToolClient = calls

    assert await szkrabok_session.open(client, "p4n-test") == "p4n-test"
    await szkrabok_session.close(client, "p4n-test")

    assert calls.made == [
        ("session.open", {"sessionName": "p4n-test"}),
        ("session.close", {"sessionName": "p4n-test"}),
    ]


async def test_session_not_to_be_kept_is_deleted_on_close() -> None:
    calls = Calls()

    await SzkrabokSession(keep=False).close(calls, "a")

    assert calls.made == [("session.close", {"sessionName": "a"}), ("session.delete", {"sessionName": "a"})]


@pytest.mark.parametrize("fail", [("session.close",), ("session.close", "session.delete")])
async def test_session_is_deleted_even_if_close_fails(fail: tuple[str, ...]) -> None:
    calls = Calls(*fail)

    with pytest.raises(MCPError, match=r"session\.close fails") as failed:
        await SzkrabokSession(keep=False).close(calls, "a")

    assert [name for name, _ in calls.made] == ["session.close", "session.delete"]
    assert getattr(failed.value, "__notes__", []) == [f"{name} failed too: {name} fails" for name in fail[1:]]


@pytest.mark.parametrize(
    ("adapter", "more"),
    [
        (SzkrabokSession(), {}),
        (SzkrabokSession(url="https://a.test/"), {"url": "https://a.test/"}),
        (SzkrabokSession(url=""), {"url": ""}),
        (SzkrabokSession(launch_options={"headless": False}), {"launchOptions": {"headless": False}}),
        (SzkrabokSession(launch_options={}), {}),
    ],
    ids=repr,
)
async def test_session_is_opened_with_the_configured_options(
    adapter: SzkrabokSession, more: dict[str, Any]
) -> None:
    calls = Calls()
    await adapter.open(calls, "a")

    assert calls.made == [("session.open", {"sessionName": "a", **more})]
    assert list(calls.made[0][1]) == ["sessionName", *more]


@pytest.mark.parametrize("arguments", [{}, {"url": "https://a.test/"}, {"b": 1, "a": {"c": 2}}], ids=repr)
def test_session_name_is_the_first_argument(arguments: dict[str, Any]) -> None:
    given = dict(arguments)
    filled = szkrabok_session.inject_session(given, "p4n-test")

    assert list(filled.items()) == [("sessionName", "p4n-test"), *arguments.items()]
    assert given == arguments


@pytest.mark.parametrize(
    ("schema", "takes"),
    [
        ({"type": "object", "properties": {"sessionName": {"type": "string"}}}, True),
        ({"properties": {"sessionName": True}}, True),
        ({"properties": {"sessionId": {"type": "string"}}}, False),
        ({"properties": {}}, False),
        ({"type": "object"}, False),
        ({"properties": None}, False),
        ({"properties": ["sessionName"]}, False),
        ({"required": ["sessionName"]}, False),
        ({}, False),
    ],
    ids=repr,
)
def test_schema_decides_whether_a_tool_takes_the_session(schema: dict[str, Any], takes: bool) -> None:
    assert szkrabok_session.has_session(Tool("any", input_schema=schema)) is takes


@pytest.mark.parametrize(
    ("name", "is_lifecycle"),
    [
        *(("session.open", True), ("session.close", True), ("session.list", True), ("session", False)),
        *(("sessions.open", False), ("nav.goto", False), ("health", False)),
    ],
)
def test_session_tools_are_recognized_as_lifecycle_tools(name: str, is_lifecycle: bool) -> None:
    assert szkrabok_session.is_lifecycle(name) is is_lifecycle


def test_adapter_tells_the_generator_which_keys_are_injected() -> None:
    assert tuple(szkrabok_session.injected_keys) == ("sessionName",)
    assert szkrabok_session.opens == "session.open"
