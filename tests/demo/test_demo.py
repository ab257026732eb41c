"""The command `footlight demo`: exit status, transcript, and that nothing is left running."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL, PIPE

import psutil
import pytest
from PIL import Image
from rich.console import Console

from footlight.demo.run import run_demo
from footlight.demo.shop.catalogue import load_catalogue, price_list
from footlight.demo.steps import SECRETS, STEPS
from tests.docs.markdown import blocks
from tests.processes import descendants_of

COMMAND = (sys.executable, "-m", "footlight", "demo", "--output")
LIMIT_S = 100
GONE_S = 10


@pytest.mark.slow
def test_demo_passes_every_step_writes_its_files_and_matches_the_guide(tmp_path: Path) -> None:
    demo = run(tmp_path)

    assert (demo.returncode, demo.stderr) == (0, ""), demo.stdout
    assert f"{len(STEPS)} of {len(STEPS)} steps gave what the site holds." in demo.stdout
    assert names_in(tmp_path) == ["order.json", "price-list.csv", "products.json", "server.log", "shop.png"]
    assert json.loads((tmp_path / "products.json").read_text()) == [asdict(item) for item in load_catalogue()]
    assert (tmp_path / "price-list.csv").read_bytes() == price_list(load_catalogue())
    assert json.loads((tmp_path / "order.json").read_text())["received"]["Delivery"] == "Courier"
    with Image.open(tmp_path / "shop.png") as picture:
        assert picture.size == (1280, 720)
    assert_plain(demo.stdout)
    [in_guide] = [block.text for block in blocks("text") if "ELEMENT_NOT_FOUND" in block.text]
    for part in replace_volatile(in_guide).split("\n…\n"):
        assert part.strip() in replace_volatile(demo.stdout)


def replace_volatile(transcript: str) -> str:
    """Return the text without times, ports and the code of the voucher."""
    transcript = re.sub(r"\d+ ms", "N ms", transcript)
    transcript = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", transcript)
    return re.sub(r"ENCORE-\w+", "ENCORE-CODE", transcript)


@pytest.mark.slow
def test_missing_browser_is_reported_with_instructions(tmp_path: Path) -> None:
    demo = run(tmp_path, "--executable-path", "/nonexistent")

    assert (demo.returncode, demo.stderr) == (1, "")
    assert "BROWSER_NOT_INSTALLED" in demo.stdout
    assert re.search(r"^What to do:\n(    .+\n)+", demo.stdout, re.MULTILINE)
    assert f"0 of {len(STEPS)} steps gave what the site holds." in demo.stdout
    assert names_in(tmp_path) == ["server.log"]
    assert_plain(demo.stdout)


@pytest.mark.anyio
async def test_output_of_a_server_that_cannot_start_is_quoted(tmp_path: Path) -> None:
    status, transcript = await run_here(tmp_path, "--no-such-flag")

    said = (tmp_path / "server.log").read_text().splitlines()
    assert status == 1
    assert "--no-such-flag" in said[-1]
    assert "".join(f"    {line}\n" for line in said) in transcript


@pytest.mark.anyio
async def test_one_failed_step_fails_the_demo(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"security": {"enableFileUpload": false}}')

    status, transcript = await run_here(tmp_path, "--config", str(settings))

    assert status == 1
    assert wrong_steps(transcript) == ["Place an order", "Upload files"]
    assert f"{len(STEPS) - 2} of {len(STEPS)} steps gave what the site holds." in transcript


@pytest.mark.slow
def test_ascii_output_and_closed_pipe_do_not_fail_the_demo(tmp_path: Path) -> None:
    with start_demo(tmp_path, PYTHONIOENCODING="ascii") as demo:
        assert demo.stdout is not None
        assert any('"Theatre supplies ? Prompt Corner"' in line for line in demo.stdout)
        demo.stdout.close()

        assert demo.wait(LIMIT_S) == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demo_leaves_no_process_or_file(tmp_path: Path, end: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with start_demo(tmp_path / "output", TMPDIR=str(temporary)) as demo:
        assert any("get_page_metadata" in line for line in demo.stdout or ())
        family = descendants_of(psutil.Process(demo.pid))

        demo.send_signal(end)

        assert demo.wait(GONE_S) == 128 + end
    _, alive = psutil.wait_procs(family, timeout=GONE_S)
    assert (len(family) >= 2, alive, names_in(temporary)) == (True, [], [])


def run(output: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, str(output), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=LIMIT_S, check=False)


async def run_here(output: Path, *server_arguments: str) -> tuple[int, str]:
    pipe = io.StringIO()
    status = await run_demo(output, console=Console(file=pipe), server_arguments=server_arguments)
    return status, pipe.getvalue()


@contextmanager
def start_demo(output: Path, **environment: str) -> Generator[subprocess.Popen[str]]:
    command, env = [*COMMAND, str(output)], os.environ | environment
    with subprocess.Popen(command, stdout=PIPE, stderr=DEVNULL, encoding="utf-8", env=env) as demo:
        try:
            yield demo
        finally:
            demo.kill()


def wrong_steps(transcript: str) -> list[str]:
    return re.findall(r"^(\S.*?)  .* NOT THE SAME$", transcript, re.MULTILINE)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_plain(transcript: str) -> None:
    """Check that there are no escape sequences, drawn boxes, padding or secrets."""
    assert re.findall(r"[\x00-\x09\x0b-\x1f\u2500-\u257f]| $", transcript, re.MULTILINE) == []
    assert [secret for secret in SECRETS if secret in transcript] == []
