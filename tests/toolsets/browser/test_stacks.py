"""Stacks of console messages with the original sources, which source maps name."""

from __future__ import annotations

import base64
import json
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import ENGINE, SessionBrowser, connect_browser
from tests.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        ENGINE != "chromium", reason="the browser loads the source maps, which only Chromium does"
    ),
]

SCRIPT = "function a(){throw new Error('broken cart')}function b(){a()}b();"
SOURCE = "export function addToCart() {\n  throw new Error('broken cart');\n}\n\naddToCart();\n"
MAP = {
    "version": 3,
    "sources": ["cart.ts"],
    "sourceRoot": "webpack://shop/src",
    "names": ["addToCart"],
    "sourcesContent": [SOURCE],
    # Column 0 is line 1 with its name, column 13 is line 2 column 2, and column 44 on is line 5.
    "mappings": "AAAgBA,aACd,+BAGF",
}


def serve_text(browser: Any, text: str, **headers: str) -> str:
    async def handler(_: Request) -> Response:
        return Response(text, media_type="text/javascript", headers=headers)

    return browser.site.route(handler)


async def stacks(browser: SessionBrowser, **conditions: Any) -> list[dict[str, Any]]:
    """Wait until there is a message."""
    with anyio.fail_after(10):
        while True:
            answer = await browser.call("console_stacks", **conditions)
            if answer["total"]:
                return answer["messages"]


def originals(message: dict[str, Any]) -> list[str]:
    places = [frame.get("original", {}) for frame in message["frames"]]
    return [f"{each['source']}:{each['line']}:{each['column']}" for each in places if each]


def data_url(source_map: object) -> str:
    return "data:application/json;base64," + base64.b64encode(json.dumps(source_map).encode()).decode()


@pytest.mark.parametrize("where", ["a sibling", "a data URL", "a header", "an old header"])
async def test_an_uncaught_error_has_its_original_source(browser: SessionBrowser, where: str) -> None:
    map_url = serve_text(browser, json.dumps(MAP))
    if "header" in where:
        name = "SourceMap" if where == "a header" else "X-SourceMap"
        script = serve_text(browser, SCRIPT, **{name: map_url})
    else:
        address = map_url.rpartition("/")[2] if where == "a sibling" else data_url(MAP)
        script = serve_text(browser, f"{SCRIPT}\n//# sourceMappingURL={address}")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser)

    assert message["text"] == "Uncaught Error: broken cart"
    first = message["frames"][0]
    assert first["function"] == "a"
    assert first["source"] == f"{script}:1:20"
    assert first["original"] == {
        "source": "webpack://shop/src/cart.ts",
        "line": 2,
        "column": 3,
        "text": "throw new Error('broken cart');",
    }
    assert originals(message) == ["webpack://shop/src/cart.ts:2:3", *["webpack://shop/src/cart.ts:5:1"] * 2]


async def test_logged_error_has_the_stack_of_the_error(browser: SessionBrowser) -> None:
    caught = "try { f() } catch (error) { console.error(error) } function f() { throw new Error('caught') }"
    script = serve_text(browser, f"{caught}\n//# sourceMappingURL={data_url(MAP)}")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser)

    assert [frame.get("function", "") for frame in message["frames"]] == ["f", ""]
    assert len(originals(message)) == 2


async def test_a_message_without_a_stack_has_its_source(browser: SessionBrowser) -> None:
    script = serve_text(browser, "console.warn('old')")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser, levels=["warning"])

    assert message["frames"] == [{"source": f"{script}:1:9"}]


HOSTILE: dict[str, Any] = {
    "it is not JSON": "{" * 5_000,
    "it is not a JSON object": "[1]",
    "it is not a source map of version 3": json.dumps({"version": 2, "mappings": ""}),
    "its mappings have a character that is not base64": json.dumps({**MAP, "mappings": "€"}),
    "a segment is too long": json.dumps({**MAP, "mappings": "g" * 1_000_000}),
    "a segment is incomplete": json.dumps({**MAP, "mappings": "AAAg"}),
    "a section has no offset or no map": json.dumps({"version": 3, "sections": [{}]}),
    "its mappings have more than 8,000,000 characters": json.dumps({**MAP, "mappings": "AAAA," * 1_700_000}),
}


async def test_place_that_a_source_map_leaves_out_is_noted(browser: SessionBrowser) -> None:
    address = data_url({**MAP, "sources": []})
    script = serve_text(browser, f"{SCRIPT}\n//# sourceMappingURL={address}")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser)

    assert {each["note"] for each in message["frames"]} == {"the source map has no source for this place"}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("why", HOSTILE)
async def test_invalid_source_map_is_noted(browser: SessionBrowser, why: str) -> None:
    script = serve_text(browser, f"{SCRIPT}\n//# sourceMappingURL={serve_text(browser, HOSTILE[why])}")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser)

    assert message["frames"][0]["note"] == f"the source map cannot be read: {why}"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("file:///etc/passwd", "its address is not an http or https URL"),
        ("http://169.254.169.254/latest", "The domain 169.254.169.254 is refused by this server's policy"),
        ("/nowhere.map", "status 404"),
        ("data:application/json;base64,€", "its data URL is not base64"),
        ("data:", "its data URL is incomplete or too long"),
    ],
)
async def test_source_map_that_cannot_be_loaded_is_noted(
    browser: SessionBrowser, address: str, why: str
) -> None:
    script = serve_text(browser, f"{SCRIPT}\n//# sourceMappingURL={address}")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser)

    assert message["frames"][0]["note"].endswith(why)


@pytest.mark.slow
async def test_source_map_of_a_refused_host_is_not_requested(site: Site) -> None:
    """The server refuses the host for pages, and so it does for their source maps."""
    requested: list[str] = []

    async def handler(request: Request) -> Response:
        requested.append(str(request.url))
        return Response(json.dumps(MAP))

    url = site.route(handler).replace("127.0.0.1", "localhost")
    async with connect_browser(site, "--allow-domain", "127.0.0.1", "--tools", "all") as browser:
        script = serve_text(browser, f"{SCRIPT}\n//# sourceMappingURL={url}")
        await browser.show(f"<script src={script}></script>")
        [message] = (await browser.call("console_stacks"))["messages"]

    assert message["frames"][0]["note"] == "The domain localhost is refused by this server's policy"
    assert requested == []


async def test_index_source_map_is_read_by_its_sections(browser: SessionBrowser) -> None:
    sections = {
        "version": 3,
        "sections": [
            {"offset": {"line": 0, "column": 0}, "map": {**MAP, "sources": ["first.ts"], "sourceRoot": ""}},
            {"offset": {"line": 1, "column": 0}, "map": {**MAP, "sources": ["second.ts"], "sourceRoot": ""}},
        ],
    }
    script = serve_text(browser, f"//\n{SCRIPT}\n//# sourceMappingURL={data_url(sections)}")
    await browser.show(f"<script src={script}></script>")

    [message] = await stacks(browser)

    assert originals(message)[0] == "second.ts:2:3"
