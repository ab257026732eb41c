"""Browsers with extensions: launched with a new profile, and closed without leaving anything behind."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import psutil
import pytest

from footlight.browser.context.devices import Devices
from footlight.browser.context.options import Proxy, SessionOptions
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.pending_starts import PendingStarts
from footlight.browser.driver.playwright_connection import start_playwright
from footlight.browser.launch.extension_launch import ExtensionLauncher
from footlight.browser.launch.extension_pool import ExtensionPool
from footlight.browser.launch.extensions import read_extension
from footlight.browser.network.policy import DomainPolicy
from footlight.browser.page.capture import register_engine
from footlight.browser.reading.storage import read_extension_storage
from footlight.browser.reading.test_ids import FieldKind, VisibleTestId, describe_field, list_test_ids
from footlight.browser.recording.artifact_store import ArtifactStore
from footlight.browser.sessions.environment import SessionEnvironment
from footlight.browser.sessions.session import Session
from footlight.config import BrowserSettings, DialogSettings, Settings
from footlight.errors import FootlightError, PermissionDeniedError, ResourceExhaustedError
from tests.apps.wallet_folder import READER, WALLET
from tests.conftest import ENGINE
from tests.processes import browsers_in, descendants_of, wait_until

if TYPE_CHECKING:
    from footlight.browser.page.page import Page

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="extensions are Chromium's alone"),
]

EXTENSIONS = [read_extension(READER), read_extension(WALLET)]


@pytest.fixture
def folder() -> Generator[Path]:
    """Not pytest's own: a browser does not start on a profile whose path is long."""
    with tempfile.TemporaryDirectory(prefix="fl-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
async def launcher(folder: Path) -> AsyncGenerator[ExtensionLauncher]:
    async with make_launcher(folder) as launcher:
        yield launcher


@asynccontextmanager
async def make_launcher(
    folder: Path, *, filter_proxy: str | None = None
) -> AsyncGenerator[ExtensionLauncher]:
    async with start_playwright(folder) as playwright:
        await register_engine(playwright)
        yield ExtensionLauncher(
            lambda: playwright,
            BrowserSettings(),
            devices=Devices(cast("dict[str, Any]", playwright.devices)),
            filter_proxy=filter_proxy,
            temporary=folder,
            starts=PendingStarts(),
        )


def profiles_in(folder: Path) -> list[Path]:
    return list(folder.glob("profile-*"))


def pool_of(launcher: ExtensionLauncher, most: int) -> ExtensionPool:
    settings = Settings.model_validate({"pool": {"minBrowsers": 0, "maxBrowsers": most}})
    return ExtensionPool(settings, launcher=launcher, extensions=EXTENSIONS[:1], headless=True)


@asynccontextmanager
async def open_extension_page(
    launcher: ExtensionLauncher, folder: Path, path: str
) -> AsyncGenerator[tuple[Page, str]]:
    """Yield a page of the reading list, or of the wallet where the path says so; and the id of its
    extension.
    """
    browser = await launcher.launch(EXTENSIONS, SessionOptions(), headless=True)
    pool = pool_of(launcher, 1)
    pooled = await pool._wrap(browser)  # pyright: ignore[reportPrivateUsage]
    environment = SessionEnvironment(
        policy=DomainPolicy((), (), extensions=True),
        dialogs=DialogSettings(),
        download_path=folder,
        output_path=folder,
        scratch_path=folder,
        artifacts=ArtifactStore(10),
    )
    session = await Session.open(
        "s",
        owner="",
        options=browser.options,
        browser=pooled,
        environment=environment,
        context=pooled.context,
    )
    try:
        page = await session.page_table.get()
        name, _, file = path.partition("/")
        extension = browser.extensions[("reader", "wallet").index(name)]
        await page.playwright.goto(extension.url(file))
        yield page, extension.id
    finally:
        await session.close()
        await pool.close()


# Launching


async def test_browser_with_extensions_leaves_no_process_or_profile(
    launcher: ExtensionLauncher, folder: Path
) -> None:
    browser = await launcher.launch(EXTENSIONS, SessionOptions(), headless=True)

    assert [each.extension for each in browser.extensions] == EXTENSIONS
    assert browser.window == "none"
    assert browser.profile.is_dir()
    family = [browser.process, *descendants_of(browser.process)]

    await browser.end()

    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
    assert not browser.profile.exists()


@pytest.mark.slow
async def test_two_browsers_have_separate_profiles(launcher: ExtensionLauncher) -> None:
    one, another = [await launcher.launch(EXTENSIONS[:1], SessionOptions(), headless=True) for _ in range(2)]

    assert one.profile != another.profile
    assert one.extensions == another.extensions
    await one.end()
    await another.end()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SessionOptions(timezone="Mars/Olympus"), "timezone: "),
        (SessionOptions(permissions=("flying",)), "permissions: "),
        (SessionOptions(device="Abacus 3"), "device: "),
    ],
)
async def test_failed_launch_leaves_no_process_or_profile(
    launcher: ExtensionLauncher, folder: Path, options: SessionOptions, message: str
) -> None:
    with pytest.raises(FootlightError) as refused:
        await launcher.launch(EXTENSIONS[:1], options, headless=True)

    assert refused.value.message.startswith(message)
    _, alive = psutil.wait_procs(browsers_in(folder), timeout=20)
    assert alive == []
    assert profiles_in(folder) == []


