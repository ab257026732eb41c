"""The test apps work: the wallet with its chain, a site that uses it, and the reader."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, BrowserType, Error, Page, async_playwright, expect

from footlight.apps.metamask.anvil import run_anvil
from footlight.apps.metamask.chain import Chain
from footlight.apps.metamask.fixture_server import serve_fixture
from footlight.apps.metamask.fixtures import ACCOUNT, PASSWORD, SEED_PHRASE
from footlight.browser.launch.chromium_flags import NO_OWN_REQUESTS
from footlight.browser.launch.installation import find_browser
from footlight.config import BrowserSettings
from tests.apps.anvil_path import anvil_path
from tests.apps.wallet_folder import DAPP, READER, wallet
from tests.client.peers import free_port
from tests.site import Site

pytestmark = pytest.mark.anyio

WAIT_MS = 15_000
SOMEBODY = "0x" + "1" * 40
EMPTY = {"data": {}, "meta": {"version": 1}}
"""Without a vault: the wallet begins with its onboarding, and at once."""

TELL_REMOVED = """
new MutationObserver((changes) => {
  for (const { removedNodes } of changes)
    for (const node of removedNodes) if (node.dataset?.screen) console.log("removed", node.dataset.screen);
}).observe(document, { childList: true, subtree: true });
"""


class App:
    """An extension in a browser of its own. `page` is one of its pages."""

    def __init__(self, context: BrowserContext, origin: str, page: Page) -> None:
        self.context = context
        self.origin = origin
        self.page = page

    async def click(self, *test_ids: str) -> None:
        for test_id in test_ids:
            await self.page.get_by_test_id(test_id).click()

    async def fill(self, **values: str) -> None:
        for test_id, value in values.items():
            await self.page.get_by_test_id(test_id.replace("_", "-")).fill(value)

    async def see(self, test_id: str, text: str | re.Pattern[str]) -> None:
        await expect(self.page.get_by_test_id(test_id)).to_have_text(text, timeout=WAIT_MS)

    async def unlock(self) -> None:
        await self.fill(unlock_password=PASSWORD)
        await self.click("unlock-submit")

    async def window(self, opener: Page, test_id: str) -> Page:
        """Return the window that opens when this is clicked."""
        async with self.context.expect_page() as opened:
            await opener.get_by_test_id(test_id).click()
        return await opened.value

    async def answer(self, window: Page, test_id: str) -> None:
        async with window.expect_event("close"):
            try:
                await window.get_by_test_id(test_id).click()
            except Error:
                if not window.is_closed():  # A window may close before its click returns.
                    raise


@asynccontextmanager
async def open_app(chromium: BrowserType, extension: Path, profile: Path, *, at: str) -> AsyncGenerator[App]:
    """Yield a browser without a window, with this extension, at this page of it."""
    found = find_browser(BrowserSettings(), Path(chromium.executable_path), shell=False)
    root = ("--no-sandbox",) if os.getuid() == 0 else ()
    context = await chromium.launch_persistent_context(
        profile,
        executable_path=found.path,
        args=[
            *NO_OWN_REQUESTS,
            *root,
            f"--disable-extensions-except={extension}",
            f"--load-extension={extension}",
        ],
    )
    async with context:
        context.set_default_timeout(WAIT_MS)
        workers = context.service_workers or [await context.wait_for_event("serviceworker")]
        origin = workers[0].url.rpartition("/")[0]
        page = await context.new_page()
        await page.goto(f"{origin}/{at}")
        await page.bring_to_front()  # The extension may have opened one of its own.
        yield App(context, origin, page)


@asynccontextmanager
async def open_wallet(
    chromium: BrowserType, folder: Path, *, chain: Chain | None = None, state: dict[str, Any] | None = None
) -> AsyncGenerator[App]:
    """Yield the wallet, which finds `state` at the fixture server if there is one."""
    port = free_port()
    rpc_port = int(chain.url.rpartition(":")[2]) if chain else free_port()
    extension = wallet(folder, fixture_port=port, rpc_port=rpc_port)
    async with AsyncExitStack() as stack:
        if state is not None:
            await stack.enter_async_context(serve_fixture(state, port=port))
        yield await stack.enter_async_context(
            open_app(chromium, extension, folder / "profile", at="home.html")
        )


async def set_password(app: App) -> None:
    await app.fill(create_password_new_input=PASSWORD, create_password_confirm_input=PASSWORD)
    await app.page.get_by_test_id("create-password-terms").check()
    await app.click("create-password-submit")


async def import_wallet(app: App) -> None:
    await app.click("get-started", "onboarding-import-wallet")
    await app.page.get_by_test_id("srp-input-import__srp-note").fill(SEED_PHRASE)
    await app.click("import-srp-confirm")
    await set_password(app)
    await app.click("metametrics-no-thanks", "onboarding-complete-done")
    await app.see("account-menu-icon", "Account 1")


@pytest.fixture(scope="module")
async def chromium(anyio_backend: str) -> AsyncGenerator[BrowserType]:
    async with async_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="module")
async def state(chromium: BrowserType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the wallet keeps once a phrase was imported: a fixture as it reads one."""
    async with open_wallet(chromium, tmp_path_factory.mktemp("imported")) as app:
        await import_wallet(app)
        return await app.context.service_workers[0].evaluate("chrome.storage.local.get(['data', 'meta'])")


