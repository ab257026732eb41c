"""Provide a display for browser windows: the existing one, otherwise a virtual one, otherwise none."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

__all__ = ["Display", "open_display"]

logger = logging.getLogger(__name__)

START_SECONDS = 10.0
END_SECONDS = 2.0
SIZE = "1600x1200x24"
"""The size in pixels, and the bits per pixel."""


@dataclass(frozen=True, slots=True)
class Display:
    """`screen` is the machine's own display and `xvfb` a virtual one. With `none`, no window is possible."""

    kind: Literal["screen", "xvfb", "none"]
    environment: Mapping[str, str]
    """The environment variables that a browser needs for the display."""


@asynccontextmanager
async def open_display() -> AsyncGenerator[Display]:
    """Open a display for one browser. A virtual display ends with its last client."""
    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        yield Display("screen", {})
        return
    program = shutil.which("Xvfb")
    if program is None:
        logger.warning("there is no display and no Xvfb: the browser runs without a window")
        yield Display("none", {})
        return
    async with _virtual(program) as number:
        if number is None:
            yield Display("none", {})
        else:
            logger.info("there is no display: the browser's window is on one of Xvfb, :%s", number)
            yield Display("xvfb", {"DISPLAY": f":{number}"})


@asynccontextmanager
async def _virtual(program: str) -> AsyncGenerator[str | None]:
    """Start Xvfb and yield the number of its display, or None if it does not start.

    Xvfb ends with its last client, so it does not remain when a server is killed.
    """
    read, write = os.pipe()
    try:
        process: asyncio.subprocess.Process | None = await asyncio.create_subprocess_exec(
            *(program, "-displayfd", str(write), "-screen", "0", SIZE, "-nolisten", "tcp", "-terminate"),
            pass_fds=(write,),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        logger.warning("Xvfb could not be started, so the browser runs without a window: %s", error)
        process = None
    except BaseException:
        os.close(read)
        raise
    finally:
        os.close(write)
    if process is None:
        os.close(read)
        yield None
        return
    try:
        yield await _number(read)
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        raise


async def _number(pipe: int) -> str | None:
    """Return the display number, which Xvfb writes when it accepts clients, or None if it does not start."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", buffering=0)
    )
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await reader.readline()
    except TimeoutError:
        line = b""
    finally:
        transport.close()
    if not line:
        logger.warning("Xvfb did not start: the browser runs without a window")
        return None
    return line.decode("ascii").strip()
