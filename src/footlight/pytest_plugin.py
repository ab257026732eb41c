"""pytest's plugin: a browser, or another MCP server, for each test.

```python
async def test_the_title(mcp):
    await mcp.root.navigate(url="http://127.0.0.1:8000")
    assert (await mcp.root.get_text(selector="h1"))["data"] == {"text": "Welcome"}
```

`mcp` is a handle with a session of its own, `mcp_client` the connection alone, `browser_session` a browser
with types. They work in tests of pytest-asyncio and of anyio, on asyncio. Each is closed after its test,
whatever became of it; when it failed, the report has the calls that were made and what the page looked like.

`attached_page`, `run_params` and `record_result` are for tests that `browser.run_test` starts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

from footlight.testing.attaching import FIXTURE, in_test, page_for, parameters
from footlight.testing.lifeline import hold_lifeline
from footlight.testing.options import add_options, options_of
from footlight.testing.report_file import RESULT, ReportFile

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.client.playwright_client import PlaywrightClient
    from footlight.testing.watched import WatchedTest

__all__: list[str] = []

_WATCHED = pytest.StashKey["WatchedTest"]()
_RESULT = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    hold_lifeline()  # Before pytest puts another input in its place, and runs anything of the tests'.
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("footlight_report")
    if file and not hasattr(config, "workerinput"):  # The process that starts xdist's hears of all.
        config.pluginmanager.register(ReportFile(config.invocation_params.dir / file), "footlight-report")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if not isinstance(item, pytest.Function) or FIXTURE not in item.funcargs:
        return (yield)
    test = item.obj
    item.obj = in_test(test, item.funcargs[FIXTURE])
    try:
        return (yield)
    finally:
        item.obj = test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    watched = item.stash.get(_WATCHED, None)
    if watched is not None and call.excinfo is not None and not item.config.getoption("fulltrace"):
        watched.shorten(call.excinfo.value)
    report = yield
    if watched is not None:
        watched.tell(report)
    if report.when == "call" and _RESULT in item.stash:
        setattr(report, RESULT, item.stash[_RESULT])
    return report


@pytest.fixture
def _watched_test(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> WatchedTest:
    from footlight.testing.watched import WatchedTest

    item: pytest.Item = request.node
    item.stash[_WATCHED] = watched = WatchedTest(
        nodeid=item.nodeid,
        options=options_of(request.config),
        folder=tmp_path_factory.getbasetemp() / "footlight",
        worker=os.environ.get("PYTEST_XDIST_WORKER"),
        pictures=request.config.pluginmanager.has_plugin("html"),
    )
    return watched


@pytest.fixture
def mcp(_watched_test: WatchedTest) -> Generator[Any]:
    """A handle of the server's tools, with a session of its own: `await mcp.nav.goto(url=…)`."""
    with _watched_test.handle() as handle:
        yield handle


@pytest.fixture
def mcp_client(_watched_test: WatchedTest) -> Generator[MCPClient]:
    """A connected `MCPClient`. Its callbacks are called in another thread."""
    with _watched_test.client() as client:
        yield client


@pytest.fixture
def browser_session(_watched_test: WatchedTest) -> Generator[PlaywrightClient]:
    """A `PlaywrightClient` with a session of its own."""
    with _watched_test.browser() as browser:
        yield browser


@pytest.fixture
def attached_page(request: pytest.FixtureRequest) -> Generator[Any]:
    """Playwright's page in the session for which `browser.run_test` started this test.

    In `def` that of its synchronous API, in `async def` that of the other. It stays open.
    """
    with page_for(request.function) as page:
        yield page


@pytest.fixture
def run_params() -> dict[str, str]:
    """The `params` that `browser.run_test` was given, by their names in lower case."""
    return parameters()


@pytest.fixture
def record_result(request: pytest.FixtureRequest) -> Callable[[Any], None]:
    """Tell a value to whoever started the tests: the last one is the test's `result`."""

    def record(value: Any) -> None:
        json.dumps(value)  # Not at the end of the run, where nobody could say which it was.
        request.node.stash[_RESULT] = value

    return record
