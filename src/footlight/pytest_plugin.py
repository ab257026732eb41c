"""The pytest plugin: fixtures for tests with a browser, or with another MCP server.

```python
async def test_the_title(mcp):
    await mcp.root.navigate(url="http://127.0.0.1:8000")
    assert (await mcp.root.get_text(selector="h1"))["data"] == {"text": "Welcome"}
```

`mcp` is a handle with its own session, `mcp_client` a connected client, and `browser_session` a typed browser
client. They work with pytest-asyncio and with anyio on asyncio; `sync_mcp`, `sync_mcp_client` and
`sync_browser_session` are for tests without `async`. The tests of one process share a server and its browser,
but each test has its own sessions. The report of a failed test contains its calls, a snapshot of the page and
a screenshot.

`attached_page`, `run_params` and `record_result` are for tests that `browser.run_test` starts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

from footlight.testing.attached_run import (
    FIXTURE,
    hold_lifeline,
    open_attached_page,
    read_parameters,
    with_own_page,
)
from footlight.testing.options import add_options, owns_server, read_options
from footlight.testing.report_file import RESULT, ReportFile

if TYPE_CHECKING:
    from footlight import sync
    from footlight.browser_client.playwright_client import PlaywrightClient
    from footlight.client.mcp_client import MCPClient
    from footlight.testing.connections import PluginConnections
    from footlight.testing.watched_test import WatchedTest

__all__: list[str] = []

_WATCHED = pytest.StashKey["WatchedTest"]()
_RESULT = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    hold_lifeline()  # Before pytest replaces standard input, and before any code of the tests runs.
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("footlight_report")
    if file and not hasattr(config, "workerinput"):  # With xdist, only the controller receives all reports.
        config.pluginmanager.register(ReportFile(config.invocation_params.dir / file), "footlight-report")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if not isinstance(item, pytest.Function) or FIXTURE not in item.funcargs:
        return (yield)
    test = item.obj
    item.obj = with_own_page(test, item.funcargs[FIXTURE])
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
        watched.trim_traceback(call.excinfo.value)
    report = yield
    if watched is not None:
        watched.extend_report(report)
    if report.when == "call" and _RESULT in item.stash:
        setattr(report, RESULT, item.stash[_RESULT])
    return report


@pytest.fixture(scope="session")
def _connections(request: pytest.FixtureRequest) -> Generator[PluginConnections]:
    from footlight.testing.connections import PluginConnections

    connections = PluginConnections(share=not owns_server(request.config))
    try:
        yield connections
    finally:
        connections.close()


@pytest.fixture
def _watched_test(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _connections: PluginConnections
) -> WatchedTest:
    from footlight.testing.watched_test import WatchedTest

    item: pytest.Item = request.node
    item.stash[_WATCHED] = watched = WatchedTest(
        nodeid=item.nodeid,
        options=read_options(request.config),
        folder=tmp_path_factory.getbasetemp() / "footlight",
        connections=_connections,
        worker=os.environ.get("PYTEST_XDIST_WORKER"),
        pictures=request.config.pluginmanager.has_plugin("html"),
    )
    return watched


@pytest.fixture
def mcp(_watched_test: WatchedTest) -> Generator[Any]:
    """Provide a handle of the server's tools with its own session: `await mcp.root.navigate(url=…)`."""
    with _watched_test.handle() as handle:
        yield handle


@pytest.fixture
def mcp_client(_watched_test: WatchedTest) -> Generator[MCPClient]:
    """Provide a connected `MCPClient`. Its callbacks are called in another thread."""
    with _watched_test.client() as client:
        yield client


@pytest.fixture
def browser_session(_watched_test: WatchedTest) -> Generator[PlaywrightClient]:
    """Provide a `PlaywrightClient` with its own session."""
    with _watched_test.browser() as browser:
        yield browser


@pytest.fixture
def sync_mcp(_watched_test: WatchedTest) -> Generator[Any]:
    """Provide the handle of `mcp` for tests without `async`: `sync_mcp.root.navigate(url=…)`."""
    with _watched_test.handle(blocking=True) as handle:
        yield handle


@pytest.fixture
def sync_mcp_client(_watched_test: WatchedTest) -> Generator[sync.MCPClient]:
    """Provide the client of `mcp_client` for tests without `async`."""
    with _watched_test.client(blocking=True) as client:
        yield client


@pytest.fixture
def sync_browser_session(_watched_test: WatchedTest) -> Generator[Any]:
    """Provide the browser client of `browser_session` for tests without `async`."""
    with _watched_test.browser(blocking=True) as browser:
        yield browser


@pytest.fixture
def attached_page(request: pytest.FixtureRequest) -> Generator[Any]:
    """Provide Playwright's page of the session for which `browser.run_test` started this test.

    A `def` test gets the page of the synchronous API, an `async def` test that of the asynchronous API. The
    page stays open after the test.
    """
    with open_attached_page(request.function) as page:
        yield page


@pytest.fixture
def run_params() -> dict[str, str]:
    """Return the `params` of `browser.run_test` by name."""
    return read_parameters()


@pytest.fixture
def record_result(request: pytest.FixtureRequest) -> Callable[[Any], None]:
    """Return a function that records a value as the `result` of the test. The last value counts."""

    def record(value: Any) -> None:
        # Fail here, in the test, rather than when the report is written or sent by pytest-xdist.
        request.node.stash[_RESULT] = json.dumps(value, allow_nan=False)

    return record
