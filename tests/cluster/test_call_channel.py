"""Calls over a connection to a worker: each reply reaches its caller, and a lost connection ends them."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pickle
import socket
import struct
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footlight.caller import LOCAL
from footlight.cluster.fleet.fleet import Fleet
from footlight.cluster.fleet.known_worker import KnownWorker
from footlight.cluster.ray_api import ActorLostError, RemoteActor
from footlight.cluster.worker import Load, RemoteCall, Worker, WorkerReply, WorkerStatus
from footlight.cluster.worker.call_channel import CallAddress, CallChannel, CallListener, Send
from footlight.cluster.worker_calls import ConnectionLostError, wait_for_reply
from footlight.config import ClusterSettings
from footlight.errors import ConfigurationError

pytestmark = pytest.mark.anyio

SOCKETS = Path("/proc/net/tcp")
LOAD = Load(0, 1, is_draining=False)
FRAME = struct.pack("!QBI", 0, 0, 4) + b"call"
"""The frame of a call."""


@asynccontextmanager
async def listening(run: Callable[[bytes, Send], Awaitable[bytes]]) -> AsyncGenerator[CallAddress]:
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

    async def run(packed: bytes, _: Send) -> bytes:
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

    async def run(packed: bytes, _: Send) -> bytes:
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


async def test_a_lost_connection_ends_running_calls():
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(32 + len(FRAME))
        writer.transport.abort()

    async with asyncio.timeout(20), await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = CallAddress(1, "127.0.0.1", server.sockets[0].getsockname()[1], bytes(32))
        async with connected(address) as channel:
            for _ in range(2):
                with pytest.raises(ActorLostError):
                    await channel.call(b"call")


async def test_a_call_continues_without_its_connection():
    started, released, finished = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(packed: bytes, _: Send) -> bytes:
        started.set()
        await released.wait()
        finished.set()
        return packed

    async with asyncio.timeout(20), listening(run) as address:
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(address.token + FRAME)
        await started.wait()
        writer.transport.abort()
        async with connected(address) as channel:
            released.set()
            assert await channel.call(b"other") == b"other"
        await finished.wait()


async def test_a_call_that_is_cancelled_or_whose_connection_is_closed_is_cancelled_on_the_worker():
    cancelled: asyncio.Queue[bytes] = asyncio.Queue()
    started = asyncio.Event()

    async def run(packed: bytes, _: Send) -> bytes:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.put_nowait(packed)
        return packed

    async with asyncio.timeout(20), listening(run) as address:
        for name in (b"cancelled", b"closed"):
            started.clear()
            async with connected(address) as channel:
                call = asyncio.create_task(channel.call(name))
                await started.wait()
                if name == b"cancelled":
                    call.cancel()
                else:
                    channel.close()
                with pytest.raises((asyncio.CancelledError, ActorLostError)):
                    await call
                assert await cancelled.get() == name


async def test_a_worker_that_was_stopped_does_not_begin_an_abandoned_call():
    began: list[bytes] = []

    async def run(packed: bytes, _: Send) -> bytes:
        began.append(packed)
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        await channel.call(b"first")
        # The listener reads nothing before both frames have arrived, as where its process was stopped.
        expired = asyncio.create_task(channel.call(b"expired"))
        asyncio.get_running_loop().call_soon(expired.cancel)
        with pytest.raises(asyncio.CancelledError):
            await expired
        await channel.call(b"last")
    assert began == [b"first", b"last"]


async def test_the_progress_of_a_call_reaches_its_caller_before_the_reply():
    async def run(packed: bytes, send: Send) -> bytes:
        send(packed + b" begins")
        send(packed + b" ends")
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        heard: list[bytes] = []
        replies = await asyncio.gather(channel.call(b"one", heard.append), channel.call(b"two"))
        assert replies == [b"one", b"two"]
        assert heard == [b"one begins", b"one ends"]


async def test_a_client_that_does_not_read_progress_does_not_delay_its_call():
    async def report(*_: object) -> None:
        await asyncio.Event().wait()

    async def run(_: bytes, send: Send) -> bytes:
        for done in range(3):
            send(pickle.dumps((done, None, "loading")))
        return WorkerReply(None, LOAD).pack()

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        sent = RemoteCall(id="1", tool="click", arguments={}, caller=LOCAL, has_progress=True)
        reply = await wait_for_reply(AddressedActor(address), sent, 15, report, None, channel=channel)
    assert reply == WorkerReply(None, LOAD)


@pytest.mark.skipif(not SOCKETS.exists(), reason="only Linux lists the timers of sockets")
async def test_an_idle_connection_is_probed():
    async def run(packed: bytes, _: Send) -> bytes:
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        await channel.call(b"call")  # The connection is established.
        kind, seconds = timer_of_connection_to(address.port)

    assert kind == "02"  # The timer of keepalive probes.
    assert 0 < seconds <= 30


async def test_a_reply_that_nobody_waits_for_is_left_out():
    started, released = asyncio.Event(), asyncio.Event()

    async def run(packed: bytes, _: Send) -> bytes:
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


@pytest.mark.parametrize("sent", [b"\xff" * 13, b"GET /mcp HTTP/1.1\r\n\r\n"])
async def test_a_client_that_sends_no_frames_is_disconnected_alone(sent: bytes):
    async def run(packed: bytes, _: Send) -> bytes:
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(address.token + sent)
        assert await reader.read() == b""
        writer.close()
        assert await channel.call(b"other") == b"other"


class OfOtherVersionError(Exception):
    """An error that can be read only where it was raised."""

    is_there = True

    def __reduce__(self) -> Any:
        return _load_there, ()


def _load_there() -> OfOtherVersionError:
    if OfOtherVersionError.is_there:
        OfOtherVersionError.is_there = False
        return OfOtherVersionError()
    raise ImportError("no such class")


async def test_an_error_that_cannot_be_read_fails_one_call():
    async def run(packed: bytes, _: Send) -> bytes:
        if packed == b"fail":
            raise OfOtherVersionError
        return packed

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        with pytest.raises(RuntimeError, match="no such class"):
            await channel.call(b"fail")
        assert await channel.call(b"next") == b"next"


@pytest.mark.skipif(sys.platform != "linux", reason="the filter of the socket is Linux's")
async def test_a_connection_whose_other_machine_is_silent_is_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("footlight.cluster.worker.call_channel.UNACKNOWLEDGED_SECONDS", 0.5)
    accepted = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(32)
        drop_all_packets(writer.get_extra_info("socket"))
        accepted.set_result(writer)

    async with asyncio.timeout(30), await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = CallAddress(1, "127.0.0.1", server.sockets[0].getsockname()[1], bytes(32))
        async with connected(address) as channel:
            writer = await accepted
            with pytest.raises(ActorLostError):
                await channel.call(b"call")
            assert not channel.is_open
        writer.transport.abort()


def drop_all_packets(connection: Any) -> None:
    """Let the kernel drop what arrives, as where a firewall has forgotten the connection."""
    program = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF: return 0.
    connection.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(program)))


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
    monkeypatch.setattr("footlight.cluster.fleet.fleet.ASK_EVERY_SECONDS", 0.01)
    received: list[str] = []

    async def run(packed: bytes, _: Send) -> bytes:
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


class BusyActor(AddressedActor):
    """A worker that does not say in time that it runs."""

    async def call(self, method: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ARG002
        return await asyncio.Event().wait()


class OtherProcess(AddressedActor):
    """A worker that Ray has started again."""

    def __init__(self, address: CallAddress) -> None:
        super().__init__(address)
        self.process_id += 1


@pytest.mark.parametrize(
    ("kind", "error"),
    [(AddressedActor, ConnectionLostError), (OtherProcess, ActorLostError), (BusyActor, TimeoutError)],
)
async def test_a_worker_is_lost_with_its_connection_only_if_its_process_has_ended(
    kind: type[AddressedActor], error: type[Exception], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("footlight.cluster.worker_calls.RUNS_SECONDS", 0.2)
    started = asyncio.Event()

    async def run(*_: object) -> bytes:
        started.set()
        await asyncio.Event().wait()
        return b""

    async with asyncio.timeout(20), listening(run) as address, connected(address) as channel:
        actor = kind(address)
        sent = RemoteCall(id="1", tool="click", arguments={}, caller=LOCAL)
        call = asyncio.create_task(wait_for_reply(actor, sent, 10, None, None, channel=channel))
        await started.wait()
        channel.close()
        with pytest.raises(error):
            await call


class MovedActor(AddressedActor):
    """A worker whose machine Ray has given up, although the connection to it is open."""

    async def call(self, method: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ARG002
        raise ActorLostError("ActorDiedError")


async def test_a_call_ends_at_its_deadline_if_ray_cannot_reach_its_worker():
    async def run(*_: object) -> bytes:
        await asyncio.Event().wait()
        return b""

    async with asyncio.timeout(10), listening(run) as address, connected(address) as channel:
        sent = RemoteCall(id="1", tool="click", arguments={}, caller=LOCAL)
        with pytest.raises(TimeoutError):
            await wait_for_reply(MovedActor(address), sent, 0.1, None, None, channel=channel)
