"""Redaction of the texts of one step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from footlight.knowledge.redaction_rules import ERROR_WORDS, RedactionRules
from footlight.knowledge.secret_shapes import HINTS, MARK, MIN_PHRASE_CHARS, find_phrase, redact_shapes
from footlight.knowledge.secret_texts import SecretTexts

__all__ = [
    "MAX_ITEMS",
    "MAX_KEY_CHARS",
    "MAX_VALUES",
    "MAX_VALUE_CHARS",
    "OVERLAP_CHARS",
    "Sanitiser",
    "cut_for_search",
    "find_named_secrets",
    "remove_control_characters",
]

MAX_DEPTH = 8

MAX_ITEMS = 60

MAX_VALUES = 400

MAX_VALUE_CHARS = 1_000

MAX_KEY_CHARS = 120

_SEPARATOR = "\x1f"
"""A separator that no plain text contains."""

OVERLAP_CHARS = 4_000
"""How many characters after the cut are searched, so that a secret at the cut is found completely."""

NUMBER_LIMIT = 2**63

MAX_NAMED_SECRETS = 32
MAX_SEARCHED_VALUES = 20_000
"""Maximum number of values of an input, such as a fixture, that are searched for secrets."""

MAX_SEARCH_DEPTH = 40

MIN_NAMED_SECRET_CHARS = 6
"""Minimum length of a value that is secret only by its key. Shorter values occur in too many texts."""


@dataclass(slots=True)
class Sanitiser:
    """Redacts the texts of one step. `also` has texts that are secret only in this step: the typed texts.

    `reveals` is true if the screen before or after the step shows a seed phrase, and `chips` are the
    single-word elements there. In that case, identifiers lose these words, and texts of the call keep only
    interface and error words.
    """

    rules: RedactionRules
    secrets: SecretTexts
    also: SecretTexts | None = None
    reveals: bool = False
    chips: frozenset[str] = frozenset()
    _plain: set[str] = field(default_factory=set[str])
    _cleaned: dict[str, str] = field(default_factory=dict[str, str])
    _values: int = 0

    def remember_plain(self, texts: Iterable[str]) -> None:
        """Store which short texts contain no secret.

        Most texts of a page are short and plain. They are searched together, which is much faster.
        """
        plain = [text for text in set(texts) if len(text) < MIN_PHRASE_CHARS]
        joined = _SEPARATOR.join(plain)
        if not (joined.isascii() and joined.replace(_SEPARATOR, "").isprintable()):
            plain = [text for text in plain if text.isascii() and text.isprintable()]
            joined = _SEPARATOR.join(plain)
        squeezed = joined.replace(" ", "").lower()
        each = zip(plain, squeezed.split(_SEPARATOR), strict=True) if plain else ()
        for hint in (*HINTS, *self.secrets.search_hints):
            if hint in squeezed:
                each = [pair for pair in each if hint not in pair[1]]
        self._plain = {text for text, _ in each}

    def clean_text(self, text: object, max_chars: int = MAX_VALUE_CHARS) -> str:
        """Return a text without secrets, shortened to `max_chars` characters. Return "" for other values."""
        if not isinstance(text, str):
            return ""
        if text in self._plain:
            return text
        text = cut_for_search(text, max_chars)
        text = self.secrets.redact(redact_shapes(self.secrets.redact(text), self.rules.is_secret_name))
        if self.also:
            text = self.also.redact_words(text)
        return _cut(remove_control_characters(text), max_chars)

    def clean_call_text(self, text: object, max_chars: int = MAX_VALUE_CHARS) -> str:
        """Return a text of the call or its error without words of a seed phrase. It may quote the page."""
        clean = self.clean_text(text, max_chars + OVERLAP_CHARS)
        words = self.secrets.words
        if self.reveals:
            parts = re.split('(")', clean)
            clean = "".join(
                self._clean_quoted_part(part) if at % 4 == 2 else self._clean_error_part(part)
                for at, part in enumerate(parts)
            )
        elif words:
            clean = _SINGLE_WORD.sub(lambda word: MARK if word[0].casefold() in words else word[0], clean)
        return _cut(clean, max_chars)

    def clean_identifier(self, text: object, max_chars: int) -> str:
        """Return a test id, a URL or a selector without secrets."""
        clean = self.clean_text(text, max_chars + OVERLAP_CHARS)
        if self.reveals:
            words = self.secrets.words | self.chips
            clean = _WORD.sub(lambda word: MARK if word[0].casefold() in words else word[0], clean)
        return _cut(clean, max_chars)

    def clean_path(self, path: str) -> str:
        """Return a file path without secrets.

        Each part is checked separately: together they look like a token.
        """
        parts = re.split(r"([/\\])", self.secrets.redact(path))
        return "".join(self.clean_text(part) for part in parts)

    def clean_page_text(self, text: object, max_chars: int) -> str:
        """Return a text of the page without secrets and words of a phrase. Results are cached."""
        if not isinstance(text, str):
            return ""
        if text in self._plain:
            return text
        clean = self._cleaned.get(text)
        if clean is None:
            short = cut_for_search(text, max_chars)
            redacted = redact_shapes(self.secrets.redact_words(short), self.rules.is_secret_name)
            clean = self._cleaned[text] = remove_control_characters(
                self.secrets.redact_words(redacted) if redacted != short else redacted
            )
        return _cut(clean, max_chars)

    def clean_secret_page_text(self, text: object, max_chars: int) -> str:
        """Return a text of a secret screen, or the mark if it contains more than interface words."""
        clean = self.clean_page_text(text, max_chars)
        return clean if self._is_interface(clean) else MARK

    def clean_data(self, value: object) -> Any:
        """Return nested values as plain JSON of limited size, with the mark for values under a secret key."""
        self._values = 0
        return self._clean_value(value, 0)

    def keep_keys(self, value: object) -> Any:
        """Return an object with its top-level keys, and the mark for each value."""
        if not isinstance(value, Mapping):
            return MARK
        keys = list(cast("Mapping[object, object]", value))
        return {self.clean_text(str(key), MAX_KEY_CHARS): MARK for key in keys[:MAX_ITEMS]}

    def _clean_value(self, value: object, depth: int) -> Any:
        self._values += 1
        if self._values > MAX_VALUES:
            return "…"
        if isinstance(value, str):
            return self.clean_call_text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._clean_number(value)
        if depth >= MAX_DEPTH:
            return "…"
        if isinstance(value, Mapping):
            return self._clean_mapping(cast("Mapping[object, object]", value), depth)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            return self._clean_sequence(cast("Sequence[object]", value), depth)
        return f"[{cast('object', value).__class__.__name__}]"

    def _clean_mapping(self, value: Mapping[object, object], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, (key, item) in enumerate(value.items()):
            if number == MAX_ITEMS:
                found["…"] = f"{len(value) - MAX_ITEMS} more"
                break
            name = key if isinstance(key, str) else str(self._clean_value(key, MAX_DEPTH))
            found[self.clean_text(name, MAX_KEY_CHARS)] = self._clean_entry(name, item, depth)
        return found

    def _clean_entry(self, name: str, item: object, depth: int) -> Any:
        if name in self.rules.keys_only_inputs:
            return self.keep_keys(item)
        if item is not None and not isinstance(item, bool) and self.rules.is_secret_name(name):
            return MARK
        return self._clean_value(item, depth + 1)

    def _clean_sequence(self, value: Sequence[object], depth: int) -> list[Any]:
        found = [self._clean_value(item, depth + 1) for item in value[:MAX_ITEMS]]
        return found if len(value) <= MAX_ITEMS else [*found, f"… {len(value) - MAX_ITEMS} more"]

    def _clean_number(self, number: float) -> float | str | None:
        if not abs(number) < NUMBER_LIMIT:
            return None  # JSON has no infinity, and many JSON readers have no larger integers.
        written = str(number)
        return number if self.clean_text(written) == written else MARK

    def _clean_quoted_part(self, text: str) -> str:
        return self.clean_secret_page_text(text, len(text))

    def _clean_error_part(self, text: str) -> str:
        known = self.rules.interface_words | ERROR_WORDS
        return _SINGLE_WORD.sub(lambda word: word[0] if word[0].casefold() in known else MARK, text)

    def _is_interface(self, text: str) -> bool:
        """Return whether a text has only interface words. A single word must be capitalised like a label."""
        words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text)
        if not words:
            return len(re.findall(r"\w", text)) <= 3
        if len(words) == 1 and not words[0][0].isupper():
            return False
        return len(words) < 12 and all(word.lower() in self.rules.interface_words for word in words)


def find_named_secrets(value: object, rules: RedactionRules) -> list[str]:
    """Return values under a secret key at any depth, and seed phrases. They may also occur elsewhere."""
    found: list[str] = []
    pending: list[tuple[object, bool, int]] = [(value, False, 0)]
    seen = 0
    while pending and len(found) < MAX_NAMED_SECRETS and seen < MAX_SEARCHED_VALUES:
        item, is_secret, depth = pending.pop()
        seen += 1
        if isinstance(item, str):
            if is_secret and len(item) >= MIN_NAMED_SECRET_CHARS:
                found.append(item)
            elif (phrase := find_phrase(item)) is not None:
                found.append(phrase)
        elif depth > MAX_SEARCH_DEPTH:
            continue
        elif isinstance(item, Mapping):
            entries = cast("Mapping[object, object]", item).items()
            pending += [
                (each, is_secret or (isinstance(key, str) and rules.is_secret_name(key)), depth + 1)
                for key, each in entries
            ]
        elif isinstance(item, list | tuple):
            pending += [(each, is_secret, depth + 1) for each in cast("Sequence[object]", item)]
    return found


_WORD = re.compile(r"[^\W\d_]+")

_SINGLE_WORD = re.compile(r"(?<![\w.#@-])[^\W\d_]+(?![\w-])")
"""A word that is not part of an identifier, a class or a test id."""


def remove_control_characters(text: str) -> str:
    """Replace control characters and unpaired surrogates by U+FFFD."""
    return text if text.isprintable() else _CONTROL.sub("\ufffd", text)


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def cut_for_search(text: str, max_chars: int) -> str:
    """Return the part of a text that is searched for secrets if `max_chars` characters of it are shown."""
    longest = max_chars + OVERLAP_CHARS
    if len(text) <= longest:
        return text
    # The last word of a cut text may be part of a secret.
    return " ".join([*text[:longest].rsplit(None, 1)[:1], "…"])