async def test_session_proxy_is_refused_with_a_domain_policy(folder: Path) -> None:
    async with make_launcher(folder, filter_proxy="http://127.0.0.1:9") as launcher:
        with pytest.raises(PermissionDeniedError, match="proxy: this server restricts domains"):
            await launcher.launch([], SessionOptions(proxy=Proxy(server="http://127.0.0.1:8")), headless=True)


# The pool


@pytest.mark.slow
async def test_full_pool_refuses_or_waits_until_a_browser_ends(launcher: ExtensionLauncher) -> None:
    pool = pool_of(launcher, 1)
    first = await pool.acquire(SessionOptions())
    with pytest.raises(ResourceExhaustedError, match="All 1 browsers are in use"):
        await pool.acquire(SessionOptions())

    pool.release(first)
    waiting = asyncio.create_task(pool.acquire(SessionOptions()))
    await pool.end_session(first)
    second = await waiting

    assert second is not first
    assert first.disconnected.is_set()
    await pool.close()
    assert second.disconnected.is_set()


@pytest.mark.slow
async def test_closing_pool_cancels_a_running_launch(launcher: ExtensionLauncher, folder: Path) -> None:
    pool = pool_of(launcher, 2)
    launch = asyncio.create_task(pool.acquire(SessionOptions()))
    async with asyncio.timeout(30):
        while not profiles_in(folder):  # noqa: ASYNC110 - a folder has no event for us
            await asyncio.sleep(0)

    await pool.close()

    with pytest.raises(asyncio.CancelledError):
        await launch
    await wait_until(lambda: not (profiles_in(folder) or browsers_in(folder)))


async def test_a_cancelled_launch_leaves_no_browser(launcher: ExtensionLauncher, folder: Path) -> None:
    launch = asyncio.create_task(launcher.launch(EXTENSIONS[:1], SessionOptions(), headless=True))
    await wait_until(lambda: browsers_in(folder))

    launch.cancel()

    with pytest.raises(asyncio.CancelledError):
        await launch
    await wait_until(lambda: not (profiles_in(folder) or browsers_in(folder)))


@pytest.mark.slow
async def test_crashed_browser_frees_its_place_in_the_pool(
    launcher: ExtensionLauncher, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pool = pool_of(launcher, 1)
    browser = await pool.acquire(SessionOptions())
    [running] = browsers_in(folder)

    with caplog.at_level(logging.WARNING, "footlight.browser.launch.extension_pool"):
        running.kill()
        await browser.disconnected.wait()
        another = await pool.acquire(SessionOptions())

    assert another is not browser
    assert [each.message for each in caplog.records if each.name.endswith("extension_pool")] == [
        "a browser has ended; its session is created again when it is needed"
    ]
    assert len(profiles_in(folder)) == 1
    await pool.close()


# What its pages keep and show


@pytest.mark.slow
async def test_storage_is_read_past_the_page(launcher: ExtensionLauncher, folder: Path) -> None:
    async with open_extension_page(launcher, folder, "reader/options.html") as (page, id):
        deadline = Deadline.after(10_000)

        await page.playwright.evaluate(
            """async () => {
              await chrome.storage.local.set({ lamp: { lit: [1, null, "ä"] }, oil: 3 });
              await chrome.storage.session.set({ oil: 4 });
            }"""
        )

        assert await read_extension_storage(page, id, ["lamp"], deadline) == {"lamp": {"lit": [1, None, "ä"]}}
        assert await read_extension_storage(page, id, ["oil", "none"], deadline) == {"oil": 3}
        assert await read_extension_storage(page, id, [], deadline, area="session") == {"oil": 4}
        assert await read_extension_storage(page, id, [], deadline, area="sync") == {}


async def test_storage_of_an_unknown_extension_is_refused(launcher: ExtensionLauncher, folder: Path) -> None:
    async with open_extension_page(launcher, folder, "reader/options.html") as (page, _):
        with pytest.raises(FootlightError):
            await read_extension_storage(page, "a" * 32, [], Deadline.after(10_000))


@pytest.mark.slow
async def test_test_ids_are_listed_despite_script_restrictions(
    launcher: ExtensionLauncher, folder: Path
) -> None:
    async with open_extension_page(launcher, folder, "wallet/home.html") as (page, _):
        await page.playwright.get_by_test_id("get-started").wait_for()

        assert await list_test_ids(page, Deadline.after(10_000), limit=10) == [
            VisibleTestId("get-started", "button", "Get started")
        ]


@pytest.mark.slow
async def test_test_id_list_is_limited_and_omits_typed_text(
    launcher: ExtensionLauncher, folder: Path
) -> None:
    async with open_extension_page(launcher, folder, "reader/popup.html") as (page, _):
        deadline = Deadline.after(10_000)
        await page.playwright.get_by_test_id("reader-title").fill("a secret")
        await page.playwright.get_by_text("0 to read").wait_for()

        seen = await list_test_ids(page, deadline, limit=3)

        assert seen == [
            VisibleTestId("reader-title", "input", ""),
            VisibleTestId("reader-add", "button", "Add"),
            VisibleTestId("reader-count", "p", "0 to read"),
        ]
        assert await describe_field(page, "testid=reader-title", deadline) == FieldKind(
            tag="input",
            type="text",
            autocomplete="",
            test_id="reader-title",
            role="textbox",
            name="Title",
            hint="title",
        )
