"""The command `footlight export`."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from footlight.demo.shop.site import serve_shop
from tests.cli.commands import run
from tests.cli.conftest import Order
from tests.cli.shop_log import SERVER

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_recorded_shop_order_is_exported_as_a_passing_test(order: Order, tmp_path: Path) -> None:
    """The locators that were really used are in it, and no ref."""
    test = tmp_path / "test_order.py"
    flags = ("--out", str(test), "--server", shlex.join(SERVER), "--var", f"SHOP={order.url}")
    done = await anyio.to_thread.run_sync(lambda: run("export", str(order.log), "--to", "pytest", *flags))

    async with serve_shop() as site:
        passed = await anyio.to_thread.run_sync(
            lambda: _pytest(test, "--mcp-server", shlex.join(SERVER), SHOP=site.url)
        )
        orders = [order.received for order in site.shop.orders]

    assert (done.status, done.out, done.err) == (0, "", "")
    assert is_formatted(test)
    text = test.read_text()
    for line in (
        "async def test_order(mcp: DynamicHandle) -> None:",
        'await mcp.root.navigate(url="".join([os.environ["SHOP"], "/login"]))',
        """await mcp.root.fill(selector='role=textbox[name="User name"]', value="stage.manager")""",
        """await mcp.root.check(selector='role=radio[name="Courier"]')""",
        'assert result == {"success": True, "data": {"text": "PC-0001"}}',
    ):
        assert line in text
    assert passed.returncode == 0, passed.stdout
    assert [(order["Production"], order["Quantity"]) for order in orders] == [("Macbeth", "3")]


def test_edited_test_is_not_overwritten(tmp_path: Path) -> None:
    """The same text may be written again."""
    log, test = tmp_path / "log.jsonl", tmp_path / "test_log.py"
    log.write_text('{"name":"fill","arguments":{"value":"${door}"}}\n')

    def export(*flags: str) -> tuple[int, str]:
        done = run("export", str(log), "--to", "pytest", "--out", str(test), *flags)
        return done.status, done.err

    first, same = export(), export()
    head = test.read_text().split("\n")[:4]
    test.write_text("mine = 1\n")
    refused, kept, forced = export(), test.read_text(), export("--force")

    assert (first, same, forced) == ((0, ""), (0, ""), (0, ""))
    assert head[2:] == ["# It reads DOOR from the environment.", ""]
    assert refused == (
        2,
        f"footlight: {test} exists: give another --out, or --force to overwrite it\n",
    )
    assert (kept, test.read_text() == kept) == ("mine = 1\n", False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipe_is_written_without_reading(tmp_path: Path) -> None:
    log, pipe = tmp_path / "log.jsonl", tmp_path / "pipe"
    log.write_text('{"name":"fill","arguments":{}}\n')
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    done = run("export", str(log), "--to", "pytest", "--out", str(pipe))
    written = os.read(descriptor, 1 << 16)
    os.close(descriptor)

    assert (done.status, done.err) == (0, "")
    assert b"def test_" in written


def _pytest(file: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder of its own, without settings, and with our plugin and anyio's only."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(file.parent)),
            *("-p", "no:cacheprovider", "-p", "no:asyncio", *flags, str(file)),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=file.parent,
        env={**os.environ, **environment},
    )


def is_formatted(file: Path) -> bool:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--check",
        "--isolated",
        "--line-length",
        "110",
        str(file),
    ]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
