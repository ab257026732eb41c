"""`browser.*`: the page as a tree, and tests that run in the open browser."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.page.capture import look
from footlight.browser.page.page_operations import find_target_id
from footlight.browser.page.region_capture import look_at
from footlight.browser.snapshot.text.budget import fit_snapshot
from footlight.browser.snapshot.text.narrowing import keep_interactive, limit_depth
from footlight.errors import PermissionDeniedError
from footlight.server.answers import PageText
from footlight.server.answers.secrets import SecretText
from footlight.server.calls.attachments import attach_text
from footlight.server.tools import Count, MaybeBudget, Milliseconds, ToolCall
from footlight.toolsets.szkrabok.parameters import (
    PlainText,
    Selector,
    SessionName,
    get_named_sessions,
    named_tool,
)
from footlight.toolsets.szkrabok.test_run import RunReport, RunRequest, TestOutcome, run_tests

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session

__all__ = ["TOOLS"]

RUN_TIMEOUT_MS = 120_000.0

RunTimeout = Annotated[
    Milliseconds | None,
    Field(description="Milliseconds for the whole run", json_schema_extra={"default": int(RUN_TIMEOUT_MS)}),
]
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class TestReport(TypedDict):
    """`error` says why the test failed or was skipped; `result` is the result that the test reported."""

    title: str
    status: Literal["passed", "failed", "skipped"]
    error: NotRequired[str]
    result: NotRequired[Any]


class TestRunResult(TypedDict):
    """`log` is the end of the output of the run."""

    passed: int
    failed: int
    skipped: int
    tests: list[TestReport]
    log: str


@named_tool("browser.snapshot", effect="read")
async def snapshot(
    call: ToolCall,
    selector: Annotated[Selector | None, Field(description="Only this element")] = None,
    interactive: Annotated[bool, Field(description="Only interactive elements")] = False,
    depth: Annotated[Count | None, Field(description="Levels of the tree")] = None,
    budget: MaybeBudget = None,
) -> PlainText:
    """Look at the page as a tree. Roles, names, states, and refs (e12) to use as selectors."""
    view = call.page.view
    if selector is None:
        seen = await look(call.page, call.deadline)
    else:
        seen = await look_at(call.page, call.deadline, selector=selector)
    if selector is None and ((not interactive and depth is None) or view.last_reported is None):
        view.last_reported = seen
    else:
        view.note_reported(seen.nodes, of=seen.nodes)
    nodes = keep_interactive(seen.nodes) if interactive else seen.nodes
    fitted = fit_snapshot(
        nodes if depth is None else limit_depth(nodes, depth),
        budget or call.settings.resources.max_inline_text or sys.maxsize,
        lambda text: attach_text(call, text, tool="browser.snapshot"),
    )
    return {"text": PageText(f"url: {seen.url}\ntitle: {seen.title}\n{fitted.text}")}


@named_tool(
    "browser.run_test",
    scope="session",
    effect="act",
    destructive=True,
    open_world=True,
    untrusted=True,
    timeout=RunTimeout,
    default_timeout_ms=RUN_TIMEOUT_MS,
)
async def run_test(
    call: ToolCall,
    session_name: SessionName,
    grep: Annotated[
        str | None, Field(min_length=1, description="Part of a test's name; default: all tests")
    ] = None,
    params: Annotated[
        dict[ParameterName, SecretText] | None, Field(description="Texts for the tests")
    ] = None,
    page_id: str | None = None,
) -> TestRunResult:
    """Run tests in this session's browser. From the server's tests directory."""
    directory = call.settings.tests.directory
    if directory is None:
        raise PermissionDeniedError(
            "browser.run_test is disabled on this server: it has no tests directory",
            suggestion="Ask the server operator to set tests.directory (--tests-dir).",
            setting="tests.directory",
        )
    endpoint = get_named_sessions(call).endpoint(session_name, caller=call.caller)
    call.stage("running the tests")
    request = RunRequest(
        directory=directory,
        grep=grep,
        session_name=session_name,
        endpoint=endpoint.http,
        target=await find_target_id(await call.session.page_table.get(page_id)),
        params=params or {},
        scratch=call.session.scratch_path,
        timeout_ms=call.deadline.remaining_ms,
    )
    with call.session.dialogs.leave_to_others():
        report = await _run_while_open(call.session, run_tests(request))
    return {
        "passed": report.count("passed"),
        "failed": report.count("failed"),
        "skipped": report.count("skipped"),
        "tests": [_describe_test(test) for test in report.tests],
        "log": report.log,
    }


async def _run_while_open(session: Session, run: Coroutine[Any, Any, RunReport]) -> RunReport:
    """Run tests until they end.

    Raises:
        SessionNotFoundError, BrowserCrashedError: the browser ended first.
    """
    running = asyncio.create_task(run)
    ending = asyncio.create_task(session.browser.disconnected.wait())
    try:
        await asyncio.wait([running, ending], return_when=asyncio.FIRST_COMPLETED)
        if not running.done() and (ended := await session.explain_end()):
            raise ended
        return await running
    finally:
        ending.cancel()
        running.cancel()
        await asyncio.wait([running])


def _describe_test(test: TestOutcome) -> TestReport:
    report: TestReport = {"title": test.title, "status": test.status}
    if test.error is not None:
        report["error"] = test.error
    if test.result is not None:
        report["result"] = test.result
    return report


TOOLS = (snapshot, run_test)
