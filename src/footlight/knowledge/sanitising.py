"""What may be written down of what was typed, shown and answered (R002-24, R002-25).

Rules are data: which names, fields and screens are secret. A `Sanitiser` applies them to one step, together
with the texts that are known to be secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, cast

from footlight.knowledge.interface_words import INTERFACE_WORDS
from footlight.knowledge.secret_shapes import HINTS, MARK, SHORTEST_PHRASE, find_phrase, without_shapes
from footlight.knowledge.secret_texts import SecretTexts

__all__ = ["MARK", "Field", "Rules", "Sanitiser", "cleaned", "texts_named_secret"]

SECRET_NAMES: Final = (
    r"pass(?:word|phrase|code|wd|key)|\b(?:pass|pwd|pw|pin|otp|totp|mfa|2fa|cvv|cvc|srp)\b|\bseed|mnemonic"
    r"|recovery|secret|private key|credential|vault|authori[sz]ation|\bcookie|api ?key"
    r"|token(?!s\b| (?:list|search|symbol|decimals?|address|amount|name|picker|standard)\b)"
)
"""In words, as `_words` makes them of a name. Tokens that are money are no secret."""

REVEALING_IDS: Final = r"\bsrp\b|\bseed|mnemonic|recovery phrase|recoveryphrase|private key|reveal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The element that was really typed into, however it was named."""

    tag: str = ""
    type: str = ""
    autocomplete: str = ""
    test_id: str = ""
    name: str = ""
    """The accessible one."""

    hint: str = ""
    """Its attributes `id` and `name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is secret in an app."""

    secret_screens: frozenset[str] = frozenset(("onboarding-srp", "onboarding-import"))
    """Those that show or take a seed phrase: only interface words are kept of their texts."""

    revealing_ids: str = REVEALING_IDS
    """A visible test id with one of these words makes its screen secret, whatever its name is."""

    secret_names: str = SECRET_NAMES
    """Of fields, of keys at any depth, and of parameters in URLs."""

    secret_types: frozenset[str] = frozenset(("password",))
    secret_autocompletes: tuple[str, ...] = ("current-password", "new-password", "one-time-code", "cc-")
    typed_keys: frozenset[str] = frozenset(("text", "value"))
    """Of a tool's input: what was typed. It is never kept, whatever the field is (R002-24)."""

    hollow_keys: frozenset[str] = frozenset(("fixture",))
    """Of objects of which only the uppermost keys are kept."""

    known_texts: tuple[str, ...] = ()
    """The app's own secrets: the password and the seed phrase of its fixtures."""

    interface_words: frozenset[str] = INTERFACE_WORDS

    def names_secret(self, name: str) -> bool:
        return _has_word(name, self.secret_names)

    def is_secret_field(self, typed: Field) -> bool:
        """By what it really is, or is called."""
        tokens = typed.autocomplete.lower().split()
        if typed.type.lower() in self.secret_types:
            return True
        if any(token.startswith(self.secret_autocompletes) for token in tokens):
            return True
        return any(map(self.names_secret, (typed.test_id, typed.name, typed.hint)))

    def names_phrase(self, name: str) -> bool:
        """Of a seed or the like, which has words."""
        return _has_word(name, self.revealing_ids)

    def is_secret_screen(self, screen: str, test_ids: Iterable[str]) -> bool:
        return screen in self.secret_screens or _find_word("\n".join(test_ids), self.revealing_ids)


MOST_DEPTH = 8
MOST_ITEMS = 60
MOST_VALUES = 400
LONGEST_VALUE = 1_000
LONGEST_KEY = 120
_APART = "\x1f"
"""In no text that is plain."""
BEYOND_CUT = 4_000
"""Characters that are looked at after the cut, so that a secret there is found whole."""
LARGEST_NUMBER = 2**63

MOST_SEARCHED = 20_000
"""Values of a fixture."""
DEEPEST_SEARCHED = 40
SHORTEST_NAMED = 6
"""Characters of a value that is secret by its key alone. Shorter ones are found in too many texts."""


