"""The resources of a session, through the public interface."""

from __future__ import annotations

import base64
import json
import re
import time
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS, BlobResourceContents, ResourceLink, TextResourceContents
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


async def read(browser: SessionBrowser, uri: str) -> dict[str, Any]:
    """Return the JSON of a resource."""
    [content] = (await browser.client.read_resource(uri, cache_mode="bypass")).contents
    assert isinstance(content, TextResourceContents)
    assert (content.uri, content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


async def why_not(browser: SessionBrowser, uri: str) -> str:
    """What is not there is an error of the request, with its URI."""
    with pytest.raises(MCPError) as raised:
        await browser.client.read_resource(uri, cache_mode="bypass")
    assert (raised.value.code, raised.value.data) == (INVALID_PARAMS, {"uri": uri})
    return raised.value.message


async def own_resources(browser: SessionBrowser) -> dict[str, dict[str, Any]]:
    """Return the resources of this test's session by the end of their URI."""
    listed: dict[str, dict[str, Any]] = {}
    cursor = None
    while True:
        page = await browser.client.list_resources(cursor=cursor, cache_mode="bypass")
        for resource in page.resources:
            if browser.session_id in resource.uri:
                data = resource.model_dump(by_alias=True, exclude_none=True)
                listed[data.pop("uri").replace(browser.session_id, "SESSION")] = data
        cursor = page.next_cursor
        if cursor is None:
            return listed


async def find(browser: SessionBrowser, selector: str) -> str:
    return (await browser.call("find_element", selector=selector))["element"]["elementId"]


# Lists


async def test_resource_template_is_listed_for_each_pattern(browser: SessionBrowser) -> None:
    listed = (await browser.client.list_resource_templates()).resource_templates

    assert [(each.name, each.uri_template, each.mime_type) for each in listed] == [
        ("session", "playwright:///session/{sessionId}", "application/json"),
        ("page", "playwright:///page/{sessionId}/{pageId}", "application/json"),
        ("element", "playwright:///element/{sessionId}/{pageId}/{elementId}", "application/json"),
        ("screenshot", "playwright:///screenshot/{sessionId}/{pageId}/{timestamp}", None),
        ("network-log", "playwright:///network-log/{sessionId}/{pageId}", "application/json"),
        ("answer", "playwright:///answer/{sessionId}/{answerId}", "application/json"),
        ("file", "playwright:///file/{sessionId}/{fileName}", None),
    ]


async def test_resources_of_a_session_are_listed(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>x</p>"))["url"]
    await browser.call("find_elements", selector="p")
    shot = await browser.call("screenshot")
    moment = shot["uri"].rpartition("/")[2]

    assert list((await own_resources(browser)).items()) == [
        (
            "playwright:///network-log/SESSION/page-1",
            {"name": "Network log of page-1", "mimeType": "application/json"},
        ),
        (
            "playwright:///page/SESSION/page-1",
            {
                "name": "Page page-1",
                "description": url,
                "mimeType": "application/json",
                "_meta": {"footlight/untrusted": ["/description"]},
            },
        ),
        (
            f"playwright:///screenshot/SESSION/page-1/{moment}",
            {
                "name": f"Screenshot of page-1, {moment}",
                "mimeType": "image/png",
                "size": shot["bytes"],
            },
        ),
        (
            "playwright:///session/SESSION",
            {
                "name": f"Session {browser.session_id}",
                "description": f"A session in {await engine(browser)}",
                "mimeType": "application/json",
            },
        ),
    ]


async def engine(browser: SessionBrowser) -> str:
    [own] = [
        each
        for each in (await browser.call("list_sessions"))["sessions"]
        if each["sessionId"] == browser.session_id
    ]
    return own["browser"]


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("playwright:///session/gone", 'Session "gone" does not exist'),
        ("playwright:///page/gone/page-1", 'Session "gone" does not exist'),
        ("playwright:///page/SESSION/page-7", "no page page-7 is open; open pages: page-1"),
        (
            "playwright:///element/SESSION/page-1/element-7",
            "no element-7 was found in the current document; find it again",
        ),
        (
            "playwright:///screenshot/SESSION/page-1/2025-11-27T10:30:00Z",
            "there is no such screenshot, or it was removed to make room for later ones",
        ),
        ("playwright:///network-log/SESSION/page-7", "no page page-7 is open; open pages: page-1"),
        (
            "playwright:///answer/SESSION/7",
            "there is no such answer, or it was removed to make room for later ones",
        ),
        ("playwright:///session/SESSION/", "a part of it is empty, or dots"),
        ("playwright:///session/SESSION?full", "it has a query or a fragment"),
        ("playwright:///page/SESSION", "it is not of the form playwright:///page/{sessionId}/{pageId}"),
        ("file:///etc/passwd", "it does not start with playwright:///"),
    ],
)
async def test_missing_resource_error_gives_the_reason(browser: SessionBrowser, uri: str, why: str) -> None:
    await browser.show("<p>x</p>")

    assert await why_not(browser, uri.replace("SESSION", browser.session_id)) == f"Resource not found: {why}"


