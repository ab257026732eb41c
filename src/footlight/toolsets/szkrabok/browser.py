"""`browser.*`: looking at a page as a tree, and running tests in the browser that is open."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.fitting import fit
from footlight.browser.looking import look, look_at
from footlight.browser.narrowing import interactive as only_interactive
from footlight.browser.narrowing import to_depth
from footlight.browser.rendering import lines_of
from footlight.browser.target_id import target_id_of
from footlight.errors import PermissionDenied
from footlight.server.answer import PageText
from footlight.server.keeping import keep_text
from footlight.server.secrets import SecretText
from footlight.server.tool import Count, MaybeBudget, Milliseconds, ToolCall
from footlight.toolsets.szkrabok.parameters import (
    PlainText,
    Selector,
    SessionName,
    named_sessions,
    named_tool,
)
from footlight.toolsets.szkrabok.test_run import RunReport, RunRequest, TestOutcome, run_tests

if TYPE_CHECKING:
    from footlight.browser.session import Session

__all__ = ["TOOLS"]

RUN_TIMEOUT_MS = 120_000.0

RunTimeout = Annotated[
    Milliseconds | None,
    Field(description="Milliseconds for the whole run", json_schema_extra={"default": int(RUN_TIMEOUT_MS)}),
]
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class OneTest(TypedDict):
    """`error` says why it failed or was skipped; `result` is what the test said it found out."""

    title: str
    status: Literal["passed", "failed", "skipped"]
    error: NotRequired[str]
    result: NotRequired[Any]


class Ran(TypedDict):
    """`log` is the end of what the run wrote."""

    passed: int
    failed: int
    skipped: int
    tests: list[OneTest]
    log: str


@named_tool("browser.snapshot", effect="read")
async def snapshot(
    call: ToolCall,
    selector: Annotated[Selector | None, Field(description="Only this element")] = None,
    interactive: Annotated[bool, Field(description="Only what can be used")] = False,
    depth: Count | None = None,
    budget: MaybeBudget = None,
) -> PlainText:
    """Look at the page as a tree. Roles, names, states, and refs (e12) to use as selector."""
    view = call.page.view
    if selector is None:
        seen = await look(call.page, call.deadline)
    else:
        seen = await look_at(call.page, call.deadline, selector=selector)
    if selector is None and ((not interactive and depth is None) or view.told is None):
        view.told = seen
    else:
        view.show(seen.nodes, of=seen.nodes)
    nodes = only_interactive(seen.nodes) if interactive else seen.nodes
    fitted = fit(
        lines_of(nodes if depth is None else to_depth(nodes, depth)),
        budget or call.settings.resources.max_inline_text or sys.maxsize,
        lambda text: keep_text(call, text, tool="browser.snapshot"),
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
        str | None, Field(min_length=1, description="Part of a test's name; all tests without it")
    ] = None,
    params: Annotated[
        dict[ParameterName, SecretText] | None, Field(description="Texts that the tests can ask for")
    ] = None,
    page_id: str | None = None,
) -> Ran:
    """Run tests in this session's browser. They are those of the server's tests directory."""
    directory = call.settings.tests.directory
    if directory is None:
        raise PermissionDenied(
            "browser.run_test is switched off on this server: it has no folder of tests",
            suggestion="Whoever runs the server can name one: --tests-dir, or the setting tests.directory.",
            setting="tests.directory",
        )
    endpoint = named_sessions(call).endpoint(session_name, caller=call.caller)
    call.stage("running the tests")
    request = RunRequest(
        directory=directory,
        grep=grep,
        session_name=session_name,
        endpoint=endpoint.http,
        target=await target_id_of(await call.session.page(page_id)),
        params=params or {},
        scratch=call.session.scratch_path,
        timeout_ms=call.deadline.remaining_ms,
    )
    with call.session.dialogs.left_to_others():
        report = await _while_open(call.session, run_tests(request))
    return {
        "passed": report.count("passed"),
        "failed": report.count("failed"),
        "skipped": report.count("skipped"),
        "tests": [_told(test) for test in report.tests],
        "log": report.log,
    }


async def _while_open(session: Session, run: Coroutine[Any, Any, RunReport]) -> RunReport:
    """Tests need not notice that their browser is gone. Raises SessionNotFound, BrowserCrashed."""
    running = asyncio.create_task(run)
    ending = asyncio.create_task(session.browser.gone.wait())
    try:
        await asyncio.wait([running, ending], return_when=asyncio.FIRST_COMPLETED)
        if not running.done() and (ended := await session.ended()):
            raise ended
        return await running
    finally:
        ending.cancel()
        running.cancel()
        await asyncio.wait([running])


def _told(test: TestOutcome) -> OneTest:
    told: OneTest = {"title": test.title, "status": test.status}
    if test.error is not None:
        told["error"] = test.error
    if test.result is not None:
        told["result"] = test.result
    return told


TOOLS = (snapshot, run_test)
