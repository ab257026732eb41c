"""The form of every answer: one text with the time, the duration and the session."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def shape(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return an envelope with the types of the values that differ from call to call."""
    meta = envelope["meta"]
    assert MOMENT.fullmatch(meta["timestamp"])
    assert abs((datetime.now(UTC) - datetime.fromisoformat(meta["timestamp"])).total_seconds()) < 60
    assert type(meta["durationMs"]) is int
    assert meta["durationMs"] >= 0
    return {**envelope, "meta": sorted(meta)}


async def test_success_without_a_session_has_no_session_id(idle: Server) -> None:
    reported = await idle.envelope("mm_build")

    assert shape(reported) == {
        "meta": ["durationMs", "timestamp"],
        "ok": True,
        "result": {"buildType": "build:test", "extensionPathResolved": "dist/chrome"},
    }


async def test_error_without_a_session_has_no_session_id(idle: Server) -> None:
    reported = await idle.envelope("mm_get_state")

    assert shape(reported) == {
        "error": {
            "code": "MM_NO_ACTIVE_SESSION",
            "message": "MetaMask is not running",
            "details": {"suggestion": "Launch the app with mm_launch.", "retryable": False},
        },
        "meta": ["durationMs", "timestamp"],
        "ok": False,
    }


CALLS: list[tuple[str, dict[str, Any], bool]] = [
    ("mm_get_state", {}, True),
    ("mm_get_state", {"bogus": 1}, False),
    ("mm_click", {}, False),
    ("mm_click", {"testId": "nowhere", "timeoutMs": 0}, False),
    ("mm_build", {}, True),
    ("mm_launch", {}, False),
    ("mm_cleanup", {"sessionId": "mm-of-nobody"}, False),
    ("mm_knowledge_last", {}, True),
    ("mm_knowledge_last", {"n": 0}, False),
    ("mm_switch_tab", {"role": "extension"}, True),
    ("mm_run_steps", {"steps": []}, False),
]


@pytest.mark.parametrize(("tool", "arguments", "ok"), CALLS, ids=[f"{call[0]}-{call[1]}" for call in CALLS])
async def test_every_answer_during_a_session_has_its_id(
    app: Server, tool: str, arguments: dict[str, Any], ok: bool
) -> None:
    """This holds for a refused argument and for a tool without a session."""
    reported = await app.envelope(tool, **arguments)

    assert reported["ok"] is ok
    assert reported["meta"]["sessionId"].startswith("mm-")
    assert shape(reported)["meta"] == ["durationMs", "sessionId", "timestamp"]


async def test_all_answers_have_the_same_session_id(app: Server) -> None:
    reported = [await app.envelope(tool, **arguments) for tool, arguments, _ in CALLS]

    assert len({each["meta"]["sessionId"] for each in reported}) == 1


async def test_the_duration_is_that_of_the_call(app: Server) -> None:
    reported = await app.envelope("mm_wait_for", testId="nowhere", timeoutMs=300)

    assert 300 <= reported["meta"]["durationMs"] < 10_000


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("mm_get_state", {}),
        ("mm_navigate", {"screen": "home"}),
        ("mm_wait_for_notification", {"timeoutMs": 1000}),
        ("mm_list_testids", {}),
        ("mm_accessibility_snapshot", {}),
        ("mm_describe_screen", {}),
        ("mm_screenshot", {"name": "x"}),
        ("mm_click", {"testId": "x"}),
        ("mm_type", {"testId": "x", "text": "x"}),
        ("mm_wait_for", {"testId": "x"}),
        ("mm_get_text", {"testId": "x"}),
        ("mm_switch_tab", {"role": "dapp"}),
        ("mm_close_tab", {"role": "dapp"}),
        ("mm_mock_network", {"url": "*"}),
        ("mm_run_steps", {"steps": [{"tool": "mm_get_state"}]}),
    ],
)
async def test_tools_that_need_a_session_report_its_absence(
    idle: Server, tool: str, arguments: dict[str, Any]
) -> None:
    assert await idle.code(tool, **arguments) == "MM_NO_ACTIVE_SESSION"


async def test_knowledge_tools_need_no_session(idle: Server) -> None:
    assert "steps" in await idle.call("mm_knowledge_last")
    assert "matches" in await idle.call("mm_knowledge_search", query="unlock")
    assert "steps" in await idle.call("mm_knowledge_summarize")
