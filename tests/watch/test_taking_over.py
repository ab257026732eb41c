"""A person takes over a session, acts in it, and hands it back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import playwright.async_api
import pytest
from playwright.async_api import Page, expect

from tests.http_client import Raw, events, handshake, raw, request, served
from tests.site import Site
from tests.watch.conftest import (
    Agent,
    agent_of,
    calls_of,
    choose,
    click_in_picture,
    person_at,
    take_over,
)

pytestmark = pytest.mark.anyio

BIG = "position:absolute;left:200px;width:300px;height:100px;font-size:30px"
PAGE = f"""
<button style="{BIG};top:100px" onclick="this.textContent='Sent'">Send</button>
<input aria-label="Code" type=password style="{BIG};top:300px" oninput="out.textContent=this.value.length">
<p id=out style="{BIG};top:500px">0</p>
"""
SEND = (350, 150)
CODE = (350, 350)


@pytest.mark.slow
async def test_human_input_in_the_picture_is_recorded_as_steps(
    person: Page, agent: Agent, site: Site
) -> None:
    await agent.show(site, PAGE)
    await take_over(person)
    await click_in_picture(person, *SEND)
    await expect(calls_of(person).first).to_contain_text("button Send")
    await click_in_picture(person, *CODE)
    await expect(calls_of(person).first).to_contain_text("textbox Code")
    await person.keyboard.type("tangerine")
    await person.get_by_label("Note for the agent").fill("signed in")
    await person.get_by_role("button", name="Hand back").click()
    await expect(person.get_by_role("button", name="Take over")).to_be_visible()

    assert (await agent.call("get_text", selector="button"))["data"]["text"] == "Sent"
    assert (await agent.call("get_text", selector="#out"))["data"]["text"] == "9"
    steps = await person.locator("#calls > li.person:not([hidden]) .tool").all_inner_texts()
    assert steps == ["hand_back", "type", "click", "click", "take_over"]
    click = calls_of(person).filter(has_text="button Send")
    await click.locator("summary").click()
    await expect(click).to_contain_text('role=button[name="Send"]')
    assert "tangerine" not in await person.locator("body").inner_text()


async def test_calls_wait_during_human_control_and_refs_stay_valid(
    person: Page, agent: Agent, site: Site
) -> None:
    await agent.show(site, PAGE)
    ref = await agent.ref_of("Send")
    await take_over(person)

    waiting = [asyncio.create_task(agent.call("click", selector=ref)) for _ in range(3)]
    await expect(calls_of(person).filter(has_text="running")).to_have_count(3)
    assert not any(call.done() for call in waiting)
    at_once = await agent.call("handle_dialog", accept=True)
    assert at_once["error"]["code"] == "HUMAN_IN_CONTROL"
    await person.get_by_role("button", name="Hand back").click()

    assert [(await call)["success"] for call in waiting] == [True] * 3


@pytest.mark.slow
async def test_waiting_call_reports_progress_and_is_then_refused(
    person: Page, agent: Agent, client: Raw, site: Site
) -> None:
    await agent.show(site, PAGE)
    await take_over(person)
    session = await handshake(client)
    call = request(
        "tools/call",
        {
            "name": "click",
            "arguments": {"selector": "button", "sessionId": agent.id, "timeout": 1500},
            "_meta": {"progressToken": 7},
        },
        id=5,
    )

    async with session.streaming(call) as response:
        messages = [event.message async for event in events(response) if event.data]

    answer = {each["params"].get("message") for each in messages if "method" in each}
    error = messages[-1]["result"]["structuredContent"]["error"]
    assert "a person controls the session" in answer
    assert (error["code"], error["retryable"]) == ("HUMAN_IN_CONTROL", True)
    await person.get_by_role("button", name="Hand back").click()
    await expect(person.get_by_role("button", name="Take over")).to_be_visible()


@pytest.mark.slow
async def test_only_one_person_controls_a_session(
    chromium: playwright.async_api.Browser, person: Page, agent: Agent, site: Site
) -> None:
    await agent.show(site, f"{PAGE}<script>setInterval(() => ++out.textContent, 100)</script>")
    await take_over(person)

    async with person_at(chromium, person.url.removesuffix("/watch")) as other:
        await choose(other, agent)
        await expect(other.locator("#turn")).to_contain_text("a person controls the session")
        await other.get_by_role("button", name="Take over").click()
        await expect(other.locator("#message")).to_have_text("Another person controls the session.")
        await expect(other.locator("#turn")).to_contain_text("a person controls the session")
        # The message stays while pictures come.
        await expect(other.locator("#picture")).to_be_visible()
        first = await other.evaluate("Number(picture.dataset.frames)")
        await other.wait_for_function("first => Number(picture.dataset.frames) >= first + 2", arg=first)
        assert await other.locator("#message").inner_text() == "Another person controls the session."


async def test_session_can_be_controlled_by_keyboard_alone(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, f"<input id=i aria-label=Name style='{BIG}'>")
    await person.locator("#take").focus()
    await person.keyboard.press("Enter")
    await expect(person.locator("#stage")).to_be_focused()
    await person.keyboard.press("Tab")
    await person.keyboard.type("Ada")
    await person.keyboard.press("Backspace")
    await expect(calls_of(person).first).to_contain_text("Backspace")
    await person.keyboard.press("Escape")
    await expect(person.get_by_label("Note for the agent")).to_be_focused()
    await person.keyboard.press("Enter")
    await expect(person.get_by_role("button", name="Take over")).to_be_focused()

    assert (await agent.call("get_value", selector="#i"))["data"]["value"] == "Ad"


async def test_request_help_returns_what_the_person_changed(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, PAGE)
    asking = asyncio.create_task(agent.call("request_help", reason="Please press Send"))
    await expect(person.locator("#help")).to_have_text("The agent asks for a person: Please press Send")
    await take_over(person)
    await click_in_picture(person, *SEND)
    await expect(calls_of(person).first).to_contain_text("button Send")
    await person.get_by_label("Note for the agent").fill("It is sent")
    await person.get_by_role("button", name="Hand back").click()

    answer = await asking
    assert answer["data"]["note"] == "It is sent"
    assert '"Sent"' in str(answer["observation"])
    assert (await agent.call("get_text", selector="button"))["data"]["text"] == "Sent"


@pytest.mark.slow
async def test_request_help_ends_at_its_deadline(agent: Agent, site: Site) -> None:
    await agent.show(site, PAGE)
    answer = await agent.call("request_help", reason="Anybody?", timeout=300)

    assert answer["error"]["code"] == "TIMEOUT"
    assert answer["error"]["message"].startswith("No person handed the page back within ")
    assert (await agent.call("get_text", selector="button"))["data"]["text"] == "Send"


@pytest.mark.slow
async def test_request_help_is_refused_when_watching_is_disabled(site: Site, tmp_path: Path) -> None:
    flags = ("--tools", "all", "--no-watch")
    async with served(tmp_path, *flags) as server, raw(server) as client, agent_of(client) as agent:
        await agent.show(site, PAGE)
        answer = await agent.call("request_help", reason="Anybody?")

        assert answer["error"]["code"] == "PERMISSION_DENIED"
        assert "--watch" in answer["error"]["suggestion"]


async def test_input_ends_when_the_session_is_handed_back(client: Raw, agent: Agent, site: Site) -> None:
    slow = "const end = Date.now() + 100; while (Date.now() < end); out.textContent++"
    await agent.show(site, f"{PAGE}<script>onclick = () => {{ {slow} }}</script>")
    who = {"session": agent.id, "watcher": "w"}
    await client.send(who, path="/watch/api/take")
    clicks = {**who, "events": [{"type": "click", "x": 350, "y": 550}] * 50}
    acting = asyncio.create_task(client.send(clicks, path="/watch/api/act"))
    async with asyncio.timeout(60):
        after, steps = 0, list[str]()
        while "click" not in steps:
            state = await client.send(method="GET", path=f"/watch/api/state?wait=1&after={after}")
            after = state.json()["revision"]
            steps = [each["tool"] for each in state.json()["calls"] if each["session"] == agent.id]

    given = await client.send(who, path="/watch/api/give-back")
    clicked = (await agent.call("get_text", selector="#out"))["data"]["text"]
    acted = await acting

    assert given.status_code == 200
    assert (acted.status_code, acted.json()) == (409, {"error": "Take over the session first."})
    assert 1 <= int(clicked) < 50
    assert (await agent.call("get_text", selector="#out"))["data"]["text"] == clicked


async def test_key_pressed_during_the_hand_back_is_not_sent(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, PAGE)
    await take_over(person)
    sent: list[str] = []
    person.on("request", lambda request: sent.append(request.url))
    asked, pressed = asyncio.Event(), asyncio.Event()

    async def hold(route: playwright.async_api.Route) -> None:
        asked.set()
        await pressed.wait()
        await route.continue_()

    await person.route("**/api/give-back?*", hold)
    await person.get_by_role("button", name="Hand back").click()
    await asyncio.wait_for(asked.wait(), 30)
    await person.locator("#stage").press("Enter")
    pressed.set()
    await expect(person.get_by_role("button", name="Take over")).to_be_visible()
    await expect(person.locator("#message")).to_be_hidden()

    assert not [url for url in sent if "/api/act" in url]


@pytest.mark.slow
async def test_disconnected_person_releases_the_session(
    chromium: playwright.async_api.Browser, person: Page, agent: Agent, site: Site
) -> None:
    await agent.show(site, PAGE)
    async with person_at(chromium, person.url.removesuffix("/watch")) as other:
        await choose(other, agent)
        await take_over(other)

    assert (await agent.call("get_text", selector="button", timeout=40_000))["success"]
