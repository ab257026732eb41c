"""The specified flow with a real MetaMask. What is tested elsewhere with the wallet of the tests holds
here too: requests open windows, the chain knows of what was confirmed, and no secret is written down."""

from __future__ import annotations

import asyncio
import json
import os
import re

import pytest

from footlight.apps.metamask.fixtures import ACCOUNT, SEED_PHRASE
from tests.knowledge.schemas import schema_violations
from tests.metamask.real_wallet import NETWORK, PASSWORD, RealWallet

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.metamask,
    pytest.mark.skipif(
        not os.environ.get("FOOTLIGHT_METAMASK_DIST"),
        reason="Set FOOTLIGHT_METAMASK_DIST to the folder of a built MetaMask extension to run this.",
    ),
    pytest.mark.timeout(900),
]

CHAIN_SECONDS = 60.0


async def test_recovery_phrase_is_imported_through_the_onboarding_screens(wallet: RealWallet) -> None:
    assert wallet.launched["state"] == {
        "isLoaded": True,
        "currentUrl": f"{wallet.home}#onboarding/welcome",
        "extensionId": wallet.launched["extensionId"],
        "isUnlocked": False,
        "currentScreen": "onboarding-welcome",
        "accountAddress": None,
        "networkName": None,
        "chainId": None,
        "balance": None,
    }
    assert wallet.onboarded == [
        *("onboarding-welcome", "onboarding-srp", "onboarding-password"),
        *("onboarding-metametrics", "onboarding-complete", "home"),
    ]


async def test_home_state_includes_account_network_and_balance(wallet: RealWallet) -> None:
    """The balance is the chain's, less what was paid meanwhile for transactions."""
    await wallet.call("navigate", screen="home")

    state = await wallet.state()

    balance = await wallet.chain.balance(ACCOUNT)
    assert state.pop("balance") == ("25 ETH" if balance == 25 * 10**18 else f"24.{_decimals(balance)} ETH")
    assert state == {
        "isLoaded": True,
        "currentUrl": f"{wallet.home}#",
        "extensionId": wallet.launched["extensionId"],
        "isUnlocked": True,
        "currentScreen": "home",
        "accountAddress": ACCOUNT,
        "networkName": NETWORK,
        "chainId": 1337,
    }


def _decimals(balance: int) -> str:
    return str(balance % 10**18)[:4].rstrip("0")


async def test_balance_is_null_on_a_network_other_than_the_chain(wallet: RealWallet) -> None:
    reported = {key: wallet.began[key] for key in ("networkName", "chainId", "balance", "accountAddress")}
    assert reported == {"networkName": "Ethereum", "chainId": 1, "balance": None, "accountAddress": ACCOUNT}


async def test_locked_wallet_is_unlocked_with_the_password(wallet: RealWallet) -> None:
    await wallet.call("navigate", screen="home")
    await wallet.click("account-options-menu-button", "global-menu-lock")
    await wallet.see_id("unlock-password")
    locked = await wallet.state()
    await wallet.type("unlock-password", PASSWORD)
    await wallet.click("unlock-submit")
    await wallet.see_id("account-menu-icon")
    unlocked = await wallet.state()

    reported = [
        (state["currentScreen"], state["isUnlocked"], state["accountAddress"]) for state in (locked, unlocked)
    ]
    assert reported == [("unlock", False, None), ("home", True, ACCOUNT)]


async def test_wallet_state_stays_unlocked_on_other_screens(wallet: RealWallet) -> None:
    reported: list[tuple[str, str, bool]] = []
    for place in ("#settings", "#send"):
        await wallet.go(place)
        state = await wallet.state()
        reported.append((place, state["currentScreen"], state["isUnlocked"]))

    assert reported == [("#settings", "settings", True), ("#send", "unknown", True)]


async def test_transaction_is_confirmed_in_its_popup_and_mined(connected_wallet: RealWallet) -> None:
    wallet = connected_wallet
    await wallet.call("switch_tab", role="dapp")
    before = await wallet.count_sent()

    state = await wallet.ask("#sendButton", shows="confirm-footer-button")
    await wallet.confirm("confirm-footer-button")

    assert re.fullmatch(r".*/notification\.html#confirm-transaction/[\w-]+", state["currentUrl"])
    assert state["isUnlocked"]
    await _wait_until_sent(wallet, before + 1)


async def test_closing_the_popup_rejects_the_request(connected_wallet: RealWallet) -> None:
    """What is confirmed afterwards is all that is mined."""
    wallet = connected_wallet
    await wallet.call("switch_tab", role="dapp")
    before = await wallet.count_sent()

    refused = await wallet.ask("#sendButton", shows="confirm-footer-button")
    closed = await wallet.call("close_tab", role="notification")
    confirmed = await wallet.ask("#sendButton", shows="confirm-footer-button")
    await wallet.confirm("confirm-footer-button")

    assert [tab["role"] for tab in closed["tabs"]] == ["extension", "dapp"]
    assert refused["currentUrl"] != confirmed["currentUrl"]
    await _wait_until_sent(wallet, before + 1)


async def _wait_until_sent(wallet: RealWallet, count: int) -> None:
    """Wait until the wallet has sent the transaction, which it does after it has closed its window."""
    async with asyncio.timeout(CHAIN_SECONDS):
        while (sent := await wallet.count_sent()) < count:
            pass
    assert sent == count


async def test_knowledge_store_finds_the_steps_of_the_session(connected_wallet: RealWallet) -> None:
    wallet = connected_wallet
    await wallet.call("switch_tab", role="extension")
    await wallet.call("get_state")

    last = await wallet.call("knowledge_last", n=2)
    found = await wallet.call("knowledge_search", query="import recovery phrase", tool="mm_type")
    connected = await wallet.call("knowledge_search", query="confirm-btn connect", tool="mm_click", limit=1)
    recipe = await wallet.call("knowledge_summarize")

    assert [step["tool"] for step in last["steps"]] == ["mm_get_state", "mm_switch_tab"]
    assert found["matches"][0]["target"] == "testId=srp-input-import__srp-note"
    assert connected["matches"][0]["target"] == 'testId=confirm-btn ("Connect")'
    assert recipe["sessionId"] == wallet.launched["sessionId"]
    assert any("testId=confirm-btn" in step["notes"] for step in recipe["steps"])


async def test_every_step_is_valid_and_no_file_contains_a_secret(connected_wallet: RealWallet) -> None:
    """Of the phrase not even the words, one here and one there."""
    repository = connected_wallet.repository
    steps = sorted(repository.glob("test-artifacts/llm-knowledge/mm-*/steps/*.json"))
    texts = {
        file: file.read_bytes().decode("utf-8", "replace") for file in repository.rglob("*") if file.is_file()
    }

    assert len(steps) > 30
    assert {step.name: found for step in steps if (found := schema_violations(json.loads(texts[step])))} == {}
    assert [file.name for file, text in texts.items() if PASSWORD in text or SEED_PHRASE in text] == []
    assert [file.name for file, text in texts.items() if _has_all_words(text)] == []


def _has_all_words(text: str) -> bool:
    return set(SEED_PHRASE.split()) <= set(re.findall(r"[a-z]+", text.lower()))
