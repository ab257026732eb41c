"""The driver that is started before Playwright is imported."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright._impl._driver import compute_driver_executable

from footlight.browser.context.options import SessionOptions
from footlight.browser.driver import early_driver
from footlight.browser.driver.early_driver import EarlyDriver, driver_environment, start_early_driver
from footlight.browser.driver.playwright_connection import start_playwright
from footlight.browser.sessions.engine import Engine
from footlight.caller import LOCAL
from footlight.config import BrowserSettings, Settings
from tests.conftest import ENGINE

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
SERVE = [sys.executable, "-m", "footlight", "serve", "--log-level", "error"]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the temporary folders of this test are."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def driver_processes(folder: Path) -> list[psutil.Process]:
    """Return the drivers whose temporary files are below the folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            is_driver = "run-driver" in process.cmdline()
            if is_driver and process.environ().get("TMPDIR", "").startswith(str(folder)):
                found.append(process)
        except psutil.Error:
            continue
    return found


async def wait_for_driver(folder: Path) -> psutil.Process:
    """Return the driver below the folder. Just after its start it is still a copy of this process."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while not (found := driver_processes(folder)):  # noqa: ASYNC110 - nothing tells of its start
            await asyncio.sleep(0.01)
    (driver,) = found
    return driver


def has_remains(folder: Path) -> bool:
    """Return whether a driver runs, or a temporary folder exists, below the folder."""
    return bool(driver_processes(folder) or list(folder.iterdir()))


def take_driver(driver: EarlyDriver) -> tuple[subprocess.Popen[bytes], Path]:
    """Return the process of a driver and its folder."""
    taken = driver.take()
    assert taken is not None
    return taken


async def test_early_driver_is_used_by_playwright(temporary: Path) -> None:
    with start_early_driver() as driver:
        assert driver is not None
        process, folder = take_driver(driver)
        async with start_playwright(folder, process) as playwright:
            assert "iPhone 15" in playwright.devices
            assert [each.pid for each in driver_processes(temporary)] == [process.pid]
        assert process.returncode is not None
        assert driver.take() is None

    assert folder.is_dir(), "the folder belongs to whoever has taken it"


async def test_incompatible_playwright_starts_its_own_driver(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The members of Playwright that the connection needs are private, so they may change."""
    monkeypatch.setattr("footlight.browser.driver.playwright_connection.PlaywrightClient", object)
    with start_early_driver() as driver:
        assert driver is not None
        process, folder = take_driver(driver)
        async with start_playwright(folder, process) as playwright:
            assert "iPhone 15" in playwright.devices
            assert process.pid not in [each.pid for each in driver_processes(temporary)]


async def test_unused_early_driver_is_cleaned_up(temporary: Path) -> None:
    with start_early_driver() as driver:
        assert driver is not None
        await wait_for_driver(temporary)

    assert not has_remains(temporary)


@pytest.mark.slow
async def test_engine_replaces_an_early_driver_that_died(temporary: Path) -> None:
    with start_early_driver() as driver:
        assert driver is not None
        (await wait_for_driver(temporary)).kill()
        engine = Engine(Settings.model_validate({"pool": {"minBrowsers": 1}}), early_driver=driver)
        engine.start()
        with pytest.raises(Exception, match="driver"):
            await engine.sessions()
        await engine.sessions()
        await engine.close()

    assert not has_remains(temporary)


def test_failed_server_start_leaves_no_driver(temporary: Path) -> None:
    done = subprocess.run([*SERVE, "--tools", "nonsense"], capture_output=True, text=True, timeout=60)

    assert done.returncode == 2
    assert "there is no tool 'nonsense'" in done.stderr
    assert not has_remains(temporary)


@pytest.mark.slow
def test_requests_before_the_end_of_the_input_are_answered(temporary: Path) -> None:
    answers = serve(
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "ping"},
    )

    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert all("result" in answer for answer in answers)
    assert not has_remains(temporary)


def test_client_disconnect_during_start_leaves_no_driver(temporary: Path) -> None:
    assert serve() == []
    assert not has_remains(temporary)


@pytest.mark.slow
def test_compiled_scripts_are_private_to_the_user(temporary: Path) -> None:
    caches = temporary / "caches"
    assert serve(XDG_CACHE_HOME=str(caches)) == []
    folder = caches / "footlight" / "driver"
    assert folder.stat().st_mode & 0o077 == 0

    assert (
        len(serve({"id": 1, "method": "initialize", "params": INITIALIZE}, XDG_CACHE_HOME="/dev/null")) == 1
    )


