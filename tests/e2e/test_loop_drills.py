"""Hostile pages and callers do not block the server's event loop for other callers."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import Browser, connect_browser, server_command
from tests.evidence import server_log
from tests.loop_watch import command_watched, gaps_in
from tests.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

FLOOD_SECONDS = 100
"""The time for some clicks beside a page that floods. They take 5 s, or 50 s on a busy machine."""


@pytest.fixture(scope="module")
async def watched_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("watched") / "gaps"


@dataclass
class Served:
    browser: Browser
    watch_page: str


@pytest.fixture(scope="module")
async def server(site: Site, watched_file: Path) -> AsyncGenerator[Served]:
    secrets = watched_file.with_name("secrets.env")
    secrets.write_text("PASSWORD='\"pw!x(9)'\nTOKEN='\\\\aaaaaaaaaaaa'\nPIN=3141\n")
    secrets.chmod(0o600)
    flags = ("--enable-script-evaluation", "--tools", "all", "--secrets", str(secrets), "--timeout", "90000")
    flags += ("--watch",)
    command, *arguments = command_watched(watched_file, server_command(*flags))
    parameters = StdioServerParameters(command=command, args=arguments, env={**os.environ})
    with server_log() as log:
        async with Client(stdio_client(parameters, errlog=log.file)) as client:
            browser = Browser(client, site, log)
            await browser.show("<p>Everything is loaded once before something is measured.")
            page = re.search(r"Watch the sessions at (\S+)", log.text())
            assert page is not None
            yield Served(browser, page[1])


@pytest.fixture
def browser(server: Served) -> Browser:
    return server.browser


async def read_watched(server: Served, path: str) -> httpx2.Response:
    """Return an answer of the watch page's API."""
    page, _, token = server.watch_page.partition("#token=")
    async with httpx2.AsyncClient(timeout=60) as client:
        response = await client.get(f"{page}/api/{path}", headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200, response.text
    return response


TEXTS = {
    "backslashes": "\\" * 40_000,
    "dots": "…" * 200_000,
    "calendar": " ".join(["August", *map(str, range(1, 32))] * 400),
    "letters": "a" * 100_000 + "!",
    "urls": "http://a:" * 10_000,
    "assignments": "aa=" * 30_000,
    "accents": "a" + "\u0315\u0300" * 20_000,
    "entities": "&#" + "1" * 20_000,
    "tokens": "eyJ--------" * 9_000,
    "separators": "abc " * 25_000,
}


@pytest.mark.slow
async def test_page_text_does_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    paragraphs = "".join(f"<p>{text.replace('&', '&amp;')}</p>" for text in TEXTS.values())
    with gaps_in(watched_file) as gaps:
        await browser.show(f"<title>{'x' * 100}</title>{paragraphs}")
        await browser.call("snapshot", budget=1_000_000)
        await browser.call("read_page")
        assert (await browser.call("find", regex="(a+)+$"))["count"] == 0
        assert (await browser.call("find", text="August 1 2 3"))["count"] == 1

    assert gaps.too_long == []


async def test_caller_patterns_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    glob = f"{'*a' * 30}*b"
    with gaps_in(watched_file) as gaps:
        url = browser.site.page("<h1>Hello</h1>") + "?" + "a" * 2_000
        await browser.call("mock_response", url=glob, response={"body": "mocked"})
        await browser.call("navigate", url=url)
        assert (await browser.call("get_request_log", filter=glob))["entries"] == []
        for pattern in (glob, "/(a+)+$b/"):
            error = await browser.refused("wait_for", url=pattern, timeout=200)
            assert error["code"] == "TIMEOUT"

    assert gaps.too_long == []


async def test_paths_of_files_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    await browser.show("<input type=file>")
    path = "/a" * 40_000
    with gaps_in(watched_file) as gaps:
        upload = await browser.refused("upload_file", selector="input", files=[path])
        comparison = await browser.refused("visual_diff", baseline=path)

    assert (upload["code"], comparison["code"]) == ("INVALID_PARAMETER", "INVALID_PARAMETER")
    assert gaps.too_long == []


@pytest.mark.slow
async def test_patterns_on_long_urls_do_not_block_the_event_loop(
    browser: Browser, watched_file: Path
) -> None:
    script = """Promise.all(Array.from({length: 200}, (_, at) => fetch('?' + at + '='
      + Array.from({length: 4900}, () => 'ab'[Math.random() * 2 | 0]).join('')))).then(all => all.length)"""
    await browser.show("<body>")
    with gaps_in(watched_file) as gaps:
        assert (await browser.call("evaluate", script=script))["result"] == 200
        for pattern in ({"response": SLOW}, {"url": SLOW}):
            assert (await browser.refused("wait_for", **pattern, timeout=500))["code"] == "TIMEOUT"
        error = await browser.refused("expect", request=f"GET {SLOW}", timeout=500)
        assert error["code"] == "EXPECTATION_FAILED"
        await browser.call(
            "evaluate",
            script="history.pushState(0, '', '#' + 'ab'.repeat(500_000)); 0",
            expect={"url": "abab"},
        )
        assert (await browser.refused("wait_for", url=SLOW, timeout=500))["code"] == "TIMEOUT"

    assert gaps.too_long == []


SLOW = "/(a|b)*a(a|b){900}c/"
"""Linear in the length of the text, with 1,800 instructions for each character."""


async def test_waiting_for_long_url_does_not_block_the_event_loop(
    browser: Browser, watched_file: Path
) -> None:
    await browser.show(
        "<button onclick=\"history.pushState(0, '', '#' + '%25'.repeat(200_000))\">Go</button>"
    )
    with gaps_in(watched_file) as gaps:
        await browser.call("click", selector="button", expect={"url": "/(%25)+$/"})
        error = await browser.refused("wait_for", url="/(%25)+z/", timeout=100)
        # Of so long a URL only the beginning is compared with so large an expression.
        await browser.call("wait_for", url="/(%25){300}/")

    assert error["code"] == "TIMEOUT"
    assert gaps.too_long == []


@pytest.mark.slow
async def test_page_full_of_secrets_does_not_block_the_event_loop(
    browser: Browser, watched_file: Path
) -> None:
    fill = """const text = '3141'.repeat(200_000); localStorage.pin = text; document.body.title = text;
      history.pushState(0, '', '#' + text); document.body.innerHTML = '<button>Go</button>'; 0"""
    await browser.show("<body>")
    with gaps_in(watched_file) as gaps:
        await browser.call("evaluate", script=fill)
        stored = await browser.call("storage", action="get", key="pin")
        assert stored["value"].startswith("[secret PIN][secret PIN]")
        answer = await browser.answer("get_attribute", selector="body", attribute="title")
        uri = (answer.structured_content or {})["resource"]["uri"]
        assert "3141" not in str(await browser.client.read_resource(uri))
        error = await browser.refused("click", selector="button", expect={"url": "/nowhere"}, timeout=15_000)
        assert error["code"] == "EXPECTATION_FAILED"

    assert gaps.too_long == []


@pytest.mark.slow
async def test_large_page_values_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    await browser.show("<body>")
    with gaps_in(watched_file) as gaps:
        for text, times in (("x", 9_000_000), ('ö"', 2_500_000)):
            answer = await browser.answer("evaluate", script=f"{text!r}.repeat({times})")
            assert (answer.structured_content or {})["resource"]["bytes"] > 5_000_000
        for script in (
            "Array.from({length: 140_000}, (_, at) => 'c ' + at)",
            "Array.from({length: 140_000}, (_, at) => at)",
            "Array.from({length: 40_000}, (_, at) => ({at}))",
        ):
            answer = await browser.answer("evaluate", script=script)
            assert "50" in (answer.structured_content or {})["preview"]

    assert gaps.too_long == []


async def test_caller_arguments_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    await browser.show("<body>")
    with gaps_in(watched_file) as gaps:
        args = [[{"a": at} for at in range(24_000)], {"__proto__": 1}]
        for given, script in (
            (args[:1], "rows => [rows.length, rows[9]]"),
            (args[1:], "x => Object.keys(x)"),
        ):
            answer = await browser.call("evaluate", script=f"document.title = 'x', {script}", args=given)
            assert answer["result"] == ([24_000, {"a": 9}] if given == args[:1] else ["__proto__"])

    assert gaps.too_long == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "http://a.b", "form_data": json.dumps([1] * 50_000)},
        {"url": "://a:" * 400_000, "form_data": "[]"},
        {"url": "ghp_" * 200_000, "form_data": "[]"},
    ],
)
async def test_prompt_arguments_do_not_block_the_event_loop(
    browser: Browser, watched_file: Path, arguments: dict[str, str]
) -> None:
    with gaps_in(watched_file) as gaps, contextlib.suppress(MCPError):
        await browser.client.get_prompt("fill_form", arguments)

    assert gaps.too_long == []


