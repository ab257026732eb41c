"""Running a local chain with a real anvil."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import psutil
import pytest

from footlight.app_errors import DependenciesMissingError, PortInUseError
from footlight.apps.metamask.anvil import find_anvil, run_anvil
from footlight.apps.metamask.chain import format_ether
from footlight.apps.metamask.fixtures import ACCOUNT, SEED_PHRASE
from footlight.errors import LaunchFailedError, NetworkFailedError
from tests.apps.anvil_path import PEERS, anvil_path
from tests.client.peers import free_port
from tests.processes import children_of, descendants_of, line_of, name_of

pytestmark = pytest.mark.anyio

WAIT_SECONDS = 20.0


async def test_chain_starts_with_id_1337_and_funded_account() -> None:
    """The chain has the id 1337, and the account has 25 ETH."""
    async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE) as chain:
        reported = (
            await chain.chain_id(),
            await chain.block_number(),
            format_ether(await chain.balance(ACCOUNT)),
            chain.alive,
        )

    assert reported == (1337, 0, "25 ETH", True)
    assert not chain.alive


async def test_chain_id_and_balance_are_configurable() -> None:
    async with run_anvil(
        executable=anvil_path(), port=free_port(), chain_id=31337, mnemonic=SEED_PHRASE, balance=3
    ) as chain:
        assert (await chain.chain_id(), await chain.balance(ACCOUNT)) == (31337, 3 * 10**18)


async def test_closing_chain_leaves_no_process_and_frees_port() -> None:
    """Npm's anvil is a script that starts another program."""
    before = _children()
    port = free_port()
    async with run_anvil(executable=anvil_path(), port=port, mnemonic=SEED_PHRASE):
        started = _children() - before
        listeners = [each.laddr for each in psutil.net_connections("tcp") if each.laddr[1:] == (port,)]

    assert len(started) >= 2
    assert set(listeners) == {("127.0.0.1", port)}
    assert not any(map(_runs, started))
    # Another process may have been given the port by now.
    holders = {each.pid for each in psutil.net_connections("tcp") if each.laddr[1:] == (port,)}
    assert holders.isdisjoint(each.pid for each in started)


async def test_two_chains_run_side_by_side() -> None:
    async with (
        run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE) as one,
        run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE) as other,
    ):
        await one.call("anvil_mine", "0x3")

        assert (await one.block_number(), await other.block_number()) == (3, 0)


async def test_log_contains_neither_seed_phrase_nor_keys(caplog: pytest.LogCaptureFixture) -> None:
    """anvil prints both when it starts."""
    caplog.set_level(logging.DEBUG)
    async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE):
        pass

    assert SEED_PHRASE not in caplog.text
    assert "7c9529a67102755b7e6102d6d950ac5d" not in caplog.text


async def test_port_in_use_is_reported_before_anvil_starts() -> None:
    before = _children()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        with pytest.raises(PortInUseError, match=f"^port {port}, which the chain .* process {os.getpid()} "):
            async with run_anvil(executable=anvil_path(), port=port, mnemonic=SEED_PHRASE):
                pytest.fail("it started")

    assert _children() == before


async def test_early_exit_of_anvil_reports_its_output() -> None:
    """Nothing is left of it."""
    before = _children()

    with pytest.raises(LaunchFailedError) as raised:
        async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic="no such words"):
            pytest.fail("it started")

    assert raised.value.message == "the chain (anvil) ended before it was ready"
    assert raised.value.details == {"output": "Error: the word `no` is invalid"}
    assert _children() == before


async def test_unstartable_executable_is_reported(tmp_path: Path) -> None:
    executable = tmp_path / "anvil"
    executable.write_text("#!/no/such/interpreter\n")
    executable.chmod(0o755)

    with pytest.raises(LaunchFailedError) as raised:
        async with run_anvil(executable=executable, port=free_port(), mnemonic=SEED_PHRASE):
            pytest.fail("it started")

    assert "cannot be started" in raised.value.details["output"]


