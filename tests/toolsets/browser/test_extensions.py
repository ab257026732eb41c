"""Unpacked extensions in the browsers of the toolset: listed, opened, used, and isolated by session."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.apps.wallet_folder import READER, WALLET
from tests.conftest import ENGINE, Browser, SessionBrowser, connect_browser, server_command
from tests.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="extensions are Chromium's alone"),
]

FLAGS = (
    *("--enable-script-evaluation", "--timeout", "15000", "--observe", "none", "--tools", "all"),
    *("--extension", str(READER), "--extension", str(WALLET)),
)


class Extended(SessionBrowser):
    """With the reading list and the wallet in it, by the answer that made the session."""

    def __init__(self, browser: Browser, made: dict[str, Any]) -> None:
        super().__init__(browser, made["sessionId"])
        self.reader, self.wallet = made["extensions"]

    def url(self, extension: dict[str, Any], path: str) -> str:
        return f"chrome-extension://{extension['id']}/{path}"

    async def unlock_page(self) -> None:
        """Wait for the first page of the wallet's onboarding that has a field. It runs no scripts."""
        await self.call("navigate", url=self.url(self.wallet, "home.html"))
        await self.call("click", selector="testid=get-started")
        await self.call("click", selector="testid=onboarding-import-wallet")


@pytest.fixture(scope="module")
async def server(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    root = tmp_path_factory.mktemp("extended")
    async with connect_browser(site, *FLAGS, "--state-directory", str(root / "state"), DISPLAY="") as browser:
        browser.root = root
        yield browser


@asynccontextmanager
async def open_session(server: Browser, **options: Any) -> AsyncGenerator[Extended]:
    browser = Extended(server, await server.call("create_session", **options))
    try:
        yield browser
    finally:
        await browser.call("close_session")


@pytest.fixture
async def extended(server: Browser) -> AsyncGenerator[Extended]:
    async with open_session(server) as browser:
        yield browser


# Told


@pytest.mark.slow
async def test_extensions_and_their_page_urls_are_reported(extended: Extended, server: Browser) -> None:
    [session] = (await server.call("list_sessions"))["sessions"]
    read = await server.client.read_resource(f"playwright:///session/{extended.session_id}")

    made = [extended.reader, extended.wallet]
    ids = [each["id"] for each in made]
    assert made == [
        {
            "id": ids[0],
            "name": "Reading list",
            "version": "1.0.0",
            "pages": {
                "popup": f"chrome-extension://{ids[0]}/popup.html",
                "options": f"chrome-extension://{ids[0]}/options.html",
                "side-panel": f"chrome-extension://{ids[0]}/panel.html",
            },
        },
        {
            "id": ids[1],
            "name": "Test wallet",
            "version": "1.0.0",
            "pages": {"popup": f"chrome-extension://{ids[1]}/popup.html"},
        },
    ]
    assert session["extensions"] == made
    # The wallet may open its first page between the two calls.
    metadata = json.loads(read.contents[0].text)["metadata"]  # type: ignore[union-attr]
    assert {**metadata, "pages": session["pages"]} == session


async def test_instructions_mention_installed_extensions(server: Browser, site: Site) -> None:
    reported = "Extensions: each session is a separate browser with the extensions installed."

    assert reported in (server.client.instructions or "")
    async with connect_browser(site) as plain:
        assert reported not in (plain.client.instructions or "")


# Used


@pytest.mark.slow
async def test_page_opened_by_an_extension_on_install_is_listed(extended: Extended) -> None:
    url = extended.url(extended.reader, "list.html")
    await extended.call("navigate", url="about:blank")
    listed = await extended.call("tabs", action="list")
    while url not in [each["url"] for each in listed["tabs"]]:
        listed = await extended.call("tabs", action="list")
    [opened] = [each for each in listed["tabs"] if each["url"] == url]

    assert opened == {"pageId": opened["pageId"], "url": url, "title": "Reading list", "active": False}
    assert listed["active"] == "page-1"


async def test_extension_pages_are_used_like_any_page(extended: Extended) -> None:
    await extended.call("navigate", url=extended.reader["pages"]["popup"])
    await extended.call("fill", selector="testid=reader-title", value="Lamps")
    await extended.call("click", selector="testid=reader-add")
    await extended.call("wait_for", text="1 to read")

    await extended.call("navigate", url=extended.reader["pages"]["side-panel"])
    await extended.call("wait_for", text="Lamps")
    await extended.call("navigate", url=extended.reader["pages"]["options"])
    await extended.call("select", selector="testid=options-sort", value="newest")

    assert await extended.call("get_value", selector="testid=options-sort") == {"value": "newest"}


@pytest.mark.slow
async def test_click_reports_a_window_opened_by_the_extension(extended: Extended) -> None:
    await extended.call("navigate", url=extended.reader["pages"]["popup"])
    await extended.call("fill", selector="testid=reader-title", value="Lamps")
    await extended.call("click", selector="testid=reader-add")

    clicked = await extended.call("click", selector="testid=reader-article >> button:has-text('Remind me')")
    while not (new := clicked.get("newPages")) or "reminder" not in new[-1]["url"]:
        clicked = await extended.call("tabs", action="list")

    await extended.call("wait_for", text="Lamps", pageId=new[-1]["pageId"])
    assert await extended.call("get_text", selector="testid=reminder-title", pageId=new[-1]["pageId"]) == {
        "text": "Lamps"
    }
    closing = await extended.call("click", selector="testid=reminder-done", pageId=new[-1]["pageId"])
    while not closing.get("closedPages"):
        closing = await extended.call("get_cookies")
    assert closing["closedPages"] == [new[-1]["pageId"]]


@pytest.mark.slow
async def test_tab_opened_later_is_not_reported_as_popup(
    extended: Extended,
) -> None:
    await extended.call("navigate", url=extended.reader["pages"]["popup"])
    while len((await extended.call("tabs", action="list"))["tabs"]) < 2:
        pass

    made = await extended.call("tabs", action="new", url="about:blank")

    assert made == {"active": "page-3", "url": "about:blank"}


@pytest.mark.slow
async def test_sessions_do_not_share_extension_data(extended: Extended, server: Browser) -> None:
    await extended.call("navigate", url=extended.reader["pages"]["popup"])
    await extended.call("fill", selector="testid=reader-title", value="Lamps")
    await extended.call("click", selector="testid=reader-add")
    await extended.call("wait_for", text="1 to read")
    async with open_session(server) as other:
        await other.call("navigate", url=other.reader["pages"]["popup"])

        assert await other.call("wait_for", text="0 to read")


# Pages that let no script run in their world


@pytest.mark.slow
async def test_tools_act_on_a_locked_down_extension_page(extended: Extended) -> None:
    await extended.unlock_page()
    note = "testid=srp-input-import__srp-note"

    await extended.call("fill", selector=note, value="spread raise")
    await extended.call("type", selector=note, text=" short")
    await extended.call("press", key="End")
    await extended.call("press", key="!")

    assert await extended.call("get_value", selector=note) == {"value": "spread raise short!"}
    assert await extended.call("get_text", selector="h1") == {"text": "Import a wallet"}
    assert await extended.call("fill_form", fields={note: "crane"})
    assert await extended.call("get_value", selector=note) == {"value": "crane"}
    assert (await extended.call("scroll", y=10))["y"] == 0


@pytest.mark.slow
async def test_locked_down_page_can_be_read_and_waited_for(extended: Extended) -> None:
    await extended.call("navigate", url=extended.url(extended.wallet, "home.html"))

    await extended.call("wait_for", text="Welcome to the test wallet")
    await extended.call("click", selector="testid=get-started")
    await extended.call("wait_for", textGone="Welcome to the test wallet")

    buttons = await extended.call("get_all_text", selector="button")
    found = await extended.call("find_elements", selector="button")
    described = await extended.call("find_element", selector="testid=onboarding-import-wallet")
    assert [each["text"] for each in found["elements"]] == buttons["texts"]
    assert described["element"]["selector"] == '[data-testid="onboarding-import-wallet"]'


@pytest.mark.slow
async def test_failures_in_a_locked_down_page_are_explained(extended: Extended) -> None:
    await extended.unlock_page()

    disabled = await extended.refused("click", selector="testid=import-srp-confirm", timeout=2000)
    missing = await extended.refused("click", selector="testid=srp-note", timeout=1000)

    assert (disabled["code"], disabled["details"]["reason"]) == ("ELEMENT_NOT_INTERACTIVE", "disabled")
    assert missing["details"]["closest"] == [
        'textbox "Secret Recovery Phrase" ([data-testid="srp-input-import__srp-note"])',
        'button "Continue" ([data-testid="import-srp-confirm"])',
    ]


@pytest.mark.slow
async def test_changing_script_does_not_run_in_a_locked_down_page(extended: Extended) -> None:
    await extended.unlock_page()

    error = await extended.refused("evaluate", script="globalThis.changed = 1")

    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        'script: "eval" is not accessible under scuttling',
    )


