"""An extension other than MetaMask, with its own profile: the same tools under its own prefix."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft7Validator

from footlight.app_errors import PortInUseError
from footlight.apps.ports import check_port_free
from footlight.knowledge.records import step_schema
from footlight.knowledge.report import make_report
from footlight.knowledge.steps import RawStep
from footlight.knowledge.store import KnowledgeStore
from tests.apps.reader_profile import FAULTS, READER_APP, SHELF
from tests.apps.wallet_folder import READER
from tests.client.peers import free_port
from tests.conftest import ENGINE, connect_browser
from tests.processes import descendants_of, name_of
from tests.site import Site
from tests.tiers import sample_parameters
from tests.toolsets.metamask.conftest import Server, process_of

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
PROFILES = "tests.apps.reader_profile"
LIMIT_S = 60


@asynccontextmanager
async def serve_reader(
    site: Site, root: Path, *flags: str, profile: str = "READER_APP", built: bool = True
) -> AsyncGenerator[Server]:
    """Yield a server for the reader, in the repository `root`. Nothing of it runs afterwards."""
    if ENGINE != "chromium":
        pytest.skip(f"extensions are Chromium's alone, and this run is in {ENGINE}")
    if built:
        shutil.copytree(READER, root / "build/extension")
    own = ("--app", f"{PROFILES}:{profile}", "--repository", str(root))
    # The profile is found in the working directory, as one's own is.
    async with connect_browser(site, *own, *flags, cwd=ROOT) as browser:
        yield Server(browser.client, site, root, {"fixtureServer": free_port()})


@pytest.fixture(scope="module")
async def server(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with serve_reader(site, tmp_path_factory.mktemp("reader")) as server:
        yield server


@pytest.fixture
async def reader(server: Server) -> AsyncGenerator[Server]:
    """The reader, launched from its repository."""
    await server.call("xy_launch", ports=server.ports)
    yield server
    await server.call("xy_cleanup")


async def add(reader: Server, title: str) -> None:
    await reader.call("xy_type", testId="reader-title", text=title)
    await reader.call("xy_click", testId="reader-add")
    await reader.call("xy_wait_for", testId="reader-article")


async def state(server: Server) -> dict[str, Any]:
    return (await server.call("xy_get_state"))["state"]


def is_free(port: int) -> bool:
    try:
        check_port_free(port, what="the test")
    except PortInUseError:
        return False
    return True


def processes_of(server: Server) -> list[str]:
    """Return the browsers and displays of this server. Other servers of this worker have others."""
    names = (name_of(each) for each in descendants_of(process_of(server)))
    return [name for name in names if name.startswith(("chrom", "Xvfb"))]


async def test_tools_of_the_app_have_its_prefix(server: Server) -> None:
    names = [tool.name for tool in (await server.client.list_tools()).tools]

    assert (len(names), {name.partition("_")[0] for name in names}) == (21, {"xy"})
    assert "xy_describe_screen" in names


@pytest.mark.slow
async def test_command_line_prefix_overrides_the_profile(site: Site, tmp_path: Path) -> None:
    async with serve_reader(site, tmp_path, "--prefix", "rd", "--strict-002") as server:
        names = [tool.name for tool in (await server.client.list_tools()).tools]
        code = await server.code("rd_get_state")

    assert (len(names), names[0], code) == (16, "rd_build", "RD_NO_ACTIVE_SESSION")


async def test_instructions_use_the_name_of_the_app(server: Server) -> None:
    said = server.client.instructions

    assert said is not None
    assert said.startswith("Build, launch, use and look at Reading list in a real browser.")
    assert "`xy_launch`" in said
    assert "mm_" not in said


async def test_app_is_launched_used_and_ended_from_its_repository(server: Server) -> None:
    launched = await server.call("xy_launch", ports=server.ports)
    port = server.ports["fixtureServer"]
    async with httpx2.AsyncClient() as http:
        offered = (await http.get(f"http://127.0.0.1:{port}/")).json()
    await add(server, "Tides")
    used = await state(server)
    ended = await server.call("xy_cleanup")

    assert launched["sessionId"].startswith("xy-")
    assert launched["state"]["currentScreen"] == "list"
    assert tuple(offered) == SHELF
    assert used == {
        "isLoaded": True,
        "currentUrl": f"chrome-extension://{launched['extensionId']}/list.html",
        "extensionId": launched["extensionId"],
        "isUnlocked": True,
        "currentScreen": "list",
        "accountAddress": "1 to read",
        "networkName": "a shelf of 2",
        "chainId": None,
        "balance": "1 to read",
    }
    assert ended == {"cleanedUp": True}
    assert is_free(port)
    assert await server.code("xy_get_state") == "XY_NO_ACTIVE_SESSION"


@pytest.mark.slow
async def test_app_can_be_launched_from_any_folder(site: Site, tmp_path: Path) -> None:
    """`extensionPath`, with the services' own port where none is given."""
    async with serve_reader(site, tmp_path, built=False) as server:
        refused = await server.refused("xy_launch")
        titles = ["Dunes", "Moors", "Fens"]
        launched = await server.call(
            "xy_launch", extensionPath=str(READER), stateMode="custom", fixture={"titles": titles}
        )

    assert refused["code"] == "XY_LAUNCH_FAILED"
    assert refused["message"] == f"There is no build of Reading list in {tmp_path / 'build/extension'}"
    assert launched["state"]["networkName"] == "a shelf of 3"


