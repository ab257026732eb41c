"""A cookie banner, dealt with through the tools of a server.

Run it: `python -m pytest docs/examples/cookie_banner`.
"""

from pathlib import Path

import pytest
from mcp_tools import McpHandle

from footlight import run_sequence

pytestmark = pytest.mark.anyio

SEQUENCE = Path(__file__).with_name("cookie_banner.jsonl")


async def test_the_banner_is_accepted_by_a_test_in_the_session(mcp: McpHandle, site: str) -> None:
    await mcp.nav.goto(url=site)
    result = await mcp.browser.run_test(grep="accept_cookies")

    assert result["passed"] == 1
    assert [test.get("result") for test in result["tests"]] == [{"consent": "accepted"}]
    await mcp.interact.click(selector="#search")  # Nothing lies over it any more.


async def test_the_banner_is_rejected_by_a_sequence(mcp: McpHandle, site: str) -> None:
    _, snapshot, _ = await run_sequence(mcp, SEQUENCE, variables={"url": site})

    assert 'dialog "Cookies"' in snapshot
    assert await mcp.extract.text(selector="#consent") == "rejected"


async def test_what_was_decided_is_remembered(mcp: McpHandle, site: str) -> None:
    await mcp.nav.goto(url=site)
    await mcp.interact.click(selector=".cc-btn.cc-btn-accept")
    await mcp.nav.goto(url=site)

    assert "dialog" not in await mcp.browser.snapshot()
