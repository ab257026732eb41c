"""An analysis as a stream of parts, by a model of one's own: this one stands in for a real one.

Run it: `python docs/examples/audit_with_a_model.py`. It needs the extra `audit`.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from footlight.audit import ChatModel, Persona, TextDeltaPart, ToolCallPart, UXAnalysisConfig, analyze_ux

PAGE = b"""<!doctype html><html lang="en"><title>Box office</title>
<main><h1>Tonight</h1><p>Doors open at half past seven.</p></main></html>"""
READER = Persona("Late reader", "Reads on a phone and gives up soon.", ["Find out when it begins"])


async def main() -> None:
    with serve_page() as url:
        config = UXAnalysisConfig(url, [READER], ai_provider="anthropic")
        model = ChatModel(provider="own", name="stand-in", model=FunctionModel(stream_function=answer))
        async with analyze_ux(config, model=model) as analysis:
            async for part in analysis:
                match part:
                    case ToolCallPart():
                        print("calls", part.tool_name)
                    case TextDeltaPart():
                        print("says", part.text_delta)
                    case _:
                        print(part.type)
    result = analysis.result
    assert result is not None
    print(result.status, [(walk.goal, walk.outcome) for walk in result.walks])


async def answer(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncGenerator[str | dict[int, DeltaToolCall]]:
    """What a model would say: it looks at the page, finishes its goal, and then judges."""
    tools = {tool.name for tool in info.function_tools}
    if "finishGoal" not in tools:
        yield "The page says what it is for."
    elif len(messages) == 1:
        yield {0: DeltaToolCall("getPageStructure", "{}")}
    else:
        yield {0: DeltaToolCall("finishGoal", '{"outcome": "stopped", "why": "Only the doors have a time"}')}


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve_page() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
