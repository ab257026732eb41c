"""A server process with one fault, which a test controls and observes over a socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import psutil

from footlight.client.transports.stdio import Stdio
from tests.client.broken.server import Broken, Fault, Message, well

PROCESS = """
import json, os, socket, sys, threading

wire = socket.create_connection(("127.0.0.1", int(os.environ["WIRE"])))
wire.sendall(b"%d\\n" % os.getpid())

def listen():
    for line in sys.stdin.buffer:
        wire.sendall(line)
    wire.shutdown(socket.SHUT_WR)

threading.Thread(target=listen, daemon=True).start()
for order in wire.makefile("rb"):
    do, what = json.loads(order)
    if do == "write":
        os.write(1, what.encode())
    elif do == "complain":
        os.write(2, what.encode())
    elif do == "close":
        os.close(what)
    elif do == "exit":
        os._exit(what)
    else:
        os.kill(os.getpid(), what)
"""


class Line:
    """The output of the server process, and its actions."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def say(self, message: Message) -> None:
        await self.do("write", json.dumps(message) + "\n")

    async def nothing(self) -> None:
        pass

    async def do(self, what: Literal["write", "complain", "close", "exit", "kill"], value: str | int) -> None:
        self._writer.write(json.dumps([what, value]).encode() + b"\n")
        await self._writer.drain()


class BrokenProcess(Broken):
    environment: Mapping[str, str]

    """The server process, which receives its orders and reports what it receives over a socket."""

    def __init__(self, fault: Fault | None, at: str) -> None:
        super().__init__(fault, at)
        self._pids: list[int] = []

    async def live(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = Line(writer)
        self._pids.append(int(await reader.readline()))
        async with self.connection() as start:
            async for line in reader:
                start(self.take(json.loads(line), said))
        writer.close()

    async def deserted(self) -> None:
        await super().deserted()
        assert [pid for pid in self._pids if psutil.pid_exists(pid)] == []


@asynccontextmanager
async def broken_process(
    fault: Fault | None, at: str, folder: Path, **environment: str
) -> AsyncGenerator[BrokenProcess]:
    server = BrokenProcess(fault, at)
    listener = await asyncio.start_server(server.live, "127.0.0.1", 0)
    python = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    wire = str(listener.sockets[0].getsockname()[1])
    server.environment = {**os.environ, "PATH": python, **environment, "WIRE": wire}
    install(folder / "server.py")
    words = ("-IS", "server.py", "--token", "swordfish")
    server.transport = Stdio("python", words, env=server.environment, cwd=folder)
    async with listener:
        yield server


def install(path: Path, *, mode: int = 0o644) -> Path:
    """Install the server as a command, and return its path."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable} -IS\n{PROCESS}")
    path.chmod(mode)
    return path


# What can be wrong with it


async def ends(line: Line, request: Message) -> None:
    await line.do("complain", "warming up\nthe disk is full\n")
    await line.do("exit", 3)


async def ends_with_a_traceback(line: Line, request: Message) -> None:
    trace = 'Traceback (most recent call last):\n  File "server.py", line 1\nOSError: the disk is full\n'
    await line.do("complain", trace)
    await line.do("exit", 1)


async def is_killed(line: Line, request: Message) -> None:
    await line.do("kill", signal.SIGKILL)


async def closes_its_output(line: Line, request: Message) -> None:
    await line.do("close", 1)


async def ends_in_half_a_line(line: Line, request: Message) -> None:
    await line.do("write", json.dumps(well(request))[:20])
    await line.do("exit", 0)


async def a_line_that_is_not_json(line: Line, request: Message) -> None:
    await line.do("write", "All set!\n")


async def a_line_that_is_no_message(line: Line, request: Message) -> None:
    await line.do("write", '{"id": 1, "result": {}}\n')


async def a_result_nested_too_deeply(line: Line, request: Message) -> None:
    deep = "[" * 90_000 + "]" * 90_000
    await line.do("write", f'{{"jsonrpc": "2.0", "id": {request["id"]}, "result": {{"a": {deep}}}}}\n')


async def a_number_with_too_many_digits(line: Line, request: Message) -> None:
    await line.do("write", f'{{"result": {{"a": {"1" * 5_000}}}, "jsonrpc": "2.0", "id": {request["id"]}}}\n')
