"""Resources with a real engine: their content, owner and lifetime."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight.browser.context.state_store import StateStore
from footlight.browser.recording.artifact_store import StoredFile
from footlight.browser.sessions.change_events import SessionChange
from footlight.browser.sessions.engine import Engine
from footlight.caller import ANONYMOUS, LOCAL, Caller
from footlight.config import PoolSettings, ResourceSettings, SecuritySettings, SessionSettings, Settings
from footlight.server.answers.answer import Answer
from footlight.server.answers.masking import Masker
from footlight.server.answers.secrets import Secrets
from footlight.server.calls.dispatcher import Dispatcher
from footlight.server.resources.resources import ResourceNotFoundError, Resources
from footlight.toolsets.browser import load_tools
from tests.loop_watch import watch_loops
from tests.processes import descendants_of, kill_all, line_of, name_of
from tests.site import Site

pytestmark = pytest.mark.anyio

ALICE = Caller("alice", connection="1", named=True)
BOB = Caller("bob", named=True)

INLINE_TEXT = 1_000
INLINE_IMAGE = 20_000
STORED = 60_000


class World:
    """A server without a protocol."""

    def __init__(self, states: Path, **session: Any) -> None:
        settings = Settings(
            pool=PoolSettings(minBrowsers=1, maxBrowsers=1),
            session=SessionSettings(**session),
            security=SecuritySettings(enableScriptEvaluation=True),
            resources=ResourceSettings(
                maxInlineText=INLINE_TEXT, maxInlineImage=INLINE_IMAGE, maxStored=STORED
            ),
        )
        self.changes: list[SessionChange] = []
        self._changed = asyncio.Event()
        self.engine = Engine(settings, on_change=self._on_change)
        self.dispatcher = Dispatcher(
            {tool.name: tool for tool in load_tools()},
            settings,
            sessions=self.engine.sessions,
            states=StateStore(states),
        )
        self.resources = Resources(self.engine.find_sessions)

    def _on_change(self, change: SessionChange) -> None:
        self.changes.append(change)
        self._changed.set()

    async def answer(self, tool: str, /, caller: Caller = LOCAL, **arguments: Any) -> Answer:
        return await self.dispatcher.call(tool, arguments, caller=caller)

    async def call(self, tool: str, /, caller: Caller = LOCAL, **arguments: Any) -> dict[str, Any]:
        answer = await self.answer(tool, caller, **arguments)
        assert answer.success, answer.content
        return answer.content["data"]

    async def create(self, caller: Caller = LOCAL) -> str:
        return (await self.call("create_session", caller))["sessionId"]

    async def uris(self, caller: Caller = LOCAL) -> list[str]:
        return [resource.uri for resource in await self.resources.list(caller)]

    async def read(self, uri: str, caller: Caller = LOCAL) -> Any:
        content = await self.resources.read(uri, caller)
        assert isinstance(content.data, str)
        return json.loads(content.data)

    async def why_not(self, uri: str, caller: Caller = LOCAL) -> str:
        with pytest.raises(ResourceNotFoundError) as raised:
            await self.resources.read(uri, caller)
        assert raised.value.uri == uri
        return raised.value.why

    async def wait_for_changes(self, *expected: SessionChange) -> None:
        """Wait until these changes were reported, in this order, with others in between."""
        async with asyncio.timeout(10):
            while not are_in_order(expected, self.changes):
                self._changed.clear()
                await self._changed.wait()


def are_in_order(expected: tuple[SessionChange, ...], changes: list[SessionChange]) -> bool:
    rest = iter(changes)
    return all(change in rest for change in expected)


@pytest.fixture(scope="module")
async def world(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[World]:
    world = World(tmp_path_factory.mktemp("states"))
    yield world
    await world.engine.close()


@pytest.fixture
async def session(world: World) -> AsyncGenerator[str]:
    id = await world.create()
    yield id
    await world.answer("close_session", sessionId=id)


@pytest.fixture
async def open_world(tmp_path: Path) -> AsyncGenerator[Callable[..., World]]:
    """A world of one's own, to be broken."""
    opened: list[World] = []

    def open(**session: Any) -> World:
        opened.append(World(tmp_path, **session))
        return opened[-1]

    yield open
    for world in opened:
        await world.engine.close()


# Whose


async def test_resource_requests_before_first_use_start_no_browser(
    open_world: Callable[..., World],
) -> None:
    world = open_world()

    assert await world.resources.list(LOCAL) == ()
    assert await world.why_not("playwright:///session/default") == "there is no session yet"
    assert (
        await world.resources.complete("playwright:///session/{sessionId}", "sessionId", "", {}, LOCAL) == ()
    )
    assert world.engine.find_sessions() is None