HOSTILE = "http://a.b/c?d=e&token=f "


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "arguments",
    [
        {"args": [HOSTILE * 200] * 180},
        {"args": [{HOSTILE * 200 + str(at): at} for at in range(180)]},
        {"selector": "ghp_" * 1_000_000},
        {"selector": "%61" * 1_300_000},
        {"value": ["x%61" * 500 + str(at) for at in range(2_000)]},
    ],
)
async def test_recorded_arguments_do_not_block_the_event_loop(
    browser: Browser, watched_file: Path, arguments: dict[str, Any]
) -> None:
    """Neither before they are checked, nor when a call begins."""
    await browser.show("<body>")
    with gaps_in(watched_file) as gaps:
        await browser.answer("evaluate", **{"script": "0", **arguments})
        await browser.answer("fill", **{"selector": "input", "value": "abc", "timeout": 100, **arguments})

    assert gaps.too_long == []


@pytest.mark.slow
async def test_reports_of_hostile_requests_do_not_block_the_event_loop(
    server: Served, watched_file: Path
) -> None:
    browser = server.browser
    session = (await browser.call("create_session"))["sessionId"]
    url = browser.site.page("<title>" + HOSTILE * 100)
    script = f"""const url = '/c?' + 'd=e&token=f&d=e%2570&x=y&'.repeat(180);
      history.pushState(0, '', url); for (let i = 0; i < 200; i++) console.error({HOSTILE!r}.repeat(80));
      return Promise.all(Array.from({{length: 300}}, (_, at) => fetch(url + at))).then(all => all.length)"""
    await browser.call("navigate", url=url, sessionId=session)
    with gaps_in(watched_file) as gaps:
        assert (await browser.call("evaluate", script=script, sessionId=session))["result"] == 300
        while_open = await read_watched(server, f"report?session={session}")
        for _ in range(15):
            await browser.call("tabs", action="new", sessionId=session, url=url)
        await read_watched(server, "state")
        await browser.call("close_session", sessionId=session)
        when_ended = await read_watched(server, f"report?session={session}")

    assert gaps.too_long == []
    for report in (while_open.text, when_ended.text):
        assert report.count("<td>GET</td>") >= 300
        assert "token=[REDACTED]" in report
        assert "token=f" not in report