async def test_app_without_build_step_is_already_built(server: Server) -> None:
    """There is no build type, because nothing was built."""
    assert await server.call("xy_build") == {"extensionPathResolved": "build/extension"}


@pytest.mark.slow
async def test_screens_of_the_app_are_recognized(reader: Server) -> None:
    """For another app: by what can be seen, by the address, and the unknown one."""
    seen = [(await state(reader))["currentScreen"]]
    for arguments in (
        {"screen": "settings"},
        {"screen": "home"},
        {"screen": "url", "url": (await state(reader))["currentUrl"].replace("list.html", "panel.html")},
        {"screen": "url", "url": reader.site.page("<button data-testid=reader-title>No list</button>")},
    ):
        await reader.call("xy_navigate", **arguments)
        seen.append((await state(reader))["currentScreen"])

    assert seen == ["list", "options", "list", "next", "unknown"]


@pytest.mark.slow
async def test_window_opened_by_the_app_is_its_notification(reader: Server) -> None:
    await add(reader, "Tides")
    await reader.call("xy_click", selector="text=Remind me")
    found = await reader.call("xy_wait_for_notification")
    described = await reader.call("xy_describe_screen")
    clicked = await reader.call("xy_click", testId="reminder-done")

    assert found["pageUrl"].partition("#")[0].endswith("/reminder.html")
    assert described["state"]["currentScreen"] == "reminder"
    assert clicked["pageClosed"] is True
    assert (await state(reader))["balance"] == "0 to read"


@pytest.mark.slow
async def test_wait_continues_when_a_notification_window_closes(reader: Server) -> None:
    await add(reader, "Tides")
    await reader.call("xy_click", selector="text=Remind me")
    await reader.call("xy_wait_for_notification")
    await reader.call("xy_click", testId="reminder-soon", observe="none")

    found = await reader.call("xy_wait_for", testId="reader-article")

    assert (found["found"], found["target"], len(found["closedPages"])) == (True, "testId:reader-article", 1)


@pytest.mark.slow
async def test_steps_of_the_app_are_recorded_with_its_screens(reader: Server) -> None:
    """What a secret screen shows is in none of them."""
    await add(reader, "Tides open sesame")
    await reader.call("xy_click", selector="text=Remind me")
    await reader.call("xy_wait_for_notification")
    await reader.call("xy_describe_screen")
    await reader.code("xy_click", selector="text=sesame tides", timeoutMs=0)
    await reader.code("xy_click", selector="text=sesamee", timeoutMs=0)
    await reader.code("xy_click", testId="reminder", timeoutMs=0)
    session = (await reader.envelope("xy_get_state"))["meta"]["sessionId"]
    await reader.call("xy_click", testId="reminder-later")

    files = sorted((reader.root / "test-artifacts/llm-knowledge" / session / "steps").glob("*.json"))
    steps = [json.loads(file.read_text("utf-8")) for file in files]
    schema = Draft7Validator(step_schema(READER_APP.screen_names))

    assert [error.message for step in steps for error in schema.iter_errors(step)] == []
    assert {step["tool"]["name"].partition("_")[0] for step in steps} == {"xy"}
    assert {step["sessionId"] for step in steps} == {session}
    assert {step["observation"]["state"]["currentScreen"] for step in steps} == {"list", "reminder"}
    assert not [file.name for file in files if "sesame" in file.read_text("utf-8").lower()]
    assert {tuple(step["build"]) for step in steps} == {("extensionPathResolved",)}


@pytest.mark.slow
async def test_call_with_invalid_arguments_is_not_recorded_as_a_step(reader: Server) -> None:
    """What comes after it begins where the page is."""
    await add(reader, "Dunes")
    before = await reader.call("xy_knowledge_last", n=1)

    assert await reader.code("xy_click", testid="reader-add") == "XY_INVALID_INPUT"
    assert await reader.code("xy_click", testId=7) == "XY_INVALID_INPUT"

    assert await reader.call("xy_knowledge_last", n=1) == before
    await reader.call("xy_click", testId="reader-add")
    steps = (await reader.call("xy_knowledge_summarize"))["steps"]
    assert steps[-1]["notes"].endswith(" on list")


@pytest.mark.slow
async def test_report_contains_screenshots(reader: Server) -> None:
    path = Path((await reader.call("xy_screenshot", name="the list"))["path"])
    session = (await reader.envelope("xy_get_state"))["meta"]["sessionId"]

    page = make_report(reader.root / "test-artifacts/llm-knowledge", session)

    assert page is not None
    assert "data:image/png;base64," in page
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # noqa: ASYNC240


