"""Access over HTTP: tokens, origins, and the isolation of callers from each other."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.server.auth.provider import AccessToken

from footlight.transports.network.access import AccessControl, AccessGrant, Refusal, SharedToken
from tests.http_client import (
    JSON,
    LATEST,
    LIMIT_SECONDS,
    HttpServer,
    Raw,
    data,
    error,
    events,
    handshake,
    initialize,
    modern,
    raw,
    request,
    routing,
    served,
)
from tests.site import Site
from tests.transports.conftest import house_of_callers

pytestmark = pytest.mark.anyio

TOKEN = "the-one-and-only-token"
MISDIRECTED = Refusal(421, "Misdirected request: the Host header does not name this server")
FORBIDDEN = Refusal(403, "Forbidden: pages of this origin may not call this server")


# Host


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:1", "LocalHost:8931", "127.0.0.1", "127.0.0.1:8931", "127.9.9.9"),
        *("[::1]", "[::1]:8931", "[0:0:0:0:0:0:0:1]", "named.example", "NAMED.example:443"),
    ],
)
async def test_loopback_and_allowed_hosts_are_accepted(host: str) -> None:
    access_control = AccessControl(bound="127.0.0.1", hosts=["Named.Example"])

    assert access_control.check_sender({"host": host}) is None


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8931", "localhost.evil.example", "127.0.0.1.evil.example"),
        *("named.example.evil.example", "evil.named.example", "named.example."),
        *("10.0.0.1", "0.0.0.0", "[::]", "[fe80::1]", "169.254.169.254"),  # No address of a loopback server.
        *("2130706433", "0x7f.1", "127.1", "localhost.", "ｌocalhost.evil.example"),
        *("", " ", ":8931", "//", "/", "localhost/", "localhost?x", "localhost#x", "evil.example#@localhost"),
        *("user@localhost", "@localhost", "evil.example\\@localhost", "localhost\\.evil.example"),
        *("localhost:port", "localhost:-1", "localhost:99999", "localhost:1:2", "::1", "[::1", "::1]", "[]"),
        *("localhost evil.example", "localhost,evil.example", "localhost%00", "localhost%2eevil.example"),
    ],
)
async def test_other_host_names_are_refused(host: str) -> None:
    """Against DNS rebinding: a name that its owner points at this machine is still another's."""
    access_control = AccessControl(bound="127.0.0.1", hosts=["named.example"])

    assert access_control.check_sender({"host": host}) == MISDIRECTED


async def test_request_without_host_is_refused() -> None:
    assert AccessControl(bound="127.0.0.1").check_sender({}) == MISDIRECTED


@pytest.mark.parametrize("bound", ["0.0.0.0", "::", "192.168.7.7", "box.example"])
async def test_any_ip_address_host_is_accepted_beyond_loopback(bound: str) -> None:
    access_control = AccessControl(bound=bound)
    passed = {
        host: access_control.check_sender({"host": host}) is None
        for host in (
            "192.168.7.7",
            "10.1.2.3:80",
            "[fd00::7]:80",
            "localhost",
            "box.example:80",
            "evil.example",
        )
    }

    assert passed == {
        "192.168.7.7": True,
        "10.1.2.3:80": True,
        "[fd00::7]:80": True,
        "localhost": True,
        "box.example:80": bound == "box.example",
        "evil.example": False,
    }


# Origin


@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost", "http://localhost:3000", "https://localhost:8443", "http://127.0.0.1:1"),
        *("http://[::1]:5173", "https://app.example", "HTTPS://APP.EXAMPLE", "http://app.example:8080"),
    ],
)
async def test_loopback_and_allowed_origins_are_accepted(origin: str) -> None:
    access_control = AccessControl(
        bound="127.0.0.1", origins=["https://App.example/", "http://app.example:8080"]
    )

    assert access_control.check_sender({"host": "localhost", "origin": origin}) is None


