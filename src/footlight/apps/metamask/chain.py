"""A client for a blockchain node over JSON-RPC."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from footlight.errors import NetworkFailedError

__all__ = ["Chain", "connect_chain", "format_ether"]

CALL_SECONDS = 10.0
WEI_PER_ETHER = 10**18
DECIMALS = 4


class Chain:
    """A client for the node at `url`. `ended` is set when the process of the node has ended."""

    def __init__(self, url: str, client: httpx2.AsyncClient, *, ended: asyncio.Event | None = None) -> None:
        self.url = url
        self.ended = ended or asyncio.Event()
        self._client = client
        self._ids = itertools.count(1)

    @property
    def alive(self) -> bool:
        """Return whether the node is still running."""
        return not self.ended.is_set()

    async def block_number(self) -> int:
        return _parse_quantity(await self.call("eth_blockNumber"))

    async def chain_id(self) -> int:
        return _parse_quantity(await self.call("eth_chainId"))

    async def balance(self, address: str) -> int:
        """Return the balance in wei at the latest block."""
        return _parse_quantity(await self.call("eth_getBalance", address, "latest"))

    async def call(self, method: str, *params: Any) -> Any:
        """Return the result of a JSON-RPC call.

        Raises:
            NetworkFailedError: The chain is not running, does not answer in time, or refuses the call.
        """
        question = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self._client.post(self.url, json=question)
        except TimeoutError:
            raise self._make_error(f"did not answer {method} within {CALL_SECONDS:g} s") from None
        except httpx2.TransportError:
            raise self._make_error(
                "is not running any more", suggestion="Launch the app again.", retryable=False
            ) from None
        return self._result(method, answer)

    def _result(self, method: str, answer: httpx2.Response) -> Any:
        try:
            content: dict[str, Any] = answer.json()
            if "result" in content:
                return content["result"]
            why = content["error"]["message"]
        except (ValueError, TypeError, KeyError):
            raise self._make_error(
                f"answered {method} with HTTP {answer.status_code} and no JSON-RPC"
            ) from None
        raise self._make_error(f"refused {method}: {why}", retryable=False)

    def _make_error(
        self, how: str, *, suggestion: str | None = None, retryable: bool | None = None
    ) -> NetworkFailedError:
        message = f"the chain at {self.url} {how}"
        return NetworkFailedError(message, suggestion=suggestion, retryable=retryable, url=self.url)


@asynccontextmanager
async def connect_chain(url: str, *, ended: asyncio.Event | None = None) -> AsyncGenerator[Chain]:
    """Connect to the node at a URL. The connection is reused for all calls, and closed on exit."""
    # With `trust_env`, the client would use a proxy from the environment.
    async with httpx2.AsyncClient(trust_env=False, timeout=None) as client:
        yield Chain(url, client, ended=ended)


def format_ether(wei: int) -> str:
    """Format an amount such as `24.9999 ETH`. It is rounded down to four decimals."""
    whole, rest = divmod(wei, WEI_PER_ETHER)
    decimals = f"{rest:018d}"[:DECIMALS].rstrip("0")
    return f"{whole}.{decimals} ETH" if decimals else f"{whole} ETH"


def _parse_quantity(quantity: str) -> int:
    return int(quantity, 16)
