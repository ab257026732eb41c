"""What the documents show of a run is what a run prints."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SessionBrowser
from tests.docs.markdown import blocks

LIMIT_S = 100


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    shown = next(block for block in blocks("text") if "ELEMENT_NOT_FOUND" in block.text)
    command = [sys.executable, "-m", "footlight", "demo", "--output", str(tmp_path)]

    demo = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=LIMIT_S, check=False)

    assert demo.returncode == 0, demo.stdout
    for part in same_every_time(shown.text).split("\n…\n"):
        assert part.strip() in same_every_time(demo.stdout)


def same_every_time(transcript: str) -> str:
    """Without times, ports and the code of the voucher."""
    transcript = re.sub(r"\d+ ms", "N ms", transcript)
    transcript = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", transcript)
    return re.sub(r"ENCORE-\w+", "ENCORE-CODE", transcript)


@pytest.mark.anyio
async def test_the_guide_shows_what_an_error_says(browser: SessionBrowser) -> None:
    found = [json.loads(block.text) for block in blocks("json")]
    shown = next(answer for answer in found if answer.get("success") is False)
    page = browser.site.page('<button id="submit-order">Submit order</button>')
    shown["error"]["details"]["page"] = page

    await browser.call("navigate", url=page)
    answer = await browser.answer("click", selector="#submit", timeout=500)

    assert answer.structured_content == shown