@pytest.mark.slow
async def test_state_of_many_large_calls_does_not_block_the_event_loop(
    server: Served, watched_file: Path
) -> None:
    args = [[["x" * 1_000] * 60] * 8]
    with gaps_in(watched_file) as gaps:
        for _ in range(350):
            await server.browser.answer("evaluate", script="0", args=args, observe="none")
        state = (await read_watched(server, "state")).content

    assert gaps.too_long == []
    assert len(state) < 4 << 20
    assert json.loads(state)["left_out"] > 0


@pytest.mark.slow
async def test_large_screenshots_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    await browser.show(
        "<body style='margin: 0; height: 12000px; width: 3000px; background: linear-gradient(red, blue)'>"
    )
    with gaps_in(watched_file) as gaps:
        taken = await browser.call("screenshot", fullPage=True, maxSide=1_000)

    assert (taken["height"], taken["originalHeight"]) == (1_000, 12_000)
    assert gaps.too_long == []


@pytest.mark.slow
async def test_value_too_large_for_the_event_loop_is_refused(browser: Browser, watched_file: Path) -> None:
    await browser.show("<body>")
    with gaps_in(watched_file) as gaps:
        for script in (
            "'x'.repeat(34_000_000)",
            "Array.from({length: 60_000}, (_, a) => ({a, b: 'b' + a}))",
        ):
            error = await browser.refused("evaluate", script=script)
            assert error["code"] == "RESOURCE_EXHAUSTED"
            assert "The page returned more than" in error["message"]
        await browser.call(
            "evaluate", script="document.body.title = 'x'.repeat(34_000_000); 0", observe="none"
        )
        error = await browser.refused("get_attribute", selector="body", attribute="title")
        assert error["code"] == "RESOURCE_EXHAUSTED"

    assert gaps.too_long == []


