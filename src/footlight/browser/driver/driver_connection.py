"""Connect Playwright to a driver process that was started before Playwright was imported."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright._impl.out_of_process import PlaywrightClient
from playwright.async_api import Playwright

__all__ = ["connect_driver"]


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
            await client.stop()
    finally:
        if process.poll() is None:
            process.kill()


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

        # Not a thread of the loop's pool: the end of the loop would wait for it.
        threading.Thread(target=wait, name="driver-end", daemon=True).start()
        await ended.wait()
