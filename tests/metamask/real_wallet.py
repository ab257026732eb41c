"""A real MetaMask in a server of its own, used through the tools alone."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp_types import TextContent
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from footlight.apps.metamask.chain import Chain, connect_chain
from footlight.apps.metamask.fixtures import ACCOUNT, SEED_PHRASE
from tests.apps.anvil_path import PEERS, anvil_path
from tests.conftest import Browser, connect_browser
from tests.site import Site

__all__ = ["NETWORK", "PASSWORD", "RealWallet", "open_wallet", "serve_test_dapp"]

PASSWORD = "nine hedgehogs with a clock"
"""The profile knows that of its fixtures as a secret. This one it has never heard of."""
NETWORK = "A chain of our own"
LIMIT_MS = 60_000
"""Of a step: where other work is done on the machine, a screen takes its time."""
TEST_DAPP = PEERS / "node_modules/@metamask/test-dapp/dist"


class RealWallet:
    """`call` gives a result. The steps are written down below `repository`."""

    def __init__(self, browser: Browser, repository: Path, chain: Chain, launched: dict[str, Any]) -> None:
        self._browser = browser
        self.repository = repository
        self.chain = chain
        self.launched = launched
        """What the launch has told."""
        self.onboarded: list[str] = []
        """The screens of the onboarding."""
        self.began: dict[str, Any] = {}
        """The state of home before the chain was added."""

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        (part,) = (await self._browser.answer(f"mm_{tool}", **arguments)).content
        assert isinstance(part, TextContent)
        data: Mapping[str, Any] = json.loads(part.text)
        assert data["ok"], (tool, arguments, data["error"])
        return data["result"]

    async def state(self) -> dict[str, Any]:
        return (await self.call("get_state"))["state"]

    @property
    def home(self) -> str:
        return f"chrome-extension://{self.launched['extensionId']}/home.html"

    async def go(self, place: str) -> None:
        """Open a path below `home.html`."""
        await self.call("navigate", screen="url", url=self.home + place)

    # What a hand does. Each waits until its element is there.

    async def click(self, *test_ids: str) -> None:
        for test_id in test_ids:
            await self.call("click", testId=test_id, timeoutMs=LIMIT_MS)

    async def press(self, name: str) -> None:
        """Press a button that has no test id."""
        await self.call("click", selector=f'role=button[name="{name}"]', timeoutMs=LIMIT_MS)

    async def type(self, test_id: str, text: str) -> None:
        assert await self.call("type", testId=test_id, text=text, timeoutMs=LIMIT_MS, observe="none") == {
            "typed": True,
            "target": f"testId:{test_id}",
        }

    async def see(self, selector: str) -> None:
        await self.call("wait_for", selector=selector, timeoutMs=LIMIT_MS)

    async def see_id(self, test_id: str) -> None:
        await self.call("wait_for", testId=test_id, timeoutMs=LIMIT_MS)

    # What a person does

    async def onboard(self) -> None:
        """Import the phrase whose account the chain pays, up to a home that the terms do not cover."""
        await self._meet("onboarding-import-wallet")
        await self.click("onboarding-import-wallet")
        await self._meet("srp-input-import__srp-note")
        await self.type("srp-input-import__srp-note", SEED_PHRASE)
        await self.click("import-srp-confirm")
        await self._meet("create-password-new-input")
        await self.type("create-password-new-input", PASSWORD)
        await self.type("create-password-confirm-input", PASSWORD)
        await self.click("create-password-terms", "create-password-submit")
        await self._meet("metametrics-no-thanks")
        await self.click("metametrics-no-thanks")
        await self._meet("onboarding-complete-done")
        await self.click("onboarding-complete-done", "download-app-continue", "pin-extension-done")
        await self._meet("terms-of-use-scroll-button")
        await self.click("terms-of-use-scroll-button", "terms-of-use-checkbox", "terms-of-use-agree-button")
        self.began = await self.state()

    async def _meet(self, test_id: str) -> None:
        await self.see_id(test_id)
        self.onboarded.append((await self.state())["currentScreen"])

    async def add_network(self) -> None:
        """Add the network. Saving it selects it, and then nothing covers the home screen any more."""
        await self.go("#settings/networks")
        await self.press("Add a custom network")
        await self.type("network-form-network-name", NETWORK)
        await self.click("test-add-rpc-drop-down")
        await self.press("Add RPC URL")
        await self.type("rpc-url-input-test", self.chain.url)
        await self.press("Add URL")
        await self.type("network-form-chain-id", "1337")
        await self.type("network-form-ticker-input", "ETH")
        await self.press("Save")
        await self.see('[data-testid="multichain-token-list-item-value"]:has-text("25 ETH")')
        await self.click("tour-cta-button")

    async def connect(self, url: str) -> None:
        """Connect a site, which stays the page in which calls act."""
        await self.call("navigate", screen="url", url=url)
        await self.ask("#connectButton", shows="connect-page")
        await self.confirm("confirm-btn")
        await self.see("#sendButton:enabled")

    async def ask(self, button: str, *, shows: str) -> dict[str, Any]:
        """Let the site ask for something; the state, once the window shows what."""
        await self.call("click", selector=button)
        await self.call("wait_for_notification", timeoutMs=LIMIT_MS)
        await self.see_id(shows)
        return await self.state()

    async def confirm(self, test_id: str) -> None:
        """Confirm. The window closes by itself."""
        await self.click(test_id)
        async with asyncio.timeout(LIMIT_MS / 1000):
            while "notification" in await self._roles():
                pass

    async def _roles(self) -> list[str]:
        return [tab["role"] for tab in (await self.call("switch_tab", role="dapp"))["tabs"]]

    async def count_sent(self) -> int:
        """Return the transactions of the account, as the chain counts them."""
        return int(await self.chain.call("eth_getTransactionCount", ACCOUNT, "latest"), 16)


@asynccontextmanager
async def open_wallet(dist: Path, repository: Path, site: Site) -> AsyncGenerator[RealWallet]:
    """Open a new MetaMask from `dist`."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = {"anvil": one.getsockname()[1], "fixtureServer": other.getsockname()[1]}
    path = f"{anvil_path().parent}{os.pathsep}{os.environ['PATH']}"
    flags = ("--toolset", "metamask", "--repository", str(repository))
    async with (
        connect_browser(site, *flags, cwd=repository, PATH=path) as browser,
        connect_chain(f"http://127.0.0.1:{ports['anvil']}") as chain,
    ):
        wallet = RealWallet(browser, repository, chain, {})
        wallet.launched = await wallet.call(
            "launch", stateMode="onboarding", extensionPath=str(dist), ports=ports
        )
        yield wallet
        assert await wallet.call("cleanup") == {"cleanedUp": True}


def serve_test_dapp(site: Site) -> str:
    """Serve MetaMask's test site on this site."""
    for file in TEST_DAPP.iterdir():
        site.route(_make_handler(file), path=f"/test-dapp/{file.name}")
    return f"{site.url}/test-dapp/index.html"


def _make_handler(file: Path) -> Any:
    async def serve(_: Request) -> Response:
        return FileResponse(file)

    return serve