@pytest.mark.slow
async def test_large_tables_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    """Its cells are many only as data, because each covers a thousand columns."""
    rows = "".join(f"<tr><td>{row}<td rowspan=65534 colspan=1000>x<td>y" for row in range(300))
    with gaps_in(watched_file) as gaps:
        await browser.show(f"<table>{rows}</table>")
        answer = await browser.answer("extract_table", selector="table")

    assert not answer.is_error
    assert gaps.too_long == []


@pytest.mark.slow
async def test_replaced_large_page_does_not_block_the_event_loop(
    browser: Browser, watched_file: Path
) -> None:
    fill = """document.body.innerHTML =
      Array.from({length: 8000}, (_, i) => `<TAG>WORD${i}</TAG><p>a WORD${i}</p>`).join(''); 0"""
    with gaps_in(watched_file) as gaps:
        await browser.show("<body>")
        for tag, word in (("button", "one"), ("h2", "two"), ("button", "three")):
            script = fill.replace("TAG", tag).replace("WORD", word)
            await browser.call("evaluate", script=script, observe="diff")
            await browser.call("snapshot")

    assert gaps.too_long == []


@pytest.mark.slow
async def test_large_page_does_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    fill = """document.body.innerHTML = '<button>Go</button>' +
      Array.from({length: 12_000}, (_, i) => `<p>${i} ${'"'.repeat(1900)}</p>`).join(''); 0"""
    with gaps_in(watched_file) as gaps:
        await browser.show("<body>")
        await browser.call("evaluate", script=fill)
        seen = await browser.call("snapshot", budget=200)
        ref = seen["snapshot"].split()[0]
        await browser.call("click", selector=ref)
        await browser.call("snapshot", boxes=True)
        await browser.call("evaluate", script=fill)
        assert (await browser.call("click", selector=ref))["healed"]

    assert gaps.too_long == []


@pytest.mark.slow
async def test_boxes_of_many_elements_do_not_block_the_event_loop(
    browser: Browser, watched_file: Path
) -> None:
    fill = """document.body.innerHTML = '<table>' + Array.from({length: 1800}, (_, row) => '<tr>' +
      Array.from({length: 25}, (_, at) => `<td>${row} ${at}</td>`).join('')).join('') + '</table>'; 0"""
    with gaps_in(watched_file) as gaps:
        await browser.show("<body>")
        await browser.call("evaluate", script=fill, observe="none")
        await browser.call("snapshot", boxes=True)

    assert gaps.too_long == []


@pytest.mark.slow
async def test_stale_ref_among_many_elements_does_not_block_event_loop(
    browser: Browser, watched_file: Path
) -> None:
    fill = """document.body.innerHTML =
      Array.from({length: 10_000}, (_, i) => `<button>An entry of ${i} in all</button>`).join(''); 0"""
    await browser.show("<body>")
    await browser.call("evaluate", script=fill, observe="none")
    found = await browser.call("find", text="An entry of 9999 in all")
    await browser.call("evaluate", script=fill.replace("entry of", "entry out of"), observe="none")
    with gaps_in(watched_file) as gaps:
        error = await browser.refused("click", selector=found["matches"].split()[0])

    assert error["code"] == "STALE_REF"
    assert len(error["details"]["candidates"]) == 5
    assert gaps.too_long == []


