"""A call asks for help through its client, which asks its user."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import mcp_types
import playwright.async_api
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from playwright.async_api import Page, expect

from footlight import MCPClient, MCPError, ToolInvocationError
from footlight.protocol.handshake import RequestedVersion
from tests.conftest import server_command
from tests.network import Transport, listening
from tests.site import Site
from tests.tiers import sample_parameters
from tests.watch.conftest import LIMIT_MS, click_in_picture, person_at, take_over
from tests.watch.test_taking_over import PAGE, SEND

pytestmark = pytest.mark.anyio

FLAGS = ("--watch", "--tools", "all")
ADDRESS = re.compile(r"(http://\S+)/watch#token=([\w-]+)")
REASON = "Please press Send"


class Question:
    """The question that a client was asked. Its `reply` is sent when the test sets it."""

    def __init__(self) -> None:
        self.params: Mapping[str, Any] = {}
        self.asked = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def answer(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self.params = params
        self.asked.set()
        try:
            return await self.reply
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def answer_sdk(self, _: Any, params: mcp_types.ElicitRequestParams) -> mcp_types.ElicitResult:
        reply = await self.answer(params.model_dump(by_alias=True, exclude_none=True))
        return mcp_types.ElicitResult.model_validate(reply)

    async def wait(self) -> Mapping[str, Any]:
        async with asyncio.timeout(LIMIT_MS / 1000):
            await self.asked.wait()
        return self.params


@asynccontextmanager
async def our_client(
    transport: Transport, question: Question, version: RequestedVersion = None
) -> AsyncGenerator[MCPClient]:
    options: Any = {
        "elicitation": question.answer,
        "timeout_ms": 60_000,
        "protocol_version": version,
    }
    if transport == "stdio":
        async with MCPClient(server_command(*FLAGS), **options) as client:
            yield client
        return
    async with listening(transport, *FLAGS) as url:
        target = f"{url}/mcp" if transport == "http" else url
        async with MCPClient(target, **options) as client:
            yield client


@asynccontextmanager
async def sdk_client(transport: Transport, question: Question, mode: str) -> AsyncGenerator[Client]:
    options: Any = {"mode": mode, "elicitation_callback": question.answer_sdk}
    if transport == "stdio":
        command, *arguments = server_command(*FLAGS)
        parameters = StdioServerParameters(command=command, args=arguments, env={**os.environ})
        async with Client(stdio_client(parameters), **options) as client:
            yield client
        return
    async with listening(transport, *FLAGS) as url, Client(f"{url}/mcp", **options) as client:
        yield client


async def help_in(person: Page) -> None:
    """Press the button of the page as a person, and hand the session back."""
    await take_over(person)
    await click_in_picture(person, *SEND)
    await expect(person.locator("#calls")).to_contain_text("button Send")
    await person.get_by_label("Note for the agent").fill("It is sent")
    await person.get_by_role("button", name="Hand back").click()


def check_help(content: Any) -> None:
    """Check that an answer has the note of the person and what changed on the page."""
    assert content["success"], content
    assert content["data"]["note"] == "It is sent"
    assert '"Sent"' in str(content["observation"])


@pytest.mark.slow
@pytest.mark.parametrize("transport", sample_parameters(["stdio", "http", "websocket"], "http"))
async def test_form_contains_the_url_and_ends_on_hand_back(
    chromium: playwright.async_api.Browser, site: Site, transport: Transport
) -> None:
    question = Question()
    async with our_client(transport, question) as client:
        await client.call_tool("navigate", {"url": site.page(PAGE)})
        helping = asyncio.create_task(client.call_tool("request_help", {"reason": REASON}))
        params = await question.wait()
        address = ADDRESS.search(params["message"])
        assert address is not None
        assert REASON in params["message"]

        async with person_at(chromium, address[1], address[2]) as person:
            await help_in(person)
            check_help((await helping).structured_content)
            await expect(person.locator("#door-why")).to_contain_text("The request for help is over")

        async with asyncio.timeout(LIMIT_MS / 1000):
            await question.cancelled.wait()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("transport", sample_parameters(["stdio", "http"], "stdio"))
async def test_submitted_form_ends_the_help_request(site: Site, transport: Transport) -> None:
    question = Question()
    question.reply.set_result({"action": "accept", "content": {"note": "Done on my phone"}})
    async with our_client(transport, question) as client:
        await client.call_tool("navigate", {"url": site.page(PAGE)})
        answer = (await client.call_tool("request_help", {"reason": REASON})).structured_content

    assert answer["data"]["note"] == "Done on my phone"


@pytest.mark.sampled(27)
@pytest.mark.parametrize(
    ("version", "action", "message"),
    [
        (None, "decline", "The person declined to help"),
        ("2026-07-28", "cancel", "The person closed the question without an answer"),
    ],
)
async def test_declined_form_ends_the_help_request(
    site: Site, version: RequestedVersion, action: str, message: str
) -> None:
    question = Question()
    question.reply.set_result({"action": action})
    async with our_client("stdio", question, version) as client:
        await client.call_tool("navigate", {"url": site.page(PAGE)})
        with pytest.raises(ToolInvocationError, match=f"HELP_REFUSED: {message}"):
            await client.call_tool("request_help", {"reason": REASON})
        assert (await client.call_tool("get_text", {"selector": "button"})).structured_content["success"]


@pytest.mark.slow
async def test_unanswered_elicitation_is_cancelled_at_the_deadline(site: Site) -> None:
    question = Question()
    async with our_client("stdio", question) as client:
        await client.call_tool("navigate", {"url": site.page(PAGE)})
        with pytest.raises(ToolInvocationError, match="TIMEOUT: No person handed the page back"):
            await client.call_tool("request_help", {"reason": REASON, "timeout": 700})
        async with asyncio.timeout(LIMIT_MS / 1000):
            await question.cancelled.wait()


@pytest.mark.slow
async def test_watch_page_still_works_after_a_failed_elicitation(
    chromium: playwright.async_api.Browser, site: Site
) -> None:
    question = Question()
    async with our_client("http", question) as client:
        await client.call_tool("navigate", {"url": site.page(PAGE)})
        helping = asyncio.create_task(client.call_tool("request_help", {"reason": REASON}))
        address = ADDRESS.search((await question.wait())["message"])
        assert address is not None
        question.reply.set_exception(MCPError("There is no window"))

        async with person_at(chromium, address[1], None) as person:
            await help_in(person)
            check_help((await helping).structured_content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transport", "mode"),
    sample_parameters(
        [("stdio", "legacy"), ("stdio", "2026-07-28"), ("http", "legacy"), ("http", "2026-07-28")],
        ("http", "legacy"),
        ("stdio", "2026-07-28"),
    ),
)
async def test_client_with_url_elicitation_receives_the_url(
    chromium: playwright.async_api.Browser, site: Site, transport: Transport, mode: str
) -> None:
    question = Question()
    async with sdk_client(transport, question, mode) as client:
        made = await client.call_tool("create_session", {})
        assert made.structured_content is not None
        session = {"sessionId": made.structured_content["data"]["sessionId"]}
        other = await client.call_tool("create_session", {})
        await client.call_tool("navigate", {"url": site.page(PAGE), **session})
        helping = asyncio.create_task(client.call_tool("request_help", {"reason": REASON, **session}))
        params = await question.wait()
        assert params["mode"] == "url"
        address = ADDRESS.fullmatch(params["url"])
        assert address is not None
        question.reply.set_result({"action": "accept"})

        async with person_at(chromium, address[1], address[2]) as person:
            await expect(person.locator("#sessions button")).to_have_count(1)
            await expect(person.locator("#help")).to_contain_text(REASON)
            await help_in(person)
            check_help((await helping).structured_content)

    assert other.structured_content is not None
    assert other.structured_content["success"]


@pytest.mark.slow
async def test_hand_back_before_the_client_retries_counts_as_help(
    chromium: playwright.async_api.Browser, site: Site
) -> None:
    question = Question()
    async with sdk_client("http", question, "2026-07-28") as client:
        made = await client.call_tool("create_session", {})
        assert made.structured_content is not None
        session = {"sessionId": made.structured_content["data"]["sessionId"]}
        await client.call_tool("navigate", {"url": site.page(PAGE), **session})
        helping = asyncio.create_task(client.call_tool("request_help", {"reason": REASON, **session}))
        address = ADDRESS.fullmatch((await question.wait())["url"])
        assert address is not None
        async with person_at(chromium, address[1], address[2]) as person:
            await help_in(person)
            await expect(person.get_by_role("button", name="Take over")).to_be_visible()
        question.reply.set_result({"action": "accept"})
        check_help((await helping).structured_content)
