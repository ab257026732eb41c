"""OAuth through the option `auth`, with the SDK's provider and authorization server."""

from __future__ import annotations

import gzip
import time
import traceback
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

import httpx2
import pytest

from footlight import MCPClient, MCPError
from tests.client.authorization import Authority, Memory, oauth, serve_guarded
from tests.client.http_servers import Received, Reply, answer_status, serve_script

pytestmark = pytest.mark.anyio


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
async def url(authority: Authority) -> AsyncGenerator[str]:
    async with serve_guarded(authority) as url:
        yield url


async def test_server_requiring_oauth_can_be_called(authority: Authority, url: str) -> None:
    """401, discovery, registration, a person's consent, a token; and then as ever."""
    heard: list[float] = []
    async with MCPClient(url, auth=oauth(url, Memory())) as client:
        result = await client.call_tool("whoami", on_progress=lambda progress, _, __: heard.append(progress))

    assert (result.content[0].text, heard) == ("Ida", [1])
    assert authority.grants == ["authorization_code"]


async def test_expired_token_is_refreshed_without_new_consent(authority: Authority, url: str) -> None:
    """Without asking the person again."""
    auth = oauth(url, Memory())
    async with MCPClient(url, auth=auth) as client:
        await client.call_tool("whoami")
        auth.context.token_expiry_time = time.time() - 1
        await client.call_tool("whoami")

    assert authority.grants == ["authorization_code", "refresh_token"]


async def test_stored_token_is_reused_by_the_next_client(authority: Authority, url: str) -> None:
    memory = Memory()
    for _ in range(2):
        async with MCPClient(url, auth=oauth(url, memory)) as client:
            await client.list_tools()

    assert authority.grants == ["authorization_code"]


async def test_open_stream_does_not_delay_calls(authority: Authority, url: str) -> None:
    """The provider lets one request pass at a time, until its answer begins."""
    async with MCPClient(url, auth=oauth(url, Memory())) as client:
        assert await client.open_stream(lambda _: None)
        assert (await client.call_tool("whoami")).content[0].text == "Ida"


async def test_denied_consent_is_reported_as_mcp_error(authority: Authority, url: str) -> None:
    authority.willing = False
    with pytest.raises(MCPError) as refused:
        async with MCPClient(url, auth=oauth(url, Memory())):
            pass

    assert (refused.value.reason, refused.value.status) == ("http", 401)
    assert refused.value.message == f"{url}: the authorization failed: not you"


async def test_missing_credentials_are_reported_with_the_server_error(url: str) -> None:
    with pytest.raises(MCPError) as refused:
        async with MCPClient(url):
            pass

    assert (refused.value.reason, refused.value.status) == ("http", 401)
    assert refused.value.message == (
        f"{url} answers 401 Unauthorized: credentials are required; "
        "give `auth`, or a header `Authorization`: "
        "Authentication required"
    )
    assert refused.value.data == {
        "error": "invalid_token",
        "error_description": "Authentication required",
    }


async def test_refused_token_is_not_in_the_error() -> None:
    """The provider's exception has the whole answer, and so has its cause."""

    class Provider(httpx2.Auth):
        async def async_auth_flow(
            self, request: httpx2.Request
        ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            yield request
            try:
                raise ValueError("1 validation error\n  input_value={'access_token': 's3cret'}")
            except ValueError as error:
                raise RuntimeError(f"Invalid token response: {error}") from error

    async with serve_script(answer_status(401)) as server:
        client = MCPClient(server.url, auth=Provider())
        with pytest.raises(MCPError) as refused:
            await client.connect()

    assert refused.value.message == (
        f"{server.url}: the authorization failed: Invalid token response: 1 validation error"
    )
    assert "s3cret" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    ("headers", "body", "message"),
    [
        ({}, b" " * (2 << 20), "an answer has more than 1048576 bytes"),
        (
            {"Content-Encoding": "gzip"},
            gzip.compress(b" " * (64 << 20)),
            "an answer has more than 32768 bytes",
        ),
        ({"Content-Encoding": "gzip, gzip"}, b"", "the answer is compressed with 'gzip, gzip'"),
    ],
    ids=["large", "compressed", "compressed twice"],
)
async def test_metadata_of_an_authorization_server_is_limited(
    headers: Mapping[str, str], body: bytes, message: str
) -> None:
    """The library reads it whole, and a hostile server could fill the memory."""

    async def script(request: Received, reply: Reply) -> None:
        if request.target.startswith("/.well-known/"):
            with suppress(ConnectionError):
                await reply.send(body, content_type="application/json", headers=headers)
        else:
            await reply.send(status=401)

    async with serve_script(script) as server:
        client = MCPClient(server.url, auth=oauth(server.url, Memory()))
        with pytest.raises(MCPError) as refused:
            await client.connect()

    assert refused.value.message == f"{server.url}: the authorization failed: {message}"
