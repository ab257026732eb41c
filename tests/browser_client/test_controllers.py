"""The controllers of a connection and of a browser that a user interface subscribes to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

import psutil
import pytest

from footlight.browser_client.controllers import (
    AutomationView,
    BrowserAutomation,
    ConnectionView,
    MCPConnectionController,
)
from footlight.browser_client.mcp_config import MCPConfig
from footlight.browser_client.results import NavigateResult
from footlight.protocol.errors import MCPError
from tests.client.browser_servers import config_of
from tests.processes import children_of
from tests.site import Site

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0

NOWHERE = MCPConfig("no-such-command", ())


@pytest.fixture(scope="module")
async def connection(anyio_backend: str) -> AsyncGenerator[MCPConnectionController]:
    async with MCPConnectionController(config_of("footlight"), auto_connect=True) as connection:
        yield connection


@pytest.mark.slow
async def test_connection_changes_are_observed() -> None:
    views: list[ConnectionView] = []
    connection = MCPConnectionController(config_of("footlight"))
    connection.subscribe(views.append)

    async with connection:
        before = (connection.connected, connection.client)
        await connection.connect()
        await connection.connect()
        during = connection.client
    await connection.disconnect()

    assert (before, during is not None, connection.client) == ((False, None), True, None)
    assert views == [ConnectionView(connected=True), ConnectionView(connected=False)]


async def test_a_failed_connection_is_raised_and_reported() -> None:
    views: list[ConnectionView] = []
    connection = MCPConnectionController(NOWHERE)
    connection.subscribe(views.append)

    with pytest.raises(MCPError) as caught:
        await connection.connect()

    assert views == [ConnectionView(connected=False, error=caught.value)]
    assert (connection.error, connection.client, caught.value.code) == (
        caught.value,
        None,
        "SERVER_NOT_AVAILABLE",
    )


async def test_failure_of_auto_connect_is_reported() -> None:
    async with MCPConnectionController(NOWHERE, auto_connect=True) as connection:
        error = connection.error

    assert (error is not None and error.code, connection.error) == ("SERVER_NOT_AVAILABLE", None)


async def test_unsubscribed_listener_is_not_called() -> None:
    views: list[ConnectionView] = []
    connection = MCPConnectionController(NOWHERE)
    first, second = connection.subscribe(views.append), connection.subscribe(views.append)
    first()
    first()

    with pytest.raises(MCPError):
        await connection.connect()
    second()
    await connection.disconnect()

    assert [view.error is None for view in views] == [False]


async def test_failing_listener_does_not_block_other_listeners(
    caplog: pytest.LogCaptureFixture,
) -> None:
    views: list[ConnectionView] = []

    def fails(_: ConnectionView) -> None:
        raise RuntimeError

    connection = MCPConnectionController(NOWHERE)
    connection.subscribe(fails)
    connection.subscribe(views.append)

    with caplog.at_level(logging.ERROR), pytest.raises(MCPError):
        await connection.connect()

    assert (len(views), [record.message for record in caplog.records]) == (1, ["a listener failed"])


async def test_loading_state_is_observed(connection: MCPConnectionController, site: Site) -> None:
    page = site.page("<title>Watched</title>")
    views: list[AutomationView] = []
    async with BrowserAutomation(connection) as browser:
        unsubscribe = browser.subscribe(views.append)

        result = await browser.navigate(page)
        tree = (await browser.get_snapshot()).tree
        width = (await browser.screenshot()).width
        unsubscribe()

    assert (result, tree["url"], width > 0) == (
        NavigateResult(success=True, url=page, title="Watched", status=200),
        page,
        True,
    )
    assert views == [AutomationView(loading=True), AutomationView(loading=False)] * 3


async def test_concurrent_operations_report_loading_once(
    connection: MCPConnectionController, site: Site
) -> None:
    views: list[AutomationView] = []
    browser = BrowserAutomation(connection)
    browser.subscribe(views.append)

    async with asyncio.timeout(LIMIT_SECONDS):
        await asyncio.gather(*(browser.navigate(site.page("<p>here")) for _ in range(2)))

    assert views == [AutomationView(loading=True), AutomationView(loading=False)]


async def test_error_is_reported_until_the_next_operation(
    connection: MCPConnectionController, site: Site
) -> None:
    views: list[AutomationView] = []
    browser = BrowserAutomation(connection)
    browser.subscribe(views.append)

    with pytest.raises(MCPError) as caught:
        await browser.navigate("ftp://x")
    await browser.navigate(site.page("<p>here"))

    assert views == [
        AutomationView(loading=True),
        AutomationView(loading=False, error=caught.value),
        AutomationView(loading=True),
        AutomationView(loading=False),
    ]


async def test_browser_without_a_connection_reports_the_error() -> None:
    browser = BrowserAutomation(MCPConnectionController(NOWHERE))

    with pytest.raises(MCPError) as caught:
        await browser.get_snapshot()

    assert (caught.value.reason, browser.view) == ("not_connected", AutomationView(error=caught.value))


@pytest.mark.slow
async def test_lost_connection_is_reported_and_can_be_reconnected(site: Site) -> None:
    """To recover takes one attempt."""
    page = site.page("<title>Back</title>")
    others = set(children_of(psutil.Process()))
    views: list[ConnectionView] = []
    async with MCPConnectionController(config_of("footlight"), auto_connect=True) as connection:
        connection.subscribe(views.append)
        browser = BrowserAutomation(connection)
        await browser.navigate(page)
        (server,) = set(children_of(psutil.Process())) - others

        server.kill()
        with pytest.raises(MCPError) as caught:
            await browser.navigate(page)
        await connection.connect()
        title = (await browser.navigate(page)).title

    assert (caught.value.code, title) == ("CONNECTION_ERROR", "Back")
    assert [view.connected for view in views] == [False, True, False]