@pytest.mark.slow
async def test_similar_texts_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    fill = """let seed = 1;
      const random = () => (seed = seed * 48271 % 2147483647);
      document.body.innerHTML = Array.from({length: 1_500}, () => {
        const letters = [...'abcdefghij klmnopqrst uvwxyz '.repeat(6)].map(letter => [random(), letter]);
        return `<button>${letters.sort(([a], [b]) => a - b).map(([, letter]) => letter).join('')}</button>`;
      }).join('') + '<p>Order was saved</p>'; 0"""
    await browser.show("<body>")
    await browser.call("evaluate", script=fill, observe="none")
    with gaps_in(watched_file) as gaps:
        await browser.refused("wait_for", text=("abcdefghij klmnopqrst uvwxyz " * 6)[::-1], timeout=200)
        error = await browser.refused("wait_for", text="Order is saved", timeout=200)

    assert error["details"]["closest"] == ["Order was saved"]
    assert gaps.too_long == []


@pytest.mark.slow
async def test_endlessly_reloading_page_is_reported_without_blocking(
    browser: Browser, watched_file: Path
) -> None:
    with gaps_in(watched_file) as gaps:
        await browser.show(
            "<h1>Hi</h1><script>setTimeout(() => location.reload(), 5)</script>", observe="none"
        )
        for _ in range(3):
            answer = await browser.answer("snapshot")
            content = answer.structured_content
            assert content is not None
            error = content.get("error")
            # Now and then there is time enough to read it.
            assert error is None or "was never loaded long enough to be read" in error["message"], json.dumps(
                content
            )
        # Its own loading would interrupt any navigation that leads away from it.
        await browser.call("close_session", sessionId="default")

    assert gaps.too_long == []


@pytest.mark.slow
async def test_console_burst_does_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    burst = "for (let i = 0; i < 1000; i++) console.log('m', i, {a: 'x'.repeat(50)})"
    with gaps_in(watched_file) as gaps:
        await browser.show(f'<button onclick="{burst}">Go</button>')
        for _ in range(2):
            await browser.call("click", selector="button")
        assert (await browser.call("console_messages"))["messages"]

    assert gaps.too_long == []


@pytest.mark.slow
async def test_endless_console_flood_does_not_block_other_sessions(
    browser: Browser, watched_file: Path
) -> None:
    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=browser.site.page("<button>Other</button>"), sessionId=other)
    flood = "setInterval(() => { for (let i = 0; i < 200; i++) console.log('m', i, {a: 'x'}) }, 10)"
    with gaps_in(watched_file) as gaps:
        await browser.show(f"<script>{flood}</script>", observe="none")
        await browser.answer("console_messages")
        with anyio.fail_after(FLOOD_SECONDS):  # One click took 10 to 30 s.
            for _ in range(15):
                await browser.call("click", selector="button", sessionId=other)

    assert gaps.too_long == []
    await browser.call("close_session", sessionId=other)
    await browser.call("close_session", sessionId="default")


@pytest.mark.slow
async def test_endless_requests_do_not_block_other_sessions(browser: Browser) -> None:
    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=browser.site.page("<button>Other</button>"), sessionId=other)
    flood = (
        "setInterval(() => { for (let i = 0; i < 50; i++) fetch('/' + Math.random()).catch(() => 0) }, 10)"
    )
    await browser.show(f"<h1>Flood</h1><script>{flood}</script>", observe="none")
    with anyio.fail_after(FLOOD_SECONDS):  # No session answered for more than 200 s.
        for _ in range(5):
            await browser.call("click", selector="button", sessionId=other)

    await browser.call("close_session", sessionId=other)
    await browser.call("close_session", sessionId="default")


CLICKS = """
<a id=file download href=data:x>File</a><h1>Flood</h1>
<script>
const file = document.getElementById('file');
file.addEventListener('click', event => event.preventDefault());
setInterval(() => { for (let i = 0; i < 500; i++) file.click() }, 5);
</script>"""
SOCKETS = """
<h1>Flood</h1>
<script>
setInterval(() => { for (let i = 0; i < 100; i++) new WebSocket(`ws://${location.host}/none`).close() }, 5);
</script>"""


