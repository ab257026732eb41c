"""Failure drills with an extension under test: nothing is left behind, and the server keeps working."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil
import pytest

from tests.conftest import ENGINE
from tests.processes import descendants_of, line_of, wait_until, wait_until_gone
from tests.site import Site
from tests.toolsets.metamask.conftest import Server, log_of, serve_wallet_tools

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="extensions are Chromium's alone"),
]

GONE_SECONDS = 10.0
"""How long anything of ours may outlive its owner, on a busy machine."""
OURS = ("chrom", "anvil", "Xvfb")


def process_of(server: Server) -> psutil.Process:
    """Return the process of the server, which this process has started."""
    mine = descendants_of(psutil.Process())
    return next(each for each in mine if str(server.root) in line_of(each))


def ours_below(process: psutil.Process) -> list[psutil.Process]:
    """Return browsers, chains and displays, without the driver, which lives as long as the server."""
    return [each for each in descendants_of(process) if has_name(each, *OURS)]


def has_name(process: psutil.Process, *names: str) -> bool:
    line = line_of(process)
    return bool(line) and Path(line[0]).name.startswith(names)


def browser_below(process: psutil.Process) -> psutil.Process:
    """Return the main process of the browser: it alone gets extensions to load, and has no type."""
    return next(
        each
        for each in descendants_of(process)
        if any(part.startswith("--load-extension=") for part in line_of(each))
        and not any(part.startswith("--type=") for part in line_of(each))
    )


def listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
async def server(site: Site, tmp_path: Path) -> AsyncGenerator[Server]:
    async with serve_wallet_tools(site, tmp_path / "wallet") as server:
        yield server


@pytest.mark.slow
async def test_killed_browser_ends_its_session_and_all_its_processes(server: Server) -> None:
    """The next launch works."""
    await server.launch()
    process = process_of(server)
    left = ours_below(process)

    browser_below(process).kill()
    await wait_until(lambda: not any(has_name(each, "chrom") for each in ours_below(process)))
    error = await server.refused("mm_describe_screen")

    assert error["code"] == "MM_NO_ACTIVE_SESSION"
    await wait_until_gone(left)
    assert not any(map(listens, server.ports.values()))
    assert (await server.launch())["state"]["currentScreen"] == "unlock"


@pytest.mark.slow
async def test_app_stays_usable_after_its_chain_is_killed(server: Server) -> None:
    await server.launch()
    await server.unlock()
    [chain] = [each for each in ours_below(process_of(server)) if has_name(each, "anvil")]

    chain.kill()
    await wait_until_gone([chain])
    state = (await server.call("mm_get_state"))["state"]

    assert state["currentScreen"] == "home"
    assert (state["chainId"], state["balance"]) == (None, None)
    assert await server.call("mm_cleanup") == {"cleanedUp": True}


@pytest.mark.slow
async def test_cleanup_during_a_launch_ends_the_launch(server: Server) -> None:
    process = process_of(server)
    launching = asyncio.create_task(server.refused("mm_launch", ports=server.ports))
    await wait_until(lambda: any(has_name(each, "chrom") for each in ours_below(process)))
    left = ours_below(process)

    assert await server.call("mm_cleanup") == {"cleanedUp": True}

    assert (await launching)["code"] == "MM_LAUNCH_FAILED"
    await wait_until_gone(left)
    assert not any(map(listens, server.ports.values()))
    assert (await server.launch())["state"]["isLoaded"]


@pytest.mark.slow
async def test_cancelled_launch_leaves_nothing(server: Server) -> None:
    process = process_of(server)
    launching = asyncio.create_task(server.answer("mm_launch", ports=server.ports))
    await wait_until(lambda: any(has_name(each, "chrom") for each in ours_below(process)))
    left = ours_below(process)

    launching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await launching

    await wait_until_gone(left)
    assert await server.code("mm_get_state") == "MM_NO_ACTIVE_SESSION"
    assert (await server.launch())["state"]["isLoaded"]


async def test_port_in_use_is_reported_before_anything_starts(server: Server) -> None:
    with socket.create_server(("127.0.0.1", server.ports["fixtureServer"])):
        error = await server.refused("mm_launch", ports=server.ports)

    assert error["code"] == "MM_PORT_IN_USE"
    assert error["details"]["port"] == server.ports["fixtureServer"]
    assert not ours_below(process_of(server))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_ended_server_leaves_no_app_process_or_port(
    site: Site, tmp_path: Path, number: signal.Signals
) -> None:
    left: list[psutil.Process] = []
    with contextlib.suppress(Exception, BaseExceptionGroup):  # What the client makes of it is its matter.
        async with serve_wallet_tools(site, tmp_path / "wallet") as server:
            await server.launch()
            process = process_of(server)
            left = [process, *ours_below(process)]
            process.send_signal(number)
            await wait_until_gone(left)
    assert len(left) > 1
    await wait_until_gone(left)


@pytest.mark.slow
async def test_unwritable_knowledge_folder_fails_no_call(site: Site, tmp_path: Path) -> None:
    """A file is where the folder has to be: what is true of that is true of a disk without room."""
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder", "utf-8")

    async with serve_wallet_tools(
        site, tmp_path / "wallet", "--knowledge", str(blocked / "knowledge")
    ) as server:
        assert (await server.launch())["state"]["currentScreen"] == "unlock"
        assert (await server.call("mm_describe_screen"))["state"]["currentScreen"] == "unlock"
        refused = await server.refused("mm_screenshot", name="unlock")
        log = log_of(server)

    assert refused["code"] == "MM_SCREENSHOT_FAILED"
    assert "could not be recorded" in log
    assert "Traceback" not in log


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a file system of its own size")
async def test_full_disk_fails_no_call(site: Site, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = await _run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small))
    if not mounted:
        pytest.skip("a small file system cannot be mounted here: that needs the root user's rights")
    try:
        (small / "filler").write_bytes(b"0" * 40_000)
        async with serve_wallet_tools(
            site, tmp_path / "wallet", "--knowledge", str(small / "knowledge")
        ) as server:
            await server.launch()
            for _ in range(10):
                assert (await server.call("mm_describe_screen"))["state"]["currentScreen"] == "unlock"
            assert "could not be recorded" in log_of(server)
            assert await server.call("mm_cleanup") == {"cleanedUp": True}
        for path in small.glob("knowledge/*/steps/*.json"):
            assert json.loads(path.read_text("utf-8"))["schemaVersion"] == 1
    finally:
        assert await _run("umount", str(small))


async def _run(*command: str) -> bool:
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait() == 0


@pytest.mark.slow
async def test_two_servers_share_one_knowledge_folder(site: Site, tmp_path: Path) -> None:
    """Each finds what the other did, and no step is lost."""
    root = tmp_path / "wallet"
    shared = tmp_path / "knowledge"
    async with (
        serve_wallet_tools(site, root, "--knowledge", str(shared)) as one,
        serve_wallet_tools(site, tmp_path / "other", "--knowledge", str(shared)) as two,
    ):
        await asyncio.gather(one.launch(), two.launch())
        await asyncio.gather(*(server.call("mm_describe_screen") for server in (one, two) * 10))
        await two.call("mm_wait_for", testId="unlock-submit")
        found = await one.call("mm_knowledge_search", query="wait unlock submit", limit=5)
        last = await two.call("mm_knowledge_last", n=200)

    assert found["matches"][0]["tool"] == "mm_wait_for"
    written = sorted(shared.glob("*/steps/*.json"))
    assert len(written) == len(last["steps"]) == 2 + 20 + 1