async def test_session_of_another_principal_is_not_found(world: World, site: Site) -> None:
    alices = await world.create(ALICE)
    await world.call("navigate", ALICE, url=site.page("<p>x</p>"), sessionId=alices)
    uri = f"playwright:///page/{alices}/page-1"

    assert uri in await world.uris(ALICE)
    assert await world.uris(BOB) == []
    assert await world.why_not(uri, BOB) == f'Session "{alices}" does not exist'
    assert await world.resources.complete("playwright:///session/{sessionId}", "sessionId", "", {}, BOB) == ()
    await world.call("close_session", ALICE, sessionId=alices)


async def test_default_session_is_separate_for_each_caller(world: World, site: Site) -> None:
    for caller, title in ((ALICE, "Alice's"), (BOB, "Bob's")):
        await world.call("navigate", caller, url=site.page(f"<title>{title}</title>"))

    read = [await world.read("playwright:///page/default/page-1", caller) for caller in (ALICE, BOB)]

    assert [page["metadata"]["title"] for page in read] == ["Alice's", "Bob's"]
    assert [page["uri"] for page in read] == [
        f"playwright:///page/{caller.default_session}/page-1" for caller in (ALICE, BOB)
    ]
    assert await world.resources.canonical("playwright:///page/default/page-1", BOB) == read[1]["uri"]
    assert "each must name its session" in await world.why_not("playwright:///session/default", ANONYMOUS)
    for caller in (ALICE, BOB):
        await world.call("close_session", caller, sessionId="default")


@pytest.mark.slow
async def test_reading_a_resource_does_not_extend_the_session(
    open_world: Callable[..., World], site: Site
) -> None:
    world = open_world(idleTimeout=1500)
    id = await world.create()
    await world.call("navigate", sessionId=id, url=site.page("<p>x</p>"))
    reported = asyncio.create_task(world.wait_for_changes(SessionChange("closed", "local", id)))

    while not reported.done():
        with contextlib.suppress(ResourceNotFoundError):
            await world.read(f"playwright:///page/{id}/page-1")

    await reported
    why = await world.why_not(f"playwright:///page/{id}/page-1")
    assert why == f'Session "{id}" expired after 1500ms without use'


# What ends


async def test_resources_of_a_closed_session_are_gone(world: World, site: Site) -> None:
    id = await world.create()
    await world.call("navigate", sessionId=id, url=site.page("<p id=p>" + "x" * 2000))
    element = (await world.call("find_element", sessionId=id, selector="p"))["element"]["elementId"]
    shot = (await world.call("screenshot", sessionId=id))["uri"]
    long = (await world.answer("get_text", sessionId=id, selector="p")).content["resource"]["uri"]
    uris = [
        *(f"playwright:///session/{id}", f"playwright:///page/{id}/page-1"),
        *(f"playwright:///network-log/{id}/page-1", f"playwright:///element/{id}/page-1/{element}"),
        *(shot, long),
    ]
    for uri in uris:
        await world.resources.read(uri, LOCAL)
        assert await world.resources.canonical(uri, LOCAL) == uri

    await world.call("close_session", sessionId=id)

    for uri in uris:
        assert await world.why_not(uri) == f'Session "{id}" was closed'
        with pytest.raises(ResourceNotFoundError):
            await world.resources.canonical(uri, LOCAL)
    assert not [uri for uri in await world.uris() if id in uri]


async def test_recreated_session_has_no_resources_of_the_crashed_one(
    open_world: Callable[..., World], site: Site
) -> None:
    world = open_world()
    others = browsers()
    await world.call("navigate", url=site.page("<p>x</p>"))
    shot = (await world.call("screenshot"))["uri"]
    assert shot in await world.uris()

    kill_all(browsers() - others)
    await world.wait_for_changes(SessionChange("closed", "local", "default"))

    assert await world.uris() == []
    assert await world.why_not(shot) == 'Session "default" crashed'
    assert (await world.answer("get_cookies")).content["error"]["code"] == "BROWSER_CRASHED"
    await world.call("navigate", url=site.page("<p>x</p>"))
    why = await world.why_not(shot)
    assert why == "there is no such screenshot, or it was removed to make room for later ones"
    assert await world.uris() == [
        "playwright:///network-log/default/page-1",
        "playwright:///page/default/page-1",
        "playwright:///session/default",
    ]


def browsers() -> set[psutil.Process]:
    """Return the browsers of this process, without their child processes."""
    return {
        child
        for child in descendants_of(psutil.Process())
        if (line := line_of(child))
        and not any("--type=" in part for part in line)
        and "node" not in name_of(child)
    }


# Long answers


