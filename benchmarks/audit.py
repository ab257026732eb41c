"""What a model is sent for one page: by `analyze_ux`, and by an agent that is left to find out for itself.

Both make the same calls, those of the scripts by which the tests walk the demo's shop, and both talk to a
model as OpenAI's API has it. The agent has the server's own tools and their whole answers, in one
conversation, and the evidence as JSON.
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
from footlight.demo.site import serve_shop
from footlight.ux.analysis import analyze_ux
from footlight.ux.audited import Audit, PageAudit, Provenance
from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
from footlight.ux.evidence.collecting import collect_evidence
from footlight.ux.findings import Evidence
from footlight.ux.page_tools import page_of
from footlight.ux.report.as_json import as_json
from tests.serving import listening, serving
from tests.ux.scripted import Call, Script
from tests.ux.shop_scripts import BUYER, SHOP_SCRIPTS
from tests.ux.vendors.openai import OpenAI
from tests.ux.vendors.script import Call as Asked
from tests.ux.vendors.script import Turn

__all__ = ["compare_diets"]

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


async def compare_diets() -> None:
    """Print the requests and their bytes, with the diet and without."""
    async with serve_shop() as site:
        thin = await _thin(site.url)
    async with serve_shop() as site:
        fat = await _fat(site.url)
    print("\nWhat a model is sent for one page: measured, two goals walked, judged")
    print(f"{'':<26} {'requests':>9} {'bytes':>11} {'largest':>11}")
    for name, sizes in (("evidence first", thin), ("an agent by itself", fat)):
        print(f"{name:<26} {len(sizes):9} {sum(sizes):11,} {max(sizes):11,}")
    print(f"{'ratio':<26} {'':9} {sum(thin) / sum(fat):11.2f} {max(thin) / max(fat):11.2f}")


async def _thin(url: str) -> Sequence[int]:
    model = _Model()
    async with _served(model) as base_url:
        config = UXAnalysisConfig(url, [BUYER], "openai", "scripted")
        options = AnalysisOptions(server=SERVER, base_url=base_url, pictures=False)
        async for _ in analyze_ux(config, options=options):
            pass
    return model.sizes


async def _fat(url: str) -> Sequence[int]:
    async with MCPClient(SERVER, timeout_ms=60_000) as client:
        page = await page_of(client)
        evidence = await collect_evidence(page, url)
        await page.close()
        conversation = _Conversation(client, [_openai(tool.raw) for tool in await client.list_tools()])
        conversation.add("system", "You judge whether a web page can be used by its readers, with the tools.")
        conversation.add("user", f"Evidence:\n{as_json(_audit(evidence))}")
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
    told = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": told}


class _Conversation:
    """Of an agent: everything that was said is sent again with each request."""

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
                said = next(playing) if answers is None else playing.send(answers)
            except StopIteration:
                return
            calls = [each for each in said if isinstance(each, Call) and each.tool in NAMES]
            if not calls:
                return
            answers = [await self._called(each, session) for each in calls]

    async def _called(self, call: Call, session: str) -> str:
        name = NAMES[call.tool]
        given = {ARGUMENTS[key]: value for key, value in call.arguments.items()}
        whole = {"budget": 100_000} if name == "snapshot" else WHOLE
        arguments = {**given, **whole, "sessionId": session}
        said = (await self._client.call_tool(name, arguments)).text
        id = f"call_{len(self._body['messages'])}"
        asked = {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        self.add("assistant", "", tool_calls=[asked])
        self.add("tool", said, tool_call_id=id)
        return said


class _Model:
    """As OpenAI's API: it plays the script whose words are in the prompt, and keeps the requests' sizes."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._playing: Turns | None = None

    async def __call__(self, request: Request) -> StreamingResponse:
        body = await request.body()
        self.sizes.append(len(body))
        messages = json.loads(body)["messages"]
        return StreamingResponse(_written(self._turn(messages)), media_type="text/event-stream")

    def _turn(self, messages: Sequence[Mapping[str, Any]]) -> Turn:
        answered = [message["content"] for message in messages if message["role"] == "tool"]
        try:
            if not answered:
                prompt = next(_text(message) for message in messages if message["role"] == "user")
                self._playing = next(script for words, script in SHOP_SCRIPTS.items() if words in prompt)(
                    prompt
                )
                said = next(self._playing)
            else:
                assert self._playing is not None
                last = max(n for n, message in enumerate(messages) if message["role"] == "assistant")
                said = self._playing.send([_text(message) for message in messages[last + 1 :]])
        except StopIteration:
            said = ["."]
        return Turn(
            text=[each for each in said if isinstance(each, str)],
            calls=[
                Asked(
                    id=f"call_{len(self.sizes)}_{number}",
                    name=each.tool,
                    pieces=[json.dumps(dict(each.arguments))],
                )
                for number, each in enumerate(said)
                if isinstance(each, Call)
            ],
        )


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _written(turn: Turn) -> Iterator[bytes]:
    yield from OpenAI().beginning(turn)
    yield from OpenAI().rest(turn)


@asynccontextmanager
async def _served(model: _Model) -> AsyncGenerator[str]:
    listener = listening()
    route = Route("/v1/chat/completions", model.__call__, methods=["POST"])
    async with serving(Starlette(routes=[route]), listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
