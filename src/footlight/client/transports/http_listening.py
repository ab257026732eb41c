"""The stream on which a server speaks by itself, read in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from footlight.client.errors import MCPError

if TYPE_CHECKING:
    from footlight.client.transports.http_stream import EventStream, Take

__all__ = ["Listening"]

HEAD_SECONDS = 5.0
"""For the answer to GET. Some servers send none before there is a first message: they have a stream too."""
CLOSE_SECONDS = 5.0


class Listening:
    """`on_error` hears once why it is over, if it was not closed."""

    def __init__(self, stream: EventStream, take: Take, on_error: Callable[[MCPError], None]) -> None:
        self._opened: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._listen(stream, take, on_error))

    async def opened(self) -> bool:
        """False: the server has no such stream (R001-25).

        Raises:
            MCPError: it could not be opened for another reason.
        """
        try:
            await asyncio.wait([self._opened], timeout=HEAD_SECONDS)
        except asyncio.CancelledError:
            await self.close()
            raise
        self._is_open()
        return self._opened.result()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._opened.cancel()

    async def _listen(self, stream: EventStream, take: Take, on_error: Callable[[MCPError], None]) -> None:
        try:
            await stream.follow(take, self._is_open)
        except MCPError as error:
            if self._opened.done():
                on_error(error)
            elif error.status == 405:
                self._opened.set_result(False)
            else:
                self._opened.set_exception(error)

    def _is_open(self) -> None:
        if not self._opened.done():
            self._opened.set_result(True)
