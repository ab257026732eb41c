"""Test an extension of your own: a profile says what there is to know of it, and the tools are the same.

Run it: `python docs/examples/own_app.py`.

The extension is in docs/examples/notes. The server finds the profile in the folder that it is started in.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from footlight import MCPClient
from footlight.apps.profile import AppProfile, Facts, LaunchRequest, Reading, Screen, Services
from footlight.client.transports.stdio import Stdio

HERE = Path(__file__).parent


class Limits(Services):
    """What runs beside the extension while it does: here only a number. A server would be closed below."""

    most_notes = 20


@asynccontextmanager
async def limits(_: LaunchRequest) -> AsyncGenerator[Limits]:
    yield Limits()


async def read(reading: Reading) -> Facts:
    notes = (await reading.read_storage("notes")).get("notes", [])
    assert isinstance(reading.services, Limits)
    return Facts(balance=f"{len(notes)} of {reading.services.most_notes} notes")


NOTES = AppProfile(
    name="Notes",
    prefix="notes",
    home="notes.html",
    notification="confirm.html",
    screens=(
        Screen(name="notes", test_id="notes-page", unlocked=True),
        Screen(name="confirm", test_id="confirm-page"),
    ),
    services=limits,
    read=read,
)


async def main() -> None:
    with TemporaryDirectory() as repository:
        async with MCPClient(serve(repository)) as client:
            await call(client, "notes_launch", extensionPath=str(HERE / "notes"))
            await call(client, "notes_type", testId="note-text", text="Oil the hinges")
            await call(client, "notes_click", testId="note-add")
            await tell(client)
            await call(client, "notes_click", testId="notes-clear")
            await call(client, "notes_wait_for_notification")
            await tell(client)
            await call(client, "notes_click", testId="confirm-yes")
            await tell(client)
            await call(client, "notes_cleanup")


def serve(repository: str) -> Stdio:
    """Steps are written down below the repository."""
    arguments = ["-m", "footlight", "serve", "--app", "own_app:NOTES", "--repository", repository]
    return Stdio(sys.executable, [*arguments, "--log-level", "error"], cwd=HERE)


async def call(client: MCPClient, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result in the envelope."""
    return json.loads((await client.call_tool(tool, arguments)).text)["result"]


async def tell(client: MCPClient) -> None:
    state = (await call(client, "notes_get_state"))["state"]
    print(f"{state['currentScreen']}: {state['balance']}")


if __name__ == "__main__":
    asyncio.run(main())