async def test_driver_that_has_opened_a_page_keeps_its_compiled_scripts(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = temporary / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    settings = Settings(browser=BrowserSettings.model_validate({"type": ENGINE}))
    for _ in range(2):
        with start_early_driver() as driver:
            engine = Engine(settings, early_driver=driver)
            engine.start()
            sessions = await engine.sessions()
            session = await sessions.create(SessionOptions(), caller=LOCAL)
            await session.page_table.get()
            await engine.close()
        kept = list((caches / "footlight" / "driver").iterdir())
        assert sorted(each.name.partition("-")[0] for each in kept) == ["coreBundle", "utilsBundle"]
        assert all(each.stat().st_mode & 0o077 == 0 for each in kept)


def test_each_step_of_the_start_imports_only_what_it_needs() -> None:
    """The answer to `initialize` needs no Playwright, and the start of the browser no sessions and pages."""
    code = """
import sys
from footlight.app import wiring
from footlight.config.loading import load_settings
from footlight.server.protocol import methods, stream_server
from footlight.toolsets import make_toolset
from footlight.transports import stdio
toolset = make_toolset(load_settings())
toolset.describe(None)
late = ["footlight.server.tools", "footlight.browser.page", "footlight.browser.sessions.session"]
print([name for name in ("anyio", "playwright", "mcp", *late) if name in sys.modules])
from footlight.app.machine import Machine
Machine(load_settings(), toolset, None)
print([name for name in late if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "[]\n[]\n"


INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}


def serve(*messages: dict[str, Any], **environment: str) -> list[dict[str, Any]]:
    """Return the answers of a server whose input ends after the messages."""
    text = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = subprocess.run(
        SERVE,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


SOURCE = r"""
const name_Δ = "─ 😀 \n";
module.exports = [name_Δ, `“${name_Δ}”`, /[à─]+/.exec("à─.")[0]]; // → …
"""
READ_SOURCE = """
const v8 = require("node:v8");
const before = v8.getHeapCodeStatistics().external_script_source_size;
const values = require(process.argv[1]);
if (process.argv[2]) require(process.argv[2]).noteOpenedPage();
const bytes = v8.getHeapCodeStatistics().external_script_source_size - before;
console.log(JSON.stringify({ values, bytes }));
"""


DRIVER_SCRIPTS = Path(early_driver.__file__).with_name("driver_scripts.js")


def read_driver_script(
    folder: Path, source: str, *, opens_page: bool = False, modified_at: int | None = None
) -> dict[str, Any]:
    """Return what the driver's process exports from a script of this source, and the bytes of the source."""
    script = folder / "playwright" / "driver" / "testBundle.js"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"{source}\n/*{'.' * 2_000_000}*/", encoding="utf-8")
    if modified_at is not None:
        os.utime(script, (modified_at, modified_at))
    environment = {**os.environ, **driver_environment(folder)}
    command = [compute_driver_executable()[0], "--eval", READ_SOURCE, str(script)]
    command += [str(DRIVER_SCRIPTS)] if opens_page else []
    return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


async def test_source_of_the_driver_takes_one_byte_for_each_character(temporary: Path) -> None:
    read = read_driver_script(temporary, SOURCE)

    assert read["values"] == ["─ 😀 \n", "“─ 😀 \n”", "à─"]
    assert read["bytes"] < 3_000_000


async def test_source_with_a_backslash_before_another_alphabet_is_left_as_it_is(temporary: Path) -> None:
    read = read_driver_script(temporary, r"module.exports = ['\─', '\\─']")

    assert read["values"] == ["─", "\\─"]


def test_compiled_scripts_are_used_until_the_script_changes(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V8 compares only the length of the source, so that the result shows which functions were run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary / "caches"))

    def read(source: str, modified_at: int = 1_000, *, opens_page: bool = False) -> str:
        source = f"module.exports = (() => '{source}')()"
        read = read_driver_script(temporary, source, opens_page=opens_page, modified_at=modified_at)
        return read["values"]

    kept = temporary / "caches" / "footlight" / "driver"
    assert read("one") == "one"
    assert list(kept.iterdir()) == []  # It opened no page.
    assert read("one", opens_page=True) == "one"
    assert read("two") == "one"
    assert read("two", modified_at=2_000) == "two"

    (file,) = kept.iterdir()
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert read("two", opens_page=True) == "two"
    assert read("one") == "two"
    file.write_bytes(data[:2])
    assert read("one") == "one"


def test_old_compiled_scripts_are_deleted(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary / "caches"))
    kept = temporary / "caches" / "footlight" / "driver"
    kept.mkdir(parents=True, mode=0o700)
    for number in range(20):
        (kept / f"old-{number}").write_text("")
        os.utime(kept / f"old-{number}", (number, number))

    read_driver_script(temporary, "module.exports = 1", opens_page=True)

    names = {each.name.partition("-")[2] for each in kept.iterdir() if each.name.startswith("old-")}
    assert names == {str(number) for number in range(13, 20)}
    assert any(each.name.startswith("testBundle-") for each in kept.iterdir())


REPORT = """
import os, sys
def report(status, end=os._exit):
    names = ("html.entities", "http.client", "importlib.metadata")
    names += ("footlight.browser.launch.persistent_launch", "footlight.toolsets.browser.navigation")
    print("imported:", *[name for name in names if name in sys.modules], file=sys.stderr, flush=True)
    end(status)
os._exit = report
from footlight.cli.main import main
main()
"""


def list_imports(**environment: str) -> str:
    """Start the server and list its tools, and return the line of `REPORT`."""
    requests = [{"id": 1, "method": "initialize", "params": INITIALIZE}, {"id": 2, "method": "tools/list"}]
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *SERVE[3:]],
        input="".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in requests),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=True,
        env={**os.environ, **environment},
    )
    assert len(done.stdout.splitlines()) == 2
    return next(line for line in done.stderr.splitlines() if line.startswith("imported:"))


def test_start_of_the_server_imports_nothing_that_it_does_not_use(temporary: Path) -> None:
    assert list_imports() == "imported:"


def test_plugins_of_pydantic_are_used_if_the_environment_allows_some(temporary: Path) -> None:
    assert list_imports(PYDANTIC_DISABLE_PLUGINS="one-of-them") == "imported: importlib.metadata"
