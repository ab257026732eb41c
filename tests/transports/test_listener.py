"""The listener: its address, refused settings, and that its token stays secret."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from footlight.config import Settings
from footlight.errors import DOCUMENTATION_URL, ConfigurationError
from footlight.transports.network.access import Refusal
from footlight.transports.network.listener import bind, make_access_control
from footlight.transports.network.tls import server_ssl
from tests.certificates import make_certificate_folder
from tests.conftest import server_command
from tests.http_client import LIMIT_SECONDS, HttpServer, data, error, raw, served
from tests.processes import descendants_of
from tests.site import Site

pytestmark = pytest.mark.anyio

MORE = f"More: {DOCUMENTATION_URL}reference/configuration.html\n"

TOKEN = "the-one-and-only-token"
MAKE_ONE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


def settings(**given: Any) -> Settings:
    return Settings.model_validate({"transport": "http", "port": 0, **given})


def check_refused(**given: Any) -> tuple[str, str]:
    """Check that these settings are refused, and return the error with its advice."""
    with pytest.raises(ConfigurationError) as caught:
        make_access_control(settings(**given))
    return caught.value.message, caught.value.suggestion


async def not_started(
    folder: Path, *flags: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Return the exit status of a server that does not start, and its output."""
    process = await asyncio.create_subprocess_exec(
        *server_command("--transport", "http", "--port", "0", *flags),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env={**os.environ, **(environment or {})},
    )
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, said.decode()


