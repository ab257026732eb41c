"""A wallet from its first screen to a transaction on the chain, through the tools of `metamask`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft7Validator, FormatChecker

from footlight.apps.metamask.chain import Chain
from footlight.apps.metamask.fixtures import ACCOUNT, PASSWORD, SEED_PHRASE
from footlight.knowledge.records import step_schema
from tests.apps.wallet_folder import DAPP
from tests.site import Site
from tests.toolsets.metamask.conftest import Server, serve_wallet_tools

pytestmark = pytest.mark.anyio

SOMEBODY = "0x" + "2" * 40
ETHER = 10**18


async def click(server: Server, *test_ids: str) -> None:
    for test_id in test_ids:
        await server.call("mm_click", testId=test_id)


async def import_wallet(server: Server) -> None:
    await click(server, "get-started", "onboarding-import-wallet")
    await server.call("mm_type", testId="srp-input-import__srp-note", text=SEED_PHRASE)
    await click(server, "import-srp-confirm")
    await server.call("mm_type", testId="create-password-new-input", text=PASSWORD)
    await server.call("mm_type", testId="create-password-confirm-input", text=PASSWORD)
    await click(server, "create-password-terms", "create-password-submit")
    await click(server, "metametrics-no-thanks", "onboarding-complete-done")
    await server.call("mm_wait_for", testId="account-menu-icon")


async def state(server: Server) -> dict[str, Any]:
    return (await server.call("mm_get_state"))["state"]


async def connect_and_send(server: Server, site: Site) -> None:
    url = site.page(DAPP.read_text("utf-8"), path="/flow")
    await server.call("mm_navigate", screen="url", url=url)
    await server.call("mm_wait_for", selector='[data-testid="dapp-wallet"]:not(:text("none"))')
    await click(server, "dapp-connect")
    await server.call("mm_wait_for_notification")
    await click(server, "confirm-btn")
    await server.call("mm_wait_for", selector='[data-testid="dapp-send"]:enabled')

    await server.call("mm_type", testId="dapp-to", text=SOMEBODY)
    await click(server, "dapp-send")
    await server.call("mm_wait_for_notification")
    await click(server, "confirm-footer-button")
    await server.call("mm_wait_for", selector='[data-testid="dapp-result"]:text("send: 0x")')


@pytest.mark.slow
async def test_wallet_flow_ends_with_a_mined_transaction(site: Site, tmp_path: Path) -> None:
    (root := tmp_path / "repository").mkdir()
    async with serve_wallet_tools(site, root, "--strict-002") as server:
        launched = await server.launch(stateMode="onboarding")
        assert launched["state"]["currentScreen"] == "onboarding-welcome"
        await import_wallet(server)
        home = await state(server)
        assert (home["currentScreen"], home["isUnlocked"], home["balance"]) == ("home", True, "25 ETH")
        assert home["accountAddress"] == ACCOUNT

        await connect_and_send(server, site)

        async with httpx2.AsyncClient() as client:
            chain = Chain(f"http://127.0.0.1:{server.ports['anvil']}", client)
            assert await chain.balance(SOMEBODY) == ETHER
            assert await chain.block_number() == 1
        await server.call("mm_navigate", screen="home")
        assert (await state(server))["balance"] == "23.9999 ETH"

        found = await server.call("mm_knowledge_search", query="confirm the transaction")
        assert "confirm-footer-button" in json.dumps(found["matches"][:5])
        recipe = await server.call("mm_knowledge_summarize")
        assert recipe["sessionId"] == launched["sessionId"]
        steps = recipe["steps"]
        assert [each["step"] for each in steps] == [*range(1, len(steps) + 1)]
        assert steps[0]["tool"] == "mm_launch"
        assert [each["notes"] for each in steps if "confirm-footer-button" in each["notes"]] != []
        await server.call("mm_cleanup")
    check_what_is_kept(root / "test-artifacts/llm-knowledge" / launched["sessionId"])
    assert secrets_below(root) == []


def check_what_is_kept(folder: Path) -> None:
    """Check that the recorded steps are valid, and that only requested screenshots are stored."""
    assert [each.name for each in folder.iterdir() if each.is_dir()] == ["steps"]
    files = sorted((folder / "steps").iterdir())
    assert len(files) > 20
    validator = Draft7Validator(step_schema(None), format_checker=FormatChecker())
    for file in files:
        validator.validate(json.loads(file.read_text("utf-8")))


def secrets_below(folder: Path) -> list[Path]:
    secrets = (PASSWORD.encode(), SEED_PHRASE.encode())
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if any(secret in path.read_bytes() for secret in secrets)]
