"""A background server for one test, and commands that find it."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from footlight.daemon.state import State, read_state
from tests.cli.commands import Done, run_command
from tests.conftest import ENGINE
from tests.processes import kill_all

LIMIT_SECONDS = 90.0
"""The time limit for the start of a server."""


class Background:
    """A background server in a folder of its own, whose processes are all ended at the end."""

    def __init__(self, root: Path, *, browser: bool) -> None:
        self.root = root
        """The working directory of the commands."""
        self._browser = browser
        self.folder = root / "daemon"

    def environment(self, **more: str) -> dict[str, str]:
        own = {
            "FOOTLIGHT_DAEMON_DIR": str(self.folder),
            "FOOTLIGHT_BROWSER_TYPE": ENGINE,
            "FOOTLIGHT_POOL_MIN_BROWSERS": "1",
            **({} if self._browser else {"FOOTLIGHT_BROWSER_EXECUTABLE_PATH": "/nowhere"}),
        }
        return {**os.environ, **own, **more}

    async def run(self, *arguments: str, stdin: str = "", **environment: str) -> Done:
        """Run a command of `footlight`."""
        return await run_command(
            *arguments,
            cwd=self.root,
            environment=self.environment(**environment),
            stdin=stdin,
            limit_seconds=LIMIT_SECONDS,
        )

    async def call(self, *words: str) -> dict[str, Any]:
        """Make a call that must succeed, and return its data."""
        done = await self.run("call", *words, "--format", "json")
        assert done.status == 0, done
        return json.loads(done.out)["structuredContent"]["data"]

    @property
    def state(self) -> State:
        state = read_state(self.folder)
        assert state is not None
        return state

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.state.pid)

    async def status(self) -> dict[str, Any]:
        return json.loads((await self.run("daemon", "status", "--format", "json")).out)

    def servers(self) -> list[psutil.Process]:
        """Return the servers that were started for this folder."""
        log = str(self.folder / "server.log")
        return [each for each in psutil.process_iter(["cmdline"]) if log in (each.info["cmdline"] or ())]

    async def close(self) -> None:
        await self.run("daemon", "stop")
        kill_all(self.servers())


@asynccontextmanager
async def background(root: Path, *, browser: bool = True) -> AsyncGenerator[Background]:
    """Yield a background server. Without a browser it starts sooner, and calls that need one fail."""
    one = Background(root, browser=browser)
    try:
        yield one
    finally:
        await one.close()
