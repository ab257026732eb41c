"""The guide to extensions: its example output is real, and its tables are complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from footlight.app_errors import APP_CODES
from footlight.apps.metamask.app import METAMASK
from footlight.errors import CODES
from footlight.toolsets.metamask import app_tools, extra_tools
from footlight.toolsets.metamask.envelope import document_code
from tests.apps.wallet_folder import DAPP
from tests.docs.markdown import ROOT, blocks
from tests.site import Site
from tests.toolsets.metamask.conftest import Server, serve_wallet_tools

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs/extensions.md"
RUN = next(block.text for block in blocks("text") if block.page == PAGE)
STEPS = re.findall(r"^> (\w+) (\{.*\})\n(.+)$", RUN, re.MULTILINE)
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
OF_DOCUMENT = 14
"""Codes."""


@pytest.mark.slow
async def test_documented_wallet_run_matches_real_responses(site: Site, tmp_path: Path) -> None:
    """Parts that are left out are so in the page alone."""
    root = tmp_path / "repository"
    root.mkdir()
    differ: list[str] = []
    async with serve_wallet_tools(site, root) as server:
        dapp = site.page(DAPP.read_text("utf-8"), path="/dapp")
        for tool, arguments, displayed in STEPS:
            given = json.loads(arguments.replace("http://127.0.0.1:8000/dapp", dapp))
            if tool == "mm_launch":
                given["ports"] = server.ports
            answer = json.dumps(await server.call(tool, **given), ensure_ascii=False)
            if not shows(displayed, replace_ids(answer, server, dapp)):
                differ.append(f"{tool}: {answer}")

    assert len(STEPS) == 15
    assert differ == []


def replace_ids(answer: str, server: Server, dapp: str) -> str:
    """Return the text with the ids and ports of the documents."""
    [session] = set(re.findall(r"mm-[0-9a-f]{16}", RUN))
    [extension] = set(re.findall(r"chrome-extension://(\w+)", RUN))
    answer = answer.replace(dapp, "http://127.0.0.1:8000/dapp")
    answer = answer.replace(f"Localhost {server.ports['anvil']}", "Localhost 8545")
    answer = re.sub(r"mm-[0-9a-f]{16}", session, answer)
    return re.sub(r"\b[a-p]{32}\b", extension, answer)


def shows(pattern: str, answer: str) -> bool:
    parts = (re.escape(part.strip()) for part in pattern.split("…"))
    return re.fullmatch(".*?".join(parts), answer) is not None


def section(heading: str) -> str:
    return next(text for name, text in SECTION.findall(PAGE.read_text("utf-8")) if name == heading)


def rows(heading: str) -> Iterator[list[str]]:
    """Return the rows of the section's table, without the head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|")]
    yield from ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:])


def test_documented_error_codes_match_the_tools() -> None:
    tools = [name.partition("_")[2] for name in names()]
    codes = {
        document_code(tool, code) for tool in tools for code in {error.code for error in (*CODES, *APP_CODES)}
    }
    reported = [(row[0].strip("`"), row[3]) for row in rows("Errors")]

    assert {code for code, _ in reported} == {f"MM_{code}" for code in codes}
    assert [origin for _, origin in reported] == ["document"] * OF_DOCUMENT + ["ours"] * (
        len(reported) - OF_DOCUMENT
    )


def test_documented_screens_match_the_profile_in_order() -> None:
    known = {row[0].strip("`"): re.findall(r"`(.+?)`", row[1]) for row in rows("Screens and state")}

    assert [*known, "unknown"] == [*METAMASK.screen_names]
    assert known == {each.name: [each.test_id] for each in METAMASK.screens if each.test_id}


def test_additional_tools_are_named_in_the_guide() -> None:
    named = re.findall(r"`mm_(\w+)`", section("Additions to the document").split("| `observe`")[0])

    assert named == [tool.name for tool in extra_tools.TOOLS]


def names() -> list[str]:
    return [tool.name for tool in app_tools("mm", strict=False)]