@pytest.mark.parametrize(
    "origin",
    [
        *(
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
        ),
        *("http://app.example", "https://app.example:8443", "https://app.example.evil.example"),
        *(
            "https://sub.app.example",
            "app.example",
            "//localhost",
            "localhost",
            "file://",
            "file://localhost",
        ),
        *("chrome-extension://localhost", "http://evil.example@localhost.evil.example", "http://x@localhost"),
        *("http://localhost/path", "http://localhost https://evil.example", "http://localhost,http://x"),
        *(
            "http://",
            "http://:80",
            "http://localhost:port",
            "http://[::1",
            "http://10.0.0.1",
            "http://evil#@localhost",
        ),
    ],
)
async def test_other_origins_are_refused(origin: str) -> None:
    access_control = AccessControl(
        bound="0.0.0.0", origins=["https://app.example", "http://app.example:8080"]
    )

    assert access_control.check_sender({"host": "localhost", "origin": origin}) == FORBIDDEN


async def test_wildcard_allows_every_origin() -> None:
    access_control = AccessControl(bound="127.0.0.1", origins=["*"])

    assert access_control.check_sender({"host": "localhost", "origin": "https://evil.example"}) is None


@pytest.mark.parametrize("token", ["Bearer right", "Bearer wrong", ""])
async def test_host_and_origin_are_checked_before_the_token(token: str) -> None:
    """A page that may not call cannot try tokens."""
    access_control = AccessControl(bound="127.0.0.1", verifier=SharedToken("right"))
    given = {"host": "localhost", "authorization": token}

    assert await access_control.check({**given, "host": "evil.example"}) == MISDIRECTED
    assert await access_control.check({**given, "origin": "https://evil.example"}) == FORBIDDEN


# Token


def bearer(token: str) -> dict[str, str]:
    return {"host": "localhost", "authorization": token}


NEEDED = Refusal(401, "Unauthorized: a bearer token is required", {"WWW-Authenticate": "Bearer"})
NOT_VALID = Refusal(
    401, "Unauthorized: the token is not valid", {"WWW-Authenticate": 'Bearer error="invalid_token"'}
)


@pytest.mark.parametrize("authorization", ["Bearer right", "bearer right", "BEARER right", "Bearer   right "])
async def test_correct_token_is_accepted(authorization: str) -> None:
    passed = await AccessControl(bound="127.0.0.1", verifier=SharedToken("right")).check(
        bearer(authorization)
    )

    assert isinstance(passed, AccessGrant)
    assert (passed.principal, passed.named) == ("shared-token\0\0", False)


@pytest.mark.parametrize(
    ("authorization", "refusal"),
    [
        *(
            (each, NEEDED)
            for each in ("", "right", "Bearer", "Bearer ", "Basic right", "Bearer:right", "Bearer\tright")
        ),
        *(
            (f"Bearer {each}", NOT_VALID)
            for each in ("wrong", "righ", "rightright", "right,right", "right right")
        ),
        ("Bearer \ud800", NOT_VALID),
        ("Bearer r\xefght", NOT_VALID),
    ],
    ids=repr,
)
async def test_every_other_token_is_refused(authorization: str, refusal: Refusal) -> None:
    assert (
        await AccessControl(bound="127.0.0.1", verifier=SharedToken("right")).check(bearer(authorization))
        == refusal
    )


async def test_token_is_ignored_without_a_verifier() -> None:
    passed = await AccessControl(bound="127.0.0.1").check(bearer("Bearer whatever"))

    assert passed == AccessGrant("anonymous")


class Verifier:
    """Knows each token by what it is called."""

    async def verify_token(self, token: str) -> Any:
        access = AccessToken(token=token, client_id="ada", scopes=[], claims={"iss": "here"}, subject="x")
        match token:
            case "raises":
                raise KeyError(token)
            case "expired":
                return access.model_copy(update={"expires_at": int(time.time()) - 1})
            case "lasting":
                return access.model_copy(update={"expires_at": int(time.time()) + 60})
            case "nonsense":
                return {"client_id": "ada"}
            case _:
                return None


