"""Synonyms of words that users type and that screens contain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

__all__ = ["MAX_PHRASE_LENGTH", "find_stems", "find_synonyms"]

Phrase = tuple[str, ...]

GROUPS = (
    "approve, confirm, accept, allow",
    "reject, cancel, deny, decline, dismiss",
    "login, unlock, sign in, log in",
    "logout, lock, sign out, log out",
    "seed, srp, mnemonic, recovery phrase, secret recovery phrase, seed phrase",
    "password, passphrase",
    "account, wallet, address",
    "tx, transaction",
    "send, transfer, pay",
    "receive, deposit",
    "swap, exchange, trade",
    "popup, notification, window, dialog, modal",
    "network, chain",
    "token, asset, coin, erc20",
    "nft, collectible, erc721, erc1155",
    "fee, gas",
    "dapp, site, website",
    "connect, link",
    "disconnect, revoke",
    "sign, signature",
    "settings, preferences, options",
    "onboarding, setup, get started, welcome",
    "import, restore",
    "create, new, add",
    "remove, delete, forget",
    "next, continue, proceed",
    "submit, done, finish, save",
    "back, previous, return",
    "close, exit",
    "click, press, tap",
    "type, fill, enter, input",
    "wait, await",
    "launch, start, open",
    "screenshot, picture, image",
    "snapshot, tree",
    "menu, dropdown",
    "error, failure, failed, problem",
    "balance, amount, funds",
    "home, dashboard, main",
    "checkbox, toggle, switch",
    "field, textbox, input",
)
"""One group of synonyms per line. A word in two groups has the synonyms of both."""

MIN_STEM_LENGTH = 3


def find_synonyms(phrase: Phrase) -> tuple[Phrase, ...]:
    """Return the synonyms of a phrase."""
    return tuple(_make_table().get(phrase, ()))


def find_stems(word: str) -> list[str]:
    """Return possible stems of a plural or an inflected verb. A wrong stem finds nothing."""
    stems: list[str] = []
    for ending in ("ing", "ed", "es", "s"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= MIN_STEM_LENGTH and not word.endswith("ss"):
            stems.append(stem)
            if ending in ("ing", "ed"):
                stems.append(f"{stem}e")
    return stems


@cache
def _make_table() -> dict[Phrase, dict[Phrase, None]]:
    table: dict[Phrase, dict[Phrase, None]] = {}
    for group in _split_groups():
        for phrase in group:
            table.setdefault(phrase, {}).update(dict.fromkeys(other for other in group if other != phrase))
    return table


def _split_groups() -> Sequence[Sequence[Phrase]]:
    return [[tuple(phrase.split()) for phrase in group.split(", ")] for group in GROUPS]


MAX_PHRASE_LENGTH = max(len(phrase) for group in _split_groups() for phrase in group)
