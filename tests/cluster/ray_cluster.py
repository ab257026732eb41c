"""A cluster on this machine, of Ray or without it, and a server that uses it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import Browser, server_command
from tests.evidence import server_log
from tests.network import run_server
from tests.processes import descendants_of
from tests.site import Site

__all__ = [
    "LIMIT_SECONDS",
    "LOCAL_AND_RAY",
    "RAY_ONLY",
    "SECRET",
    "SESSIONS",
    "Cluster",
    "autoscaling_cluster",
    "connect_browser",
    "create",
    "create_apart",
    "front",
    "front_command",
    "is_running",
    "local_cluster",
    "open_cluster",
    "ray_cluster",
    "ray_node",
    "start_front",
    "worker_of",
]

LIMIT_SECONDS = 180.0
ROOT = Path(__file__).parents[2]
RAY = Path(sys.executable).with_name("ray")
SESSIONS = 4
"""The maximum number of sessions of a worker."""
SECRET = "correct-horse-battery"


@dataclass
class Cluster:
    address: str
    process: asyncio.subprocess.Process | None
    """What runs its nodes, or None if the server runs the workers itself."""
    environment: Mapping[str, str]
    module: str = "footlight"
    """The module that serves it."""
    _listing: asyncio.subprocess.Process | None = None

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
        if self._listing is None:
            self._listing = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.cluster.workers_listing", self.address),
                env=self.environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        assert self._listing.stdin is not None
        assert self._listing.stdout is not None
        self._listing.stdin.write(b"\n")
        async with asyncio.timeout(LIMIT_SECONDS):
            while not (line := await self._listing.stdout.readline()).startswith(b"["):
                assert line, "the process that lists the workers ended"
        return {each["worker"]: each for each in json.loads(line)}

    async def aclose(self) -> None:
        if self._listing is not None:
            assert self._listing.stdin is not None
            self._listing.stdin.close()
            async with asyncio.timeout(60):
                await self._listing.wait()


RAY_ONLY = pytest.param(
    "ray",
    marks=[
        pytest.mark.slow,
        pytest.mark.skipif(
            find_spec("ray") is None, reason="Ray is not installed: pip install 'footlight[ray]'"
        ),
    ],
)
LOCAL_AND_RAY = ("local", RAY_ONLY)
"""The kinds of clusters, as parameters of a test: `make test` has no Ray."""


@contextlib.asynccontextmanager
async def open_cluster(kind: str) -> AsyncGenerator[Cluster]:
    """Open a cluster with two workers, which are in the server itself, or on two nodes of Ray."""
    if kind == "local":
        yield local_cluster()
    else:
        async with ray_cluster(1, 1) as cluster:  # Both workers cannot be on one node.
            yield cluster


def local_cluster() -> Cluster:
    """Return a cluster whose servers run their workers themselves, without Ray."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return Cluster("local", None, environment, "tests.cluster.local_actors")


@contextlib.asynccontextmanager
async def ray_cluster(*cpus: int, mode: str = "token", **variables: str) -> AsyncGenerator[Cluster]:
    """Start nodes on this machine, by default two with two processors. Closing their input ends them."""
    with ray_environment(RAY_AUTH_MODE=mode, **variables) as environment:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.cluster.ray_nodes", *map(str, cpus or (2, 2))),
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        async with ended_with_descendants(process, process.stdin.close):
            async with asyncio.timeout(LIMIT_SECONDS):
                while not (line := (await process.stdout.readline()).decode()).startswith("address "):
                    assert line, "the cluster ended before it had an address"
            async with contextlib.aclosing(Cluster(line.split()[1], process, environment)) as cluster:
                yield cluster


@contextlib.contextmanager
def ray_environment(**variables: str) -> Generator[dict[str, str]]:
    """Return the environment of a cluster with a token of its own, whose files are removed at the end."""
    with tempfile.TemporaryDirectory(
        prefix="fl-", ignore_cleanup_errors=True
    ) as folder:  # Sockets need a short path.
        yield {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_TMPDIR": folder,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Keeps Ray on loopback.
            "RAY_worker_niceness": "0",  # At Ray's 15, other tests leave the workers no processor time.
            **variables,
        }


@contextlib.asynccontextmanager
async def ended_with_descendants(
    process: asyncio.subprocess.Process, stop: Callable[[], None]
) -> AsyncGenerator[None]:
    """Stop a process at the end of the block, and kill what it leaves."""
    try:
        yield
    finally:
        left: list[psutil.Process] = []
        if process.returncode is None:
            left = descendants_of(psutil.Process(process.pid))
            stop()
        try:
            async with asyncio.timeout(60):
                await process.wait()
        finally:
            for each in left:
                with contextlib.suppress(psutil.Error):
                    each.kill()


@contextlib.asynccontextmanager
async def ray_node(
    cluster: Cluster, *, cpus: int, **variables: str
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Add a machine to a cluster."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.cluster.ray_node", cluster.address, str(cpus)),
        env={**cluster.environment, **variables},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with ended_with_descendants(process, process.kill):
        async with asyncio.timeout(LIMIT_SECONDS):
            while "Ray runtime started" not in (line := (await process.stdout.readline()).decode()):
                assert line, "the node ended before it had started"
        yield process


