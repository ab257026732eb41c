"""The profile of the reader extension, as a user writes one for an extension of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from footlight.app_errors import InvalidConfigError
from footlight.apps.profile import AppProfile, Facts, LaunchRequest, Reading, Screen, Services

__all__ = ["BARE", "FAULTS", "NO_APP", "READER_APP", "SHELF", "Shelf", "read_reader", "serve_shelf"]

FAULTS = ("does-not-start", "ends-at-once")
"""Presets with which every launch fails."""
SHELF = ("Zen gardens", "Tides")


class Shelf(Services):
    """A service over HTTP with the titles of a library's shelf."""

    def __init__(self, titles: Sequence[str], port: int, *, ended: bool = False) -> None:
        self.titles = titles
        self.port = port
        self._ended = ended

    def find_failure(self) -> str | None:
        return "the shelf has ended by itself" if self._ended else None


@asynccontextmanager
async def serve_shelf(request: LaunchRequest) -> AsyncGenerator[Shelf]:
    """Serve the shelf. `fixture` is `{"titles": […]}`; the port is `fixtureServer`, else a free one."""
    if request.fixture_preset not in (None, *FAULTS):
        raise InvalidConfigError(f"fixturePreset: there is no shelf {request.fixture_preset}")
    titles: Sequence[str] = SHELF if request.fixture is None else request.fixture["titles"]
    body = json.dumps(titles).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", request.ports.get("fixtureServer", 0))
    async with server:
        if request.fixture_preset == "does-not-start":
            raise RuntimeError("no wood for the shelf")
        port: int = server.sockets[0].getsockname()[1]
        yield Shelf(titles, port, ended=request.fixture_preset == "ends-at-once")


async def read_reader(reading: Reading) -> Facts:
    """Return the facts of the reader: unread articles of the extension, and titles of the shelf."""
    assert isinstance(reading.services, Shelf)
    articles: list[dict[str, Any]] = (await reading.read_storage("articles")).get("articles", [])
    unread = sum(not article["read"] for article in articles)
    return Facts(
        account_address=reading.text_of("reader-count"),
        network_name=f"a shelf of {len(reading.services.titles)}",
        balance=f"{unread} to read",
    )


READER_APP = AppProfile(
    name="Reading list",
    prefix="xy",
    home="list.html",
    settings="options.html",
    notification="reminder.html",
    screens=(
        Screen(name="list", test_id="reader-title", unlocked=True),
        Screen(name="options", test_id="options-page", unlocked=True),
        Screen(name="reminder", test_id="reminder-page", secret=True),
        Screen(name="next", url=r"^/panel\.html"),
    ),
    dist="build/extension",
    services=serve_shelf,
    read=read_reader,
    secrets=("open sesame",),
)

BARE = AppProfile(name="Bare list", home="list.html", dist="build/extension")
"""Nothing that can be left out."""

NO_APP = "no profile"
