"""Building, launching and cleaning up: what is there afterwards, and what is not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight.apps.metamask.fixtures import ACCOUNT
from footlight.apps.ports import check_port_free
from tests.toolsets.metamask.conftest import Server, Start, free_ports, log_of, process_of

pytestmark = pytest.mark.anyio


def children(server: Server) -> set[psutil.Process]:
    """Of its process, with theirs: browsers, chains."""
    return set(process_of(server).children(recursive=True))


def yarn(folder: Path, script: str) -> Path:
    """A `yarn` of the test's own; the folder for PATH."""
    folder.mkdir(exist_ok=True)
    (folder / "yarn").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / "yarn").chmod(0o755)
    return folder


def images(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.suffix in (".png", ".jpg", ".jpeg", ".webp")]


async def test_the_smoke_of_the_document(start: Start) -> None:
    """R002-70, R002-4, R002-8, R002-9, R002-36, R002-38, R002-42, R002-44, R002-49, R002-72."""
    server = await start("--strict-002")
    root = server.root
    before = children(server)
    assert await server.call("mm_build") == {
        "buildType": "build:test",
        "extensionPathResolved": "dist/chrome",
    }

    launched = await server.envelope("mm_launch", ports=server.ports)
    told = launched["result"]
    extension = told["extensionId"]
    state = {
        "isLoaded": True,
        "currentUrl": f"chrome-extension://{extension}/home.html#unlock",
        "extensionId": extension,
        "isUnlocked": False,
        "currentScreen": "unlock",
        "accountAddress": None,
        "networkName": None,
        "chainId": None,
        "balance": None,
    }
    assert told == {"sessionId": launched["meta"]["sessionId"], "extensionId": extension, "state": state}
    assert told["sessionId"].startswith("mm-")
    assert children(server) - before

    described = await server.call("mm_describe_screen")
    assert described == {
        "state": state,
        "testIds": {
            "items": [
                {
                    "testId": "unlock-page",
                    "tag": "main",
                    "text": "Welcome backPasswordUnlock",
                    "visible": True,
                },
                {"testId": "unlock-password", "tag": "input", "visible": True},
                {"testId": "unlock-submit", "tag": "button", "text": "Unlock", "visible": True},
            ]
        },
        "a11y": {
            "nodes": [
                {
                    "ref": "e1",
                    "role": "heading",
                    "name": "Welcome back",
                    "disabled": False,
                    "path": [],
                },
                {
                    "ref": "e2",
                    "role": "textbox",
                    "name": "Password",
                    "disabled": False,
                    "path": ["heading:Welcome back"],
                },
                {
                    "ref": "e3",
                    "role": "button",
                    "name": "Unlock",
                    "disabled": True,
                    "path": ["heading:Welcome back"],
                },
            ]
        },
        "screenshot": None,
    }

    ended = await server.envelope("mm_cleanup")
    assert (ended["result"], ended["meta"]["sessionId"]) == ({"cleanedUp": True}, told["sessionId"])
    assert await server.code("mm_get_state") == "MM_NO_ACTIVE_SESSION"
    again = await server.envelope("mm_cleanup")
    assert (again["result"], "sessionId" in again["meta"]) == ({"cleanedUp": False}, False)
    assert await left(server, before) == []
    for port in server.ports.values():
        check_port_free(port, what="the test")
    assert images(root) == []


def running(server: Server, before: set[psutil.Process]) -> list[str]:
    """What was started since, without what has only not been asked for its exit code yet."""
    found: list[str] = []
    for each in children(server) - before:
        with contextlib.suppress(psutil.NoSuchProcess):
            if each.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(each.cmdline())[:120])
    return found