async def test_too_long_result_is_stored_and_linked(world: World, session: str, site: Site) -> None:
    text = "ä" * 2000
    await world.call("navigate", sessionId=session, url=site.page(f"<p>{text}"))

    answer = await world.answer("get_text", sessionId=session, selector="p")

    whole = {"success": True, "data": {"text": text}}
    [link] = answer.links
    assert answer.content == {
        "success": True,
        "resource": {"uri": link.uri, "mimeType": "application/json", "bytes": 4035},
        "preview": ('{"text": "' + text)[:2000],
    }
    assert (link.name, link.mime_type, link.bytes) == ("Answer of get_text", "application/json", 4035)
    assert await world.read(link.uri) == whole
    assert link.uri in await world.uris()


async def test_events_are_reported_beside_the_link(world: World, session: str, site: Site) -> None:
    await world.call("navigate", sessionId=session, url=site.page("<p>x</p>"))
    script = "alert('m'.repeat(5000)); return 'y'.repeat(3000)"

    answer = await world.answer("evaluate", sessionId=session, script=script, observe="none")

    dialog = {"pageId": "page-1", "type": "alert", "handled": "accepted"}
    assert answer.content == {
        "success": True,
        "effect": "dialog",
        "resource": answer.content["resource"],
        "preview": '{"result": "' + "y" * 1988,
        "dialogs": [{**dialog, "message": "m" * 1000 + "… [cut, 5000 characters]"}],
    }
    assert await world.read(answer.content["resource"]["uri"]) == {
        "success": True,
        "data": {"result": "y" * 3000, "dialogs": [{**dialog, "message": "m" * 5000}]},
        "effect": "dialog",
    }


async def test_result_of_exactly_the_limit_is_sent_inline(world: World, session: str, site: Site) -> None:
    frame = len('{"success":true,"data":{"text":""}}')
    for length, linked in ((INLINE_TEXT - frame, False), (INLINE_TEXT - frame + 1, True)):
        await world.call("navigate", sessionId=session, url=site.page(f"<p>{'x' * length}"))
        answer = await world.answer("get_text", sessionId=session, selector="p")
        assert ("resource" in answer.content) is linked


async def test_result_larger_than_the_store_is_sent_inline(world: World, session: str, site: Site) -> None:
    await world.call("navigate", sessionId=session, url=site.page("<p>x</p>"))

    script = f"'y'.repeat({STORED})"
    answer = await world.answer("evaluate", sessionId=session, script=script, observe="none")

    assert answer.content == {"success": True, "data": {"result": "y" * STORED}, "effect": "none"}
    assert answer.links == ()


async def test_long_error_is_cut_and_never_linked(world: World, session: str, site: Site) -> None:
    """A page's own words may be without end."""
    url = site.page("<p>x</p>")
    await world.call("navigate", sessionId=session, url=url)
    script = "throw new Error('n'.repeat(100000))"

    answer = await world.answer("evaluate", sessionId=session, script=script)

    error = answer.content["error"]
    assert error["message"] == "script: " + "n" * 992 + "… [cut, 100008 characters]"
    assert error["details"] == {"parameter": "script", "page": url, "dispatched": True}
    assert answer.links == ()


async def test_oldest_stored_results_are_removed_first(world: World, session: str, site: Site) -> None:
    await world.call("navigate", sessionId=session, url=site.page("<p>x</p>"))
    size = STORED // 3

    answers = [
        await world.answer("evaluate", sessionId=session, script=f"'{letter}'.repeat({size})")
        for letter in "abc"
    ]

    first, second, third = (answer.content["resource"]["uri"] for answer in answers)
    assert (
        await world.why_not(first) == "there is no such answer, or it was removed to make room for later ones"
    )
    assert [uri for uri in await world.uris() if "/answer/" in uri] == sorted([second, third])


# Screenshots

NOISE = """<canvas width=300 height=200></canvas><script>
const context = document.querySelector('canvas').getContext('2d'), image = context.createImageData(300, 200);
for (let i = 0, x = 1; i < image.data.length; i++) image.data[i] = (x = x * 16807 % 2147483647) % 256;
context.putImageData(image, 0, 0)</script>"""
"""What does not compress: a PNG of 300 × 200 of it has about 180 KB, of 60 × 60 about 11."""


async def test_image_too_large_for_a_result_is_only_linked(world: World, session: str, site: Site) -> None:
    await world.call("navigate", sessionId=session, url=site.page(NOISE.replace("300", "100")))

    answer = await world.answer("screenshot_element", sessionId=session, selector="canvas")

    data = answer.content["data"]
    [link] = answer.links
    assert INLINE_IMAGE < data["bytes"] < STORED
    assert answer.images == ()
    assert (link.uri, link.mime_type, link.bytes) == (data["uri"], "image/png", data["bytes"])
    content = await world.resources.read(link.uri, LOCAL)
    assert isinstance(content.data, bytes)
    assert len(content.data) == data["bytes"]


