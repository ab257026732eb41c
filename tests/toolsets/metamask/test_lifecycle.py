"""Building, launching and cleaning up."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight.apps.metamask.fixtures import ACCOUNT, PRESETS
from footlight.apps.ports import check_port_free
from tests.apps.wallet_folder import production_wallet
from tests.processes import descendants_of
from tests.side_by_side import run_in_folders
from tests.site import Site
from tests.toolsets.metamask.conftest import Server, Start, free_ports, log_of, process_of, serve_wallet_tools

pytestmark = pytest.mark.anyio


def children(server: Server) -> set[psutil.Process]:
    """Return the descendants of the server's process: browsers and chains."""
    return set(descendants_of(process_of(server)))


def yarn(folder: Path, script: str) -> Path:
    """Write a `yarn` of the test's own, and return its folder for PATH."""
    folder.mkdir(exist_ok=True)
    (folder / "yarn").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / "yarn").chmod(0o755)
    return folder


def images(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.suffix in (".png", ".jpg", ".jpeg", ".webp")]


async def test_smoke_test_of_the_specification(start: Start) -> None:
    server = await start("--strict-002")
    root = server.root
    before = children(server)
    assert await server.call("mm_build") == {
        "buildType": "build:test",
        "extensionPathResolved": "dist/chrome",
    }

    launched = await server.envelope("mm_launch", ports=server.ports)
    reported = launched["result"]
    extension = reported["extensionId"]
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
    assert reported == {"sessionId": launched["meta"]["sessionId"], "extensionId": extension, "state": state}
    assert reported["sessionId"].startswith("mm-")
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

    assert await server.call("mm_type", testId="unlock-password", text="no password") == {
        "typed": True,
        "target": "testId:unlock-password",
    }
    assert await server.call("mm_click", testId="unlock-submit") == {
        "clicked": True,
        "target": "testId:unlock-submit",
    }
    assert await server.call("mm_navigate", screen="home") == {
        "navigated": True,
        "currentUrl": f"chrome-extension://{extension}/home.html#unlock",
    }

    ended = await server.envelope("mm_cleanup")
    assert (ended["result"], ended["meta"]["sessionId"]) == ({"cleanedUp": True}, reported["sessionId"])
    assert await server.code("mm_get_state") == "MM_NO_ACTIVE_SESSION"
    again = await server.envelope("mm_cleanup")
    assert (again["result"], "sessionId" in again["meta"]) == ({"cleanedUp": False}, False)
    assert await find_left(server, before) == []
    for port in server.ports.values():
        check_port_free(port, what="the test")
    assert images(root) == []


def list_running(server: Server, before: set[psutil.Process]) -> list[str]:
    """Return the processes that were started since and still run. Zombies do not count."""
    found: list[str] = []
    for each in children(server) - before:
        with contextlib.suppress(psutil.NoSuchProcess):
            if each.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(each.cmdline())[:120])
    return found


