"""Rules that define what is secret in an app: names, fields and screens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["ERROR_WORDS", "INTERFACE_WORDS", "RedactionRules", "TypedField"]

INTERFACE_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    a about accept account accounts add address again agree all and any anyone back before by can cancel
    check choose clear clipboard close complete confirm connect contact continue copied copy create
    dialog do done down download edit enter error export family for forget form from get give go got help
    hidden hide hold how i if import in incorrect information into is it keep key keys later learn let
    lock log make manage menu missing more my name network never new next no not of ok okay on one only
    open or order our out password paste phrase place please previous private proceed qr quiz ready
    recover recovery remind remove restore reveal review save secret secure security seed select set
    settings setup share show sign skip sr srp start step store submit support tap terms that the them
    this to try type understand unlock up use using view wallet warning welcome what why will with word
    words write wrong yes you your
    """,
    )
)

ERROR_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        action after already an another answer app appear are area at be because been began begin browser
        but button call called cannot changed checkbox clicked closed closest combobox contenteditable could
        covered css custom default did disabled dispatched div does editable element elements ended error
        exactly extension field first found give given goes gone had has have heading hidden image input its
        label last left link list listbox listitem load loaded look main matches matching may menuitem ms
        must named navigated navigation none nor notification now off one opened option options other
        outside over page paragraph parameter part pixels point radio read redacted ref region request role
        same screen screenshot selector session size snapshot so span spinbutton stale stays still switch
        switched tab table tabs takes target testid text textarea textbox than then there timed timeout to
        too tool true typed ul under unknown url usable used visible wait waiting waits was were when which
        while window within without worked xpath zero
        """,
    )
)
"""Words that Footlight's errors use outside quotes. They are kept only in errors."""

SECRET_NAMES: Final = (
    r"pass(?:word|phrase|code|wd|key)|\b(?:pass|pwd|pw|pin|otp|totp|mfa|2fa|cvv|cvc|srp)\b|\bseed|mnemonic"
    r"|recovery|secret|private key|credential|vault|authori[sz]ation|\bcookie|api ?key"
    r"|token(?!s\b| (?:list|search|symbol|decimals?|address|amount|name|picker|standard)\b)"
)
"""Matches secret names after `_split_words`. Tokens of a blockchain are not secret."""

REVEALING_IDS: Final = r"\bsrp\b|\bseed|mnemonic|recovery phrase|recoveryphrase|private key|reveal"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedField:
    """The element that was typed into."""

    tag: str = ""
    type: str = ""
    autocomplete: str = ""
    test_id: str = ""
    name: str = ""
    """The accessible name."""

    hint: str = ""
    """The attributes `id` and `name` of the element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRules:
    """Rules that define what is secret in an app."""

    secret_screens: frozenset[str] = frozenset(("onboarding-srp", "onboarding-import"))
    """Screens that show or accept a seed phrase. Only texts made of interface words are kept there."""

    revealing_ids: str = REVEALING_IDS
    """A pattern for test ids. A visible test id that matches it makes its screen secret."""

    secret_names: str = SECRET_NAMES
    """A pattern for names of fields, of keys at any depth and of URL parameters whose values are secret."""

    secret_types: frozenset[str] = frozenset(("password",))
    secret_autocompletes: tuple[str, ...] = ("current-password", "new-password", "one-time-code", "cc-")
    typed_keys: frozenset[str] = frozenset(("text", "value"))
    """Keys of a tool's input that contain typed text. Typed text is never recorded."""

    keys_only_inputs: frozenset[str] = frozenset(("fixture",))
    """Keys of a tool's input whose values are objects. Only their top-level keys are recorded."""

    known_texts: tuple[str, ...] = ()
    """Known secrets of the app, such as the password and the seed phrase of its fixtures."""

    interface_words: frozenset[str] = INTERFACE_WORDS

    def is_secret_name(self, name: str) -> bool:
        """Return whether the value of a field, key or parameter with this name is secret."""
        return _contains_word(name, self.secret_names)

    def is_secret_field(self, typed: TypedField) -> bool:
        """Return whether a field is secret by its type, its autocomplete attribute or its names."""
        tokens = typed.autocomplete.lower().split()
        if typed.type.lower() in self.secret_types:
            return True
        if any(token.startswith(self.secret_autocompletes) for token in tokens):
            return True
        return any(map(self.is_secret_name, (typed.test_id, typed.name, typed.hint)))

    def is_phrase_name(self, name: str) -> bool:
        """Return whether a name is that of a seed phrase or another secret made of words."""
        return _contains_word(name, self.revealing_ids)

    def is_secret_screen(self, screen: str, test_ids: Iterable[str]) -> bool:
        return screen in self.secret_screens or _search_word("\n".join(test_ids), self.revealing_ids)


@lru_cache(maxsize=4096)
def _contains_word(name: str, words: str) -> bool:
    return _search_word(name[:500], words)


def _search_word(names: str, words: str) -> bool:
    return re.search(words, _split_words(names)) is not None


def _split_words(name: str) -> str:
    """Return `userPIN`, `user-pin` and `user_pin` as `user pin`."""
    spaced = (
        name if name.islower() else re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    )
    return re.sub(r"[\W_]+", " ", spaced).lower().strip()