async def left(server: Server, before: set[psutil.Process]) -> list[str]:
    """The same, once those that only tell a version or are ending have had their time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            while running(server, before):  # noqa: ASYNC110 - a process that ends tells nobody
                await asyncio.sleep(0.02)
    return running(server, before)


async def test_a_second_launch_leaves_the_first_as_it_is(app: Server) -> None:
    """R002-39."""
    before = await app.call("mm_get_state")

    error = await app.refused("mm_launch", ports=free_ports())

    assert error["code"] == "MM_SESSION_ALREADY_RUNNING"
    assert error["details"]["sessionId"].startswith("mm-")
    assert await app.call("mm_get_state") == before


async def test_the_state_of_an_unlocked_wallet(app: Server) -> None:
    """R002-43."""
    state = (await app.call("mm_get_state"))["state"]

    assert state == {
        "isLoaded": True,
        "currentUrl": f"chrome-extension://{state['extensionId']}/home.html#",
        "extensionId": state["extensionId"],
        "isUnlocked": True,
        "currentScreen": "home",
        "accountAddress": ACCOUNT,
        "networkName": f"Localhost {app.ports['anvil']}",
        "chainId": 1337,
        "balance": "25 ETH",
    }


async def test_another_session_is_not_cleaned_up(app: Server) -> None:
    """R002-42."""
    error = await app.refused("mm_cleanup", sessionId="mm-of-nobody")

    assert error["code"] == "MM_INVALID_INPUT"
    assert (await app.call("mm_get_state"))["state"]["isUnlocked"]


CONFIGURATIONS: list[tuple[str, dict[str, Any]]] = [
    ("fixture", {"stateMode": "custom"}),
    ("fixturePreset", {"stateMode": "custom", "fixture": {"data": {}}, "fixturePreset": "default"}),
    ("fixture", {"fixture": {"data": {}}}),
    ("withWings", {"fixturePreset": "withWings"}),
    ("onboarding", {"stateMode": "onboarding", "fixturePreset": "default"}),
    ("nowhere", {"extensionPath": "nowhere"}),
]


@pytest.mark.parametrize(("said", "arguments"), CONFIGURATIONS)
async def test_a_launch_that_makes_no_sense_is_refused(
    idle: Server, said: str, arguments: dict[str, Any]
) -> None:
    """R002-39, R002-37."""
    before = children(idle)

    error = await idle.refused("mm_launch", ports=idle.ports, **arguments)

    assert error["code"] == "MM_INVALID_CONFIG"
    assert said in error["message"]
    assert await left(idle, before) == []


async def test_a_preset_that_is_not_known_lists_those_that_are(idle: Server) -> None:
    """R002-39."""
    error = await idle.refused("mm_launch", fixturePreset="withWings", ports=idle.ports)

    assert "withERC20Tokens" in error["message"] + str(error["details"])


@pytest.mark.parametrize("which", ["anvil", "fixtureServer"])
async def test_a_port_that_is_taken_is_told_before_anything_is_started(idle: Server, which: str) -> None:
    """R002-39, R002-40."""
    before = children(idle)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = await idle.refused("mm_launch", ports={**idle.ports, which: port})

    assert error["code"] == "MM_PORT_IN_USE"
    assert str(port) in error["message"]
    assert await left(idle, before) == []


async def test_a_folder_without_a_manifest_cannot_be_launched(idle: Server) -> None:
    """R002-39."""
    (idle.root / "empty").mkdir(exist_ok=True)

    error = await idle.refused("mm_launch", extensionPath="empty", ports=idle.ports)

    assert (error["code"], "manifest.json" in error["message"]) == ("MM_INVALID_CONFIG", True)


async def test_a_launch_in_vain_leaves_nothing(start: Start) -> None:
    """R002-39, R002-40: of an extension without its page, and of one that a clean-up ends meanwhile."""
    server = await start("--strict-002")
    homeless = server.root / "homeless"
    shutil.copytree(server.root / "dist/chrome", homeless)
    (homeless / "home.html").unlink()
    before = children(server)

    error = await server.refused("mm_launch", extensionPath="homeless", ports=server.ports)
    assert (error["code"], "home.html" in error["message"]) == ("MM_LAUNCH_FAILED", True)
    assert await left(server, before) == []

    launching = asyncio.create_task(server.refused("mm_launch", ports=server.ports))
    async with asyncio.timeout(20):
        while not running(server, before):  # noqa: ASYNC110 - a process that begins tells nobody
            await asyncio.sleep(0.01)
    assert await server.code("mm_launch", ports=server.ports) == "MM_SESSION_ALREADY_RUNNING"
    assert await server.call("mm_cleanup") == {"cleanedUp": True}
    assert (await launching)["code"] == "MM_LAUNCH_FAILED"
    assert await left(server, before) == []
    for port in server.ports.values():
        check_port_free(port, what="the test")


async def test_a_build_says_what_it_lacks(start: Start, tmp_path: Path) -> None:
    """R002-36, R002-41: also the build that a launch begins by itself."""
    script = yarn(tmp_path / "bin", 'echo "src/app.ts: no such import" >&2; exit 3')
    server = await start(built=False, path=[script])
    root = server.root
    assert await server.code("mm_build") == "MM_DEPENDENCIES_MISSING"
    (root / "package.json").write_text("{}", "utf-8")
    error = await server.refused("mm_build")
    assert error["code"] == "MM_DEPENDENCIES_MISSING"
    assert "node_modules" in error["message"]
    assert "yarn install" in error["details"]["suggestion"]
    assert await server.code("mm_launch", ports=server.ports) == "MM_DEPENDENCIES_MISSING"
    assert await server.code("mm_launch", autoBuild=False, ports=server.ports) == "MM_LAUNCH_FAILED"

    (root / "node_modules").mkdir()
    error = await server.refused("mm_build")
    assert error["code"] == "MM_BUILD_FAILED"
    assert "src/app.ts: no such import" in json.dumps(error["details"]["output"])
    assert await server.code("mm_launch", ports=server.ports) == "MM_BUILD_FAILED"


async def test_a_build_is_made_once_unless_it_is_forced(start: Start, tmp_path: Path) -> None:
    """R002-6, R002-36, R002-72: what it says goes into the log, not among the messages."""
    make = 'echo "building $1"; mkdir -p dist/chrome; echo "{}" > dist/chrome/manifest.json; echo x >> builds'
    server = await start(built=False, path=[yarn(tmp_path / "bin", make)])
    root = server.root
    (root / "package.json").write_text("{}", "utf-8")
    (root / "node_modules").mkdir()
    built = {"buildType": "build:test", "extensionPathResolved": "dist/chrome"}
    assert await server.call("mm_build") == built
    assert await server.call("mm_build") == built
    assert (root / "builds").read_text("utf-8") == "x\n"
    assert await server.call("mm_build", force=True) == built
    assert (root / "builds").read_text("utf-8") == "x\nx\n"
    assert "building build:test" in log_of(server)
