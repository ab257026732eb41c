"""Reading one request of the log in full."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.conftest import ENGINE, SessionBrowser

pytestmark = pytest.mark.anyio


async def find(browser: SessionBrowser, url: str) -> dict[str, Any]:
    """Wait for the last log entry with this URL to end, and return it."""
    async with asyncio.timeout(10):
        while True:
            entries = (await browser.call("get_request_log", filter=url))["entries"]
            if entries and entries[-1]["timing"]["duration"] is not None:
                return entries[-1]


async def send(browser: SessionBrowser, url: str, **options: Any) -> str:
    """Fetch it from the page; the id of the request."""
    script = (
        f"fetch({json.dumps(url)}, {json.dumps(options)}).then(answer => answer.arrayBuffer()).then(() => 1)"
    )
    await browser.call("evaluate", script=script)
    return (await find(browser, url))["id"]


def route_answer(browser: SessionBrowser, body: bytes | str, kind: str = "text/plain", **headers: str) -> str:
    async def handler(_: Request) -> Response:
        response = Response(body, media_type=kind)
        for name, value in headers.items():
            response.headers.append(name.replace("_", "-"), value)
        return response

    return browser.site.route(handler)


@pytest.fixture
async def opened_page(browser: SessionBrowser) -> SessionBrowser:
    await browser.show("<p>x</p>")
    return browser


async def test_a_request_has_its_id_and_a_summary(opened_page: SessionBrowser) -> None:
    url = route_answer(opened_page, "x")
    id = await send(opened_page, url)
    entry = await find(opened_page, url)

    assert entry["id"] == id == "request-2"
    assert await opened_page.call("get_request", requestId=id) == {"summary": entry}


async def test_headers_are_reported_with_secrets_masked(opened_page: SessionBrowser) -> None:
    """Those that the browser adds by itself too."""
    url = route_answer(opened_page, "x", set_cookie="session=abc; Path=/", x_api_key="12345", x_plain="seen")
    await opened_page.call(
        "set_cookies", cookies=[{"name": "login", "value": "secret", "url": opened_page.site.url}]
    )
    id = await send(
        opened_page,
        url,
        headers={"Authorization": "Bearer abcdef", "X-CSRF-Token": "t0ken", "X-Plain": "also"},
    )

    asked = (await opened_page.call("get_request", requestId=id, part="request_headers"))["headers"]
    answered = (await opened_page.call("get_request", requestId=id, part="response_headers"))["headers"]

    assert {name: asked[name] for name in ("authorization", "cookie", "x-csrf-token", "x-plain")} == {
        "authorization": "[masked, 13 characters]",
        "cookie": "[masked, 12 characters]",
        "x-csrf-token": "[masked, 5 characters]",
        "x-plain": "also",
    }
    assert asked["user-agent"]
    del answered["date"], answered["server"]
    assert answered == {
        "content-length": "1",
        "content-type": "text/plain; charset=utf-8",
        "set-cookie": "[masked, 19 characters]",
        "x-api-key": "[masked, 5 characters]",
        "x-plain": "seen",
    }


async def test_long_header_is_truncated(opened_page: SessionBrowser) -> None:
    id = await send(opened_page, route_answer(opened_page, "x", x_long="y" * 3000))

    headers = (await opened_page.call("get_request", requestId=id, part="response_headers"))["headers"]

    assert headers["x-long"] == "y" * 2000 + "… [cut, 3000 characters]"


async def test_request_and_response_bodies_are_reported(opened_page: SessionBrowser) -> None:
    url = route_answer(opened_page, '{"ä": [1]}', "application/json")
    id = await send(
        opened_page, url, method="POST", body='{"name": "💡"}', headers={"Content-Type": "application/json"}
    )

    assert await opened_page.call("get_request", requestId=id, part="request_body") == {
        "body": '{"name": "💡"}',
        "encoding": "text",
        "length": 13,
        "contentType": "application/json",
    }
    assert await opened_page.call("get_request", requestId=id, part="response_body") == {
        "body": '{"ä": [1]}',
        "encoding": "text",
        "length": 10,
        "contentType": "application/json",
    }


async def test_missing_body_is_reported_as_empty(opened_page: SessionBrowser) -> None:
    id = await send(opened_page, route_answer(opened_page, ""))

    assert (await opened_page.call("get_request", requestId=id, part="request_body")) == {
        "body": "",
        "encoding": "text",
        "length": 0,
    }
    assert (await opened_page.call("get_request", requestId=id, part="response_body"))["body"] == ""


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("größer".encode("latin-1"), "text/plain; charset=iso-8859-1", "größer"),
        ("größer".encode(), 'text/plain; Charset="UTF-8"', "größer"),
        ("größer".encode(), "application/x-own", "größer"),
        ("größer".encode("utf-16"), "text/plain; charset=utf-16", "größer"),
    ],
)
async def test_text_body_is_decoded_by_its_content_type(
    opened_page: SessionBrowser, body: bytes, kind: str, text: str
) -> None:
    id = await send(opened_page, route_answer(opened_page, body, kind))

    answer = await opened_page.call("get_request", requestId=id, part="response_body")

    assert (answer["body"], answer["encoding"]) == (text, "text")


async def test_a_long_body_is_read_in_pieces(opened_page: SessionBrowser) -> None:
    text = "".join(str(number) for number in range(6000))
    id = await send(opened_page, route_answer(opened_page, text))
    pieces, offset = [], 0

    while offset is not None:
        piece = await opened_page.call("get_request", requestId=id, part="response_body", offset=offset)
        pieces.append(piece["body"])
        assert piece["length"] == len(text)
        offset = piece.get("nextOffset")

    assert "".join(pieces) == text
    assert [len(piece) for piece in pieces] == [10_000, 10_000, len(text) - 20_000]
    error = await opened_page.refused("get_request", requestId=id, part="response_body", offset=len(text) + 1)
    assert error["message"] == (
        f"offset: {len(text) + 1} is beyond the end; the text has {len(text)} characters"
    )


async def test_binary_body_is_base64_encoded(opened_page: SessionBrowser) -> None:
    body = bytes(range(256)) * 40
    id = await send(opened_page, route_answer(opened_page, body, "image/png"))

    first = await opened_page.call("get_request", requestId=id, part="response_body")
    second = await opened_page.call(
        "get_request", requestId=id, part="response_body", offset=first["nextOffset"]
    )

    assert base64.b64decode(first.pop("body")) == body[:7500]
    assert first == {
        "encoding": "base64",
        "length": 10_240,
        "nextOffset": 7500,
        "contentType": "image/png",
    }
    assert base64.b64decode(second["body"]) == body[7500:]
    assert "nextOffset" not in second
    error = await opened_page.refused("get_request", requestId=id, part="response_body", offset=10_241)
    assert error["message"] == "offset: 10241 is beyond the end; the body has 10240 bytes"


async def test_document_body_can_be_read_while_it_is_open(opened_page: SessionBrowser) -> None:
    id = (await opened_page.call("get_request_log"))["entries"][0]["id"]

    assert (await opened_page.call("get_request", requestId=id, part="response_body"))["body"] == "<p>x</p>"


async def test_mocked_response_can_be_read(opened_page: SessionBrowser) -> None:
    url = f"{opened_page.site.url}/mocked/{opened_page.session_id}"
    await opened_page.call(
        "mock_response", url=url, response={"body": {"made": "up"}, "headers": {"X-A": "b"}}
    )
    id = await send(opened_page, url)

    body = await opened_page.call("get_request", requestId=id, part="response_body")
    headers = (await opened_page.call("get_request", requestId=id, part="response_headers"))["headers"]

    assert (body["body"], headers["x-a"]) == ('{"made": "up"}', "b")


@pytest.mark.skipif(ENGINE != "chromium", reason="others keep it")
async def test_response_body_is_unavailable_after_navigation(opened_page: SessionBrowser) -> None:
    id = (await opened_page.call("get_request_log"))["entries"][0]["id"]
    await opened_page.show("<p>next</p>")

    error = await opened_page.refused("get_request", requestId=id, part="response_body")

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == (
        f"part: the response body of {id} cannot be read: Response body is not available for a response that "
        "was navigated away from. Read response.body() before triggering any navigation."
    )
    assert error["suggestion"] == "The part `summary` can always be read."
    assert (await opened_page.call("get_request", requestId=id))["summary"]["id"] == id


async def test_a_redirect_has_headers_and_no_body(opened_page: SessionBrowser) -> None:
    target = opened_page.site.page("there")
    url = opened_page.site.redirect(target)
    id = await send(opened_page, url)

    headers = (await opened_page.call("get_request", requestId=id, part="response_headers"))["headers"]
    error = await opened_page.refused("get_request", requestId=id, part="response_body")

    assert headers["location"] == target
    assert error["message"] == (
        f"part: the response body of {id} cannot be read: Response body is unavailable for redirect responses"
    )


async def test_a_request_that_failed_has_no_response(opened_page: SessionBrowser) -> None:
    url = f"{opened_page.site.url}/blocked/{opened_page.session_id}"
    await opened_page.call("block_resource", resourceType="fetch")
    await opened_page.refused("evaluate", script=f"fetch('{url}')")
    id = (await find(opened_page, url))["id"]

    for part in ("response_headers", "response_body"):
        error = await opened_page.refused("get_request", requestId=id, part=part)
        assert error["message"].startswith(
            f"part: the {part.replace('_', ' ')} of {id} cannot be read: the request failed: "
        )
    assert "headers" in await opened_page.call("get_request", requestId=id, part="request_headers")


@pytest.mark.slow
async def test_pending_request_is_reported_as_having_no_response(opened_page: SessionBrowser) -> None:
    url = opened_page.site.never()
    await opened_page.call("evaluate", script=f"void fetch('{url}')")
    [entry] = (await opened_page.call("get_request_log", filter=url))["entries"]

    error = await opened_page.refused("get_request", requestId=entry["id"], part="response_body")

    assert error["message"] == (
        f"part: the response body of {entry['id']} cannot be read: there is no response yet"
    )


async def test_unfinished_response_is_reported_as_not_ended(opened_page: SessionBrowser) -> None:
    more = asyncio.Event()

    async def stream(_: Request) -> Response:
        async def lines():
            yield b"data: x\n\n"
            await more.wait()

        return StreamingResponse(lines(), media_type="text/event-stream")

    url = opened_page.site.route(stream)
    await opened_page.call("evaluate", script=f"fetch('{url}').then(() => 1)")
    [entry] = (await opened_page.call("get_request_log", filter=url))["entries"]

    error = await opened_page.refused("get_request", requestId=entry["id"], part="response_body")
    headers = await opened_page.call("get_request", requestId=entry["id"], part="response_headers")
    more.set()

    assert error["message"] == (
        f"part: the response body of {entry['id']} cannot be read: the response has not ended yet"
    )
    assert headers["headers"]["content-type"].startswith("text/event-stream")


async def test_closed_page_request_has_only_a_summary(opened_page: SessionBrowser) -> None:
    popup = opened_page.site.page("<p>popup</p>")
    await opened_page.show(f"<button onclick=\"window.open('{popup}')\">open</button>")
    await opened_page.call("click", selector="button")
    entry = await find(opened_page, popup)
    await opened_page.call("evaluate", pageId="page-2", script="void setTimeout(close)")
    async with asyncio.timeout(10):
        while True:
            answer = await opened_page.answer("get_request", requestId=entry["id"], part="response_body")
            if answer.is_error:
                break

    assert answer.structured_content is not None
    assert answer.structured_content["error"]["message"] == (
        f"part: the response body of {entry['id']} cannot be read: its page is closed"
    )
    # The end of the response is later than its beginning, when the entry was first read.
    assert await opened_page.call("get_request", requestId=entry["id"]) == {
        "summary": await find(opened_page, popup)
    }


@pytest.mark.parametrize(
    ("arguments", "code", "parameter", "message"),
    [
        ({}, "MISSING_PARAMETER", "requestId", "get_request needs the parameter requestId"),
        (
            {"requestId": "request-99"},
            "INVALID_PARAMETER",
            "requestId",
            "requestId: no request request-99 is in the log; in it: request-1. get_request_log lists them",
        ),
        (
            {"requestId": "request-1", "offset": 5},
            "INVALID_PARAMETER",
            "offset",
            "offset: only valid for a body",
        ),
        (
            {"requestId": "request-1", "part": "body"},
            "INVALID_PARAMETER",
            "part",
            "part: must be 'summary', 'request_headers', 'request_body', 'response_headers' or "
            "'response_body', got 'body'",
        ),
        (
            {"requestId": "request-1", "part": "response_body", "offset": -1},
            "INVALID_PARAMETER",
            "offset",
            "offset: must be greater than or equal to 0, got -1",
        ),
    ],
)
async def test_invalid_get_request_arguments_are_refused_by_field(
    opened_page: SessionBrowser, arguments: dict[str, Any], code: str, parameter: str, message: str
) -> None:
    error = await opened_page.refused("get_request", **arguments)

    assert (error["code"], error["details"]["parameter"], error["message"]) == (code, parameter, message)


async def test_empty_request_log_is_reported(browser: SessionBrowser) -> None:
    error = await browser.refused("get_request", requestId="request-1")

    assert error["message"] == (
        "requestId: no request request-1 is in the log; in it: none. get_request_log lists them"
    )


@pytest.mark.slow
async def test_oldest_requests_keep_only_their_log_entry(opened_page: SessionBrowser) -> None:
    """The last 1,000 can be read."""
    url = route_answer(opened_page, "x")
    asks = f"Promise.all(Array.from({{length: 25}}, () => fetch('{url}').then(answer => answer.text())))"
    for _ in range(40):
        await opened_page.call("evaluate", script=f"{asks}.then(() => null)")

    error = await opened_page.refused("get_request", requestId="request-1", part="response_body")
    latest = await opened_page.call("get_request", requestId="request-1001", part="response_body")

    assert error["message"] == "requestId: request-1 was too long ago; only the latest requests can be read"
    assert latest["body"] == "x"
