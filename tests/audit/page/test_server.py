"""The server that an audit starts, its flags and its environment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

import psutil
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from footlight import MCPClient
from footlight.audit.page.page import DESKTOP, PHONE
from footlight.audit.page.server import find_unpinned_package, minimal_environment, own_server, server_of
from footlight.audit.page.server_page import page_of
from footlight.client.transports.stdio import Stdio
from footlight.protocol.errors import MCPError, ToolInvocationError
from tests.client.scripted_server import PLAYWRIGHT, serve_script
from tests.conftest import ENGINE
from tests.processes import children_of, descendants_of
from tests.site import Site

pytestmark = pytest.mark.anyio

SECRETS = {
    "OPENAI_API_KEY": "sk-1",
    "ANTHROPIC_API_KEY": "sk-2",
    "GEMINI_API_KEY": "sk-3",
    "GITHUB_TOKEN": "ghp-4",
    "AWS_SECRET_ACCESS_KEY": "5",
    "DATABASE_URL": "postgres://user:password@db/shop",
    "FOOTLIGHT_TOKEN": "a token of ours, for another server",
    "FOOTLIGHT_LISTEN_TLS_KEY": "key.pem",
    "FOOTLIGHT_SECURITY_SECRETS_FILE": "secrets.env",
    "npm_config__authToken": "npm-6",
    "https_proxy": "http://user:password@proxy:3128",
}
NEEDED = {
    "PATH": "/usr/bin",
    "HOME": "/home/reader",
    "LANG": "de_AT.UTF-8",
    "LC_TIME": "C",
    "DISPLAY": ":0",
    "XDG_RUNTIME_DIR": "/run/user/1",
    "FOOTLIGHT_BROWSER_TYPE": "firefox",
    "PLAYWRIGHT_BROWSERS_PATH": "/browsers",
    "http_proxy": "http://proxy:3128",
    "npm_config_cache": "/cache",
}


def environments(processes: Iterable[psutil.Process]) -> list[dict[str, str]]:
    """Of those that live: a browser's helpers come and go."""
    known: list[dict[str, str]] = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            known.append(process.environ())
    return known


def test_server_environment_contains_no_secrets() -> None:
    assert minimal_environment({**SECRETS, **NEEDED, "EDITOR": "vi"}) == NEEDED


@pytest.mark.slow
async def test_own_server_and_its_browser_receive_no_keys(site: Site) -> None:
    """Nor does its browser."""
    own = own_server(["--browser", ENGINE], environ={**os.environ, **SECRETS})
    before = set(children_of(psutil.Process()))
    async with MCPClient(own, timeout_ms=60_000) as client:
        page = await page_of(client)
        await page.open(site.page("<title>Seen</title>"), DESKTOP)
        title = await page.evaluate("() => document.title")
        (server,) = set(children_of(psutil.Process())) - before
        processes = [server, *descendants_of(server)]
        known = environments(processes)

    assert title == "Seen"
    assert len(known) > 1
    assert [each for each in known if {*each.items()} & {*SECRETS.items()}] == []


@pytest.mark.slow
async def test_own_server_ignores_unrelated_settings(site: Site) -> None:
    settings = {
        "FOOTLIGHT_TRANSPORT": "http",
        "FOOTLIGHT_TOOLSET": "szkrabok",
        "FOOTLIGHT_TOOLS_GROUPS": '["network"]',
        "FOOTLIGHT_SECURITY_ENABLE_SCRIPT_EVALUATION": "false",
    }
    own = own_server(["--browser", ENGINE], environ={**os.environ, **settings})
    async with MCPClient(own, timeout_ms=60_000) as client:
        page = await page_of(client)
        await page.open(site.page("<title>Seen</title>"), DESKTOP)

        assert await page.evaluate("() => document.title") == "Seen"


@pytest.mark.slow
async def test_session_options_apply_to_each_visit(site: Site) -> None:
    async def tells(request: Request) -> Response:
        return HTMLResponse(f"<title>{request.headers.get('x-reader')}</title>")

    given = {"extraHeaders": {"X-Reader": "yes"}, "locale": "de-AT"}
    own = own_server(["--browser", ENGINE], environ=os.environ)
    async with MCPClient(own, timeout_ms=60_000) as client:
        page = await page_of(client, session=given)
        titles: list[str] = []
        for view in (DESKTOP, PHONE):
            await page.open(site.route(tells), view)
            titles.append(await page.evaluate("() => document.title"))
        language = await page.evaluate("() => navigator.language")

    assert (titles, language) == (["yes", "yes"], "de-AT")


async def test_session_options_need_a_server_with_sessions() -> None:
    async with serve_script(tools=(*PLAYWRIGHT, "browser_evaluate")) as (client, _):
        with pytest.raises(ToolInvocationError, match="no sessions, so it cannot apply state"):
            await page_of(client, session={"state": "shop"})


def test_environment_of_other_servers_is_minimal() -> None:
    named = server_of("npx @playwright/mcp@0.0.41 --headless", environ={**SECRETS, **NEEDED})

    assert named == Stdio("npx", ("@playwright/mcp@0.0.41", "--headless"), env=NEEDED)
    assert isinstance(named, Stdio)
    assert named.env == NEEDED


def test_headers_are_refused_for_a_command() -> None:
    headers = {"Authorization": "Bearer x"}

    assert server_of("http://127.0.0.1:1/mcp", headers=headers, environ={}).where == "http://127.0.0.1:1/mcp"
    with pytest.raises(MCPError, match="headers: a command has none"):
        server_of("npx x", headers=headers, environ={})


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("npx @playwright/mcp@latest --headless", "@playwright/mcp@latest"),
        ("npx -y @playwright/mcp", "@playwright/mcp"),
        ("/usr/bin/npx playwright-mcp", "playwright-mcp"),
        ("uvx footlight", "footlight"),
        ("npx @playwright/mcp@0.0.41", None),
        ("uvx footlight==1.0", None),
        ("node cli.js", None),
        ("npx", None),
        ("'", None),
        ("", None),
        ("http://127.0.0.1:8931/mcp", None),
    ],
)
def test_unpinned_package_in_command_is_detected(command: str, package: str | None) -> None:
    assert find_unpinned_package(command) == package
