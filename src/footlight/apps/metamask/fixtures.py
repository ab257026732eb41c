"""Initial states of the extension: `{"data": {controller: state}, "meta": {"version": n}}`.

The format is that of version 13.5.0; later versions migrate it from `VERSION`. The data files contain the
parts that all states have in common, and this module contains the differences. Tokens and NFTs of the chain
are at the address of the first contract that `ACCOUNT` deploys. On a new chain, this contract does not exist
yet, and their balance is 0.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from footlight.app_errors import InvalidConfigError

__all__ = ["ACCOUNT", "ACCOUNTS", "PASSWORD", "PRESETS", "SEED_PHRASE", "StateMode", "fixture_for", "preset"]

StateMode = Literal["default", "onboarding", "custom"]
Fixture = dict[str, Any]
Data = dict[str, Any]


def _read_data(name: str) -> Any:
    return json.loads((Path(__file__).with_name("data") / f"{name}.json").read_text(encoding="utf-8"))


_WALLET = _read_data("wallet")
PASSWORD: str = _WALLET["password"]
SEED_PHRASE: str = _WALLET["phrase"]
ACCOUNTS: Sequence[str] = tuple(_WALLET["accounts"])
"""The first accounts of the seed phrase."""
ACCOUNT: str = ACCOUNTS[0]

VERSION = 178
"""The version of the extension's storage format."""
CHAIN = "0x539"
CLIENT = "localhost"
TIME_MS = 1_760_000_000_000
"""The time of all events, so that a fixture is always the same."""

DAPPS = ("https://metamask.github.io", "http://127.0.0.1:8080")
FIRST_CONTRACT = "0x581c3C1A2A4EBDE2A0Df29B5cf4c116E42945947"


def fixture_for(
    state_mode: StateMode, preset: str | None, fixture: Mapping[str, Any] | None, *, chain_port: int
) -> Fixture:
    """Return the initial state for the options of a launch.

    Raises:
        InvalidConfigError: The options contradict each other, or the preset does not exist.
    """
    if fixture is not None and state_mode != "custom":
        raise InvalidConfigError(f"fixture needs stateMode custom, but stateMode is {state_mode}")
    if preset is not None and state_mode != "default":
        raise InvalidConfigError(f"fixturePreset needs stateMode default, but stateMode is {state_mode}")
    if state_mode != "custom":
        return _preset(state_mode if preset is None else preset, chain_port)
    if fixture is None:
        raise InvalidConfigError("stateMode custom needs a fixture")
    return _check_fixture(fixture)


def is_new(state_mode: StateMode, preset: str | None) -> bool:
    """Return whether a launch with these options starts without a wallet, as a new installation does."""
    return "onboarding" in (state_mode, preset)


def preset(name: str, *, chain_port: int) -> Fixture:
    """Return a new copy of a preset state with the chain on `chain_port`.

    Raises:
        InvalidConfigError: The preset does not exist. The suggestion lists the presets.
    """
    return _preset(name, chain_port)


def _preset(name: str, chain_port: int) -> Fixture:
    if name not in PRESETS:
        raise InvalidConfigError(
            f"there is no fixturePreset {name}",
            suggestion=f"Name one of: {', '.join(PRESETS)}.",
            known=list(PRESETS),
        )
    data = _make_onboarding_data(chain_port) if name == "onboarding" else _default_data(chain_port)
    PRESETS[name](data)
    return {"data": data, "meta": {"version": VERSION}}


def _check_fixture(fixture: Mapping[str, Any]) -> Fixture:
    match fixture:
        case {"data": dict(), "meta": {"version": int() as version}} if version is not True:
            return dict(fixture)
        case _:
            raise InvalidConfigError(
                "fixture must have data, an object of controllers, and meta.version, a number",
                suggestion=f'Its form is {{"data": {{}}, "meta": {{"version": {VERSION}}}}}.',
            )


# Base states


def _make_onboarding_data(chain_port: int) -> Data:
    """Return a state without a wallet, with the local chain configured."""
    return {
        "NetworkController": _networks(chain_port),
        "OnboardingController": {"completedOnboarding": False, "seedPhraseBackedUp": None},
        "PreferencesController": {"currentLocale": "en", "theme": "light"},
    }


