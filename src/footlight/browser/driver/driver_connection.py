"""Connect Playwright to a driver process that was started before Playwright was imported."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from playwright._impl.out_of_process import PlaywrightClient
from playwright.async_api import Playwright
from playwright.async_api._context_manager import PlaywrightContextManager

if TYPE_CHECKING:
    import psutil

__all__ = ["connect_driver", "stop_driver"]


@asynccontextmanager
async def connect_driver(process: subprocess.Popen[bytes]) -> AsyncGenerator[Playwright]:
    """Use the process as Playwright's driver in this block. The process has ended when the block ends."""
    try:
        client = PlaywrightClient()
        # Playwright starts the process in `connect`, which runs in a task that has not begun yet.
        transport: Any = client._transport  # pyright: ignore[reportPrivateUsage]

        async def connect() -> None:
            transport._stopped_future = asyncio.get_running_loop().create_future()
            transport._proc = await _ConnectedProcess.connect(process)
            transport._output = transport._proc.stdin

        transport.connect = connect
        playwright = Playwright(await client._playwright)  # pyright: ignore[reportPrivateUsage]
        try:
            yield playwright
        finally:
            with _kill_survivors(process.pid):
                await client.stop()
    finally:
        if process.poll() is None:
            _kill_all(_find_family(process.pid))


async def stop_driver(starter: PlaywrightContextManager) -> None:
    """Stop Playwright. Its driver process has ended on return, even if this is cancelled."""
    transport: Any = getattr(getattr(starter, "_client", None), "_transport", None)
    process: Any = getattr(transport, "_proc", None)
    with _kill_survivors(process.pid) if process is not None else nullcontext():
        await starter.__aexit__()


@contextmanager
def _kill_survivors(pid: int) -> Generator[None]:
    """Stop the driver process in this block, and afterwards kill it and its browsers if they still run.

    The driver ends without the browsers that it is still starting, and an unresponsive driver would not end.
    """
    family = _find_family(pid)
    try:
        yield
    finally:
        _kill_all(family)


def _find_family(pid: int) -> list[psutil.Process]:
    """Return a driver process and the browsers that it has started, browsers first."""
    import psutil

    try:
        driver = psutil.Process(pid)
        return [*driver.children(recursive=True), driver]
    except psutil.Error:
        return []


def _kill_all(processes: list[psutil.Process]) -> None:
    import psutil

    for each in processes:
        with suppress(psutil.Error):
            each.kill()


class _ConnectedProcess:
    """A process with its pipes on the event loop: the part of asyncio's `Process` that Playwright uses."""

    def __init__(
        self, process: subprocess.Popen[bytes], stdin: asyncio.WriteTransport, stdout: asyncio.StreamReader
    ) -> None:
        self.pid = process.pid
        self.stdin = stdin
        self.stdout = stdout
        self._process = process

    @classmethod
    async def connect(cls, process: subprocess.Popen[bytes]) -> _ConnectedProcess:
        loop = asyncio.get_running_loop()
        stdout = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdout), process.stdout)
        stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        return cls(process, stdin, stdout)

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    async def communicate(self) -> None:
        """Close the input, and wait for the end of the process."""
        self.stdin.close()
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def wait() -> None:
            self._process.wait()
            with suppress(RuntimeError):  # The loop is closed.
                loop.call_soon_threadsafe(ended.set)

        # A thread outside the loop's pool: at its end, the loop would wait for threads of the pool.
        threading.Thread(target=wait, name="driver-end", daemon=True).start()
        await ended.wait()
