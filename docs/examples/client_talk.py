"""A server that reports progress, asks its client, and says things by itself.

Run it: `python docs/examples/client_talk.py`.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from footlight import MCPClient

server = MCPServer("stage", log_level="ERROR")


class Answer(BaseModel):
    ready: bool


@server.tool()
async def raise_curtain(context: Context) -> str:
    await context.report_progress(1, 2, "half light")
    answer = await context.elicit("Is everybody ready?", Answer)
    await context.report_progress(2, 2, "up")
    await context.session.send_tool_list_changed()
    return "up" if answer.action == "accept" and answer.data.ready else "down"


async def main() -> None:
    client = MCPClient(server, on_notification=hear, elicitation=answer, roots=["file:///srv/stage"])
    async with client:
        called = await client.call("raise_curtain", on_progress=show)
        print("the curtain is", called.text)


def answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
    print("asked:", question["message"])
    return {"action": "accept", "content": {"ready": True}}


def show(progress: float, total: float | None, message: str | None) -> None:
    print(f"{progress:g} of {total:g}: {message}")


def hear(method: str, params: Mapping[str, Any]) -> None:
    if method != "notifications/progress":
        print("heard:", method, dict(params))


if __name__ == "__main__":
    asyncio.run(main())