def _default_data(chain_port: int) -> Data:
    """Return a state with a locked wallet, which has one account on the local chain."""
    return {
        **_read_data("settings"),
        "AccountTracker": {"accountsByChainId": {}},
        "AccountsController": _accounts(1),
        "KeyringController": {"vault": _read_data("vaults")["one"]},
        "NetworkController": _networks(chain_port),
        **_enable_networks(CHAIN),
        "NftController": {"allNftContracts": {}, "allNfts": {}, "ignoredNfts": []},
        "OnboardingController": {
            "completedOnboarding": True,
            "firstTimeFlowType": "import",
            "seedPhraseBackedUp": True,
        },
        "PermissionController": {"subjects": {}},
        "SubjectMetadataController": {"subjectMetadata": {}},
        "TokensController": {"allDetectedTokens": {}, "allIgnoredTokens": {}, "allTokens": {}},
    }


def _accounts(number: int) -> Data:
    accounts = {_account_id(ACCOUNTS[index]): _account(index) for index in range(number)}
    return {"internalAccounts": {"accounts": accounts, "selectedAccount": _account_id(ACCOUNT)}}


def _account(index: int) -> Data:
    entropy = {"id": _WALLET["entropy"], "derivationPath": f"m/44'/60'/0'/0/{index}", "groupIndex": index}
    return {
        "id": _account_id(ACCOUNTS[index]),
        "address": ACCOUNTS[index].lower(),
        "metadata": {
            "importTime": TIME_MS,
            "keyring": {"type": "HD Key Tree"},
            "lastSelected": TIME_MS - index,
            "name": f"Account {index + 1}",
        },
        "methods": [
            "personal_sign",
            "eth_sign",
            "eth_signTransaction",
            "eth_signTypedData_v1",
            "eth_signTypedData_v3",
            "eth_signTypedData_v4",
        ],
        "options": {
            "entropySource": entropy["id"],
            "derivationPath": entropy["derivationPath"],
            "groupIndex": index,
            "entropy": {"type": "mnemonic", **entropy},
        },
        "scopes": ["eip155:0"],
        "type": "eip155:eoa",
    }


def _account_id(address: str) -> str:
    """Return the id that the extension derives from an address."""
    return str(uuid.UUID(bytes=hashlib.sha256(bytes.fromhex(address[2:])).digest()[:16], version=4))


def _networks(chain_port: int) -> Data:
    chain = _network(
        CHAIN,
        CLIENT,
        f"Localhost {chain_port}",
        "ETH",
        explorer=None,
        rpc=f"http://localhost:{chain_port}",
    )
    return {
        "networkConfigurationsByChainId": {"0x1": _public_network("0x1"), CHAIN: chain},
        "networksMetadata": {},
        "selectedNetworkClientId": CLIENT,
    }


def _enable_networks(chain_id: str) -> Data:
    """Select the network whose tokens are listed.

    Version 13.5.0 and later versions store it in two places.
    """
    enabled = {"eip155": {chain_id: True}}
    return {
        "NetworkEnablementController": {"enabledNetworkMap": enabled},
        "NetworkOrderController": {"enabledNetworkMap": enabled, "orderedNetworkList": []},
    }


def _public_network(chain_id: str) -> Data:
    client, name, currency, explorer, rpc = _read_data("networks")[chain_id]
    return _network(chain_id, client, name, currency, explorer=explorer, rpc=rpc)


def _network(
    chain_id: str, client: str, name: str, currency: str, *, explorer: str | None, rpc: str | None
) -> Data:
    """Return a network configuration. Without `rpc`, `client` names a network built into the extension."""
    endpoint: Data = {
        "failoverUrls": [],
        "networkClientId": client,
        "type": "custom" if rpc else "infura",
        "url": rpc or f"https://{client}.infura.io/v3/{{infuraProjectId}}",
    }
    return {
        "blockExplorerUrls": [explorer] if explorer else [],
        **({"defaultBlockExplorerUrlIndex": 0} if explorer else {}),
        "chainId": chain_id,
        "defaultRpcEndpointIndex": 0,
        "name": name,
        "nativeCurrency": currency,
        "rpcEndpoints": [endpoint],
    }


# Changes of the presets


def _keep_data(_: Data) -> None:
    pass


