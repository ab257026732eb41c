"""Several calls as one, each with its own outcome and record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio

PAGE = """<input data-testid=name><button data-testid=go onclick="log.textContent = 'went'">Go</button>
    <button data-testid=off disabled>Off</button><p data-testid=log id=log>-</p>"""


def step(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


async def read_steps(app: Server, n: int) -> list[tuple[str, bool]]:
    steps = (await app.call("mm_knowledge_last", n=n))["steps"]
    return [(each["tool"], each["ok"]) for each in reversed(steps)]


async def test_steps_run_in_order_and_each_is_recorded(app: Server) -> None:
    url = app.site.page(PAGE)

    answer = await app.call(
        "mm_run_steps",
        steps=[
            step("mm_navigate", screen="url", url=url, observe="none"),
            step("mm_type", testId="name", text="Ada", observe="none"),
            step("mm_click", testId="go", observe="none"),
            step("mm_get_text", testId="log"),
        ],
    )

    assert answer == {
        "steps": [
            {"tool": "mm_navigate", "data": {"navigated": True, "currentUrl": url}},
            {"tool": "mm_type", "data": {"typed": True, "target": "testId:name"}},
            {"tool": "mm_click", "data": {"clicked": True, "target": "testId:go"}},
            {"tool": "mm_get_text", "data": {"text": "went", "target": "testId:log"}},
        ],
        "failed": 0,
    }
    tools = ["mm_navigate", "mm_type", "mm_click", "mm_get_text"]
    assert await read_steps(app, 4) == [(tool, True) for tool in tools]


async def test_failed_step_ends_the_run_with_its_own_error(app: Server) -> None:
    await app.show(PAGE)

    error = await app.refused(
        "mm_run_steps",
        steps=[
            step("mm_get_text", testId="log"),
            step("mm_click", testId="off", timeoutMs=0),
            step("mm_click", testId="go"),
        ],
    )

    assert (error["code"], error["details"]["step"]) == ("MM_CLICK_FAILED", 1)
    assert error["details"]["done"] == [
        {"tool": "mm_get_text", "data": {"text": "-", "target": "testId:log"}}
    ]
    assert await read_steps(app, 2) == [("mm_get_text", True), ("mm_click", False)]
    assert await app.text("log") == "-"


@pytest.mark.slow
async def test_steps_continue_after_a_failure_on_request(app: Server) -> None:
    await app.show(PAGE)

    answer = await app.call(
        "mm_run_steps",
        stopOnError=False,
        steps=[
            step("mm_click", testId="off", timeoutMs=0),
            step("mm_type", testId="nowhere", text="hidden-text-99", timeoutMs=0),
            step("mm_wait_for", testId="nowhere", timeoutMs=100),
            step("mm_click", testId="go", observe="none"),
        ],
    )

    assert [each.get("error", {}).get("code") for each in answer["steps"]] == [
        "MM_CLICK_FAILED",
        "MM_TARGET_NOT_FOUND",
        "MM_WAIT_TIMEOUT",
        None,
    ]
    assert answer["failed"] == 3
    assert "hidden-text-99" not in json.dumps(answer)


async def test_steps_share_one_deadline(app: Server) -> None:
    reported = await app.envelope(
        "mm_run_steps", timeoutMs=500, steps=[step("mm_wait_for", testId="nowhere", timeoutMs=60_000)] * 3
    )

    assert reported["error"]["code"] == "MM_WAIT_TIMEOUT"
    assert reported["meta"]["durationMs"] < 8000


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "given",
    [
        step("mm_click", testId="go", selector="#go", timeoutMs="0"),
        step("mm_launch"),
        step("mm_run_steps", steps=[]),
        step("mm_fly"),
        {"tool": "mm_get_state", "sessionId": "x"},
    ],
    ids=str,
)
async def test_no_step_runs_when_one_is_invalid(app: Server, given: dict[str, Any]) -> None:
    await app.show(PAGE)

    assert await app.code("mm_run_steps", steps=[step("mm_click", testId="go"), given]) == "MM_INVALID_INPUT"
    assert await app.text("log") == "-"
