"""The initial states of the extension."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright._impl._driver import compute_driver_executable

from footlight.app_errors import InvalidConfigError
from footlight.apps.metamask.anvil import run_anvil
from footlight.apps.metamask.fixtures import (
    ACCOUNT,
    ACCOUNTS,
    DAPPS,
    FIRST_CONTRACT,
    PASSWORD,
    PRESETS,
    SEED_PHRASE,
    VERSION,
    fixture_for,
    preset,
)
from tests.apps.anvil_path import anvil_path
from tests.client.peers import free_port

pytestmark = pytest.mark.anyio

NODE = str(compute_driver_executable()[0])
CUSTOM = {"data": {"OnboardingController": {"completedOnboarding": True}}, "meta": {"version": 74}}

DECRYPT = """
const [vault, password] = JSON.parse(require("node:fs").readFileSync(0));
const { data, iv, salt, keyMetadata } = JSON.parse(vault);
const bytes = (text) => Buffer.from(text, "base64");
(async () => {
    const raw = Buffer.from(password);
    const secret = await crypto.subtle.importKey("raw", raw, "PBKDF2", false, ["deriveBits"]);
    const { iterations } = keyMetadata.params;
    const how = { name: "PBKDF2", salt: bytes(salt), hash: "SHA-256", iterations };
    const bits = await crypto.subtle.deriveBits(how, secret, 256);
    const key = await crypto.subtle.importKey("raw", bits, "AES-GCM", false, ["decrypt"]);
    const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv: bytes(iv) }, key, bytes(data));
    process.stdout.write(Buffer.from(plain));
})();
"""


def test_presets_match_the_specification() -> None:
    """Section 5."""
    assert list(PRESETS) == [
        *("default", "onboarding", "withMultipleAccounts", "withERC20Tokens", "withConnectedDapp"),
        *("withPopularNetworks", "withMainnet", "withNFTs", "withFiatDisabled", "withHSTToken"),
    ]


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_is_plain_deterministic_json(name: str) -> None:
    fixture = preset(name, chain_port=8545)

    assert json.loads(json.dumps(fixture)) == fixture == preset(name, chain_port=8545)
    assert list(fixture) == ["data", "meta"]
    assert fixture["meta"] == {"version": VERSION}


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "default"])
def test_each_preset_differs_from_the_default(name: str) -> None:
    assert preset(name, chain_port=8545) != preset("default", chain_port=8545)


def test_changes_of_a_caller_do_not_affect_the_preset() -> None:
    changed = preset("default", chain_port=8545)
    changed["data"]["PreferencesController"]["preferences"].clear()
    changed["data"]["TokensController"]["allTokens"]["0x539"] = {}

    assert preset("default", chain_port=8545) == preset("default", chain_port=8545)
    assert preset("default", chain_port=8545) != changed


def test_default_preset_has_wallet_and_selects_local_chain() -> None:
    data = _data("default", chain_port=18545)

    assert data["OnboardingController"]["completedOnboarding"]
    assert [each["address"] for each in _accounts(data)] == [ACCOUNT.lower()]
    assert get_selected_network(data) == {
        "blockExplorerUrls": [],
        "chainId": "0x539",
        "defaultRpcEndpointIndex": 0,
        "name": "Localhost 18545",
        "nativeCurrency": "ETH",
        "rpcEndpoints": [
            {
                "failoverUrls": [],
                "networkClientId": "localhost",
                "type": "custom",
                "url": "http://localhost:18545",
            }
        ],
    }


def test_onboarding_preset_has_no_wallet_and_selects_local_chain() -> None:
    data = _data("onboarding")

    assert not data["OnboardingController"]["completedOnboarding"]
    assert not {"KeyringController", "AccountsController"} & set(data)
    assert get_selected_network(data)["name"] == "Localhost 8545"


def test_multiple_accounts_are_derived_from_the_seed_phrase() -> None:
    accounts = _accounts(_data("withMultipleAccounts"))

    assert [each["address"] for each in accounts] == [address.lower() for address in ACCOUNTS]
    assert [each["metadata"]["name"] for each in accounts] == ["Account 1", "Account 2", "Account 3"]


def test_tokens_belong_to_the_account() -> None:
    def symbols(name: str) -> dict[str, list[str]]:
        tokens = _data(name)["TokensController"]["allTokens"]
        return {chain: [each["symbol"] for each in of[ACCOUNT.lower()]] for chain, of in tokens.items()}

    assert symbols("default") == {}
    assert symbols("withHSTToken") == {"0x539": ["TST"]}
    assert symbols("withERC20Tokens") == {"0x539": ["TST"], "0x1": ["DAI", "USDC"]}


def test_nfts_belong_to_the_account() -> None:
    nfts = _data("withNFTs")["NftController"]["allNfts"][ACCOUNT.lower()]["0x539"]

    assert [each["name"] for each in nfts] == ["Test Dapp NFTs #1", "Test Dapp NFTs #2"]


def test_dapps_are_connected_to_the_account() -> None:
    subjects = _data("withConnectedDapp")["PermissionController"]["subjects"]

    scopes = {
        origin: subject["permissions"]["endowment:caip25"]["caveats"][0]["value"]["optionalScopes"]
        for origin, subject in subjects.items()
    }
    allowed = {
        "eip155:1337": {"accounts": [f"eip155:1337:{ACCOUNT.lower()}"]},
        "wallet:eip155": {"accounts": [f"wallet:eip155:{ACCOUNT.lower()}"]},
    }
    assert scopes == dict.fromkeys(DAPPS, allowed)


def test_networks_are_added_or_selected() -> None:
    popular = _data("withPopularNetworks")
    names = [each["name"] for each in popular["NetworkController"]["networkConfigurationsByChainId"].values()]

    assert names == [
        *("Ethereum", "Localhost 8545", "Linea", "Base", "Arbitrum", "BNB Chain", "OP", "Polygon"),
    ]
    assert get_selected_network(popular)["name"] == "Localhost 8545"
    assert get_selected_network(_data("withMainnet"))["name"] == "Ethereum"


def test_fiat_conversion_can_be_disabled() -> None:
    assert _data("default")["PreferencesController"]["useCurrencyRateCheck"]
    assert not _data("withFiatDisabled")["PreferencesController"]["useCurrencyRateCheck"]


@pytest.mark.parametrize(("name", "number"), [("default", 1), ("withMultipleAccounts", 3)])
def test_password_decrypts_vault_with_seed_phrase(name: str, number: int) -> None:
    """Section 5; opened by another program than the one that made it."""
    data = _data(name)

    (keyring,) = json.loads(_decrypt(data["KeyringController"]["vault"], PASSWORD))

    assert bytes(keyring["data"].pop("mnemonic")).decode() == SEED_PHRASE
    entropy = {each["options"]["entropySource"] for each in _accounts(data)}
    assert keyring == {
        "type": "HD Key Tree",
        "data": {"numberOfAccounts": number, "hdPath": "m/44'/60'/0'/0"},
        "metadata": {"id": entropy.pop(), "name": ""},
    }
    assert not entropy


def test_vault_has_the_extension_format() -> None:
    vault = json.loads(_data("default")["KeyringController"]["vault"])

    assert list(vault) == ["data", "iv", "keyMetadata", "salt"]
    assert vault["keyMetadata"] == {"algorithm": "PBKDF2", "params": {"iterations": 600_000}}


def test_wrong_password_does_not_decrypt_vault() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        _decrypt(_data("default")["KeyringController"]["vault"], PASSWORD.upper())


async def test_token_contract_is_first_contract_of_the_account() -> None:
    """Asked of anvil, which deploys one."""
    async with run_anvil(executable=anvil_path(), port=free_port(), mnemonic=SEED_PHRASE) as chain:
        sent = await chain.call(
            "eth_sendTransaction", {"from": ACCOUNT, "data": "0x600180600a6000396000f300"}
        )
        await chain.call("evm_mine")
        receipt = await chain.call("eth_getTransactionReceipt", sent)

    assert receipt["contractAddress"] == FIRST_CONTRACT.lower()


# What a launch asks for


def test_default_mode_uses_the_default_preset() -> None:
    assert fixture_for("default", None, None, chain_port=8545) == preset("default", chain_port=8545)


def test_preset_is_selected_by_name() -> None:
    fixture = fixture_for("default", "withMainnet", None, chain_port=8545)

    assert fixture == preset("withMainnet", chain_port=8545)


def test_onboarding_mode_uses_the_onboarding_preset() -> None:
    assert fixture_for("onboarding", None, None, chain_port=8545) == preset("onboarding", chain_port=8545)


def test_custom_fixture_is_passed_unchanged() -> None:
    assert fixture_for("custom", None, CUSTOM, chain_port=8545) == CUSTOM


@pytest.mark.parametrize(
    ("mode", "name", "fixture", "message"),
    [
        ("custom", None, None, "stateMode custom needs a fixture"),
        ("custom", "default", CUSTOM, "fixturePreset needs stateMode default, but stateMode is custom"),
        (
            "onboarding",
            "withNFTs",
            None,
            "fixturePreset needs stateMode default, but stateMode is onboarding",
        ),
        ("default", None, CUSTOM, "fixture needs stateMode custom, but stateMode is default"),
        ("onboarding", None, CUSTOM, "fixture needs stateMode custom, but stateMode is onboarding"),
        ("default", "withEverything", None, "there is no fixturePreset withEverything"),
    ],
)
def test_conflicting_fixture_options_are_refused(mode: Any, name: str, fixture: Any, message: str) -> None:
    with pytest.raises(InvalidConfigError) as raised:
        fixture_for(mode, name, fixture, chain_port=8545)

    assert raised.value.message == message


def test_unknown_preset_error_lists_known_presets() -> None:
    with pytest.raises(InvalidConfigError) as raised:
        preset("withEverything", chain_port=8545)

    assert raised.value.suggestion == f"Name one of: {', '.join(PRESETS)}."
    assert raised.value.details == {"known": list(PRESETS)}


@pytest.mark.parametrize(
    "fixture",
    [
        {},
        {"data": {}},
        {"data": [], "meta": {"version": 1}},
        {"data": {}, "meta": {}},
        {"data": {}, "meta": {"version": "1"}},
        {"data": {}, "meta": {"version": True}},
    ],
)
def test_fixture_without_data_or_version_is_refused(fixture: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfigError, match=r"^fixture must have data, .* and meta\.version"):
        fixture_for("custom", None, fixture, chain_port=8545)


@given(
    mode=st.sampled_from(("default", "onboarding", "custom")),
    name=st.none() | st.sampled_from([*PRESETS, "other", ""]),
    fixture=st.none() | st.just(CUSTOM) | st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
    chain_port=st.integers(1, 65535),
)
def test_any_options_give_a_fixture_or_a_config_error(
    mode: Any, name: str | None, fixture: Any, chain_port: int
) -> None:
    try:
        given = fixture_for(mode, name, fixture, chain_port=chain_port)
    except InvalidConfigError:
        return

    assert set(given) == {"data", "meta"}
    assert given == (fixture if mode == "custom" else preset(name or mode, chain_port=chain_port))


def _data(name: str, *, chain_port: int = 8545) -> dict[str, Any]:
    return preset(name, chain_port=chain_port)["data"]


def _accounts(data: dict[str, Any]) -> list[dict[str, Any]]:
    internal = data["AccountsController"]["internalAccounts"]
    accounts = internal["accounts"]
    assert internal["selectedAccount"] in accounts
    assert [each["id"] for each in accounts.values()] == list(accounts)
    return list(accounts.values())


def get_selected_network(data: dict[str, Any]) -> dict[str, Any]:
    controller = data["NetworkController"]
    (selected,) = (
        network
        for network in controller["networkConfigurationsByChainId"].values()
        for endpoint in network["rpcEndpoints"]
        if endpoint["networkClientId"] == controller["selectedNetworkClientId"]
    )
    return selected


def _decrypt(vault: str, password: str) -> str:
    done = subprocess.run(
        [NODE, "-e", DECRYPT],
        input=json.dumps([vault, password]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout
