"""An MCP server (2025-06-18) that does almost no work, so that the time of the client is measured.

`python -m benchmarks.echo_server stdio|http|sse|websocket`; the last three print their URL. Tools: `echo`
returns a short text, `large` a text of `size` bytes, and `talk` sends `count` notifications of `size` bytes.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Generator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol


def answers(line: str | bytes) -> Generator[str]:
    """Yield the messages that answer a message."""
    request_message = json.loads(line)
    method, params = request_message["method"], request_message.get("params", {})
    if "id" not in request_message:
        return
    if method == "initialize":
        result: dict[str, Any] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }
    elif method == "tools/list":
        names = ("echo", "large", "talk")
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    elif method == "tools/call":
        arguments = params.get("arguments", {})
        text = "x" * arguments.get("size", 10)
        if params["name"] == "talk":
            for count in range(arguments["count"]):
                log = {"level": "info", "data": f"{count} {text}"}
                yield _message({"method": "notifications/message", "params": log})
            text = "over"
        result = {"content": [{"type": "text", "text": text}]}
    else:
        result = {}
    yield _message({"id": request_message["id"], "result": result})


def _message(fields: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", **fields}, separators=(",", ":"))


def serve_stdio() -> None:
    for line in sys.stdin.buffer:
        for message in answers(line):
            sys.stdout.write(message + "\n")
        sys.stdout.flush()


async def serve_http(*, stream: bool) -> None:
    async def endpoint(request: Request) -> Response:
        body = await request.body()
        if request.method != "POST":
            return Response(status_code=405)
        if "id" not in json.loads(body):
            return Response(status_code=202)
        if not stream:
            return Response("".join(answers(body)), media_type="application/json")
        events = (f"event: message\ndata: {message}\n\n" for message in answers(body))
        return StreamingResponse(_chunks(events), media_type="text/event-stream")

    app = Starlette(routes=[Route("/mcp", endpoint, methods=["GET", "POST", "DELETE"])])
    # Without the protocol, asyncio does not disable Nagle's algorithm on accepted connections.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).serve([listener])


async def _chunks(events: Generator[str]) -> Any:
    """Yield several events per chunk, as a busy server does."""
    waiting: list[str] = []
    size = 0
    for event in events:
        waiting.append(event)
        size += len(event)
        if size > 64 << 10:
            yield "".join(waiting)
            waiting, size = [], 0
    yield "".join(waiting)


async def serve_websocket() -> None:
    async def connection(wire: ServerConnection) -> None:
        async for frame in wire:
            for message in answers(frame):
                await wire.send(message)

    async with serve(
        connection, "127.0.0.1", 0, subprotocols=[Subprotocol("mcp")], compression=None, max_size=64 << 20
    ) as server:
        print(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    match sys.argv[1]:
        case "stdio":
            serve_stdio()
        case "websocket":
            asyncio.run(serve_websocket())
        case kind:
            asyncio.run(serve_http(stream=kind == "sse"))
