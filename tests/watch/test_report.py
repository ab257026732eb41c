"""A session as one HTML file that opens without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import playwright.async_api
import pytest
from playwright.async_api import expect

from tests.http_client import HttpServer, Raw
from tests.site import Site
from tests.watch.conftest import TOKEN, Agent

pytestmark = pytest.mark.anyio

LARGEST = 5 << 20


def footlight(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "footlight", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


async def test_a_report_has_calls_pictures_diffs_network_console_and_errors(
    chromium: playwright.async_api.Browser, watched: HttpServer, agent: Agent, site: Site, tmp_path: Path
) -> None:
    script = "onclick=\"this.textContent='Done'; console.error('a bad thing'); fetch('/missing')\""
    more = "<p>A page that is longer than what changes on it</p>"
    await agent.show(site, f"<h1>Shop</h1>{more}<button {script}>Buy</button>")
    await agent.call("click", selector="button")
    await agent.call("click", selector="testid=bye", timeout=300)

    token = tmp_path / "token"
    token.write_text(TOKEN)
    server = ("--url", watched.url, "--token-file", str(token))
    made = footlight(tmp_path, "report", agent.id[:12], "--out", "r.html", *server)
    assert (made.returncode, made.stdout) == (0, "r.html\n"), made.stderr

    context = await chromium.new_context(offline=True)
    try:
        page = await context.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await page.goto((tmp_path / "r.html").as_uri())
        click = page.locator(".call", has_text="click").first
        await expect(click.locator("img")).to_be_visible()
        await expect(click.locator("pre .changed")).to_contain_text("Done")
        await expect(page.locator(".call.failed .error")).to_contain_text("ELEMENT_NOT_FOUND")
        await expect(page.get_by_role("region", name="Console")).to_contain_text("a bad thing")
        await expect(page.get_by_role("region", name="Network")).to_contain_text("/missing")
        assert await page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    finally:
        await context.close()


@pytest.mark.slow
async def test_report_of_100_calls_has_at_most_five_megabytes(client: Raw, agent: Agent, site: Site) -> None:
    noise = "background:repeating-conic-gradient(#123 0 1deg,#fed 0 2deg) 0 0/37px 41px;height:3000px"
    rows = "".join(f"<p>Row number {row} of a long table with words</p>" for row in range(300))
    await agent.show(site, f"<div style='{noise}'><button onclick='t.innerHTML+=1'>Go</button>{rows}<p id=t>")
    for number in range(99):
        await agent.call("scroll", y=7 * number % 200, observe="full" if number % 5 == 0 else "diff")

    report = await client.send(method="GET", path=f"/watch/api/report?session={agent.id}")

    assert report.text.count('class="call ok"') == 100
    assert report.text.count("<img") > 5
    assert len(report.content) <= LARGEST


@pytest.mark.slow
def test_call_log_is_converted_to_a_report(tmp_path: Path) -> None:
    goto = {"name": "navigate", "arguments": {"url": "http://shop.test/<b>"}}
    fill = {"name": "fill", "arguments": {"selector": "#p", "value": "hunter2222"}}
    done = {"_phase": "after", "_result": {"success": True}, "_ok": True, "_ms": 41, "_seq": 1}
    failed = {"_phase": "after", "_ok": False, "_ms": 7, "_error": "No element found", "_seq": 2}
    lines = [
        {**goto, "_phase": "before", "_seq": 1},
        {**goto, **done},
        {**fill, "_phase": "before", "_seq": 2},
        {**fill, **failed},
    ]
    (tmp_path / "calls.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    made = footlight(tmp_path, "report", "calls.jsonl")
    again = footlight(tmp_path, "report", "calls.jsonl")

    assert (made.returncode, made.stdout) == (0, "report.html\n"), made.stderr
    text = (tmp_path / "report.html").read_text()
    assert "41 ms" in text
    assert "No element found" in text
    assert "hunter2222" not in text
    assert "<b>" not in text
    assert again.returncode == 2
    assert "--force" in again.stderr


@pytest.mark.slow
def test_report_of_an_unknown_source_is_refused(tmp_path: Path, watched: HttpServer) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    token = tmp_path / "token"
    token.write_text(TOKEN)
    none = footlight(tmp_path, "report", "nothing", "--url", watched.url, "--token-file", str(token))
    log = footlight(tmp_path, "report", "notes.txt")

    assert (none.returncode, log.returncode) == (2, 2)
    assert "there is no file and no session" in none.stderr


@pytest.mark.parametrize("flags", [(), ("--trace",)])
def test_report_from_an_unreachable_server_is_refused(tmp_path: Path, flags: Sequence[str]) -> None:
    away = footlight(tmp_path, "report", "x", *flags, "--url", "http://127.0.0.1:9")

    assert away.returncode == 3
    assert "cannot be reached" in away.stderr
