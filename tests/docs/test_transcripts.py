"""The transcripts in the documents match real output."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import SessionBrowser
from tests.docs.markdown import ROOT, blocks
from tests.wire import MODERN_META

LIMIT_S = 100
SERVE = [sys.executable, "-m", "footlight", "serve"]


@pytest.mark.anyio
async def test_guide_shows_a_real_error(browser: SessionBrowser) -> None:
    displayed = refusal(ROOT / "docs/guide.md")
    page = browser.site.page('<button id="submit-order">Submit order</button>')
    displayed["error"]["details"]["page"] = page

    await browser.call("navigate", url=page)
    answer = await browser.answer("click", selector="#submit", timeout=1_000)

    assert answer.structured_content == displayed


@pytest.mark.slow
def test_listening_message_matches_the_documents() -> None:
    displayed = [block.text.splitlines()[1] for block in blocks("console") if "listening on" in block.text]

    said = []
    for transport in ("http", "websocket"):
        with start_listening(transport) as (line, _):
            said.append(re.sub(r":\d+", ":8931", line))

    assert said == displayed


@pytest.mark.slow
def test_public_address_without_a_token_is_refused_as_documented() -> None:
    displayed = next(block.text for block in blocks("text") if "so a token is required" in block.text)

    started = subprocess.run(
        [*SERVE, "--transport", "http", "--host", "0.0.0.0"],
        env={name: value for name, value in os.environ.items() if name != "FOOTLIGHT_TOKEN"},
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )

    assert (started.returncode, started.stderr) == (2, displayed)


@pytest.mark.slow
def test_stateless_request_without_a_session_is_refused_as_documented() -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "get_cookies",
    }
    params = {"name": "get_cookies", "arguments": {}, "_meta": MODERN_META}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    with start_listening("http") as (_, url):
        answer = httpx2.post(f"{url}/mcp", headers=headers, json=request).json()

    assert answer["result"]["structuredContent"] == refusal(ROOT / "docs/network.md")


@contextmanager
def start_listening(transport: str) -> Generator[tuple[str, str]]:
    """Yield what the server prints, and the URL in it."""
    command = [*SERVE, "--transport", transport, "--port", "0", "--log-level", "error"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline().strip()
            yield line, line.split()[-1].removesuffix("/mcp")
        finally:
            server.terminate()
            server.wait(timeout=LIMIT_S)


def refusal(page: Path) -> dict[str, Any]:
    """Return the answer that the page shows for an error."""
    found = [json.loads(block.text) for block in blocks("json") if block.page == page]
    return next(answer for answer in found if answer.get("success") is False)