@pytest.mark.slow
@pytest.mark.parametrize("flood", [CLICKS, SOCKETS], ids=["clicks", "sockets"])
async def test_endless_events_of_a_page_do_not_block_other_sessions(browser: Browser, flood: str) -> None:
    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=browser.site.page("<button>Other</button>"), sessionId=other)
    await browser.show(flood, observe="none")
    with anyio.fail_after(FLOOD_SECONDS):  # After a flood of clicks, the driver was busy for minutes.
        for _ in range(15):
            await browser.call("click", selector="button", sessionId=other)

    await browser.call("close_session", sessionId=other)
    await browser.call("close_session", sessionId="default")


FRAMES = """
<h1>Flood</h1>
<script>
for (let at = 0; at < 20; at++) {
  const frame = document.body.appendChild(document.createElement('iframe'));
  let n = 0;
  setInterval(() => { frame.src = `/none?${at}-${n++}` }, 10);
}
</script>"""
BLOBS = """
<h1>Flood</h1>
<script>
setInterval(() => { for (let i = 0; i < 50; i++) fetch(URL.createObjectURL(new Blob(['x']))) }, 5);
</script>"""
WORKERS = """
<h1>Flood</h1>
<script>
const flood = 'setInterval(() => { for (let i = 0; i < 500; i++) console.log(i) }, 5)';
for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob([flood])));
</script>"""
VALUES = """
<h1>Flood</h1>
<script>
setInterval(() => console.log(...Array.from({length: 50_000}, (_, at) => ({at}))), 10);
</script>"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood", [FRAMES, BLOBS, WORKERS, VALUES], ids=["frames", "blobs", "workers", "values"]
)
async def test_page_that_keeps_its_browser_busy_does_not_block_other_sessions(site: Site, flood: str) -> None:
    one = {"FOOTLIGHT_POOL_MIN_BROWSERS": "1", "FOOTLIGHT_POOL_MAX_BROWSERS": "1"}
    async with connect_browser(site, "--timeout", "90000", **one) as browser:
        other = (await browser.call("create_session"))["sessionId"]
        await browser.call("navigate", url=site.page("<button>Other</button>"), sessionId=other)
        await browser.show(flood, observe="none")
        with anyio.fail_after(120):  # The browser was busy for minutes.
            for _ in range(30):
                await browser.call("click", selector="button", sessionId=other)


@pytest.mark.slow
@pytest.mark.parametrize("navigate", ["history.replaceState(null, '', '?' + n++)", "location.hash = n++"])
async def test_endless_in_document_navigation_does_not_block_other_sessions(
    browser: Browser, watched_file: Path, navigate: str
) -> None:
    flood = f"let n = 0; setInterval(() => {{ for (let i = 0; i < 50; i++) {navigate} }}, 5)"
    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=browser.site.page("<h1>Other</h1>"), sessionId=other)
    with gaps_in(watched_file) as gaps:
        await browser.show(f"<button>Go</button><script>{flood}</script>")
        for _ in range(3):
            await browser.call("click", selector="button")
            found = await browser.call("get_text", selector="h1", sessionId=other, timeout=1_000)
            assert found["text"] == "Other"

    assert gaps.too_long == []
    await browser.call("close_session", sessionId=other)
    await browser.call("close_session", sessionId="default")


async def test_caller_selectors_do_not_block_the_event_loop(browser: Browser, watched_file: Path) -> None:
    await browser.show("<button>Go</button>")
    with gaps_in(watched_file) as gaps:
        for selector in ("x" * 2_000_000, "'" * 2_000_001, ">>" * 100_000, f"text={'a' * 2_000_000}"):
            for tool in ("click", "get_text", "find_elements", "element_exists", "wait_for_selector"):
                error = await browser.refused(tool, selector=selector)
                assert error["code"] == "INVALID_SELECTOR"
                assert len(json.dumps(error)) < 1_000

    assert gaps.too_long == []
