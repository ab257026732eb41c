"""A person watches what an agent does, in a real browser."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Page, Route, expect

from tests.http_client import Raw, raw, served
from tests.site import Site
from tests.watch.conftest import SECRET, Agent, calls_of

pytestmark = pytest.mark.anyio

FORM = "<h1>Order</h1><label>Name <input id=name></label><button onclick='this.textContent=1'>Send</button>"


async def test_watch_page_shows_sessions_picture_and_calls_live(
    person: Page, agent: Agent, site: Site
) -> None:
    await agent.show(site, FORM)
    await expect(person.locator("#picture")).to_be_visible()
    await agent.call("click", selector="button")

    click = calls_of(person).first
    await expect(click).to_contain_text("click")
    await expect(click).to_contain_text(" ms")
    await click.locator("summary").click()
    await expect(click.locator("pre .changed")).to_contain_text('button "1"')
    steps = [{"tool": "click", "arguments": {"selector": await agent.ref_of("1")}}]
    await agent.call("run_steps", steps=steps)

    run = calls_of(person).first
    await expect(run).to_contain_text("run_steps")
    await run.locator("summary").click()
    await expect(run.get_by_text("Element", exact=True).locator("+ dd")).to_have_text('role=button[name="1"]')


async def test_arguments_of_a_call_are_shown_as_they_were_sent(client: Raw, agent: Agent) -> None:
    steps = [{"tool": "wait_for", "arguments": {"loadState": "load"}}]
    await agent.call("run_steps", steps=steps)

    state = (await client.send(method="GET", path="/watch/api/state")).json()

    (run,) = (each for each in state["calls"] if each["session"] == agent.id and each["tool"] == "run_steps")
    assert run["arguments"]["steps"] == steps
    assert run["arguments"].keys() <= {"steps", "sessionId"}


async def test_picture_marks_the_element_of_the_last_call(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, FORM)
    await expect(person.locator("#picture")).to_be_visible()
    box = person.locator("#box")
    for count in range(1, 11):
        await agent.call("click", selector="button")
        await expect(calls_of(person)).to_have_count(count + 1)
        await expect(calls_of(person).first).to_contain_text(" ms")
        if await box.is_visible():
            return
        # A busy page may not say where the element is within half a second.
    pytest.fail("no click was marked in the picture")


@pytest.mark.slow
async def test_failed_call_shows_its_error_details(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, FORM)
    await agent.call("click", selector="testid=sent", timeout=2_000)

    failed = calls_of(person).first
    await expect(failed).to_contain_text("ELEMENT_NOT_FOUND")
    await failed.locator("summary").click()
    await expect(failed).to_contain_text("No element found")


@pytest.mark.slow
async def test_typed_text_is_not_shown(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, "<label>Password <input type=password id=p></label><p id=out></p>")
    await agent.call("fill", selector="#p", value="hunter2-and-more")

    fill = calls_of(person).first
    await fill.locator("summary").click()
    await expect(fill).to_contain_text("[typed text]")
    assert "hunter2" not in await person.locator("body").inner_text()


async def test_a_typed_secret_is_masked_where_the_page_repeats_it(
    person: Page, agent: Agent, site: Site
) -> None:
    await agent.show(site, "<label>Passcode <input id=p oninput='out.textContent=p.value'></label><p id=out>")
    ref = await agent.ref_of("Passcode")
    await agent.call("fill", selector=ref, value="orchid-4821")

    fill = calls_of(person).first
    await fill.locator("summary").click()
    await expect(fill).to_contain_text("[REDACTED]")
    assert "orchid" not in await person.locator("body").inner_text()


@pytest.mark.slow
async def test_watchers_share_one_capture_and_none_happens_without_them(
    client: Raw, agent: Agent, site: Site
) -> None:
    await agent.show(site, FORM)
    before = (await state(client))["captures"]
    await agent.call("click", selector="button")
    assert (await state(client))["captures"] == before

    asked = [get(client, f"picture?session={agent.id}") for _ in range(20)]
    pictures = await asyncio.gather(*asked)

    assert {picture.status_code for picture in pictures} == {200}
    assert (await state(client))["captures"] == before + 1


async def test_a_secret_is_in_no_frame_call_or_report(
    client: Raw, person: Page, agent: Agent, site: Site
) -> None:
    style = "margin:0;font:40px monospace;color:#f00;background:#fff"
    await agent.show(site, f"<body style='{style}'><input id=i style='font:40px monospace'><p id=p>")
    await agent.call("fill", selector="#i", value="secret:CODE")
    await agent.show(site, f"<body style='{style}'><p>{SECRET}</p>")
    await agent.call("get_text", selector="p")
    await expect(calls_of(person).first).to_contain_text("get_text")

    picture = await get(client, f"picture?session={agent.id}")
    report = await get(client, f"report?session={agent.id}")

    assert not shows_red(picture.content)
    assert SECRET not in report.text
    assert SECRET not in await person.content()
    stills = [
        await get(client, f"still?call={call['number']}")
        for call in (await state(client))["calls"]
        if call["hasPicture"]
    ]
    assert stills
    assert not any(shows_red(still.content) for still in stills)


@pytest.mark.slow
async def test_all_calls_are_asked_for_again_after_a_restart(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, FORM)
    await expect(calls_of(person).first).to_contain_text("navigate")
    shown = await person.locator("#calls > li").count()

    async def answer_as_another_process(route: Route) -> None:
        response = await route.fetch()
        await route.fulfill(response=response, json={**await response.json(), "origin": "another"})

    await person.route("**/watch/api/state?*", answer_as_another_process)
    async with person.expect_response(lambda each: "state?after=0&" in each.url):
        await agent.call("click", selector="button")

    await expect(calls_of(person).first).to_contain_text("click")
    counted = "shown => document.querySelectorAll('#calls > li').length > shown"
    await person.wait_for_function(counted, arg=shown)
    await person.unroute_all(behavior="ignoreErrors")


async def test_picture_is_updated_when_the_page_changes(person: Page, agent: Agent, site: Site) -> None:
    script = "setInterval(() => { t.textContent = performance.now() }, 20)"
    await agent.show(site, f"<h1 id=t>0</h1><script>{script}</script>")

    frames = person.locator("#picture[data-frames]")
    await expect(frames).to_be_visible()
    begun = int(await frames.get_attribute("data-frames") or 0)
    await expect(frames).not_to_have_attribute("data-frames", str(begun), timeout=5_000)
    first = int(await frames.get_attribute("data-frames") or 0)
    await person.wait_for_function(
        "first => Number(picture.dataset.frames) >= first + 10", arg=first, timeout=10_000
    )


@pytest.mark.slow
async def test_another_page_of_the_session_can_be_watched(person: Page, agent: Agent, site: Site) -> None:
    await agent.show(site, "<h1>One</h1>")
    await agent.call("tabs", action="new", url=site.page("<h1>Two</h1>"))

    await expect(person.locator("#page option")).to_have_count(3)
    await person.locator("#page").select_option(index=1)
    await expect(person.locator("#picture")).to_be_visible()


async def state(client: Raw) -> dict:  # pyright: ignore[reportMissingTypeArgument]
    return (await get(client, "state")).json()


async def get(client: Raw, path: str):
    return await client.send(method="GET", path=f"/watch/api/{path}")


def shows_red(picture: bytes) -> bool:
    """Return whether any text is in the picture, which the pages of these tests write in red."""
    with Image.open(io.BytesIO(picture)) as image:
        red, green, blue = image.convert("RGB").split()
    is_bright = red.point(lambda value: 255 * (value > 180))
    is_pure = ImageChops.lighter(green, blue).point(lambda value: 255 * (value < 90))
    return ImageChops.multiply(is_bright, is_pure).getbbox() is not None


@pytest.mark.slow
async def test_watch_page_is_not_served_when_disabled(tmp_path: Path) -> None:
    async with served(tmp_path, "--no-watch") as server, raw(server) as client:
        answer = await client.send(method="GET", path="/watch")

        assert answer.status_code == 404
