"""What Ctrl-C and SIGTERM do to commands that wait for a server."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

LIMIT_SECONDS = 30

SERVER = r"""
import json, socket, sys
port, name = sys.argv[1:]
test = socket.create_connection(("127.0.0.1", int(port)))
known = {"name": "x", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": known}
session = {"type": "object", "properties": {"sessionId": {"type": "string"}}}
tools = [{"name": tool, "inputSchema": session} for tool in ("hang", "create_session", "close_session")]
made = {"success": True, "data": {"sessionId": "s1"}}
results = {
    "initialize": hello,
    "tools/list": {"tools": tools},
    "tools/call": {"content": [{"type": "text", "text": json.dumps(made)}]},
}
hanging = "tools/list" if name in ("codegen", "tools") else "hang"
for line in sys.stdin:
    request = json.loads(line)
    called = request.get("params", {}).get("name")
    if hanging in (request["method"], called):
        test.sendall(f"{name} ".encode())
    elif "id" in request:
        if called == "close_session":
            test.sendall(b"closed ")
        result = results.get(request["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""

COMMANDS = {
    "call": ["call", "hang"],
    "tools": ["tools"],
    "codegen": ["codegen", "--out", "tools.py", "--check"],
    "replay": ["replay", "log.jsonl"],
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_command_ends_its_session_and_server(tmp_path: Path, number: signal.Signals) -> None:
    """The status is that of the signal: 1 would mean that a call failed, or that a module would change."""
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "log.jsonl").write_text('{"name":"hang","arguments":{}}\n')
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(LIMIT_SECONDS)
        port = listener.getsockname()[1]
        processes = {
            name: stack.enter_context(
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "footlight", *words),
                        *("--server", f"{sys.executable} server.py {port} {name}"),
                    ],
                    cwd=tmp_path,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            )
            for name, words in COMMANDS.items()
        }
        servers = [stack.enter_context(listener.accept()[0]) for _ in COMMANDS]
        hanging: list[str] = []
        for server in servers:
            server.settimeout(LIMIT_SECONDS)
            hanging.append(server.recv(100).decode().strip())

        for process in processes.values():
            process.send_signal(number)
        ends = {name: (each.wait(LIMIT_SECONDS), each.communicate()[0]) for name, each in processes.items()}
        # The connection of a server ends with its process.
        last_words = dict(zip(hanging, (_read_to_end(server) for server in servers), strict=True))

    assert ends == dict.fromkeys(COMMANDS, (128 + number, b""))
    assert last_words == {"call": "", "tools": "", "codegen": "", "replay": "closed "}


def _read_to_end(server: socket.socket) -> str:
    return b"".join(iter(lambda: server.recv(100), b"")).decode()