async def find_left(server: Server, before: set[psutil.Process]) -> list[str]:
    """Return the processes that still run after those that end by themselves have had time to."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            while list_running(server, before):  # noqa: ASYNC110 - a process that ends tells nobody
                await asyncio.sleep(0.02)
    return list_running(server, before)


async def test_second_launch_is_refused_and_keeps_the_first(app: Server) -> None:
    before = await app.call("mm_get_state")

    error = await app.refused("mm_launch", ports=free_ports())

    assert error["code"] == "MM_SESSION_ALREADY_RUNNING"
    assert error["details"]["sessionId"].startswith("mm-")
    assert await app.call("mm_get_state") == before


async def test_the_state_of_an_unlocked_wallet(app: Server) -> None:
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


async def test_cleanup_of_an_unknown_session_is_refused(app: Server) -> None:
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
    ("extensionPath: xxx", {"extensionPath": "x" * 100_000}),
]


@pytest.mark.parametrize(("said", "arguments"), CONFIGURATIONS)
async def test_invalid_launch_arguments_are_refused(
    idle: Server, said: str, arguments: dict[str, Any]
) -> None:
    before = children(idle)

    error = await idle.refused("mm_launch", ports=idle.ports, **arguments)

    assert error["code"] == "MM_INVALID_CONFIG"
    assert said in error["message"]
    assert await find_left(idle, before) == []


async def test_unknown_preset_error_lists_known_presets(idle: Server) -> None:
    error = await idle.refused("mm_launch", fixturePreset="withWings", ports=idle.ports)

    assert "withERC20Tokens" in error["message"] + str(error["details"])


@pytest.mark.parametrize("which", ["anvil", "fixtureServer"])
async def test_occupied_port_is_reported_before_anything_starts(idle: Server, which: str) -> None:
    before = children(idle)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = await idle.refused("mm_launch", ports={**idle.ports, which: port})

    assert error["code"] == "MM_PORT_IN_USE"
    assert str(port) in error["message"]
    assert await find_left(idle, before) == []


async def test_a_folder_without_a_manifest_cannot_be_launched(idle: Server) -> None:
    (idle.root / "empty").mkdir(exist_ok=True)

    error = await idle.refused("mm_launch", extensionPath="empty", ports=idle.ports)

    assert (error["code"], "manifest.json" in error["message"]) == ("MM_INVALID_CONFIG", True)


REJECTED: list[tuple[str, dict[str, Any]]] = [
    ("unsupported manifest version", {"manifest_version": 2}),
    ("Could not load background script", {"background": {"service_worker": "none.js"}}),
]


@pytest.mark.slow
async def test_rejected_extension_is_reported_with_the_reason(idle: Server) -> None:
    """At once, and not as a browser that is missing."""
    folder = idle.root / "rejected"
    folder.mkdir(exist_ok=True)
    before = children(idle)
    for said, wrong in REJECTED:
        manifest = {"name": "Wallet", "version": "1", "manifest_version": 3, **wrong}
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")

        reported = await idle.envelope("mm_launch", extensionPath="rejected", ports=idle.ports)

        assert (reported["error"]["code"], said in reported["error"]["message"]) == (
            "MM_LAUNCH_FAILED",
            True,
        ), reported
        assert reported["meta"]["durationMs"] < 12_000
    assert await find_left(idle, before) == []


@pytest.mark.slow
async def test_invalid_launch_is_reported_before_the_build(start: Start, tmp_path: Path) -> None:
    script = yarn(tmp_path / "bin", "[ $1 = build:test ] && touch built; exit 1")
    server = await start(built=False, path=[script])
    (server.root / "package.json").write_text("{}", "utf-8")
    (server.root / "node_modules").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = {**server.ports, "anvil": port}
        codes = [
            await server.code("mm_launch", **{"ports": server.ports, **arguments})
            for arguments in (*(each for _, each in CONFIGURATIONS), {"ports": ports})
        ]

    assert codes == ["MM_INVALID_CONFIG"] * len(CONFIGURATIONS) + ["MM_PORT_IN_USE"]
    assert not (server.root / "built").exists()
    assert await server.code("mm_launch", ports=server.ports) == "MM_BUILD_FAILED"
    assert (server.root / "built").exists()


def browser_of(server: Server, *words: str) -> psutil.Process | None:
    """Return the browser of a process when its command line has all these words."""
    for each in children(server):
        with contextlib.suppress(psutil.Error):
            line = " ".join(each.cmdline())
            if each.name().startswith("chrom") and all(word in line for word in words):
                above = [each, *each.parents()]
                return next(one for one in reversed(above) if one.name().startswith("chrom"))
    return None


async def wait_until_started(server: Server, *words: str) -> psutil.Process:
    async with asyncio.timeout(90):
        while (browser := browser_of(server, *words)) is None:  # noqa: ASYNC110 - a process tells nobody
            await asyncio.sleep(0.005)
    return browser


@pytest.mark.slow
async def test_killed_browser_is_reported_as_crashed(start: Start) -> None:
    """While it starts, while the app opens, while it runs, and between two calls."""
    server = await start()
    before = children(server)
    for words in (("--user-data-dir",), ("--extension-process",)):
        launching = asyncio.create_task(server.refused("mm_launch", ports=server.ports))
        (await wait_until_started(server, *words)).kill()
        error = await launching
        assert (error["code"], "crashed" in error["message"] or "SIGKILL" in error["message"]) == (
            "MM_LAUNCH_FAILED",
            True,
        ), error
        assert await find_left(server, before) == []

    session = (await server.launch())["sessionId"]
    waiting = asyncio.create_task(server.refused("mm_wait_for", testId="nowhere", timeoutMs=60_000))
    (await wait_until_started(server, "--extension-process")).kill()
    error = await waiting
    assert (error["code"], "crashed" in error["message"]) == ("MM_NO_ACTIVE_SESSION", True), error
    for tool in ("mm_get_state", "mm_describe_screen"):
        error = await server.refused(tool)
        assert error["code"] == "MM_NO_ACTIVE_SESSION"
        assert error["message"] == (
            f"MetaMask is not running: the browser of session {session} crashed, or was killed"
        )
        assert error["details"]["crashed"] is True
    assert await find_left(server, before) == []

    session = (await server.launch())["sessionId"]
    (await wait_until_started(server, "--extension-process")).terminate()
    async with asyncio.timeout(20):
        while (
            session
            not in (error := await server.refused("mm_click", testId="nowhere", timeoutMs=0))["message"]
        ):
            pass
    assert error["details"]["crashed"] is True
    await server.launch()
    await server.call("mm_cleanup")
    error = await server.refused("mm_get_state")
    assert (error["message"].endswith("was closed"), "crashed" in error["details"]) == (True, False)


@pytest.mark.slow
async def test_failed_launch_leaves_nothing(start: Start) -> None:
    server = await start("--strict-002")
    homeless = server.root / "homeless"
    shutil.copytree(server.root / "dist/chrome", homeless)
    (homeless / "home.html").unlink()
    before = children(server)

    error = await server.refused("mm_launch", extensionPath="homeless", ports=server.ports)
    assert (error["code"], "home.html" in error["message"]) == ("MM_LAUNCH_FAILED", True)
    assert await find_left(server, before) == []

    launching = asyncio.create_task(server.refused("mm_launch", ports=server.ports))
    async with asyncio.timeout(20):
        while not list_running(server, before):  # noqa: ASYNC110 - a process that begins tells nobody
            await asyncio.sleep(0.01)
    assert await server.code("mm_launch", ports=server.ports) == "MM_SESSION_ALREADY_RUNNING"
    assert await server.call("mm_cleanup") == {"cleanedUp": True}
    assert (await launching)["code"] == "MM_LAUNCH_FAILED"
    assert await find_left(server, before) == []
    for port in server.ports.values():
        check_port_free(port, what="the test")


@pytest.mark.slow
async def test_production_build_reads_the_launch_state_from_storage(start: Start) -> None:
    """It asks nobody for its state, and opens a tab when it is installed."""
    server = await start()
    build = production_wallet(server.root / "users", rpc_port=server.ports["anvil"])
    before = {path: path.read_bytes() for path in build.rglob("*") if path.is_file()}

    launched = await server.launch(extensionPath=str(build), fixturePreset="withMultipleAccounts")
    tabs = (await server.call("mm_switch_tab", role="extension"))["tabs"]
    await server.unlock()
    state = (await server.call("mm_get_state"))["state"]
    await server.call("mm_click", testId="account-menu-icon", observe="none")
    await server.call("mm_wait_for", testId="account-choice")
    names = [
        node["name"] for node in await server.nodes() if node["path"][:1] == ["dialog:Select an account"]
    ]
    await server.call("mm_cleanup")

    assert launched["state"]["currentScreen"] == "unlock"
    assert "its state was written to its storage before it started" in launched["notes"][0]
    assert [tab["role"] for tab in tabs] == ["extension"]
    assert (state["accountAddress"], state["networkName"], state["balance"]) == (
        *(ACCOUNT, f"Localhost {server.ports['anvil']}", "25 ETH"),
    )
    assert {name[:9] for name in names if name.startswith("Account")} == {f"Account {n}" for n in (1, 2, 3)}
    assert {path: path.read_bytes() for path in build.rglob("*") if path.is_file()} == before

    new = await server.launch(extensionPath=str(build), stateMode="onboarding")
    assert new["state"]["currentScreen"] == "onboarding-welcome"
    assert "starts as newly installed" in new["notes"][0]
    await server.call("mm_cleanup")


SERVERS = 3
"""The number of servers that launch the presets side by side."""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_production_build_supports_every_preset_and_custom_state(site: Site, tmp_path: Path) -> None:
    presets = [*PRESETS]
    shares = (presets[first::SERVERS] for first in range(SERVERS))
    await run_in_folders(tmp_path, *(functools.partial(launch_presets, site, share) for share in shares))


async def launch_presets(site: Site, presets: Sequence[str], folder: Path) -> None:
    (root := folder / "repository").mkdir()
    async with serve_wallet_tools(site, root) as server:
        path = str(production_wallet(root / "users", rpc_port=server.ports["anvil"]))
        for preset in presets:
            launched = await server.launch(extensionPath=path, fixturePreset=preset)
            assert launched["state"]["currentScreen"] == (
                "onboarding-welcome" if preset == "onboarding" else "unlock"
            )
            if preset != "onboarding":
                await server.unlock()
                network = (await server.call("mm_get_state"))["state"]["networkName"]
                assert network.startswith("Ethereum" if preset == "withMainnet" else "Localhost")
            if preset == "withHSTToken":
                assert "Human Standard Token" in await server.text("token-list-item")
            await server.call("mm_cleanup")

        named = {"data": {"OnboardingController": {"completedOnboarding": False}}, "meta": {"version": 1}}
        launched = await server.launch(extensionPath=path, stateMode="custom", fixture=named)
        assert launched["state"]["currentScreen"] == "onboarding-welcome"
        assert "its state was written to its storage" in launched["notes"][0]
        await server.call("mm_cleanup")


@pytest.mark.slow
async def test_build_error_names_what_is_missing(start: Start, tmp_path: Path) -> None:
    """This holds for a build that a launch starts."""
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


@pytest.mark.slow
async def test_build_runs_once_unless_forced(start: Start, tmp_path: Path) -> None:
    """What it says goes into the log, not among the messages."""
    manifest = '{"name": "Wallet", "version": "1.0"}'
    write = f"mkdir -p dist/chrome; echo '{manifest}' > dist/chrome/manifest.json"
    make = f"echo building $1; {write}; echo x >> builds"
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