# Sessions and pages


async def test_session_resource_matches_list_sessions(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    await browser.call("block_resource", resourceType="font")
    uri = f"playwright:///session/{browser.session_id}"

    [answer] = [
        each
        for each in (await browser.call("list_sessions"))["sessions"]
        if each["sessionId"] == browser.session_id
    ]
    assert await read(browser, uri) == {
        "uri": uri,
        "name": f"Session {browser.session_id}",
        "description": f"A session in {answer['browser']}",
        "mimeType": "application/json",
        "metadata": answer,
    }
    assert answer["blocked"] == ["font"]


async def test_page_resource_reports_url_title_and_viewport(browser: SessionBrowser) -> None:
    before = time.time() * 1000
    url = (await browser.show("<title> A  title </title>"))["url"]
    uri = f"playwright:///page/{browser.session_id}/page-1"

    page = await read(browser, uri)

    created_at = page["metadata"].pop("createdAt")
    assert page == {
        "uri": uri,
        "name": "Page page-1",
        "description": url,
        "mimeType": "application/json",
        "metadata": {"url": url, "title": "A title", "viewport": {"width": 1280, "height": 720}},
    }
    assert before - 1 <= created_at <= time.time() * 1000


async def test_resource_of_a_hanging_page_answers_without_title(browser: SessionBrowser) -> None:
    """Reading takes no lock, and ends."""
    url = (await browser.show("<title>t</title><p id=p>x</p>"))["url"]
    element = await find(browser, "#p")
    begun = browser.site.page("begun")
    # One that is waited for: no other script of the page can run between the request and the loop.
    ask = f"const r = new XMLHttpRequest(); r.open('GET', '{begun}', false); r.send()"
    script = f"{ask}; while (true);"
    page: dict[str, Any] = {}
    why = ""

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hang, browser, script)
        await wait_until_requested(browser, begun)
        began = time.monotonic()
        async with anyio.create_task_group() as reading:

            async def read_page() -> None:
                page.update(await read(browser, f"playwright:///page/{browser.session_id}/page-1"))

            reading.start_soon(read_page)
            why = await why_not(browser, f"playwright:///element/{browser.session_id}/page-1/{element}")
        took = time.monotonic() - began

    assert (page["metadata"]["url"], page["metadata"]["title"]) == (url, "")
    assert why == "Resource not found: its page did not respond within 2000ms"
    assert took < 9


@pytest.mark.slow
async def test_resource_of_a_navigating_page_can_be_read(browser: SessionBrowser) -> None:
    url = (await browser.show("<title>t</title>"))["url"]
    never = browser.site.never()
    await browser.call("evaluate", script=f"void setTimeout(() => {{ location.href = '{never}' }})")
    await wait_until_requested(browser, never)
    began = time.monotonic()

    page = await read(browser, f"playwright:///page/{browser.session_id}/page-1")

    assert (page["metadata"]["url"], page["metadata"]["title"]) == (url, "")
    assert time.monotonic() - began < 9


