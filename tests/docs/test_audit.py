"""The guide to audits: its output is that of a real audit, and its examples work."""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from footlight.audit.analysis.personas import load_personas
from tests.docs.markdown import ROOT, blocks
from tests.site import serve_site

pytestmark = pytest.mark.anyio

EXAMPLES = ROOT / "docs/examples/audit"
HOST = "http://localhost:8000"
LIMIT_SECONDS = 60.0


def find_example(beginning: str) -> tuple[str, str]:
    """Return the command line of the guide that begins like this, and what the guide shows below it."""
    texts = (block.text for block in blocks("console") if block.page == ROOT / "docs/audit.md")
    (text,) = (text for text in texts if text.startswith(f"$ {beginning}"))
    line, _, output = text.partition("\n")
    return line.removeprefix("$ "), output


@asynccontextmanager
async def example() -> AsyncGenerator[str]:
    """Yield the URL of a site with the page."""
    async with serve_site() as site:
        site.page((EXAMPLES / "signup.html").read_text("utf-8"), path="/signup.html")
        yield site.url


async def run(command: str, folder: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *shlex.split(command)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        cwd=folder,
    )
    async with asyncio.timeout(LIMIT_SECONDS):
        out, _ = await process.communicate()
    return out.decode()


def steady(text: str, url: str) -> str:
    """Return the text without the port, times, and the widths that depend on them."""
    return re.sub(r" {2,}", "  ", re.sub(r"[\d.]+ m?s\b", "…", text.replace(url, HOST)))


@pytest.mark.slow
async def test_guide_shows_the_audit_output_and_its_json_findings(tmp_path: Path) -> None:
    command, output = find_example(f"footlight audit {HOST}")
    _, found = find_example("jq")

    async with example() as url:
        printed = await run(command.replace(HOST, url), tmp_path)

    assert steady(printed, url) == steady(output, HOST)
    assert (tmp_path / "signup.html").stat().st_size > len(printed)
    report = json.loads((tmp_path / "signup.json").read_text("utf-8"))
    assert [f"{each['severity']} {each['rule']}" for each in report["findings"]] == found.splitlines()


def test_personas_in_the_guide_match_the_example_file() -> None:
    file = EXAMPLES / "personas.yaml"
    text = next(block.text for block in blocks("yaml") if "Late reader" in block.text)

    assert [persona.name for persona in load_personas(file)] == ["Late reader", "Keyboard only"]
    assert file.read_text("utf-8").endswith(text)
