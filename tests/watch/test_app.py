"""The live view inside of a client: a test page shows the server's MCP App as a client does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import playwright.async_api
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from playwright.async_api import expect

from footlight.config import Settings
from footlight.server.live_view import APP_TOOLS
from footlight.toolsets.browser import BrowserToolset
from tests.conftest import connect_browser, server_command
from tests.http_client import Raw, events, handshake, request
from tests.site import Site
from tests.watch.conftest import LIMIT_MS, Agent

pytestmark = pytest.mark.anyio

URI = "ui://footlight/watch.html"
MIME_TYPE = "text/html;profile=mcp-app"
EXTENSION = {"io.modelcontextprotocol/ui": {"mimeTypes": [MIME_TYPE]}}
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

HOST = """<!doctype html><title>Host</title><iframe id=app sandbox="allow-scripts"></iframe><script>
const seen = { methods: [], sizes: [] };
const frame = document.getElementById("app");
const send = message => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.addEventListener("message", async event => {
  if (event.source !== frame.contentWindow) return;
  const { id, method, params } = event.data;
  seen.methods.push(method);
  if (method === "ui/initialize") {
    const hostInfo = { name: "host", version: "1" };
    const hostContext = { theme: "dark", displayMode: "inline" };
    const hostCapabilities = { serverTools: {} };
    send({ id, result: { protocolVersion: params.protocolVersion, hostInfo, hostCapabilities, hostContext
    } });
  } else if (method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: toolInput } });
    send({ method: "ui/notifications/tool-result", params: toolResult });
  } else if (method === "tools/call") {
    send({ id, result: await callTool(params) });
  } else if (method === "ui/notifications/size-changed") {
    seen.sizes.push(params);
    frame.style.height = `${params.height}px`;
  }
});
</script>"""


async def rpc(client: Raw, method: str, params: dict[str, Any] | None = None, *, apps: bool = True) -> Any:
    """Send a stateless request of a client that shows apps, or not."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": EXTENSION} if apps else {},
    }
    headers = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    name = (params or {}).get("uri") or (params or {}).get("name")
    if name:
        headers["Mcp-Name"] = name
    answer = await client.send(request(method, {**(params or {}), "_meta": meta}), headers=headers)
    return answer.json()["result"]


@pytest.mark.slow
async def test_app_is_offered_only_to_clients_that_support_apps(client: Raw) -> None:
    tools = {each["name"]: each for each in (await rpc(client, "tools/list"))["tools"]}
    plain = {each["name"]: each for each in (await rpc(client, "tools/list", apps=False))["tools"]}
    ui = {"ui": {"resourceUri": URI, "visibility": ["model", "app"]}}

    assert {name for name, each in tools.items() if each.get("_meta") == ui} == {
        "request_help",
        "watch_session",
    }
    assert not any("_meta" in each for each in plain.values())
    assert (
        "io.modelcontextprotocol/ui" in (await rpc(client, "server/discover"))["capabilities"]["extensions"]
    )
    listed = (await rpc(client, "resources/list"))["resources"]
    assert [each["mimeType"] for each in listed if each["uri"] == URI] == [MIME_TYPE]
    others = (await rpc(client, "resources/list", apps=False))["resources"]
    assert URI not in [each["uri"] for each in others]


async def test_the_app_shows_the_session_through_its_host(
    chromium: playwright.async_api.Browser, client: Raw, agent: Agent, site: Site
) -> None:
    content = (await rpc(client, "resources/read", {"uri": URI}))["contents"][0]
    assert content["mimeType"] == MIME_TYPE
    assert content["_meta"]["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}
    app = content["text"].replace(
        "<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    )
    session = await handshake(client)
    called: list[dict[str, Any]] = []

    async def call_tool(params: dict[str, Any]) -> Any:
        called.append(params)
        async with session.streaming(request("tools/call", params, id=len(called) + 100)) as response:
            if response.headers["content-type"].startswith("application/json"):
                return json.loads(await response.aread())["result"]
            return [event.message async for event in events(response) if event.data][-1]["result"]

    await agent.show(site, "<h1>Shop</h1><button onclick=\"this.textContent='Done'\">Buy</button>")
    context = await chromium.new_context(viewport={"width": 390, "height": 844})
    try:
        page = await context.new_page()
        requests: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.expose_function("callTool", call_tool)
        await page.set_content(HOST)
        await page.evaluate(
            """([app, id]) => {
              Object.assign(window, { toolInput: { sessionId: id }, toolResult: {} });
              frame.srcdoc = app;
            }""",
            [app, agent.id],
        )
        shown = page.frame_locator("#app")
        await expect(shown.locator("#picture")).to_be_visible(timeout=LIMIT_MS)
        await expect(shown.locator("#state")).to_have_text("waiting for a call")
        await agent.call("click", selector="button")
        await expect(shown.locator("#calls li").first).to_contain_text("click")
        await agent.call("click", selector="testid=gone", timeout=2_000)
        await expect(shown.locator("#calls li.failed")).to_contain_text("ELEMENT_NOT_FOUND")
        await expect(shown.locator("#calls")).not_to_contain_text("watch_session")
        helping = asyncio.create_task(agent.call("request_help", reason="Press Done", timeout=8_000))
        await expect(shown.locator("#help")).to_contain_text("Press Done")
        who = {"session": agent.id, "watcher": "w"}
        assert (await client.send(who, path="/watch/api/take")).status_code == 200
        await expect(shown.locator("#state")).to_have_text("a person controls the session")
        await client.send({**who, "note": "ok"}, path="/watch/api/give-back")
        assert (await helping)["data"]["note"] == "ok"

        assert await shown.locator("html").get_attribute("data-theme") == "dark"
        assert (await page.evaluate("seen.methods"))[:2] == ["ui/initialize", "ui/notifications/initialized"]
        assert (await page.evaluate("seen.sizes"))[0]["height"] > 0
        assert await shown.locator("html").evaluate("root => root.scrollWidth <= root.clientWidth")
        assert [url for url in requests if not url.startswith(("about:", "data:"))] == []
        assert errors == []
        assert {each["name"] for each in called} == {"watch_session"}
    finally:
        await context.close()


@pytest.mark.slow
async def test_default_tool_list_contains_no_watch_tools() -> None:
    async with Client(
        stdio_client(StdioServerParameters(command=server_command()[0], args=server_command()[1:]))
    ) as c:
        tools = {each.name for each in (await c.list_tools()).tools}

    assert not tools & {"request_help", "watch_session"}


@pytest.mark.slow
async def test_watching_creates_no_session(site: Site) -> None:
    async with connect_browser(site, "--watch", "--tools", "all") as browser:
        error = await browser.refused("watch_session")
        sessions = (await browser.call("list_sessions"))["sessions"]

        assert error["code"] == "SESSION_NOT_FOUND"
        assert sessions == []

        await browser.show("<h1>Shop</h1>")
        assert (await browser.call("watch_session"))["session"]


def test_app_tools_match_the_static_list() -> None:
    assert {tool.name for tool in BrowserToolset(Settings()).tools if tool.app} == APP_TOOLS