# Options and limits


@pytest.mark.slow
async def test_session_options_apply_with_extensions(server: Browser) -> None:
    async with open_session(
        server,
        viewport={"width": 640, "height": 360},
        locale="pt-BR",
        timezone="Asia/Tokyo",
        userAgent="Lamp/7",
        initScripts=["globalThis.lamp = 7"],
    ) as browser:
        await browser.show("<p>x</p>")

        script = """[innerWidth, innerHeight, navigator.language, navigator.userAgent, lamp,
            Intl.DateTimeFormat().resolvedOptions().timeZone]"""
        answer = await browser.call("evaluate", script=script)
        assert answer["result"] == [640, 360, "pt-BR", "Lamp/7", 7, "Asia/Tokyo"]


@pytest.mark.slow
async def test_device_keeps_its_own_viewport_with_extensions(server: Browser) -> None:
    async with open_session(server, device="Pixel 7") as browser:
        await browser.show('<meta name="viewport" content="width=device-width"><p>x</p>')

        answer = await browser.call("evaluate", script="[innerWidth, devicePixelRatio]")
        assert answer["result"] == [412, 2.625]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("timezone", "Mars/Olympus"),
        ("permissions", ["flying"]),
        ("extraHeaders", {"a b": "c"}),
        ("device", "Abacus 3"),
    ],
)
async def test_unsupported_option_is_refused_by_name(server: Browser, option: str, value: object) -> None:
    error = await server.refused("create_session", **{option: value})

    assert (error["code"], error["details"]["parameter"]) == ("INVALID_PARAMETER", option)
    assert (await server.call("list_sessions"))["sessions"] == []


