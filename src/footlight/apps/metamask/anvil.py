"""Run a local blockchain with anvil."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from footlight.app_errors import DependenciesMissingError
from footlight.apps.metamask.chain import Chain, connect_chain
from footlight.apps.ports import check_port_free
from footlight.apps.process import SupervisedProcess, run_process
from footlight.errors import LaunchFailedError, NetworkFailedError

__all__ = ["find_anvil", "run_anvil"]

READY_SECONDS = 10.0
LOOK_SECONDS = 0.05
WHAT = "the chain (anvil)"


def find_anvil(folders: Sequence[Path]) -> Path:
    """Return the path of anvil, from PATH or from `node_modules/.bin` of one of the folders.

    Raises:
        DependenciesMissingError: anvil is not installed.
    """
    for path in (None, *(str(folder / "node_modules" / ".bin") for folder in folders)):
        if found := shutil.which("anvil", path=path):
            return Path(found).absolute()
    raise DependenciesMissingError(
        "anvil, which runs the chain, is neither in PATH nor in node_modules/.bin",
        suggestion="Install it with `npm install --save-dev @foundry-rs/anvil`, or with foundryup.",
        missing="anvil",
    )


@asynccontextmanager
async def run_anvil(
    *, executable: Path, port: int, chain_id: int = 1337, mnemonic: str, balance: int = 25
) -> AsyncGenerator[Chain]:
    """Run a new chain on `port` with the accounts of `mnemonic`, each with `balance` ether.

    The chain is stopped on exit, and also when this process ends (see `apps.process`).

    Raises:
        PortInUseError: Another process listens on the port.
        LaunchFailedError: anvil exited, or was not ready in time. The details have the end of its output.
    """
    check_port_free(port, what=WHAT)
    command = (
        *(str(executable), "--quiet"),  # Otherwise it prints the seed phrase and the keys.
        *("--host", "127.0.0.1", "--port", str(port), "--chain-id", str(chain_id)),
        *("--mnemonic", mnemonic, "--balance", str(balance)),
    )
    async with (
        run_process(command, name="anvil") as process,
        connect_chain(f"http://127.0.0.1:{port}", ended=process.ended) as chain,
    ):
        await _wait_until_ready(chain, process, port)
        yield chain


async def _wait_until_ready(chain: Chain, process: SupervisedProcess, port: int) -> None:
    try:
        async with asyncio.timeout(READY_SECONDS):
            while not process.ended.is_set() and not await _is_answering(chain):
                await _pause(process)
    except TimeoutError:
        raise _start_failure(f"was not ready within {READY_SECONDS:g} s", process) from None
    if process.ended.is_set():  # If the port answered, another process did.
        await process.wait()
        # PortInUseError is the better error if another process has taken the port.
        check_port_free(port, what=WHAT)
        raise _start_failure("ended before it was ready", process)


async def _is_answering(chain: Chain) -> bool:
    with suppress(NetworkFailedError):
        await chain.block_number()
        return True
    return False


async def _pause(process: SupervisedProcess) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_SECONDS):
            await process.ended.wait()


def _start_failure(how: str, process: SupervisedProcess) -> LaunchFailedError:
    return LaunchFailedError(f"{WHAT} {how}", output=process.output or None)