async def hang(browser: SessionBrowser, script: str) -> None:
    error = await browser.refused("evaluate", script=script, timeout=5000)
    assert error["code"] == "TIMEOUT"


async def wait_until_requested(browser: SessionBrowser, url: str) -> None:
    """Wait until the page has requested it."""
    asked = ("GET", url.removeprefix(browser.site.url))
    with anyio.fail_after(10):
        while asked not in browser.site.requests:
            await browser.client.list_resources(cache_mode="bypass")


async def test_closed_page_keeps_only_its_network_log(browser: SessionBrowser) -> None:
    popup = browser.site.page("<p>popup</p>")
    await browser.show(f"<button onclick=\"window.open('{popup}')\">open</button>")
    await browser.call("click", selector="button")
    uri = f"playwright:///page/{browser.session_id}/page-2"
    assert (await read(browser, uri))["metadata"]["url"] == popup

    await browser.call("evaluate", pageId="page-2", script="void setTimeout(close)")
    with anyio.fail_after(10):
        while len((await own_resources(browser)).keys()) > 3:
            pass

    assert await why_not(browser, uri) == "Resource not found: no page page-2 is open; open pages: page-1"
    log = await read(browser, f"playwright:///network-log/{browser.session_id}/page-2")
    assert [entry["url"] for entry in log["content"]] == [popup]


# Elements


async def test_element_resource_describes_the_current_state(browser: SessionBrowser) -> None:
    await browser.show(
        """<!doctype html><body style="margin:0">
        <button id=save style="width:80px;height:20px;padding:0;border:0">Save</button>"""
    )
    element = await find(browser, "button")
    uri = f"playwright:///element/{browser.session_id}/page-1/{element}"
    style = "width:80px;height:20px;padding:0;border:0"
    described = {
        "uri": uri,
        "name": f"Element {element}",
        "description": 'button "Save"',
        "mimeType": "application/json",
        "metadata": {
            "selector": "#save",
            "tagName": "button",
            "attributes": {"id": "save", "style": style},
            "boundingBox": {"x": 0, "y": 0, "width": 80, "height": 20},
        },
    }
    assert await read(browser, uri) == described

    await browser.call("evaluate", script="save.id = 'sent'; sent.textContent = 'Sent'; sent.hidden = true")

    del described["metadata"]["boundingBox"]
    described["description"] = 'button "Sent"'
    described["metadata"] |= {
        "selector": "#sent",
        "attributes": {"id": "sent", "style": style, "hidden": ""},
    }
    assert await read(browser, uri) == described


async def test_an_element_that_is_found_twice_keeps_its_id(browser: SessionBrowser) -> None:
    await browser.show("<ul><li>one<li>two</ul>")

    first = await browser.call("find_elements", selector="li")
    second = await find(browser, "li:nth-child(2)")
    await browser.call("evaluate", script="document.querySelector('li').before(document.createElement('li'))")
    third = await browser.call("find_elements", selector="//li")

    assert [each["elementId"] for each in first["elements"]] == ["element-1", "element-2"]
    assert second == "element-2"
    assert [each["elementId"] for each in third["elements"]] == ["element-3", "element-1", "element-2"]


async def test_removed_element_is_not_found_until_it_is_back(browser: SessionBrowser) -> None:
    await browser.show("<p id=p>x</p>")
    element = await find(browser, "p")
    uri = f"playwright:///element/{browser.session_id}/page-1/{element}"

    await browser.call("evaluate", script="window.kept = p; p.remove()")
    assert await why_not(browser, uri) == f"Resource not found: {element} is not in the page any more"
    await browser.call("evaluate", script="document.body.append(kept)")

    assert (await read(browser, uri))["metadata"]["selector"] == "#p"


