"""Compare the bytes that a model is sent for one page, by `analyze_ux` and by an unguided agent.

Both make the same calls, which are those of the scripts with which the tests visit the shop of the demo. Both
use the API of OpenAI. The agent has the tools of the server with their full answers, in one conversation, and
the evidence as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from footlight import MCPClient
from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import Evidence
from footlight.audit.page.server_page import page_of
from footlight.audit.report.json_report import render_json
from footlight.audit.results import Audit, PageAudit, Provenance
from footlight.audit.ux_analysis import analyze_ux
from footlight.demo.shop.site import serve_shop
from tests.audit.scripted import Call, Script
from tests.audit.shop_scripts import BUYER, SHOP_SCRIPTS
from tests.audit.vendors.openai import OpenAI
from tests.audit.vendors.script import Call as Asked
from tests.audit.vendors.script import Turn
from tests.serving import listen_on_free_port, serve_app

__all__ = ["compare_audits"]

Turns = Generator[Sequence[Call | str], list[str], None]
SERVER = [sys.executable, "-m", "footlight", "serve", "--enable-script-evaluation", "--log-level", "warn"]
WHOLE = {"observe": "full", "budget": 100_000}
NAMES = {
    "getPageStructure": "snapshot",
    "clickElement": "click",
    "typeText": "fill",
    "selectOption": "select",
    "pressKey": "press",
}
ARGUMENTS = {"target": "selector", "text": "value", "option": "value", "key": "key"}


async def compare_audits() -> None:
    """Print the number and size of the requests of both."""
    async with serve_shop() as site:
        analysis = await _measure_analysis(site.url)
    async with serve_shop() as site:
        agent = await _measure_agent(site.url)
    print("\nBytes sent to a model for one page: evidence, two goals, judgement")
    print(f"{'':<26} {'requests':>9} {'bytes':>11} {'largest':>11}")
    for name, sizes in (("footlight audit", analysis), ("unguided agent", agent)):
        print(f"{name:<26} {len(sizes):9} {sum(sizes):11,} {max(sizes):11,}")
    print(f"{'ratio':<26} {'':9} {sum(analysis) / sum(agent):11.2f} {max(analysis) / max(agent):11.2f}")


async def _measure_analysis(url: str) -> Sequence[int]:
    model = _Model()
    async with _serve(model) as base_url:
        config = UXAnalysisConfig(url, [BUYER], "openai", "scripted")
        options = AnalysisOptions(server=SERVER, base_url=base_url, pictures=False)
        async for _ in analyze_ux(config, options=options):
            pass
    return model.sizes


async def _measure_agent(url: str) -> Sequence[int]:
    async with MCPClient(SERVER, timeout_ms=60_000) as client:
        page = await page_of(client)
        evidence = await collect_evidence(page, url)
        await page.close()
        conversation = _Conversation(client, [_openai(tool.raw) for tool in await client.list_tools()])
        conversation.add("system", "You judge whether a web page can be used by its readers, with the tools.")
        conversation.add("user", f"Evidence:\n{render_json(_audit(evidence))}")
        for goal in BUYER.goals:
            conversation.add("user", f"{BUYER.name}: {BUYER.description}\nYour goal: {goal}\nBegin at {url}")
            await conversation.play(SHOP_SCRIPTS[f"Your goal: {goal}"], url)
        conversation.add("user", "Judge the page.")
        conversation.ask()
    return conversation.sizes


def _audit(evidence: Evidence) -> Audit:
    page = PageAudit(url=evidence.url, status="complete", evidence=evidence)
    return Audit(pages=[page], provenance=Provenance(footlight="", server=""), started_ms=0)


def _openai(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


class _Conversation:
    """The conversation of an agent. Each request contains all earlier messages."""

    def __init__(self, client: MCPClient, tools: Sequence[Mapping[str, Any]]) -> None:
        self.sizes: list[int] = []
        self._client = client
        self._body: dict[str, Any] = {"model": "scripted", "stream": True, "tools": tools, "messages": []}

    def add(self, role: str, content: str, **more: Any) -> None:
        self._body["messages"].append({"role": role, "content": content, **more})

    def ask(self) -> None:
        self.sizes.append(len(json.dumps(self._body, ensure_ascii=False, separators=(",", ":")).encode()))

    async def play(self, script: Script, url: str) -> None:
        session = (await self._client.call_tool("create_session", {})).structured_content["data"]["sessionId"]
        await self._client.call_tool("navigate", {"url": url, "sessionId": session, "observe": "none"})
        playing, answers = script(""), None
        while True:
            self.ask()
            try:
                turn = next(playing) if answers is None else playing.send(answers)
            except StopIteration:
                return
            calls = [each for each in turn if isinstance(each, Call) and each.tool in NAMES]
            if not calls:
                return
            answers = [await self._call(each, session) for each in calls]

    async def _call(self, call: Call, session: str) -> str:
        name = NAMES[call.tool]
        arguments_by_name = {ARGUMENTS[key]: value for key, value in call.arguments.items()}
        whole = {"budget": 100_000} if name == "snapshot" else WHOLE
        arguments = {**arguments_by_name, **whole, "sessionId": session}
        answer = (await self._client.call_tool(name, arguments)).text
        id = f"call_{len(self._body['messages'])}"
        asked = {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        self.add("assistant", "", tool_calls=[asked])
        self.add("tool", answer, tool_call_id=id)
        return answer


class _Model:
    """A model with the API of OpenAI: follows the script that the prompt names, and records request sizes."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._playing: Turns | None = None

    async def __call__(self, request: Request) -> StreamingResponse:
        body = await request.body()
        self.sizes.append(len(body))
        messages = json.loads(body)["messages"]
        return StreamingResponse(_render_turn(self._turn(messages)), media_type="text/event-stream")

    def _turn(self, messages: Sequence[Mapping[str, Any]]) -> Turn:
        answered = [message["content"] for message in messages if message["role"] == "tool"]
        try:
            if not answered:
                prompt = next(_text(message) for message in messages if message["role"] == "user")
                self._playing = next(script for words, script in SHOP_SCRIPTS.items() if words in prompt)(
                    prompt
                )
                parts = next(self._playing)
            else:
                assert self._playing is not None
                last = max(n for n, message in enumerate(messages) if message["role"] == "assistant")
                parts = self._playing.send([_text(message) for message in messages[last + 1 :]])
        except StopIteration:
            parts = ["."]
        return Turn(
            text=[each for each in parts if isinstance(each, str)],
            calls=[
                Asked(
                    id=f"call_{len(self.sizes)}_{number}",
                    name=each.tool,
                    pieces=[json.dumps(dict(each.arguments))],
                )
                for number, each in enumerate(parts)
                if isinstance(each, Call)
            ],
        )


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _render_turn(turn: Turn) -> Iterator[bytes]:
    yield from OpenAI().beginning(turn)
    yield from OpenAI().rest(turn)


@asynccontextmanager
async def _serve(model: _Model) -> AsyncGenerator[str]:
    listener = listen_on_free_port()
    route = Route("/v1/chat/completions", model.__call__, methods=["POST"])
    async with serve_app(Starlette(routes=[route]), listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