@pytest.fixture(scope="module")
async def chain(anyio_backend: str) -> AsyncGenerator[Chain]:
    async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE) as chain:
        yield chain


@pytest.mark.slow
async def test_new_wallet_shows_its_phrase_and_opens(chromium: BrowserType, tmp_path: Path) -> None:
    async with open_wallet(chromium, tmp_path, state=EMPTY) as app:
        await app.click("get-started", "onboarding-create-wallet")
        await set_password(app)
        chips = app.page.get_by_test_id("recovery-phrase-chips").get_by_role("listitem")
        await expect(chips).to_have_text(["•••••"] * 12)
        await app.click("recovery-phrase-reveal")
        await expect(chips).to_have_text([re.compile("^[a-z]+$")] * 12)
        await app.click("recovery-phrase-confirm", "metametrics-i-agree", "onboarding-complete-done")
        await app.see("account-menu-icon", "Account 1")


@pytest.mark.slow
async def test_short_or_unequal_password_disables_submit(chromium: BrowserType, tmp_path: Path) -> None:
    async with open_wallet(chromium, tmp_path, state=EMPTY) as app:
        await app.click("get-started", "onboarding-create-wallet")
        await app.page.get_by_test_id("create-password-terms").check()
        disabled = []
        for first, second in (("short", "short"), (PASSWORD, PASSWORD + "!"), (PASSWORD, PASSWORD)):
            await app.fill(create_password_new_input=first, create_password_confirm_input=second)
            disabled.append(await app.page.get_by_test_id("create-password-submit").is_disabled())

    assert disabled == [True, True, False]


@pytest.mark.slow
async def test_wallet_from_fixture_opens_only_with_the_right_password(
    chromium: BrowserType, tmp_path: Path, state: dict[str, Any], chain: Chain
) -> None:
    async with open_wallet(chromium, tmp_path, chain=chain, state=state) as app:
        await app.fill(unlock_password="wrong")
        await app.click("unlock-submit")
        await expect(app.page.get_by_role("alert")).to_have_text("Incorrect password")
        await app.unlock()
        await app.see("eth-overview__primary-currency", "25 ETH")
        await app.see("network-display", "Localhost 8545")
        address = await app.page.get_by_test_id("app-header-copy-button").get_attribute("data-address")

        await app.click("account-options-menu-button", "global-menu-lock")
        await expect(app.page.get_by_test_id("unlock-password")).to_be_visible()

    assert address == ACCOUNT


@pytest.mark.slow
async def test_site_connects_and_sends_a_transaction(
    chromium: BrowserType, tmp_path: Path, state: dict[str, Any], chain: Chain, site: Site
) -> None:
    async with open_wallet(chromium, tmp_path, chain=chain, state=state) as app:
        await app.unlock()
        await app.see("eth-overview__primary-currency", re.compile("ETH"))
        dapp = await app.context.new_page()
        await dapp.goto(site.page(DAPP.read_text(encoding="utf-8")))
        result = dapp.get_by_test_id("dapp-result")

        asked = await app.window(dapp, "dapp-connect")
        await app.answer(asked, "cancel-btn")
        await expect(result).to_have_text("connect: error 4001: User rejected the request.")
        asked = await app.window(dapp, "dapp-connect")
        await app.answer(asked, "confirm-btn")
        await expect(result).to_have_text(f"connect: {ACCOUNT.lower()}")

        await dapp.get_by_test_id("dapp-to").fill(SOMEBODY)
        asked = await app.window(dapp, "dapp-send")
        await expect(asked.get_by_role("dialog", name="Confirm transaction")).to_be_visible()
        await asked.close()
        await expect(result).to_have_text("send: error 4001: User rejected the request.")
        asked = await app.window(dapp, "dapp-send")
        await app.answer(asked, "confirm-footer-button")
        await expect(result).to_have_text(re.compile("^send: 0x[0-9a-f]{64}$"))

        await app.page.bring_to_front()
        await app.see("activity-list-item", "Sent 1 ETH to 0x11111...11111: confirmed")
        await expect(app.page.get_by_test_id("eth-overview__primary-currency")).not_to_have_text("25 ETH")

    assert await chain.balance(SOMEBODY) == 10**18


@pytest.mark.slow
async def test_pending_requests_share_one_window_behind_the_password(
    chromium: BrowserType, tmp_path: Path, state: dict[str, Any], chain: Chain, site: Site
) -> None:
    async with open_wallet(chromium, tmp_path, chain=chain, state=state) as app:
        dapp = await app.context.new_page()
        await dapp.goto(site.page(DAPP.read_text(encoding="utf-8")))
        asked = await app.window(dapp, "dapp-connect")
        await dapp.get_by_test_id("dapp-connect").click()

        await asked.get_by_test_id("unlock-password").fill(PASSWORD)
        await asked.get_by_test_id("unlock-submit").click()
        await expect(asked.get_by_role("status")).to_have_text("1 of 2 requests")
        await asked.get_by_test_id("confirm-btn").click()
        await expect(asked.get_by_role("status")).to_have_count(0)
        await app.answer(asked, "confirm-btn")
        await expect(dapp.get_by_test_id("dapp-account")).to_have_text(ACCOUNT.lower())