async def test_recipe_reports_the_number_of_omitted_steps(server: Server) -> None:
    """A short id is that of no session, rather than of the steps without one."""
    store = KnowledgeStore(server.root / "test-artifacts/llm-knowledge")
    for number in range(103):
        at = datetime(2026, 1, 15, 12, second=number % 60, minute=number // 60, tzinfo=UTC)
        store.record(RawStep(tool="xy_click", session_id="xy-long", at=at, ok=True))
    store.record(RawStep(tool="xy_click", session_id=None, at=at, ok=True))
    store.close()

    recipe = await server.call("xy_knowledge_summarize", sessionId="xy-long")

    assert (recipe["omittedBefore"], recipe["steps"][0]["step"]) == (3, 4)
    for id in ("x", "xy", "xyz"):
        assert (await server.call("xy_knowledge_summarize", sessionId=id))["steps"] == []
        assert (await server.call("xy_knowledge_last", sessionId=id))["steps"] == []
    assert len((await server.call("xy_knowledge_summarize", sessionId="mm-none"))["steps"]) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("does-not-start", "The services of Reading list did not start: RuntimeError: no wood for the shelf"),
        ("ends-at-once", "the shelf has ended by itself"),
    ],
)
async def test_a_service_that_fails_fails_the_launch_and_leaves_nothing(
    site: Site, tmp_path: Path, preset: str, message: str
) -> None:
    assert preset in FAULTS
    async with serve_reader(site, tmp_path) as server:
        failed = await server.refused("xy_launch", ports=server.ports, fixturePreset=preset)
        port_is_free, left = is_free(server.ports["fixtureServer"]), processes_of(server)
        again = await server.call("xy_launch", ports=server.ports)

    assert (failed["code"], failed["message"]) == ("XY_LAUNCH_FAILED", message)
    assert (port_is_free, left) == (True, [])
    assert again["state"]["currentScreen"] == "list"


async def test_service_error_message_is_passed_on(server: Server) -> None:
    error = await server.refused("xy_launch", fixturePreset="attic")

    assert (error["code"], error["message"]) == (
        "XY_INVALID_CONFIG",
        "fixturePreset: there is no shelf attic",
    )


async def test_occupied_port_is_named(server: Server) -> None:
    listener = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        error = await server.refused("xy_launch", ports={"fixtureServer": port})

    assert error["code"] == "XY_LAUNCH_FAILED"
    assert str(port) in error["message"]


@pytest.mark.slow
async def test_minimal_profile_has_only_a_home_screen(site: Site, tmp_path: Path) -> None:
    """Pages that it does not name are invalid input."""
    async with serve_reader(site, tmp_path, profile="BARE") as server:
        launched = await server.call("app_launch")
        errors = [
            await server.refused("app_navigate", screen=screen) for screen in ("settings", "notification")
        ]
        await server.call("app_navigate", screen="home")

    assert launched["sessionId"].startswith("app-")
    assert (launched["state"]["currentScreen"], launched["state"]["isUnlocked"]) == ("unknown", False)
    assert [(error["code"], error["message"]) for error in errors] == [
        ("APP_INVALID_INPUT", "screen: Bare list has no page for settings"),
        ("APP_INVALID_INPUT", "screen: Bare list has no page for notification"),
    ]


BROKEN = {
    "raises.py": "raise OSError('no disk')\n",
    "unreadable.py": "def (\n",
    "prefixed.py": "from footlight.apps.profile import AppProfile\nAppProfile(name='x', prefix='X-y')\n",
}


MISSING_PROFILES = [
    ("no_such_module:APP", "ModuleNotFoundError: No module named 'no_such_module'"),
    (f"{PROFILES}:ABSENT", f"AttributeError: module '{PROFILES}' has no attribute 'ABSENT'"),
    (f"{PROFILES}:NO_APP", "must be an AppProfile, not str"),
    ("raises:APP", "OSError: no disk"),
    ("unreadable:APP", "SyntaxError: "),
    ("prefixed:APP", "ValueError: prefix: 'X-y' is not a lower-case letter"),
    ("just_a_module", "String should match pattern"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "said"), sample_parameters(MISSING_PROFILES, MISSING_PROFILES[0], MISSING_PROFILES[2])
)
def test_invalid_profile_is_reported_before_anything_starts(name: str, said: str, tmp_path: Path) -> None:
    for file, text in BROKEN.items():
        (tmp_path / file).write_text(text, "utf-8")

    ended = run("--app", name, cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (2, "")
    first = ended.stderr.splitlines()[0]
    assert first.startswith("footlight: ")
    assert "app.profile" in first
    assert said in first
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_app_profile_with_another_toolset_is_refused(tmp_path: Path) -> None:
    ended = run("--toolset", "browser", "--app", f"{PROFILES}:READER_APP", cwd=tmp_path)

    assert (ended.returncode, ended.stderr.splitlines()[0]) == (
        2,
        "footlight: setting 'app.profile' needs 'toolset' to be 'metamask', not 'browser'",
    )


def run(*flags: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "footlight", "serve", "--log-level", "error", *flags],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