def _multiple_accounts(data: Data) -> None:
    data["KeyringController"] = {"vault": _read_data("vaults")["three"]}
    data["AccountsController"] = _accounts(len(ACCOUNTS))


def _erc20_tokens(data: Data) -> None:
    _hst_token(data)
    tokens = [
        _token("0x6B175474E89094C44Da98b954EedeAC495271d0F", "DAI", "Dai Stablecoin", 18),
        _token("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC", "USD Coin", 6),
    ]
    data["TokensController"]["allTokens"]["0x1"] = {ACCOUNT.lower(): tokens}


def _hst_token(data: Data) -> None:
    token = _token(FIRST_CONTRACT, "TST", "Human Standard Token", 4)
    data["TokensController"]["allTokens"] = {CHAIN: {ACCOUNT.lower(): [token]}}


def _token(address: str, symbol: str, name: str, decimals: int) -> Data:
    return {
        "address": address,
        "aggregators": [],
        "decimals": decimals,
        "image": None,
        "isERC721": False,
        "name": name,
        "symbol": symbol,
    }


def _connect_dapp(data: Data) -> None:
    data["PermissionController"]["subjects"] = {origin: _build_subject(origin) for origin in DAPPS}
    data["SubjectMetadataController"]["subjectMetadata"] = {
        origin: {
            "extensionId": None,
            "iconUrl": None,
            "name": "E2E Test Dapp",
            "origin": origin,
            "subjectType": "website",
        }
        for origin in DAPPS
    }


def _build_subject(origin: str) -> Data:
    account = ACCOUNT.lower()
    scopes = {
        scope: {"accounts": [f"{scope}:{account}"]} for scope in (f"eip155:{int(CHAIN, 16)}", "wallet:eip155")
    }
    allowed = {
        "isMultichainOrigin": False,
        "optionalScopes": scopes,
        "requiredScopes": {},
        "sessionProperties": {},
    }
    permission = {
        "caveats": [{"type": "authorizedScopes", "value": allowed}],
        "date": TIME_MS,
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, origin)),
        "invoker": origin,
        "parentCapability": "endowment:caip25",
    }
    return {"origin": origin, "permissions": {"endowment:caip25": permission}}


def _popular_networks(data: Data) -> None:
    popular = {chain_id: _public_network(chain_id) for chain_id in _read_data("networks")}
    data["NetworkController"]["networkConfigurationsByChainId"] |= popular


def _mainnet(data: Data) -> None:
    data["NetworkController"]["selectedNetworkClientId"] = "mainnet"
    data |= _enable_networks("0x1")
    data["PreferencesController"]["preferences"]["tokenNetworkFilter"] = {"0x1": True}


def _nfts(data: Data) -> None:
    contract = {"address": FIRST_CONTRACT, "name": "Test Dapp NFTs", "symbol": "TDN"}
    nfts = [_nft(number) for number in (1, 2)]
    data["NftController"] |= {
        "allNftContracts": {ACCOUNT.lower(): {CHAIN: [contract]}},
        "allNfts": {ACCOUNT.lower(): {CHAIN: nfts}},
    }


def _nft(number: int) -> Data:
    picture = f"<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>{number}</text></svg>"
    return {
        "address": FIRST_CONTRACT,
        "chainId": int(CHAIN, 16),
        "description": "For tests.",
        "favorite": False,
        "image": f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}",
        "isCurrentlyOwned": True,
        "name": f"Test Dapp NFTs #{number}",
        "standard": "ERC721",
        "tokenId": str(number),
    }


def _fiat_disabled(data: Data) -> None:
    data["PreferencesController"]["useCurrencyRateCheck"] = False


PRESETS: Mapping[str, Callable[[Data], None]] = MappingProxyType(
    {
        "default": _keep_data,
        "onboarding": _keep_data,
        "withMultipleAccounts": _multiple_accounts,
        "withERC20Tokens": _erc20_tokens,
        "withConnectedDapp": _connect_dapp,
        "withPopularNetworks": _popular_networks,
        "withMainnet": _mainnet,
        "withNFTs": _nfts,
        "withFiatDisabled": _fiat_disabled,
        "withHSTToken": _hst_token,
    }
)
"""The change that each preset makes to its base state."""