@pytest.mark.slow
async def test_wallet_sends_no_more_than_its_balance(
    chromium: BrowserType, tmp_path: Path, state: dict[str, Any], chain: Chain
) -> None:
    async with open_wallet(chromium, tmp_path, chain=chain, state=state) as app:
        await app.unlock()
        await app.click("eth-overview-send")
        await app.fill(send_recipient=SOMEBODY)
        await expect(app.page.get_by_test_id("send-continue")).to_be_disabled()
        await app.fill(send_amount="100")
        await app.click("send-continue")
        await expect(app.page.get_by_role("alert")).to_have_text(re.compile("^You have .* ETH only$"))
        await app.fill(send_amount="0.5")
        await app.click("send-continue", "confirm-footer-button")
        await app.see("activity-list-item", "Sent 0.5 ETH to 0x11111...11111: confirmed")


@pytest.mark.slow
async def test_main_world_scripts_are_refused_and_isolated_worlds_work(
    chromium: BrowserType, tmp_path: Path
) -> None:
    """As in the real one, where globals are taken away."""
    async with open_wallet(chromium, tmp_path, state=EMPTY) as app:
        with pytest.raises(Error, match="not accessible under scuttling"):
            await app.page.evaluate("() => document.title")

        heading = await app.page.get_by_role("heading").text_content()
        devtools = await app.context.new_cdp_session(app.page)
        tree: dict[str, Any] = await devtools.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world: dict[str, Any] = await devtools.send("Page.createIsolatedWorld", {"frameId": frame})
        counted: dict[str, Any] = await devtools.send(
            "Runtime.evaluate",
            {
                "contextId": world["executionContextId"],
                "expression": "document.querySelectorAll('h1').length + eval('1')",
            },
        )

    assert (heading, counted["result"]["value"]) == ("Welcome to the test wallet", 2)


@pytest.mark.slow
async def test_replaced_screen_keeps_typed_text(chromium: BrowserType, tmp_path: Path) -> None:
    """What was typed meanwhile is still there."""
    screen = "onboarding/import-with-recovery-phrase"
    async with open_wallet(chromium, tmp_path, state=EMPTY) as app:
        await app.page.add_init_script(TELL_REMOVED)
        await app.page.reload()
        await app.click("get-started")
        note = app.page.get_by_test_id("srp-input-import__srp-note")
        async with app.page.expect_console_message(lambda message: message.text == f"removed {screen}"):
            await app.click("onboarding-import-wallet")
            await note.fill(SEED_PHRASE)
        await expect(note).to_have_value(SEED_PHRASE)
        await expect(app.page.get_by_test_id("import-srp-confirm")).to_be_enabled()


@pytest.mark.slow
async def test_settings_have_lookalike_buttons_with_different_effects(
    chromium: BrowserType, tmp_path: Path, state: dict[str, Any]
) -> None:
    async with open_wallet(chromium, tmp_path, state=state) as app:
        await app.unlock()
        await app.click("account-options-menu-button", "global-menu-settings")
        contacts = app.page.get_by_test_id("contact").locator("span")
        await expect(contacts).to_have_text(["Savings", "Shop"])
        await app.page.get_by_role("button", name="Remove", exact=True).nth(1).click()
        await expect(contacts).to_have_text(["Savings"])
        boxes = await app.page.get_by_role("group", name="Notifications").aria_snapshot()
        await app.click("settings-close")
        await app.see("account-menu-icon", "Account 1")

    assert _checkboxes(boxes) == [
        '- checkbox "All notifications" [checked=mixed]',
        '- checkbox "Transactions" [checked]',
        '- checkbox "News"',
    ]


def _checkboxes(snapshot: str) -> Sequence[str]:
    return [line.strip() for line in snapshot.splitlines() if "checkbox" in line]


@pytest.mark.slow
async def test_reader_stores_articles_and_opens_a_reminder_window(
    chromium: BrowserType, tmp_path: Path
) -> None:
    async with open_app(chromium, READER, tmp_path / "profile", at="popup.html") as app:
        await app.fill(reader_title="Of mice")
        await app.click("reader-add")
        await app.see("reader-count", "1 to read")
        async with app.context.expect_page() as opening:
            await app.page.get_by_role("button", name="Remind me").click()
        reminder = await opening.value
        await expect(reminder.get_by_test_id("reminder-title")).to_have_text("Of mice")
        await app.answer(reminder, "reminder-done")
        await app.see("reader-count", "0 to read")

        await app.page.goto(f"{app.origin}/options.html")
        await app.page.get_by_role("switch", name="Hide what was read").check()
        await app.page.goto(f"{app.origin}/panel.html")
        await app.see("panel-next", "Nothing to read")
        await app.page.goto(f"{app.origin}/list.html")
        await app.see("reader-count", "0 to read")
        assert await app.page.get_by_test_id("reader-article").count() == 0
