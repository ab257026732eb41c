"""A worker reports its sessions, and drains at SIGTERM. Ray is not necessary for it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 60

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM"),
]


class LoneWorker:
    """The process of `lone_worker.py`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def event(self, name: str) -> dict[str, Any]:
        """Return the next event, which must have this name. The other lines are the log of the worker."""
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT_SECONDS):
            while "event" not in (event := json.loads(await self.process.stdout.readline())):
                pass
        assert event.pop("event") == name, event
        return event

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@pytest.fixture
async def worker(anyio_backend: str) -> AsyncGenerator[LoneWorker]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.cluster.lone_worker"),
        cwd=ROOT,
        env={**os.environ, "FOOTLIGHT_SECURITY_ENABLE_SCRIPT_EVALUATION": "true"},
        stdout=asyncio.subprocess.PIPE,
    )
    yield LoneWorker(process)
    if process.returncode is None:
        process.terminate()
        process.terminate()
        async with asyncio.timeout(LIMIT_SECONDS):
            await process.wait()


async def test_worker_reports_its_sessions_and_drains_at_sigterm(worker: LoneWorker) -> None:
    assert await worker.event("started") == {"failure": None, "sessions": 0}
    created = await worker.event("created")
    opened = ["opened", created["id"]]
    assert created["changes"][0] == opened
    assert created["opened"] == [opened]
    assert created["sessions"] == 1

    worker.terminate()
    assert await worker.event("draining") == {"refused": "This worker is draining", "result": 42}
    assert worker.process.returncode is None

    worker.terminate()
    assert await worker.event("ended") == {}
    async with asyncio.timeout(LIMIT_SECONDS):
        assert await worker.process.wait() == 0