@contextlib.asynccontextmanager
async def autoscaling_cluster(*, max_nodes: int) -> AsyncGenerator[Cluster]:
    """Start a head without processors, to which Ray's autoscaler adds nodes with two processors each."""
    address = f"127.0.0.1:{free_port()}"
    with ray_environment(
        RAY_FAKE_CLUSTER="1", AUTOSCALER_UPDATE_INTERVAL_S="1", RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S="0"
    ) as environment:
        config = Path(environment["RAY_TMPDIR"]) / "autoscaler.json"
        config.write_text(json.dumps(autoscaler_config(address, max_nodes)))
        process = await asyncio.create_subprocess_exec(
            *(str(RAY), "start", "--head", "--block", "--port", address.rpartition(":")[2]),
            *("--node-ip-address", "127.0.0.1", "--num-cpus", "0", "--object-store-memory", str(80 << 20)),
            *("--include-dashboard", "false", "--autoscaling-config", str(config)),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        async with ended_with_descendants(process, process.terminate):
            async with asyncio.timeout(LIMIT_SECONDS):
                while "Ray runtime started" not in (line := (await process.stdout.readline()).decode()):
                    assert line, "the cluster ended before it had started"
            async with contextlib.aclosing(Cluster(address, process, environment)) as cluster:
                yield cluster


def autoscaler_config(address: str, max_nodes: int) -> dict[str, Any]:
    """Return the configuration of the autoscaler with Ray's provider of nodes on the same machine."""
    commands = ("initialization", "setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray")
    return {
        "cluster_name": "test",
        "max_workers": max_nodes,
        "idle_timeout_minutes": 0.05,
        "provider": {
            "type": "fake_multinode",
            "gcs_address": address,
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
        },
        "available_node_types": {
            "head": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
            "browsers": {
                "resources": {"CPU": 2, "object_store_memory": 80 << 20},
                "node_config": {},
                "min_workers": 0,
                "max_workers": max_nodes,
            },
        },
        "head_node_type": "head",
        **{name: {} for name in ("auth", "docker", "file_mounts", "head_node", "worker_nodes")},
        **{f"{name}_commands": [] for name in commands},
        **{name: [] for name in ("cluster_synced_files", "rsync_exclude", "rsync_filter")},
        "file_mounts_sync_continuously": False,
    }


def free_port() -> int:
    """Return a port that is free now. The autoscaler must know the port before Ray listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def front(
    cluster: Cluster, folder: Path, *flags: str, secret: str = SECRET, **variables: str
) -> AsyncGenerator[str]:
    """Serve the cluster, and yield the URL. The workers stay when the server ends."""
    async with start_front(cluster, folder, *flags, secret=secret, **variables) as (url, _):
        yield url


@contextlib.asynccontextmanager
async def start_front(
    cluster: Cluster, folder: Path, *flags: str, secret: str = SECRET, **variables: str
) -> AsyncGenerator[tuple[str, asyncio.subprocess.Process]]:
    """Serve the cluster, and yield the URL and the process. Without a secret there is no file of secrets."""
    command, environment = front_command(cluster, folder, *flags, secret=secret, **variables)
    async with run_server(command, environment=environment, limit_s=LIMIT_SECONDS) as served:
        yield served


def front_command(
    cluster: Cluster, folder: Path, *flags: str, secret: str = SECRET, **variables: str
) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment of a server that uses the cluster."""
    if secret:
        secrets_file = folder / "secrets.env"
        secrets_file.touch(0o600)
        secrets_file.write_text(f"PASSWORD={secret}\n")
        flags = ("--secrets", str(secrets_file), *flags)
    command = server_command(
        *("--transport", "http", "--port", "0", "--cluster", cluster.address, "--tools", "all"),
        *("--state-directory", str(folder / "state"), *flags),
    )
    command[command.index("footlight")] = cluster.module
    environment = {
        **cluster.environment,
        "FOOTLIGHT_CLUSTER_MIN_WORKERS": "2",
        "FOOTLIGHT_CLUSTER_MAX_WORKERS": "2",
        "FOOTLIGHT_CLUSTER_QUEUE_TIMEOUT": "120000",
        "FOOTLIGHT_SESSION_MAX_SESSIONS": str(SESSIONS),
        "FOOTLIGHT_POOL_MIN_BROWSERS": "1",
        **variables,
    }
    return command, environment


@contextlib.asynccontextmanager
async def connect_browser(
    url: str, site: Site, *, mode: str = "legacy", http: httpx2.AsyncClient | None = None
) -> AsyncGenerator[Browser]:
    with server_log() as log:
        async with Client(
            streamable_http_client(url, http_client=http) if http else url, mode=mode
        ) as client:
            yield Browser(client, site, log)


async def create(browser: Browser, count: int) -> list[str]:
    return [(await browser.call("create_session"))["sessionId"] for _ in range(count)]


async def create_apart(browser: Browser, count: int = 2) -> list[str]:
    """Create a session on each of so many workers, as soon as they have started and the server knows it."""
    ids: dict[str, str] = {}
    spare: list[str] = []
    async with asyncio.timeout(LIMIT_SECONDS):
        while len(ids) < count:
            created = (await browser.answer("create_session")).structured_content
            assert created is not None
            if not created["success"]:
                assert created["error"]["code"] == "RESOURCE_EXHAUSTED"
                continue
            id = created["data"]["sessionId"]
            if ids.setdefault(worker_of(id), id) != id:
                spare.append(id)  # It stays until the end, so that the next one goes to another worker.
    for id in spare:
        await browser.call("close_session", sessionId=id)
    return [*ids.values()]


def worker_of(session_id: str) -> str:
    return session_id.partition(".")[0]


def is_running(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