async def test_verifier_determines_the_principal() -> None:
    passed = await AccessControl(bound="127.0.0.1", verifier=Verifier()).check(bearer("Bearer lasting"))

    assert isinstance(passed, AccessGrant)
    assert (passed.principal, passed.named) == ("ada\0here\0x", True)


@pytest.mark.parametrize("token", ["expired", "unknown", "raises", "nonsense"])
async def test_token_is_refused_when_the_verifier_cannot_decide(token: str) -> None:
    assert (
        await AccessControl(bound="127.0.0.1", verifier=Verifier()).check(bearer(f"Bearer {token}"))
        == NOT_VALID
    )


async def test_a_verifier_that_fails_is_logged_without_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    await AccessControl(bound="127.0.0.1", verifier=Verifier()).check(bearer("Bearer raises"))

    assert "the verifier of tokens failed" in caplog.text
    assert "KeyError" in caplog.text
    assert "'raises'" not in caplog.text


# Through the server


@pytest.fixture(scope="module")
async def guarded(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    """Needs a token, and knows a name and an origin beside those on loopback."""
    flags = ("--allow-host", "named.example", "--allow-origin", "https://app.example")
    async with served(tmp_path_factory.mktemp("guarded"), *flags, FOOTLIGHT_TOKEN=TOKEN) as server:
        yield server


@pytest.fixture
async def member(guarded: HttpServer) -> AsyncGenerator[Raw]:
    """Has the token."""
    async with raw(guarded, token=TOKEN) as client:
        yield client


async def send_initialize(client: Raw, **headers: str | None) -> httpx2.Response:
    return await client.send(initialize(), headers=headers)


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        ({"Host": "evil.example"}, 421, MISDIRECTED.message),
        ({"Host": "evil.example", "Authorization": None}, 421, MISDIRECTED.message),
        ({"Origin": "https://evil.example"}, 403, FORBIDDEN.message),
        ({"Origin": "https://evil.example", "Authorization": None}, 403, FORBIDDEN.message),
        ({"Origin": "null"}, 403, FORBIDDEN.message),
        ({"Authorization": None}, 401, NEEDED.message),
        ({"Authorization": "Basic dTpw"}, 401, NEEDED.message),
        ({"Authorization": "Bearer the-one-and-only-tokem"}, 401, NOT_VALID.message),
    ],
)
async def test_refusal_is_a_json_rpc_error(
    member: Raw, headers: dict[str, str | None], status: int, message: str
) -> None:
    refused = await send_initialize(member, **headers)

    assert refused.status_code == status
    assert refused.json() == {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    assert TOKEN not in f"{refused.headers}{refused.text}"


async def test_request_with_the_token_is_accepted(member: Raw) -> None:
    for headers in (
        {},
        {"Authorization": f"bearer {TOKEN}"},
        {"Host": "named.example:8931"},
        {"Origin": "https://app.example"},
        {"Origin": "http://localhost:3000"},
    ):
        assert (await send_initialize(member, **headers)).status_code == 200


async def test_a_missing_and_a_wrong_token_are_challenged(member: Raw) -> None:
    missing = await send_initialize(member, Authorization=None)
    wrong = await send_initialize(member, Authorization="Bearer wrong")

    assert missing.headers["www-authenticate"] == "Bearer"
    assert wrong.headers["www-authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize(
    "more",
    [
        "Host: evil.example",
        "Origin: http://localhost\r\nOrigin: https://evil.example",
        "Authorization: Bearer x",
    ],
)
async def test_duplicate_security_header_is_refused(guarded: HttpServer, more: str) -> None:
    """Or somebody between may have looked at the other one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", guarded.port)
    body = json.dumps(initialize())
    given = {**JSON, "Host": "localhost", "Authorization": f"Bearer {TOKEN}", "Content-Length": len(body)}
    head = "\r\n".join(["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), more])
    writer.write(f"{head}\r\n\r\n{body}".encode())
    async with asyncio.timeout(LIMIT_SECONDS):
        answer = await reader.readline()
    writer.close()

    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST", "PUT", "OPTIONS", "HEAD"])
async def test_every_http_method_needs_a_token(member: Raw, method: str) -> None:
    refused = await member.send(method=method, headers={"Authorization": None})

    assert refused.status_code == 401


async def test_token_is_checked_before_the_body(member: Raw) -> None:
    large = await member.send(content=b"x" * 5_000_000, headers={"Authorization": None})

    assert large.status_code == 401


PREFLIGHT = {
    "Authorization": None,
    "Origin": "https://app.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,mcp-session-id",
}


async def test_preflight_lists_the_allowed_headers_and_methods(member: Raw) -> None:
    """A preflight carries no token. What we allow beyond the list, a client in a page needs."""
    allowed = await member.send(method="OPTIONS", headers=PREFLIGHT)
    reported = {
        name.lower(): {each.strip() for each in value.split(",")}
        for name, value in allowed.headers.items()
        if name.lower().startswith("access-control-")
    }

    assert (allowed.status_code, allowed.content) == (204, b"")
    assert {"Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Session-Id"} <= reported[
        "access-control-allow-headers"
    ]
    assert reported == {
        "access-control-allow-origin": {"*"},
        "access-control-allow-methods": {"GET", "POST", "DELETE"},
        "access-control-allow-headers": {
            *("Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Session-Id"),
            *("Last-Event-ID", "Authorization", "Mcp-Method", "Mcp-Name"),
        },
        "access-control-expose-headers": {"Mcp-Session-Id", "WWW-Authenticate"},
        "access-control-max-age": {"600"},
    }


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Host": "evil.example"}, 421)],
)
async def test_preflight_of_other_origins_is_refused(
    member: Raw, headers: dict[str, str], status: int
) -> None:
    refused = await member.send(method="OPTIONS", headers={**PREFLIGHT, **headers})

    assert refused.status_code == status
    assert "access-control-allow-headers" not in refused.headers


async def test_every_response_has_cors_headers(member: Raw) -> None:
    """A refusal too, or its script would see no more than that something failed."""
    session = await handshake(member)
    answers = [
        await session.send(request("ping")),
        await session.end(),
        await session.end(),
        await send_initialize(member, Authorization=None),
        await member.send(content=b"{"),
        await member.send(method="PUT"),
    ]

    assert [each.status_code for each in answers] == [200, 200, 404, 401, 400, 405]
    assert {
        (each.headers["access-control-allow-origin"], each.headers["access-control-expose-headers"])
        for each in answers
    } == {("*", "Mcp-Session-Id, WWW-Authenticate")}
    assert not any("access-control-allow-credentials" in each.headers for each in answers)


# Health


async def test_health_is_answered_without_a_token(member: Raw) -> None:
    """Watchers have no token, and name the server as they like. A page of a site learns nothing."""
    for path, status in (("/healthz", "ok"), ("/readyz", "ready")):
        headers = {"Authorization": None, "Host": "10.0.0.7:80", "Origin": "https://evil.example"}
        answer = await member.send(method="GET", path=path, headers=headers)

        assert (answer.status_code, answer.json()) == (200, {"status": status})
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.slow
async def test_a_server_without_a_browser_is_alive_but_not_ready(tmp_path: Path) -> None:
    nothing = tmp_path / "no-browser"
    nothing.write_text("#!/bin/sh\nexit 3\n")
    nothing.chmod(0o755)
    async with served(tmp_path, "--executable-path", str(nothing)) as server, raw(server) as client:
        alive = await client.send(method="GET", path="/healthz")
        ready = await client.send(method="GET", path="/readyz")
        refused = await error(client, "create_session")

    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    assert ready.status_code == 503
    assert ready.json() == {"status": "not ready", "reason": refused["message"]}


# Callers with tokens of their own


@pytest.fixture(scope="module")
async def house(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    folder = tmp_path_factory.mktemp("house")
    config = {
        "pool": {"minBrowsers": 1, "maxBrowsers": 1},
        "session": {"stateDirectory": str(folder / "states")},
    }
    async with house_of_callers(folder, config) as server:
        yield server


@pytest.mark.slow
async def test_session_is_invisible_to_another_principal(ada: Raw, bob: Raw, site: Site) -> None:
    """Nothing tells it from one that never was."""
    made = await data(ada, "create_session")
    await data(ada, "navigate", url=site.page("<p>of Ada</p>"), **made)
    calls: dict[str, dict[str, Any]] = {
        "get_text": {"selector": "p"},
        "navigate": {"url": site.page("<p>of Bob</p>")},
        "get_cookies": {},
        "save_state": {},
        "close_session": {},
    }
    for speaker in (bob, await handshake(bob)):
        for tool, arguments in calls.items():
            refused = await error(speaker, tool, **arguments, **made)
            never = await error(speaker, tool, **arguments, sessionId="0" * 32)

            assert refused["code"] == "SESSION_NOT_FOUND", tool
            assert refused == {
                **never,
                "message": f'Session "{made["sessionId"]}" does not exist',
                "details": {"sessionId": made["sessionId"]},
            }
    assert made["sessionId"] not in str(await data(bob, "list_sessions"))

    assert await data(ada, "get_text", selector="p", **made) == {"text": "of Ada"}
    await data(ada, "close_session", **made)
    # Nor why it is not there any more.
    assert (await error(bob, "get_cookies", **made))["message"].endswith("does not exist")
    assert (await error(ada, "get_cookies", **made))["message"].endswith("was closed")


async def test_session_resources_are_unreadable_by_another_principal(ada: Raw, bob: Raw, site: Site) -> None:
    made = await data(ada, "create_session")
    await data(ada, "navigate", url=site.page("<p>of Ada</p>"), **made)
    await data(ada, "find_element", selector="p", **made)
    await data(ada, "screenshot", **made)
    uris = await list_resources(ada)
    kinds = {uri.split("/")[3] for uri in uris}
    assert {"session", "page", "screenshot", "network-log"} <= kinds

    assert not await list_resources(bob) & uris
    for uri in uris:
        refused = (await bob.modern("resources/read", {"uri": uri})).json()["error"]
        never = uri.replace(made["sessionId"], "0" * 32)
        unknown = (await bob.modern("resources/read", {"uri": never})).json()["error"]
        assert str(refused).replace(made["sessionId"], "0" * 32) == str(unknown)
        assert refused["code"] == -32602
    session = await handshake(bob)
    for uri in uris:
        assert "error" in await session.ask("resources/subscribe", {"uri": uri})
    completion = {
        "ref": {"type": "ref/resource", "uri": "playwright:///session/{sessionId}"},
        "argument": {"name": "sessionId", "value": ""},
    }
    offered = (await bob.modern("completion/complete", completion)).json()["result"]["completion"]["values"]
    assert made["sessionId"] not in offered
    await data(ada, "close_session", **made)


async def list_resources(client: Raw) -> set[str]:
    answer = await client.modern("resources/list")
    return {each["uri"] for each in answer.json()["result"]["resources"]}


async def test_saved_states_are_private_to_each_principal(
    ada: Raw, bob: Raw, house: HttpServer, site: Site
) -> None:
    page = site.page("<p>x</p>")
    of_ada, of_bob = await data(ada, "create_session"), await data(bob, "create_session")
    for client, owner, made in ((ada, "ada", of_ada), (bob, "bob", of_bob)):
        await data(client, "navigate", url=page, **made)
        await data(client, "set_cookies", cookies=[{"name": "owner", "value": owner, "url": page}], **made)

    await data(ada, "save_state", name="mine", **of_ada)
    [file] = (house.folder / "states").iterdir()
    for name in ("mine", file.name, file.stem, f"../states/{file.stem}", "./mine"):
        refused = await error(bob, "restore_state", state={"name": name}, **of_bob)
        assert refused["code"] == "INVALID_PARAMETER", name
    await data(bob, "save_state", name="mine", **of_bob)
    await data(ada, "restore_state", state={"name": "mine"}, **of_ada)

    assert await cookies(ada, of_ada) == ["ada"]
    assert await cookies(bob, of_bob) == ["bob"]
    await data(ada, "close_session", **of_ada)
    await data(bob, "close_session", **of_bob)


async def cookies(client: Raw, made: dict[str, Any]) -> list[str]:
    return [each["value"] for each in (await data(client, "get_cookies", **made))["cookies"]]


@pytest.mark.slow
async def test_each_connection_has_its_own_default_session(ada: Raw, bob: Raw, site: Site) -> None:
    first, second, others = await handshake(ada), await handshake(ada), await handshake(bob)
    speakers = {"first": first, "second": second, "others": others, "ada": ada, "bob": bob}
    for name, speaker in speakers.items():
        await data(speaker, "navigate", url=site.page(f"<p>{name}</p>"))

    texts = {name: (await data(each, "get_text", selector="p"))["text"] for name, each in speakers.items()}

    assert texts == {name: name for name in speakers}
    for speaker in speakers.values():
        await data(speaker, "close_session", sessionId="default")


async def test_transport_session_is_unusable_by_another_principal(
    ada: Raw, bob: Raw, house: HttpServer, site: Site
) -> None:
    session = await handshake(ada)
    await data(session, "navigate", url=site.page("<p>of Ada</p>"))
    stolen = {"Mcp-Session-Id": session.id, "MCP-Protocol-Version": LATEST}
    async with session.listening() as stream:
        assert stream.status_code == 200

        answers = [
            await bob.send(request("ping"), headers=stolen),
            await bob.send(method="DELETE", headers=stolen),
            await bob.send(method="GET", headers={**stolen, "Accept": "text/event-stream"}),
            await bob.send(
                method="GET", headers={**stolen, "Accept": "text/event-stream", "Last-Event-ID": "1"}
            ),
        ]

    assert [each.status_code for each in answers] == [404] * 4
    assert {each.json()["error"]["message"] for each in answers} == {"Session not found"}
    assert await data(session, "get_text", selector="p") == {"text": "of Ada"}
    async with raw(house, token="another-token-of-ada") as client:
        renewed = await client.send(request("ping"), headers=stolen)
    assert (renewed.status_code, renewed.json()["result"]) == (200, {})
    await data(session, "close_session", sessionId="default")


async def test_resource_updates_reach_only_the_owning_principal(ada: Raw, bob: Raw, site: Site) -> None:
    """Not even who names its URI: news go to the principal whose session it is."""
    made = await data(ada, "create_session")
    await data(ada, "navigate", url=site.page("<p>one"), **made)
    page = f"playwright:///page/{made['sessionId']}/page-1"
    listen = modern(
        "subscriptions/listen",
        {"notifications": {"resourceSubscriptions": [page], "resourcesListChanged": True}},
    )
    async with (
        ada.streaming(listen, headers=routing(listen)) as to_ada,
        bob.streaming(listen, headers=routing(listen)) as to_bob,
        asyncio.timeout(20),
    ):
        heard_by_ada, heard_by_bob = events(to_ada), events(to_bob)
        for stream in (heard_by_ada, heard_by_bob):
            assert "acknowledged" in (await anext(stream)).data

        await data(ada, "navigate", url=site.page("<p>two"), **made)
        of_bob = await data(bob, "create_session")

        assert (await anext(heard_by_ada)).message["params"]["uri"] == page
        assert (await anext(heard_by_bob)).message["method"] == "notifications/resources/list_changed"
    await data(ada, "close_session", **made)
    await data(bob, "close_session", **of_bob)