# The address


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.7.7", "box.example", ""])
async def test_token_is_required_beyond_loopback(host: str) -> None:
    assert check_refused(listen={"host": host}) == (
        f"setting 'listen.host': {host} can be reached from other machines, so a token is required",
        "Set FOOTLIGHT_TOKEN or --token-file, or listen on 127.0.0.1.",
    )
    make_access_control(settings(token=TOKEN, listen={"host": host}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost", "LOCALHOST"])
async def test_no_token_is_required_on_loopback(host: str) -> None:
    make_access_control(settings(listen={"host": host}))


@pytest.mark.slow
async def test_server_without_required_token_ends_with_suggestion(tmp_path: Path) -> None:
    assert await not_started(tmp_path, "--host", "0.0.0.0") == (
        2,
        "footlight: setting 'listen.host': 0.0.0.0 can be reached from other machines, "
        "so a token is required\n"
        f"Set FOOTLIGHT_TOKEN or --token-file, or listen on 127.0.0.1.\n{MORE}",
    )


@pytest.mark.slow
async def test_server_with_token_listens_on_all_interfaces(tmp_path: Path) -> None:
    async with served(tmp_path, "--host", "0.0.0.0", FOOTLIGHT_TOKEN=TOKEN) as server:
        assert server.url == f"http://0.0.0.0:{server.port}"
        async with raw(f"http://127.0.0.1:{server.port}", token=TOKEN) as client:
            own = await client.send(method="GET", headers={"Host": f"192.168.7.7:{server.port}"})
            foreign = await client.send(method="GET", headers={"Host": f"evil.example:{server.port}"})

    assert (own.status_code, foreign.status_code) == (400, 421)


@pytest.mark.slow
async def test_error_for_a_port_in_use_names_the_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = await not_started(tmp_path, "--port", str(port))

    assert said == (
        2,
        f"footlight: settings 'listen.host' and 'port': cannot listen on 127.0.0.1:{port}: "
        f"Address already in use\nChoose another port, or 0 for a free one.\n{MORE}",
    )


@pytest.mark.parametrize(
    "host", ["192.0.2.1", "no-such-host.invalid", "not a host", "a" * 300, "\u0130.", "[::1]"]
)
async def test_error_for_an_unavailable_address_names_the_address(host: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        bind(settings(listen={"host": host}))

    assert caught.value.message.startswith(f"settings 'listen.host' and 'port': cannot listen on {host}:0: ")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
async def test_socket_accepts_connections_as_soon_as_bound(host: str) -> None:
    with bind(settings(listen={"host": host})) as listener:
        reader, writer = await asyncio.open_connection(host, listener.getsockname()[1])
        writer.close()

    assert await reader.read() == b""


# The token


@pytest.mark.parametrize(
    "token",
    [
        "",
        "short",
        "x" * 15,
        "has a space in the middle",
        "tab\tin-the-middle-of-it",
        "with-ümlaut-in-the-middle",
    ],
)
async def test_weak_or_unsendable_token_is_refused(token: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    rule = "a token is at least 16 ASCII characters without spaces"

    assert check_refused(token=token) == (f"setting 'token': {rule}", MAKE_ONE)
    assert check_refused(listen={"tokenFile": file}) == (f"setting 'listen.tokenFile': {rule}", MAKE_ONE)


@pytest.mark.parametrize(
    "text", [TOKEN, f"{TOKEN}\n", f"{TOKEN}\r\nand a note\r\n", f"  {TOKEN}  \n", f"\ufeff{TOKEN}"]
)
async def test_first_line_of_the_token_file_is_the_token(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(text.encode())

    access_control = make_access_control(settings(listen={"tokenFile": file}))

    given = {"host": "localhost", "authorization": f"Bearer {TOKEN}"}
    assert not isinstance(await access_control.check(given), Refusal)


async def test_error_for_unreadable_token_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff" * 32)
    for name, reason in {
        "none": "No such file or directory",
        ".": "Is a directory",
        "binary": "it is not UTF-8 text",
    }.items():
        file = tmp_path / name
        message, _ = check_refused(listen={"tokenFile": file})
        assert message == f"setting 'listen.tokenFile': {file} cannot be read: {reason}"


@pytest.mark.parametrize(
    ("listen", "named"),
    [
        ({"tokenFile": "token"}, "'token' and 'listen.tokenFile'"),
        ({"tokenVerifier": "a:B"}, "'token' and 'listen.tokenVerifier'"),
        (
            {"tokenFile": "token", "tokenVerifier": "a:B"},
            "'token' and 'listen.tokenFile' and 'listen.tokenVerifier'",
        ),
    ],
)
async def test_several_token_settings_are_refused(listen: dict[str, str], named: str) -> None:
    assert check_refused(token=TOKEN, listen=listen)[0] == f"settings {named}: give one of them"


@pytest.mark.slow
async def test_two_token_settings_end_the_server(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)

    status, said = await not_started(
        tmp_path, "--token-file", "token", environment={"FOOTLIGHT_TOKEN": TOKEN}
    )

    assert (status, TOKEN in said) == (2, False)
    assert said.startswith("footlight: settings 'token' and 'listen.tokenFile': give one of them\n")


VERIFIERS = """
class Good:
    async def verify_token(self, token):
        return None

class Needy:
    def __init__(self, url):
        pass

class Bad:
    pass

good, number = Good(), 7
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:Good", "cannot be loaded: No module named 'no_such_module'"),
        ("some_verifiers:Missing", "cannot be loaded: module 'some_verifiers' has no attribute 'Missing'"),
        (
            "some_verifiers:Needy",
            "cannot be loaded: Needy.__init__() missing 1 required positional argument: 'url'",
        ),
        ("some_verifiers:Bad", "has no method verify_token"),
        ("some_verifiers:number", "has no method verify_token"),
        ("broken_verifier:Good", "cannot be loaded: division by zero"),
    ],
)
async def test_error_for_an_unloadable_verifier_names_the_verifier(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_verifiers.py").write_text(VERIFIERS)
    (tmp_path / "broken_verifier.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)

    assert check_refused(listen={"tokenVerifier": name})[0] == f"setting 'listen.tokenVerifier': {name} {why}"
    make_access_control(settings(listen={"host": "0.0.0.0", "tokenVerifier": "some_verifiers:Good"}))
    make_access_control(settings(listen={"host": "0.0.0.0", "tokenVerifier": "some_verifiers:good"}))


@pytest.mark.slow
async def test_unloadable_verifier_ends_the_server(tmp_path: Path) -> None:
    status, said = await not_started(
        tmp_path, environment={"FOOTLIGHT_LISTEN_TOKEN_VERIFIER": "no_such:Verifier"}
    )

    assert status == 2
    assert said.startswith("footlight: setting 'listen.tokenVerifier': no_such:Verifier cannot be loaded: ")
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("source", ["environment", "file", "configuration"])
async def test_token_is_not_in_logs_errors_or_child_processes(
    source: str, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    flags = ("--log-level", "debug", *(("--token-file", "token") if source == "file" else ()))
    environment = {"FOOTLIGHT_TOKEN": TOKEN} if source == "environment" else {}
    config = {"token": TOKEN} if source == "configuration" else {}
    async with served(tmp_path, *flags, config=config, **environment) as server:
        async with raw(server, token=f"{TOKEN}-not") as wrong:
            refused = await wrong.send()
        async with raw(server, token=TOKEN) as client:
            made = await data(client, "create_session")
            await data(client, "navigate", url=site.page("<p>x</p>"), **made)
            unknown = await error(client, "get_text", sessionId=TOKEN[:4], selector="p")
        children = descendants_of(psutil.Process(server.pid))
        held = [name for child in children for name, value in environ(child).items() if TOKEN in value]
        lines = [" ".join(child.cmdline()) for child in (psutil.Process(server.pid), *children)]
        process = server

    assert (refused.status_code, unknown["code"]) == (401, "SESSION_NOT_FOUND")
    assert len(children) > 1
    assert held == []
    assert not [line for line in lines if TOKEN in line]
    assert len(process.log.lines) > 3
    assert not [line for line in process.log.lines if TOKEN in line]


def environ(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.NoSuchProcess:  # Renderers come and go.
        return {}


# TLS


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cert.pem`, signed by itself, its `key.pem`, and the key of another, `other.pem`."""
    folder = make_certificate_folder(tmp_path_factory.mktemp("tls"))
    (folder / "text.pem").write_text("no certificate")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_server_answers_only_over_https(files: Path, site: Site, tmp_path: Path, mode: str) -> None:
    flags = ("--tls-certificate", str(files / "cert.pem"), "--tls-key", str(files / "key.pem"))
    async with served(tmp_path, *flags, FOOTLIGHT_TOKEN=TOKEN) as server:
        assert server.url == f"https://localhost:{server.port}"
        await https(server, files, site, mode)
        with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            async with raw(server) as distrusting:
                await distrusting.send()
        with pytest.raises(httpx2.RemoteProtocolError):
            async with raw(server.url.replace("https", "http")) as plain:
                await plain.send()
        await https(server, files, site, mode)


async def https(server: HttpServer, files: Path, site: Site, mode: str) -> None:
    """Somebody who trusts the certificate is served."""
    trusting = ssl.create_default_context(cafile=files / "cert.pem")
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, verify=trusting, timeout=LIMIT_SECONDS) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
    ):
        made = (await client.call_tool("create_session", {})).structured_content
        assert made is not None
        await client.call_tool("navigate", {"url": site.page("<p>here</p>"), **made["data"]})
        text = await client.call_tool("get_text", {"selector": "p", **made["data"]})

    assert text.structured_content == {"success": True, "data": {"text": "here"}}


@pytest.mark.slow
async def test_client_without_tls_handshake_is_disconnected(files: Path, tmp_path: Path) -> None:
    flags = ("--tls-certificate", str(files / "cert.pem"), "--tls-key", str(files / "key.pem"))
    config = {"listen": {"readTimeout": 500}}
    async with served(tmp_path, *flags, config=config) as server:
        lines = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(10)]
        async with asyncio.timeout(LIMIT_SECONDS):
            heard = [await reader.read() for reader, _ in lines]
        for _, writer in lines:
            writer.close()

    assert heard == [b""] * 10


async def test_minimum_tls_version_is_1_2(files: Path) -> None:
    context = server_ssl(
        settings(listen={"tlsCertificate": files / "cert.pem", "tlsKey": files / "key.pem"}).listen
    )

    assert context is not None
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


NOT_A_PAIR = "are not a certificate and its key"


@pytest.mark.parametrize(
    ("certificate", "key", "why"),
    [
        ("none.pem", "key.pem", "setting 'listen.tlsCertificate': {certificate} cannot be read"),
        ("cert.pem", "none.pem", "setting 'listen.tlsKey': {key} cannot be read"),
        ("cert.pem", ".", "setting 'listen.tlsKey': {key} cannot be read: Is a directory"),
        ("cert.pem", "other.pem", f"{{certificate}} and {{key}} {NOT_A_PAIR}: KEY_VALUES_MISMATCH"),
        ("cert.pem", "locked.pem", f"{{certificate}} and {{key}} {NOT_A_PAIR}"),
        ("text.pem", "key.pem", f"{{certificate}} and {{key}} {NOT_A_PAIR}"),
        ("key.pem", "cert.pem", f"{{certificate}} and {{key}} {NOT_A_PAIR}"),
    ],
)
async def test_error_for_invalid_tls_files_names_the_files(
    files: Path, certificate: str, key: str, why: str
) -> None:
    paths = {"certificate": files / certificate, "key": files / key}
    listen = settings(listen={"tlsCertificate": paths["certificate"], "tlsKey": paths["key"]}).listen

    with pytest.raises(ConfigurationError) as caught:
        server_ssl(listen)

    assert why.format(**paths) in caught.value.message


@pytest.mark.slow
async def test_invalid_tls_files_end_the_server_before_listening(files: Path, tmp_path: Path) -> None:
    flags = ("--tls-certificate", str(files / "cert.pem"), "--tls-key", str(files / "other.pem"))

    status, said = await not_started(tmp_path, *flags)

    assert status == 2
    assert said.startswith("footlight: settings 'listen.tlsCertificate' and 'listen.tlsKey': ")
    assert "listening on" not in said
    assert "Traceback" not in said


async def test_certificate_without_key_is_refused(files: Path, tmp_path: Path) -> None:
    status, said = await not_started(tmp_path, "--tls-certificate", str(files / "cert.pem"))

    assert status == 2
    assert said.startswith(
        "footlight: settings 'listen.tlsCertificate' and 'listen.tlsKey' must be given together\n"
    )