@pytest.mark.slow
async def test_unresponsive_anvil_is_terminated_after_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _children()
    monkeypatch.setattr("footlight.apps.metamask.anvil.READY_SECONDS", 0.5)
    executable = tmp_path / "anvil"
    executable.write_text("#!/bin/sh\ntrap '' TERM\necho listening to nobody\nwhile :; do sleep 60; done\n")
    executable.chmod(0o755)

    with pytest.raises(LaunchFailedError) as raised:
        async with run_anvil(executable=executable, port=free_port(), mnemonic=SEED_PHRASE):
            pytest.fail("it is ready")

    assert raised.value.message == "the chain (anvil) was not ready within 0.5 s"
    assert raised.value.details == {"output": "listening to nobody"}
    assert _children() == before


async def test_calls_to_killed_chain_report_that_chain_is_not_running() -> None:
    before = _children()
    port = free_port()
    async with run_anvil(executable=anvil_path(), port=port, mnemonic=SEED_PHRASE) as chain:
        await chain.block_number()
        for process in _children() - before:
            if name_of(process) == "anvil":
                process.kill()
        async with asyncio.timeout(WAIT_SECONDS):
            await chain.ended.wait()

        with pytest.raises(NetworkFailedError) as raised:
            await chain.block_number()

    assert raised.value.message == f"the chain at http://127.0.0.1:{port} is not running any more"
    assert not raised.value.retryable
    assert not chain.alive
    assert _children() == before


async def test_cancelled_start_leaves_no_process() -> None:
    before = _children()

    async def run() -> None:
        async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE):
            await asyncio.Event().wait()

    running = asyncio.create_task(run())
    async with asyncio.timeout(WAIT_SECONDS):
        while _children() == before:  # noqa: ASYNC110 - the system tells of none
            await asyncio.sleep(0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert _children() == before


RUN = """
import asyncio, json, os, sys
from pathlib import Path
import psutil
from footlight.apps.metamask.anvil import run_anvil

async def main(executable, port, mnemonic):
    async with run_anvil(executable=Path(executable), port=int(port), mnemonic=mnemonic):
        family = psutil.Process().children(recursive=True)
        print(json.dumps([each.pid for each in family]), flush=True)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_anvil_ends_with_its_parent_process(number: signal.Signals) -> None:
    """Even where that has no time for anything."""
    port = free_port()
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RUN, str(anvil_path()), str(port), SEED_PHRASE),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert server.stdout is not None
    async with asyncio.timeout(WAIT_SECONDS):
        family = [psutil.Process(pid) for pid in json.loads(await server.stdout.readline())]
    assert "anvil" in [process.name() for process in family]

    server.send_signal(number)

    async with asyncio.timeout(WAIT_SECONDS):
        await server.wait()
    async with asyncio.timeout(WAIT_SECONDS):
        while any(map(_runs, family)):  # noqa: ASYNC110 - the system tells of none
            await asyncio.sleep(0.01)


def test_anvil_in_path_takes_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "anvil"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_anvil([PEERS]) == own


def test_anvil_in_node_modules_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_anvil([tmp_path, PEERS]) == anvil_path()


def test_missing_anvil_error_explains_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(DependenciesMissingError) as raised:
        find_anvil([tmp_path])

    assert raised.value.details == {"missing": "anvil"}
    assert "npm install --save-dev @foundry-rs/anvil" in raised.value.suggestion


def _children() -> set[psutil.Process]:
    """Keepers, and what they keep: other tests' browsers come and go meanwhile."""
    children = children_of(psutil.Process())
    keepers = [child for child in children if any(part.endswith("keeper.py") for part in line_of(child))]
    return {each for keeper in keepers for each in (keeper, *descendants_of(keeper))}


def _runs(process: psutil.Process) -> bool:
    """Return whether a process runs. One that has ended stays listed until its parent asks for its status."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