@dataclass(slots=True)
class Sanitiser:
    """Cleans the texts of one step. `also` is secret in that only: what was typed, whatever the field is."""

    rules: Rules
    secrets: SecretTexts
    also: SecretTexts | None = None
    _plain: set[str] = field(default_factory=set[str])
    _known: dict[str, str] = field(default_factory=dict[str, str])
    _values: int = 0

    def screen(self, texts: Iterable[str]) -> None:
        """Most texts of a page are short and plain. Looking through them at once saves most time."""
        plain = [text for text in set(texts) if len(text) < SHORTEST_PHRASE]
        together = _APART.join(plain)
        if not (together.isascii() and together.replace(_APART, "").isprintable()):
            plain = [text for text in plain if text.isascii() and text.isprintable()]
            together = _APART.join(plain)
        squeezed = together.replace(" ", "").lower()
        each = zip(plain, squeezed.split(_APART), strict=True) if plain else ()
        for hint in (*HINTS, *self.secrets.looked_for):
            if hint in squeezed:
                each = [pair for pair in each if hint not in pair[1]]
        self._plain = {text for text, _ in each}

    def text(self, text: object, longest: int = LONGEST_VALUE) -> str:
        """What is no text is ""."""
        if not isinstance(text, str):
            return ""
        if text in self._plain:
            return text
        if len(text) > longest + BEYOND_CUT:
            text = _without_last_word(text[: longest + BEYOND_CUT])
        text = self.secrets.without(without_shapes(self.secrets.without(text), self.rules.names_secret))
        if self.also:
            text = self.also.without_words(text)
        return _cut(cleaned(text), longest)

    def shown(self, text: object, longest: int) -> str:
        """A text of the page: words of a phrase do not stand in it either. Most come again and again."""
        if not isinstance(text, str):
            return ""
        if text in self._plain:
            return text
        known = self._known.get(text)
        if known is None:
            short = (
                _without_last_word(text[: longest + BEYOND_CUT]) if len(text) > longest + BEYOND_CUT else text
            )
            clean = without_shapes(self.secrets.without_words(short), self.rules.names_secret)
            known = self._known[text] = cleaned(
                self.secrets.without_words(clean) if clean != short else clean
            )
        return _cut(known, longest)

    def interface(self, text: object, longest: int) -> str:
        """A text of a secret screen: the mark, unless it is of interface words only."""
        shown = self.shown(text, longest)
        return shown if self._is_interface(shown) else MARK

    def data(self, value: object) -> Any:
        """Nested values as plain JSON, bounded, with the mark for what a key calls secret."""
        self._values = 0
        return self._data(value, 0)

    def hollow(self, value: object) -> Any:
        """Of an object, its keys."""
        if not isinstance(value, Mapping):
            return MARK
        keys = list(cast("Mapping[object, object]", value))
        return {self.text(str(key), LONGEST_KEY): MARK for key in keys[:MOST_ITEMS]}

    def _data(self, value: object, depth: int) -> Any:
        self._values += 1
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._number(value)
        if depth >= MOST_DEPTH or self._values > MOST_VALUES:
            return "…"
        if isinstance(value, Mapping):
            return self._entries(cast("Mapping[object, object]", value), depth)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            return self._items(cast("Sequence[object]", value), depth)
        return f"[{cast('object', value).__class__.__name__}]"

    def _entries(self, value: Mapping[object, object], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, (key, item) in enumerate(value.items()):
            if number == MOST_ITEMS:
                found["…"] = f"{len(value) - MOST_ITEMS} more"
                break
            name = key if isinstance(key, str) else str(self._data(key, MOST_DEPTH))
            found[self.text(name, LONGEST_KEY)] = self._entry(name, item, depth)
        return found

    def _entry(self, name: str, item: object, depth: int) -> Any:
        if name in self.rules.hollow_keys:
            return self.hollow(item)
        if item is not None and not isinstance(item, bool) and self.rules.names_secret(name):
            return MARK
        return self._data(item, depth + 1)

    def _items(self, value: Sequence[object], depth: int) -> list[Any]:
        found = [self._data(item, depth + 1) for item in value[:MOST_ITEMS]]
        return found if len(value) <= MOST_ITEMS else [*found, f"… {len(value) - MOST_ITEMS} more"]

    def _number(self, number: float) -> float | str | None:
        if not abs(number) < LARGEST_NUMBER:
            return None  # JSON has no infinity, and readers of it no larger whole numbers.
        written = str(number)
        return number if self.text(written) == written else MARK

    def _is_interface(self, text: str) -> bool:
        """A word alone must have a capital, as labels have: the words of a phrase are written small."""
        words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text)
        if not words:
            return len(re.findall(r"\w", text)) <= 3
        if len(words) == 1 and not words[0][0].isupper():
            return False
        return len(words) < 12 and all(word.lower() in self.rules.interface_words for word in words)


def texts_named_secret(value: object, rules: Rules, *, most: int = 32) -> list[str]:
    """Values under a secret key at any depth, and phrases: they may stand elsewhere without that key."""
    found: list[str] = []
    waiting: list[tuple[object, bool, int]] = [(value, False, 0)]
    seen = 0
    while waiting and len(found) < most and seen < MOST_SEARCHED:
        item, is_secret, depth = waiting.pop()
        seen += 1
        if isinstance(item, str):
            if is_secret and len(item) >= SHORTEST_NAMED:
                found.append(item)
            elif (phrase := find_phrase(item)) is not None:
                found.append(phrase)
        elif depth > DEEPEST_SEARCHED:
            continue
        elif isinstance(item, Mapping):
            entries = cast("Mapping[object, object]", item).items()
            waiting += [
                (each, is_secret or (isinstance(key, str) and rules.names_secret(key)), depth + 1)
                for key, each in entries
            ]
        elif isinstance(item, list | tuple):
            waiting += [(each, is_secret, depth + 1) for each in cast("Sequence[object]", item)]
    return found


def cleaned(text: str) -> str:
    """Without what is no text: control characters, and surrogates that are alone."""
    return text if text.isprintable() else _NO_TEXT.sub("\ufffd", text)


_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _without_last_word(text: str) -> str:
    """It may be a piece of a secret."""
    return f"{text.rsplit(None, 1)[0]} …"


@lru_cache(maxsize=4096)
def _has_word(name: str, words: str) -> bool:
    return _find_word(name[:500], words)


def _find_word(names: str, words: str) -> bool:
    return re.search(words, _words(names)) is not None


def _words(name: str) -> str:
    """`userPIN`, `user-pin` and `user_pin` as `user pin`."""
    apart = name if name.islower() else re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[\W_]+", " ", apart).lower().strip()
