"""The server for the applications of tests."""

from __future__ import annotations

import signal
from contextlib import AsyncExitStack

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.serving import listen_on_free_port, serve_app

pytestmark = pytest.mark.anyio


async def test_servers_ending_in_any_order_restore_signal_handlers() -> None:
    async def greet(_: object) -> PlainTextResponse:
        return PlainTextResponse("Hello")

    app = Starlette(routes=[Route("/", greet)])
    before = signal.getsignal(signal.SIGTERM)
    first, second = AsyncExitStack(), AsyncExitStack()
    for each in (first, second):
        listener = listen_on_free_port()
        await each.enter_async_context(serve_app(app, listener))
        async with httpx2.AsyncClient() as client:
            answer = await client.get(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        assert answer.text == "Hello"
    await first.aclose()
    await second.aclose()
    assert signal.getsignal(signal.SIGTERM) == before