@pytest.mark.slow
async def test_saved_state_is_restored_from_the_start(extended: Extended, server: Browser) -> None:
    await extended.show("<script>localStorage.lamp = 'lit'; document.cookie = 'seen=yes'</script>")
    url = (await extended.call("tabs", action="list"))["url"]
    await extended.call("save_state", name="lit")

    async with open_session(server, state="lit") as other:
        await other.call("navigate", url=extended.site.page("<p>x</p>"))

        answer = await other.call("evaluate", script="[localStorage.lamp, document.cookie]")
        assert answer["result"] == ["lit", "seen=yes"]
        assert (await other.call("restore_state", state={"name": "lit"}))["url"] == url


@pytest.mark.slow
async def test_proxy_is_refused_when_the_server_restricts_domains(site: Site) -> None:
    flags = ("--extension", str(READER), "--allow-domain", "127.0.0.1")
    async with connect_browser(site, *flags, DISPLAY="") as browser:
        error = await browser.refused("create_session", proxy={"server": "http://127.0.0.1:9"})
        assert (error["code"], error["details"]) == ("PERMISSION_DENIED", {"parameter": "proxy"})

        made = await browser.call("create_session")
        await browser.call("navigate", url=site.page("<p>lit</p>"), sessionId=made["sessionId"])
        popup = made["extensions"][0]["pages"]["popup"]
        await browser.call("navigate", url=popup, sessionId=made["sessionId"])
        text = await browser.call("get_text", selector="h1", sessionId=made["sessionId"])
        assert text == {"text": "Reading list"}


@pytest.mark.slow
async def test_persistent_session_keeps_site_data_but_not_extension_data(site: Site, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"session": {"persistentSessions": True}}))
    flags = ("--config", str(config), "--state-directory", str(tmp_path / "state"))
    flags += ("--extension", str(READER), "--enable-script-evaluation", "--headless")
    page = site.page("<p>x</p>")
    async with connect_browser(site, *flags) as browser:
        await browser.call("navigate", url=page)
        await browser.call("evaluate", script="localStorage.lamp = 'lit'")

    async with connect_browser(site, *flags) as browser:
        kept = await browser.call("evaluate", script="[location.href, localStorage.lamp]")
        assert kept["result"] == [page, "lit"]


@pytest.mark.slow
async def test_browser_count_stays_within_the_configured_limit(site: Site, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"pool": {"minBrowsers": 1, "maxBrowsers": 1}}))
    flags = ("--config", str(config), "--extension", str(READER), "--headless")
    async with connect_browser(site, *flags) as browser:
        made = await browser.call("create_session")
        error = await browser.refused("create_session")
        assert error == {
            "code": "RESOURCE_EXHAUSTED",
            "message": "All 1 browsers are in use; with extensions each session has its own",
            "details": {"maxBrowsers": 1},
            "retryable": True,
            "suggestion": "Close a session that is not needed with close_session, then try again.",
        }

        await browser.call("close_session", sessionId=made["sessionId"])
        assert await browser.call("create_session")


@pytest.mark.slow
def test_folder_without_manifest_is_refused_at_startup(tmp_path: Path) -> None:
    command = server_command("--extension", str(tmp_path))
    ended = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)

    assert ended.returncode != 0
    assert b"setting 'browser.extensions':" in ended.stderr
    assert b"manifest.json cannot be read: No such file or directory" in ended.stderr


@pytest.mark.slow
async def test_a_browser_that_is_missing_is_reported_by_each_call(site: Site, tmp_path: Path) -> None:
    flags = ("--extension", str(READER), "--executable-path", str(tmp_path / "none"))
    async with connect_browser(site, *flags) as browser:
        for _ in range(2):
            assert (await browser.refused("create_session"))["code"] == "BROWSER_NOT_INSTALLED"


@pytest.mark.slow
async def test_browser_that_ignores_extensions_is_refused_with_reason(site: Site, tmp_path: Path) -> None:
    """This one runs none, whatever it loads."""
    from shutil import which

    chromium = which("chromium")
    if chromium is None:
        pytest.skip("needs a chromium on PATH to wrap")
    deaf = tmp_path / "deaf-chromium"
    deaf.write_text(f'#!/bin/bash\nexec {chromium} "$@" --disable-extensions\n')
    deaf.chmod(0o755)
    flags = ("--extension", str(READER), "--executable-path", str(deaf), "--headless", "--timeout", "60000")
    async with connect_browser(site, *flags) as browser:
        error = await browser.refused("create_session")

    assert error["code"] == "BROWSER_NOT_INSTALLED"
    assert error["message"] == f"{deaf} did not load Reading list ({READER})"
    assert "Chrome and Edge take no extensions from their command line" in error["suggestion"]
