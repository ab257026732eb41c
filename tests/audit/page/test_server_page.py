"""The page under audit, with the tools of our server and of `@playwright/mcp`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from footlight import MCPClient
from footlight.audit.page.page import DESKTOP, PHONE, AuditedPage, OpenResult
from footlight.audit.page.server_page import page_of
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError, ToolInvocationError
from tests.audit.conftest import connect_client
from tests.client.browser_servers import FAMILIES
from tests.client.scripted_server import FOOTLIGHT, serve_script
from tests.conftest import server_command
from tests.site import Site

pytestmark = pytest.mark.anyio

FORM = "<!doctype html><title>Form</title><h1>Form</h1><input id=one><button id=two>Send</button>"
TITLE = "() => document.title"


async def test_a_page_is_opened_at_each_width(any_page: AuditedPage, site: Site) -> None:
    url = site.page(FORM)

    for view in (DESKTOP, PHONE):
        opened = await any_page.open(url, view)
        size = await any_page.evaluate("() => [innerWidth, innerHeight]")
        picture = Image.open(io.BytesIO(await any_page.screenshot(full_page=True)))

        assert (opened.url, await any_page.evaluate(TITLE)) == (url, "Form")
        assert opened.status in (200, None)
        assert size == [view.width, view.height]
        assert picture.size == (view.width, view.height)


async def test_the_status_of_an_error_page_is_reported(page: AuditedPage, site: Site) -> None:
    url = site.page("<title>Gone</title>", status=410)

    assert await page.open(url, DESKTOP) == OpenResult(url=url, status=410)


async def test_keys_go_to_the_focused_element(any_page: AuditedPage, site: Site) -> None:
    await any_page.open(site.page(FORM), DESKTOP)

    seen: list[str] = []
    for _ in range(2):
        await any_page.press("Tab")
        seen.append(await any_page.evaluate("() => document.activeElement.id"))

    assert seen == ["one", "two"]


async def test_console_reports_errors_and_warnings_of_current_page_only(
    any_page: AuditedPage, site: Site
) -> None:
    await any_page.open(site.page("<script>console.error('of another page')</script>"), DESKTOP)
    url = site.page(
        "<script>console.log('a note'); console.warn('take care'); console.error('bad');"
        "</script><script>nothing.there()</script>"
    )
    await any_page.open(url, DESKTOP)

    reported = sorted(await any_page.console(), key=lambda each: (each.level, each.text == "bad"))

    assert [each.level for each in reported] == ["error", "error", "warning"]
    assert [reported[1].text, reported[2].text] == ["bad", "take care"]
    assert "nothing is not defined" in reported[0].text
    assert all(url in each.source for each in reported)


@pytest.mark.slow
async def test_ref_is_valid_for_other_server_tools(any_page: AuditedPage, site: Site) -> None:
    await any_page.open(site.page(FORM), DESKTOP)

    ref = await any_page.find_ref("#two")

    assert ref is not None
    assert ref.lstrip("f0123456789").startswith("e")
    assert await any_page.find_ref("#nowhere") is None


async def test_long_script_runs_despite_strict_content_security_policy(
    any_page: AuditedPage, site: Site
) -> None:
    policy = {"content-security-policy": "default-src 'self'; require-trusted-types-for 'script'"}
    await any_page.open(site.page(FORM, headers=policy), DESKTOP)
    long = f"// {'x' * 600_000}\n"

    assert await any_page.evaluate(
        f"async () => {{ {long} return {{ sum: 1 + 2, list: [null, 'ü'] }}; }}"
    ) == {
        "sum": 3,
        "list": [None, "ü"],
    }


async def test_long_script_result_is_complete(any_page: AuditedPage, site: Site) -> None:
    await any_page.open(site.page(FORM), DESKTOP)

    reported = await any_page.evaluate("() => Array.from({ length: 20000 }, (_, n) => `line ${n}`)")

    assert (len(reported), reported[-1]) == (20_000, "line 19999")


async def test_page_storage_is_cleared_between_visits(page: AuditedPage, site: Site) -> None:
    url = site.page(FORM)
    await page.open(url, DESKTOP)
    await page.evaluate("() => { localStorage.mine = 'yes'; document.cookie = 'mine=yes'; }")

    await page.open(url, PHONE)

    assert await page.evaluate("() => [localStorage.mine ?? null, document.cookie]") == [None, ""]


async def test_failing_script_raises_a_readable_error(any_page: AuditedPage, site: Site) -> None:
    await any_page.open(site.page(FORM), DESKTOP)

    with pytest.raises(ToolInvocationError, match="no such luck"):
        await any_page.evaluate("() => { throw new Error('no such luck'); }")

    assert await any_page.evaluate("() => 1") == 1


async def test_page_load_failure_does_not_affect_the_next_page(any_page: AuditedPage, site: Site) -> None:
    with pytest.raises(MCPError):
        await any_page.open("http://127.0.0.1:9/", DESKTOP)

    await any_page.open(site.page(FORM), DESKTOP)
    assert await any_page.evaluate(TITLE) == "Form"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
async def test_page_that_loads_endlessly_is_opened_partially(family: str, site: Site, tmp_path: Path) -> None:
    url = site.page(f"<title>Endless</title><h1>Read me</h1><img src='{site.never()}'>")
    async with connect_client(family, tmp_path) as client:
        page = await page_of(client, timeout_ms=8_000)

        opened = await page.open(url, DESKTOP)

        assert (opened.url, await page.evaluate(TITLE)) == (url, "Endless")
        assert await page.evaluate("() => document.querySelector('h1').textContent") == "Read me"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
async def test_page_that_never_answers_times_out(family: str, site: Site, tmp_path: Path) -> None:
    async with connect_client(family, tmp_path) as client:
        page = await page_of(client, timeout_ms=6_000)

        with pytest.raises(MCPTimeoutError):
            await page.open(site.never(), DESKTOP)

        await page.open(site.page(FORM), DESKTOP)
        assert await page.evaluate(TITLE) == "Form"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
async def test_closing_the_page_is_idempotent_and_keeps_the_client_open(
    family: str, site: Site, tmp_path: Path
) -> None:
    async with connect_client(family, tmp_path) as client:
        page = await page_of(client)
        await page.open(site.page(FORM), DESKTOP)
        await page.close()
        await page.close()
        assert client.connected
        await page.open(site.page(FORM), DESKTOP)
        assert await page.evaluate(TITLE) == "Form"

    await page.close()
    with pytest.raises(MCPConnectionError):
        await page.evaluate("() => 1")


@pytest.mark.slow
async def test_previous_session_is_closed_before_the_next(site: Site, tmp_path: Path) -> None:
    async with connect_client("footlight", tmp_path) as client:
        page = await page_of(client)
        for _ in range(3):
            await page.open(site.page(FORM), DESKTOP)
        opened = await client.call_tool("list_sessions", {})
        await page.close()
        closed = await client.call_tool("list_sessions", {})

    assert [len(_sessions(each.structured_content)) for each in (opened, closed)] == [1, 0]


def _sessions(answer: object) -> Sequence[object]:
    assert isinstance(answer, dict)
    return answer["data"]["sessions"]


async def test_server_name_is_known(any_page: AuditedPage) -> None:
    assert any_page.server.split()[0] in ("playwright-mcp-server", "Playwright")


@pytest.mark.slow
async def test_disabled_script_evaluation_error_names_the_setting(site: Site) -> None:
    command, *arguments = server_command()
    async with MCPClient([command, *arguments]) as client:
        page = await page_of(client)
        await page.open(site.page(FORM), DESKTOP)

        with pytest.raises(ToolInvocationError, match="enableScriptEvaluation"):
            await page.evaluate("() => 1")


async def test_server_without_browser_tools_is_refused() -> None:
    async with serve_script(tools=("add",)) as (client, _):
        with pytest.raises(ToolInvocationError, match="no browser tools known here"):
            await page_of(client)


async def test_server_without_script_tool_is_refused_with_a_remedy() -> None:
    async with serve_script(tools=FOOTLIGHT) as (client, _):
        with pytest.raises(ToolInvocationError, match="start it with --enable-script-evaluation"):
            await page_of(client)