async def test_image_larger_than_the_store_is_sent_inline(world: World, session: str, site: Site) -> None:
    await world.call("navigate", sessionId=session, url=site.page(NOISE))

    answer = await world.answer("screenshot_element", sessionId=session, selector="canvas")

    assert answer.content["data"] == {
        "width": 300,
        "height": 200,
        "format": "png",
        "bytes": len(answer.images[0].data),
        "fullPage": False,
    }
    assert answer.content["data"]["bytes"] > STORED
    assert answer.links == ()


@pytest.mark.slow
async def test_simultaneous_screenshots_have_separate_uris(world: World, session: str, site: Site) -> None:
    await world.call("navigate", sessionId=session, url=site.page("<p>x</p>"))
    arguments = {"sessionId": session, "selector": "p"}

    taken = await asyncio.gather(*(world.call("screenshot_element", **arguments) for _ in range(10)))

    uris = {shot["uri"] for shot in taken}
    assert len(uris) == 10
    assert uris <= set(await world.uris())


# News


async def test_opened_and_closed_sessions_and_pages_are_announced(world: World, site: Site) -> None:
    id = await world.create(ALICE)
    page = site.page("<p>x</p>")

    await world.call("navigate", ALICE, sessionId=id, url=page)
    await world.call("evaluate", ALICE, sessionId=id, script="location.hash = 'there'")
    await world.call("evaluate", ALICE, sessionId=id, script="void open('about:blank')")
    await world.call("evaluate", ALICE, sessionId=id, pageId="page-2", script="void setTimeout(close)")
    await world.wait_for_changes(SessionChange("closed", "alice", id, "page-2"))
    await world.call("close_session", ALICE, sessionId=id)
    await world.wait_for_changes(
        SessionChange("opened", "alice", id),
        SessionChange("opened", "alice", id, "page-1"),
        SessionChange("navigation", "alice", id, "page-1"),
        SessionChange("load", "alice", id, "page-1"),
        SessionChange("navigation", "alice", id, "page-1"),
        SessionChange("opened", "alice", id, "page-2"),
        SessionChange("closed", "alice", id, "page-2"),
        SessionChange("closed", "alice", id),
    )
    assert [each for each in world.changes if each.session_id == id][-1] == SessionChange(
        "closed", "alice", id
    )


# Completion


async def test_uri_parts_are_completed_from_existing_resources(world: World, site: Site) -> None:
    caller = Caller("carol", named=True)
    other = await world.create(caller)
    url = site.page("<title>t</title><p>a<p>b<p>c")
    await world.call("navigate", caller, url=url)
    await world.call("find_elements", caller, selector="p")
    await world.call("evaluate", caller, script="void open('about:blank')")
    shot = (await world.call("screenshot", caller))["uri"]
    own = caller.default_session
    assert own is not None

    async def complete(kind: str, name: str, prefix: str = "", **known: str) -> tuple[str, ...]:
        templates = {each.name: each.uri_template for each in world.resources.templates()}
        return await world.resources.complete(templates[kind], name, prefix, known, caller)

    assert set(await complete("session", "sessionId")) == {"default", own, other}
    assert await complete("session", "sessionId", own[:6]) == (own,)
    assert await complete("page", "pageId", sessionId="default") == ("page-1", "page-2")
    assert await complete("page", "pageId", sessionId=own) == ("page-1", "page-2")
    assert await complete("page", "pageId", sessionId=other) == ()
    assert await complete("page", "pageId", "page-2") == ("page-2",)
    assert await complete("element", "elementId", pageId="page-1") == ("element-1", "element-2", "element-3")
    assert await complete("element", "elementId", pageId="page-2") == ()
    assert await complete("screenshot", "timestamp", sessionId=own) == (shot.rpartition("/")[2],)
    assert await complete("screenshot", "pageId") == ("page-1",)
    assert await complete("page", "elementId") == ()
    assert await complete("answer", "answerId") == ()
    assert await world.resources.complete("playwright:///none/{sessionId}", "sessionId", "", {}, caller) == ()
    assert await world.resources.open_urls(caller) == (url,)
    for id in ("default", other):
        await world.call("close_session", caller, sessionId=id)


async def test_list_of_many_resources_does_not_block_the_event_loop(world: World, session: str) -> None:
    table = world.engine.find_sessions()
    assert table is not None
    opened = table.find(session, caller=LOCAL)
    resources = Resources(world.engine.find_sessions, mask=Masker(Secrets({"CODE": "kumquat-7731"})))
    for at in range(10_000):
        opened.store_artifact(
            StoredFile(session_id=session, name=f"{at}.txt", mime_type="text/plain", data=b"")
        )

    with watch_loops() as gaps:
        assert len(await asyncio.create_task(resources.list(LOCAL))) > 10_000

    assert gaps.too_long == []
