"""A Ray cluster of two nodes on this machine, and a server that uses it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from mcp import Client

from tests.conftest import Browser, server_command
from tests.evidence import server_log
from tests.processes import descendants_of
from tests.site import Site

__all__ = [
    "LIMIT_SECONDS",
    "SECRET",
    "SESSIONS",
    "Cluster",
    "connect_browser",
    "create",
    "front",
    "ray_cluster",
    "worker_of",
]

LIMIT_SECONDS = 180.0
SESSIONS = 4
"""The sessions that a worker may have."""
SECRET = "correct-horse-battery"


@dataclass
class Cluster:
    address: str
    process: asyncio.subprocess.Process
    environment: Mapping[str, str]

    async def start_command(self, *arguments: str) -> asyncio.subprocess.Process:
        """Start `footlight cluster` for this cluster."""
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "footlight", "cluster", *arguments, "--address", self.address),
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
        )

    async def run_command(self, *arguments: str) -> str:
        """Run `footlight cluster`, and return what it printed."""
        process = await self.start_command(*arguments)
        out, _ = await asyncio.wait_for(process.communicate(), LIMIT_SECONDS)
        assert process.returncode == 0, out
        return out.decode()

    async def status(self) -> dict[str, dict[str, Any]]:
        """Return the workers by their names, as the command shows them."""
        found = json.loads(await self.run_command("status", "--format", "json"))
        return {each["worker"]: each for each in found}


@contextlib.asynccontextmanager
async def ray_cluster() -> AsyncGenerator[Cluster]:
    """Two nodes on this machine, ended by closing their standard input."""
    with tempfile.TemporaryDirectory(
        prefix="fl-", ignore_cleanup_errors=True
    ) as folder:  # Sockets need a short path.
        environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_TMPDIR": folder,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Keeps Ray on loopback.
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.cluster.ray_nodes"),
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while not (line := (await process.stdout.readline()).decode()).startswith("address "):
                    assert line, "the cluster ended before it had an address"
            yield Cluster(line.split()[1], process, environment)
        finally:
            left = descendants_of(psutil.Process(process.pid))
            process.stdin.close()
            try:
                async with asyncio.timeout(60):
                    await process.wait()
            finally:
                for each in left:
                    with contextlib.suppress(psutil.Error):
                        each.kill()


@contextlib.asynccontextmanager
async def front(cluster: Cluster, folder: Path, *flags: str, **variables: str) -> AsyncGenerator[str]:
    """Serve the cluster, and yield the URL. The workers stay when the server ends."""
    secrets_file = folder / "secrets.env"
    secrets_file.write_text(f"PASSWORD={SECRET}\n")
    command = server_command(
        *("--transport", "http", "--port", "0", "--cluster", cluster.address, "--tools", "all"),
        *("--secrets", str(secrets_file), "--state-directory", str(folder / "state"), *flags),
    )
    environment = {
        **cluster.environment,
        "FOOTLIGHT_CLUSTER_MIN_WORKERS": "2",
        "FOOTLIGHT_CLUSTER_MAX_WORKERS": "2",
        "FOOTLIGHT_CLUSTER_QUEUE_TIMEOUT": "2000",
        "FOOTLIGHT_SESSION_MAX_SESSIONS": str(SESSIONS),
        "FOOTLIGHT_POOL_MIN_BROWSERS": "1",
        **variables,
    }
    with server_log() as log:
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=log.file
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while "listening on" not in (line := (await process.stdout.readline()).decode()):
                    assert line, "the server ended before it listened"
            yield line.split()[-1]
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(60):
                await process.wait()


@contextlib.asynccontextmanager
async def connect_browser(url: str, site: Site, *, mode: str = "legacy") -> AsyncGenerator[Browser]:
    with server_log() as log:
        async with Client(url, mode=mode) as client:
            yield Browser(client, site, log)


async def create(browser: Browser, count: int) -> list[str]:
    return [(await browser.call("create_session"))["sessionId"] for _ in range(count)]


def worker_of(session_id: str) -> str:
    return session_id.partition(".")[0]