async def test_element_ids_end_with_their_document(browser: SessionBrowser) -> None:
    """No id is used again for another resource."""
    html = "<p id=p>x</p>"
    url = (await browser.show(html))["url"]
    gone = "no element-1 was found in the current document; find it again"
    uri = f"playwright:///element/{browser.session_id}/page-1/element-1"
    assert await find(browser, "p") == "element-1"

    await browser.call("navigate", url=url)

    assert await why_not(browser, uri) == f"Resource not found: {gone}"
    assert await find(browser, "p") == "element-2"
    await browser.call("reload")
    assert await find(browser, "p") == "element-3"
    await browser.call("navigate", url="about:blank")
    assert await find(browser, "body") == "element-4"
    await browser.call("go_back")
    assert await find(browser, "p") == "element-5"
    assert await why_not(browser, uri) == f"Resource not found: {gone}"


@pytest.mark.parametrize(
    "script",
    ["location.hash = 'there'", "history.pushState(0, '', '/pushed')", "history.replaceState(0, '', '?a')"],
)
async def test_element_ids_survive_same_document_navigation(browser: SessionBrowser, script: str) -> None:
    url = (await browser.show("<p id=p>x</p>"))["url"]
    element = await find(browser, "p")

    await browser.call("evaluate", script=script)

    assert (await browser.call("get_page_metadata"))["url"] != url
    uri = f"playwright:///element/{browser.session_id}/page-1/{element}"
    assert (await read(browser, uri))["metadata"]["selector"] == "#p"
    assert await find(browser, "p") == element


async def test_element_ids_survive_a_navigation_without_document(browser: SessionBrowser) -> None:
    """Neither a download nor an empty answer is a document."""

    async def answer_empty(_: Request) -> Response:
        return Response(status_code=204)

    async def file(_: Request) -> Response:
        return Response("file", headers={"content-disposition": "attachment; filename=a.txt"})

    nothing, download = browser.site.route(answer_empty), browser.site.route(file)
    await browser.show(f"<p id=p>x</p><a id=a href='{nothing}'>a</a><a id=b href='{download}'>b</a>")
    element = await find(browser, "p")

    await browser.call("click", selector="#a")
    await wait_until_requested(browser, nothing)
    await browser.call("click", selector="#b")
    await browser.call("evaluate", script="history.pushState(0, '', '/pushed')")

    uri = f"playwright:///element/{browser.session_id}/page-1/{element}"
    assert (await read(browser, uri))["metadata"]["selector"] == "#p"
    assert await find(browser, "p") == element


async def test_elements_in_frames_and_shadow_roots_can_be_read(browser: SessionBrowser) -> None:
    path = browser.site.page("<button id=pay>Pay</button>")
    other = path.replace(browser.site.url, browser.site.at("localhost"))
    await browser.show(
        f"""<iframe id=near src="{path}"></iframe><iframe id=far src="{other}"></iframe><div id=host></div>
        <script>host.attachShadow({{mode: 'open'}}).innerHTML = '<b id=deep>x</b>'</script>"""
    )

    for selector in ("#near >> button", "#far >> button", "#deep"):
        found = (await browser.call("find_element", selector=selector))["element"]
        uri = f"playwright:///element/{browser.session_id}/page-1/{found['elementId']}"
        assert (await read(browser, uri))["metadata"] == {
            key: found[key] for key in ("selector", "tagName", "attributes", "boundingBox")
        }
    near = await find(browser, "iframe >> button")
    assert near == await find(browser, "#near >> #pay")

    await browser.call("evaluate", script="near.src = far.src")
    await browser.call("get_text", selector="#near >> button")
    uri = f"playwright:///element/{browser.session_id}/page-1/{near}"
    assert await why_not(browser, uri) == f"Resource not found: {near} is not in the page any more"
    await browser.call("evaluate", script="near.remove()")
    assert await why_not(browser, uri) == f"Resource not found: {near} is not in the page any more"


