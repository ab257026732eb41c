"""Calls over a connection to a worker: each reply reaches its caller, and a lost connection ends them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footlight.caller import LOCAL
from footlight.cluster.fleet import Fleet
from footlight.cluster.known_worker import KnownWorker
from footlight.cluster.ray_api import ActorLostError, RemoteActor
from footlight.cluster.worker import Load, RemoteCall, Worker, WorkerReply, WorkerStatus
from footlight.cluster.worker.call_channel import CallAddress, CallChannel, CallListener
from footlight.cluster.worker_calls import ConnectionLostError, wait_for_reply
from footlight.config import ClusterSettings
from footlight.errors import ConfigurationError

pytestmark = pytest.mark.anyio

SOCKETS = Path("/proc/net/tcp")
LOAD = Load(0, 1, is_draining=False)


@asynccontextmanager
async def listening(run: Callable[[bytes], Awaitable[bytes]]) -> AsyncGenerator[CallAddress]:
    listener = CallListener(run)
    try:
        yield await listener.open("127.0.0.1")
    finally:
        listener.close()


@asynccontextmanager
async def connected(address: CallAddress) -> AsyncGenerator[CallChannel]:
    channel = await CallChannel.connect(address)
    try:
        yield channel
    finally:
        channel.close()


def timer_of_connection_to(port: int) -> tuple[str, float]:
    """Return the kind of the timer of the only connection to this port of this machine, and its seconds."""
    sockets = [line.split() for line in SOCKETS.read_text().splitlines()]
    (timer,) = [each[5] for each in sockets if each[2] == f"0100007F:{port:04X}"]
    kind, _, ticks = timer.partition(":")
    return kind, int(ticks, 16) / os.sysconf("SC_CLK_TCK")


async def test_each_reply_and_each_error_reaches_its_caller():
    last = asyncio.Event()

    async def run(packed: bytes) -> bytes:
        if packed == b"fail":
            raise ConfigurationError("no browser")
        if packed == b"last":
            last.set()
        await last.wait()
        return packed * 2

    large = b"x" * 6_000_000
    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        calls = [asyncio.create_task(channel.call(each)) for each in (b"first", large, b"second")]
        with pytest.raises(ConfigurationError, match="no browser"):
            await channel.call(b"fail")
        assert await channel.call(b"last") == b"lastlast"
        assert await asyncio.gather(*calls) == [b"firstfirst", large * 2, b"secondsecond"]


async def test_nothing_runs_without_the_token():
    ran: list[bytes] = []

    async def run(packed: bytes) -> bytes:
        ran.append(packed)
        return packed

    async with asyncio.timeout(20), listening(run) as address:
        assert address.token.hex() not in repr(address)
        assert repr(address.token) not in repr(address)
        async with connected(replace(address, token=bytes(32))) as channel:
            with pytest.raises(ActorLostError):
                await channel.call(b"call")
            assert not channel.is_open
    assert ran == []


async def test_a_lost_connection_ends_running_calls_and_the_worker_finishes_them():
    started, released, finished = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(packed: bytes) -> bytes:
        started.set()
        await released.wait()
        finished.set()
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        call = asyncio.create_task(channel.call(b"call"))
        await started.wait()
        channel.close()
        with pytest.raises(ActorLostError):
            await call
        with pytest.raises(ActorLostError):
            await channel.call(b"later")
        released.set()
        await finished.wait()


@pytest.mark.skipif(not SOCKETS.exists(), reason="only Linux lists the timers of sockets")
async def test_an_idle_connection_is_probed():
    async def run(packed: bytes) -> bytes:
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        await channel.call(b"call")  # The connection is established.
        kind, seconds = timer_of_connection_to(address.port)

    assert kind == "02"  # The timer of keepalive probes.
    assert 0 < seconds <= 30


async def test_a_reply_that_nobody_waits_for_is_left_out():
    started, released = asyncio.Event(), asyncio.Event()

    async def run(packed: bytes) -> bytes:
        if packed == b"cancelled":
            started.set()
            await released.wait()
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        call = asyncio.create_task(channel.call(b"cancelled"))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        released.set()
        assert [await channel.call(each) for each in (b"a", b"b")] == [b"a", b"b"]


class AddressedActor(RemoteActor):
    """The actor of a worker that takes calls at an address, while `process_id` is its process."""

    def __init__(self, address: CallAddress) -> None:
        super().__init__(None)
        self.address = address
        self.process_id = address.process_id
        self.called: list[str] = []

    async def call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        if method is Worker.find_call_address:
            return self.address
        if method in (Worker.status, Worker.peek):
            return WorkerStatus("", "", "", self.process_id, LOAD, None)
        if method is Worker.call:
            self.called.append(RemoteCall.unpack(*arguments).id)
            return WorkerReply(None, LOAD).pack()
        return await asyncio.Event().wait()


async def test_calls_go_through_ray_only_without_a_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("footlight.cluster.fleet.ASK_EVERY_SECONDS", 0.01)
    received: list[str] = []

    async def run(packed: bytes) -> bytes:
        received.append(RemoteCall.unpack(packed).id)
        return WorkerReply(None, LOAD).pack()

    async def wait_for_connection(worker: KnownWorker, *, other_than: CallChannel | None) -> CallChannel:
        while worker.channel is None or worker.channel is other_than:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)
        return worker.channel

    async with asyncio.timeout(20), listening(run) as address:
        fleet = Fleet(ClusterSettings(), build="", max_sessions=1, worker_settings={})
        actor = AddressedActor(address)
        worker = KnownWorker("w1", actor)

        async def call(id: str) -> None:
            sent = RemoteCall(id=id, tool="get_text", arguments={}, caller=LOCAL)
            await wait_for_reply(actor, sent, 10, None, None, channel=worker.channel)

        await call("early")
        fleet.add(worker)
        first = await wait_for_connection(worker, other_than=None)
        await call("connected")
        first.close()
        await call("lost")
        second = await wait_for_connection(worker, other_than=first)
        await call("connected again")
        actor.process_id += 1
        actor.address = replace(address, process_id=actor.process_id)
        third = await wait_for_connection(worker, other_than=second)
        assert not second.is_open
        await call("next process")
        await fleet.close()
        assert not third.is_open
    assert actor.called == ["early", "lost"]
    assert received == ["connected", "connected again", "next process"]


@pytest.mark.parametrize(("is_same_process", "error"), [(True, ConnectionLostError), (False, ActorLostError)])
async def test_a_worker_that_runs_is_not_lost_with_its_connection(
    is_same_process: bool, error: type[Exception]
):
    started = asyncio.Event()

    async def run(_: bytes) -> bytes:
        started.set()
        await asyncio.Event().wait()
        return b""

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        actor = AddressedActor(address)
        actor.process_id += not is_same_process
        sent = RemoteCall(id="1", tool="click", arguments={}, caller=LOCAL)
        call = asyncio.create_task(wait_for_reply(actor, sent, 10, None, None, channel=channel))
        await started.wait()
        channel.close()
        with pytest.raises(error):
            await call
