"""Querying a chain over JSON-RPC: a real anvil, and servers that misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.apps.metamask.anvil import run_anvil
from footlight.apps.metamask.chain import Chain, connect_chain, format_ether
from footlight.apps.metamask.fixtures import ACCOUNT, ACCOUNTS, SEED_PHRASE
from footlight.errors import NetworkFailedError
from tests.apps.anvil_path import anvil_path
from tests.client.peers import free_port

pytestmark = pytest.mark.anyio

ETHER = 10**18


@pytest.fixture(scope="module")
async def chain(anyio_backend: str) -> AsyncGenerator[Chain]:
    async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE) as chain:
        yield chain


async def test_transaction_changes_balances_and_block_number(chain: Chain) -> None:
    block = await chain.block_number()
    to = "0x00000000000000000000000000000000000000ff"

    await chain.call("eth_sendTransaction", {"from": ACCOUNTS[1], "to": to, "value": hex(ETHER)})
    await chain.call("evm_mine")

    assert await chain.balance(to) == ETHER
    assert format_ether(await chain.balance(ACCOUNTS[1])) == "23.9999 ETH"
    assert await chain.block_number() > block


async def test_concurrent_calls_get_their_own_answers(chain: Chain) -> None:
    answers = await asyncio.gather(*(chain.call("web3_sha3", f"0x{number:02x}") for number in range(20)))

    assert len(set(answers)) == 20
    assert answers[7] == await chain.call("web3_sha3", "0x07")


async def test_refused_rpc_call_reports_the_reason(chain: Chain) -> None:
    with pytest.raises(NetworkFailedError) as raised:
        await chain.call("eth_nothing")

    assert raised.value.message == f"the chain at {chain.url} refused eth_nothing: Method not found"
    assert raised.value.details == {"url": chain.url}
    assert not raised.value.retryable


async def test_invalid_address_is_refused(chain: Chain) -> None:
    with pytest.raises(NetworkFailedError, match="refused eth_getBalance"):
        await chain.balance("nobody")


async def test_proxy_environment_variables_are_ignored(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    async with connect_chain(chain.url) as other:
        assert await other.chain_id() == 1337


async def test_connection_is_reused() -> None:
    async with (
        _server(b'{"jsonrpc":"2.0","id":1,"result":"0x2a"}') as server,
        connect_chain(server.url) as chain,
    ):
        assert [await chain.block_number() for _ in range(5)] == [42] * 5

    assert server.connections == 1


async def test_closed_port_is_reported_as_stopped_chain() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    async with connect_chain(url) as chain:
        with pytest.raises(NetworkFailedError) as raised:
            await chain.block_number()

    assert raised.value.message == f"the chain at {url} is not running any more"


async def test_unanswered_rpc_call_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footlight.apps.metamask.chain.CALL_SECONDS", 0.2)
    async with _server(None) as server, connect_chain(server.url) as chain:
        with pytest.raises(NetworkFailedError) as raised:
            await chain.block_number()

    assert raised.value.message == f"the chain at {server.url} did not answer eth_blockNumber within 0.2 s"
    assert raised.value.retryable


@pytest.mark.parametrize("body", [b"<h1>Hello</h1>", b"[]", b'{"id": 1}', b"\xff"])
async def test_non_rpc_server_on_the_port_is_reported(body: bytes) -> None:
    async with _server(body) as server, connect_chain(server.url) as chain:
        with pytest.raises(NetworkFailedError) as raised:
            await chain.block_number()

    assert (
        raised.value.message
        == f"the chain at {server.url} answered eth_blockNumber with HTTP 200 and no JSON-RPC"
    )


async def test_accounts_are_derived_from_the_seed_phrase(chain: Chain) -> None:
    """Section 5: asked of anvil, which derives them by itself."""
    answer = [account.lower() for account in await chain.call("eth_accounts")]

    assert [account.lower() for account in ACCOUNTS] == answer[: len(ACCOUNTS)]
    assert ACCOUNTS[0] == ACCOUNT == "0x5CfE73b6021E818B776b421B1c4Db2474086a7e1"


@pytest.mark.parametrize(
    ("wei", "text"),
    [
        (0, "0 ETH"),
        (1, "0 ETH"),
        (10**14, "0.0001 ETH"),
        (10**14 - 1, "0 ETH"),
        (ETHER // 2, "0.5 ETH"),
        (25 * ETHER, "25 ETH"),
        (25 * ETHER - 1, "24.9999 ETH"),
        (100 * ETHER, "100 ETH"),
        (1_000_000 * ETHER + ETHER // 100, "1000000.01 ETH"),
    ],
)
def test_balance_is_formatted_with_at_most_four_decimals(wei: int, text: str) -> None:
    assert format_ether(wei) == text


@given(st.integers(min_value=0, max_value=2**256 - 1))
def test_formatted_balance_is_rounded_down(wei: int) -> None:
    number, unit = format_ether(wei).split(" ")

    assert unit == "ETH"
    assert 0 <= Fraction(wei, ETHER) - Fraction(number) < Fraction(1, 10_000)
    assert not ("." in number and number.endswith(("0", ".")))


class _Server:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.connections = 0


@asynccontextmanager
async def _server(body: bytes | None) -> AsyncGenerator[_Server]:
    """Serve this answer to every request, or none at all if it is None."""
    heard = asyncio.Event()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reported.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().split(b"\r\n") if b"content-length" in line)
                await reader.readexactly(int(length.split(b":")[1]))
                if body is None:
                    await heard.wait()
                assert body is not None
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        except (asyncio.IncompleteReadError, AssertionError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(converse, "127.0.0.1", 0)
    reported = _Server(listener.sockets[0].getsockname()[1])
    async with listener:
        yield reported
        heard.set()