@pytest.mark.parametrize(
    "script",
    [
        "Object.preventExtensions(document)",
        "window.WeakRef = function () { throw new Error('mine') }",
        "WeakMap.prototype.set = null",
        "window.WeakMap = class { get() { return 'x'.repeat(1000000) } set() {} }",
    ],
)
async def test_page_cannot_prevent_the_tracking_of_an_element(browser: SessionBrowser, script: str) -> None:
    await browser.show(f"<p id=p>x</p><script>{script}</script>")

    found = (await browser.call("find_element", selector="p"))["element"]

    assert (found["selector"], "elementId" in found) == ("#p", True)


# Screenshots


@pytest.mark.parametrize("full_page", [False, True])
async def test_screenshot_can_be_read_again_as_a_resource(browser: SessionBrowser, full_page: bool) -> None:
    await browser.show("<!doctype html><body style='margin:0'><div style='height:2000px'>x</div>")
    before = time.time() * 1000

    answer = await browser.answer("screenshot", type="jpeg", fullPage=full_page)

    _, image, link = answer.content
    assert image.type == "image"
    assert isinstance(link, ResourceLink)
    assert answer.structured_content is not None
    data = answer.structured_content["data"]
    moment = link.uri.rpartition("/")[2]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment)
    assert link.model_dump(by_alias=True, exclude_none=True) == {
        "type": "resource_link",
        "uri": data["uri"],
        "name": f"Screenshot of page-1, {moment}",
        "mimeType": "image/jpeg",
        "size": data["bytes"],
    }
    for uri in (link.uri, link.uri.replace(":", "%3A").replace("playwright%3A", "playwright:")):
        [content] = (await browser.client.read_resource(uri)).contents
        assert isinstance(content, BlobResourceContents)
        assert content.blob == image.data
        assert content.mime_type == "image/jpeg"
        assert content.meta is not None
        captured_at = content.meta["metadata"].pop("capturedAt")
        assert content.meta["metadata"] == {
            "width": 1280,
            "height": 2000 if full_page else 720,
            "fullPage": full_page,
        }
        assert datetime.fromtimestamp(captured_at / 1000, UTC) == datetime.fromisoformat(moment)
        assert before - 1 <= captured_at <= time.time() * 1000 + 1
    assert len(base64.b64decode(image.data)) == data["bytes"]


async def test_a_screenshot_outlives_its_page(browser: SessionBrowser) -> None:
    """It is the session's."""
    await browser.show("<p>x</p>")
    shot = await browser.call("screenshot_element", selector="p")

    await browser.show("<h1>y</h1>")

    [content] = (await browser.client.read_resource(shot["uri"])).contents
    assert isinstance(content, BlobResourceContents)
    assert content.meta is not None
    assert {key: shot[key] for key in ("width", "height", "fullPage")} | {
        "capturedAt": content.meta["metadata"]["capturedAt"]
    } == content.meta["metadata"]


# The network


async def test_network_log_resource_contains_requests_and_counts(browser: SessionBrowser) -> None:
    missing = f"{browser.site.url}/missing"
    url = (await browser.show(f"<link rel=icon href=data:,><script src='{missing}'></script>"))["url"]
    uri = f"playwright:///network-log/{browser.session_id}/page-1"
    entries = (await browser.call("get_request_log"))["entries"]

    log = await read(browser, uri)

    assert log == {
        "uri": uri,
        "name": "Network log of page-1",
        "mimeType": "application/json",
        "metadata": {"requestCount": 2, "responseCount": 2, "errorCount": 1},
        "content": [
            {
                "url": address,
                "method": "GET",
                "status": status,
                "resourceType": kind,
                "timing": entry["timing"],
            }
            for entry, address, status, kind in zip(
                entries, (url, missing), (200, 404), ("document", "script"), strict=True
            )
        ],
    }
