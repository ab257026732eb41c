"""MetaMask as an app under test: its screens, build, services and state.

The test ids, their order, the ports and the chain are those of MetaMask's end-to-end tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.apps.metamask.anvil import find_anvil, run_anvil
from footlight.apps.metamask.build import DIST, build
from footlight.apps.metamask.chain import format_ether
from footlight.apps.metamask.fixture_server import serve_fixture
from footlight.apps.metamask.fixtures import ACCOUNT, PASSWORD, SEED_PHRASE, fixture_for, is_new
from footlight.apps.ports import check_port_free
from footlight.apps.profile import AppProfile, BuildRequest, Facts, LaunchRequest, Screen, Services
from footlight.errors import NetworkFailedError

if TYPE_CHECKING:
    from footlight.apps.metamask.chain import Chain
    from footlight.apps.metamask.fixture_server import FixtureServer
    from footlight.apps.profile import Reading

__all__ = ["METAMASK", "MetaMaskServices"]

ANVIL_PORT = 8545
FIXTURE_PORT = 12345
"""The port from which test builds of the extension request their state."""
CHAIN_ID = 1337
SHOWN_ADDRESS = re.compile(r"(0x[0-9a-fA-F]{3,10})(?:\.{3}|…)([0-9a-fA-F]{3,10})")

SCREENS = (
    Screen(name="unlock", test_id="unlock-password"),
    Screen(name="home", test_id="account-menu-icon", unlocked=True),
    Screen(name="onboarding-welcome", test_id="get-started"),
    Screen(name="onboarding-import", test_id="onboarding-import-wallet"),
    Screen(name="onboarding-create", test_id="onboarding-create-wallet"),
    Screen(name="onboarding-srp", test_id="srp-input-import__srp-note", secret=True),
    Screen(name="onboarding-password", test_id="create-password-new-input"),
    Screen(name="onboarding-complete", test_id="onboarding-complete-done"),
    Screen(name="onboarding-metametrics", test_id="metametrics-i-agree"),
    Screen(name="settings", test_id="settings-page", url="#/?settings", unlocked=True),
    Screen(
        name="onboarding-srp",
        url="#/?onboarding/(import-with-recovery-phrase|.*(reveal|review|confirm).*(srp|recovery))",
        secret=True,
    ),
)


class MetaMaskServices(Services):
    """The services of MetaMask: a local chain, and a server for the initial state of test builds."""

    def __init__(
        self,
        chain: Chain,
        fixture: FixtureServer,
        accounts: Sequence[str],
        *,
        state: Mapping[str, Any] | None,
    ) -> None:
        """Create the services. `state` is the initial state, or None for a new installation."""
        self.chain = chain
        self._fixture = fixture
        self._state = state
        self._accounts = [*accounts]
        """Known addresses, which are used to complete a shortened address."""
        self.chain_ids: dict[str, int] = {}
        """Chain ids of the networks that the app has configured, by network name."""

    def find_failure(self) -> str | None:
        return None if self.chain.alive else f"the chain at {self.chain.url} has ended unexpectedly"

    def notes(self) -> Sequence[str]:
        if self._fixture.was_read.is_set():
            return ()
        begin = f"The app has not requested its state on port {self._fixture.port}, as test builds do: "
        if self._state is None:
            return (f"{begin}it starts as newly installed, without the chain.",)
        return (f"{begin}its state was written to its storage before it started.",)

    def state_to_store(self) -> Mapping[str, Any] | None:
        """Return the initial state for release builds, which do not request it. They store the same items."""
        return None if self._fixture.was_read.is_set() else self._state

    def opens_home(self) -> bool:
        """Return whether the app opens its home page, which only release builds without a state do."""
        return not self._fixture.was_read.is_set() and self._state is None

    def account(self, short_address: str | None) -> str | None:
        """Return the known address for a shortened one such as `0x5CfE7...6a7e1`, or None."""
        found = SHOWN_ADDRESS.search(short_address or "")
        if found is None:
            return None
        begin, end = found[1].lower(), found[2].lower()
        known = (each for each in self._accounts if each.lower().startswith(begin))
        return next((each for each in known if each.lower().endswith(end)), None)

    def add_accounts(self, accounts: Sequence[str]) -> None:
        self._accounts += accounts


@asynccontextmanager
async def _run_services(request: LaunchRequest) -> AsyncGenerator[Services]:
    ports = {"anvil": ANVIL_PORT, "fixtureServer": FIXTURE_PORT, **request.ports}
    fixture = fixture_for(
        request.state_mode, request.fixture_preset, request.fixture, chain_port=ports["anvil"]
    )
    # Check both ports before either service is started.
    check_port_free(ports["anvil"], what="the chain (anvil)")
    check_port_free(ports["fixtureServer"], what="the fixture server")
    executable = find_anvil([request.repository, Path()])
    async with (
        run_anvil(
            executable=executable, port=ports["anvil"], chain_id=CHAIN_ID, mnemonic=SEED_PHRASE
        ) as chain,
        serve_fixture(fixture, port=ports["fixtureServer"]) as fixture_server,
    ):
        accounts = await chain.call("eth_accounts")
        state = None if is_new(request.state_mode, request.fixture_preset) else fixture
        yield MetaMaskServices(chain, fixture_server, [ACCOUNT, *accounts], state=state)


async def _build(request: BuildRequest) -> Path:
    return await build(request.repository, build_type=request.build_type, force=request.force)


async def _read_facts(reading: Reading) -> Facts:
    """Read the account and the network from the app, and the chain id and the balance from the chain."""
    services = reading.services
    assert isinstance(services, MetaMaskServices)
    address = await _find_account(reading, services)
    network = reading.text_of("network-display") or reading.text_of("sort-by-networks")
    chain_id = await _find_chain_id(reading, services, network)
    try:
        ours, balance = await asyncio.gather(
            services.chain.chain_id(), _read_balance(services.chain, address)
        )
    except NetworkFailedError:
        return Facts(account_address=address, network_name=network, chain_id=chain_id)
    if chain_id not in (None, ours):
        return Facts(account_address=address, network_name=network, chain_id=chain_id)
    return Facts(account_address=address, network_name=network, chain_id=ours, balance=balance)


async def _find_chain_id(reading: Reading, services: MetaMaskServices, network: str | None) -> int | None:
    """Return the chain id that the app stores for a network, or None. Test builds do not store chain ids."""
    if network is not None and network not in services.chain_ids:
        services.chain_ids |= await _read_chain_ids(reading)
    return services.chain_ids.get(network or "")


async def _read_chain_ids(reading: Reading) -> dict[str, int]:
    with contextlib.suppress(KeyError, TypeError, ValueError):
        data = (await reading.read_storage("data"))["data"]
        networks = data["NetworkController"]["networkConfigurationsByChainId"]
        return {str(each["name"]): int(chain_id, 16) for chain_id, each in networks.items()}
    return {}


async def _read_balance(chain: Chain, address: str | None) -> str | None:
    return format_ether(await chain.balance(address)) if address else None


async def _find_account(reading: Reading, services: MetaMaskServices) -> str | None:
    short_address = reading.text_of("app-header-copy-button")
    address = services.account(short_address)
    if address is None and short_address:
        services.add_accounts(await _read_accounts(reading))
        address = services.account(short_address)
    return address


async def _read_accounts(reading: Reading) -> list[str]:
    """Return addresses of accounts from the app's storage. Test builds do not store accounts."""
    with contextlib.suppress(KeyError, TypeError):
        data = (await reading.read_storage("data"))["data"]
        accounts = data["AccountsController"]["internalAccounts"]["accounts"]
        return [str(each["address"]) for each in accounts.values()]
    return []


METAMASK = AppProfile(
    name="MetaMask",
    prefix="mm",
    secrets=(PASSWORD, SEED_PHRASE),
    home="home.html",
    settings="home.html#settings",
    notification="notification.html",
    screens=SCREENS,
    dist=DIST,
    build=_build,
    services=_run_services,
    read=_read_facts,
)
