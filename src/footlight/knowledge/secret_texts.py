"""Texts that are known to be secret, and are found again however they are written."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

from footlight.knowledge.secret_shapes import MARK

__all__ = ["SecretTexts"]

MOST_TEXTS = 64
MOST_WORDS = 96
"""As many as are remembered; the oldest go. Each is looked for in each text of a step."""
LONGEST = 2_000
SHORTEST = 4
"""Characters. A shorter one is found in half of all words, so it counts only as a word."""
SHORTEST_WORD = 3
FEWEST_WORDS = 3
"""Of a phrase, one after the other: then they are a piece of it, and not a sentence that has one of them."""
_ROUNDS = 4
"""Encodings of encodings that are looked through."""

_ODD = re.compile(r"[%&\\+\x00-\x08\x0e-\x1f\x7f-\x9f]")
_DROPPED = re.compile(r"[\s+\\\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2060\ufeff\ufffd]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


class SecretTexts:
    """The newest ones. Case, white space and encodings (JSON, URL, HTML) do not count."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: dict[str, str] = {}
        self._words: dict[str, None] = {}
        self._pieces: re.Pattern[str] | None = None
        for text in texts:
            self.remember(text)

    def __repr__(self) -> str:
        return f"SecretTexts({len(self._texts)} texts, {len(self._words)} words)"

    def __contains__(self, text: str) -> bool:
        """Whether the text has one of them in it."""
        plain = _plain(text)
        return any(secret in plain for secret in self._texts)

    @property
    def looked_for(self) -> tuple[str, ...]:
        """One of them, in small letters and without spaces, is in each ASCII text that has a secret."""
        return (*self._texts, *("".join(word.split()) for word in self._words))

    def remember(self, text: str, *, shortest_word: int = SHORTEST_WORD, also_public: bool = False) -> None:
        """A phrase also by its words. What everybody may know, an address, only if it is asked for."""
        text = text.strip()[:LONGEST]
        if _ADDRESS.fullmatch(text) and not also_public:
            return
        plain = _plain(text)
        if len(plain) < SHORTEST:
            if len(plain) >= shortest_word:
                self.remember_words([text])
            return
        self._texts.pop(plain, None)
        self._texts[plain] = text
        if len(self._texts) > MOST_TEXTS:
            del self._texts[next(iter(self._texts))]
        words = text.split()
        if 12 <= len(words) <= 24 and all(word.isalpha() for word in words):
            self.remember_words(words)

    def remember_words(self, words: Iterable[str]) -> None:
        """Each is secret where it stands alone, as on a chip."""
        for word in words:
            self._words.pop(word.casefold(), None)
            self._words[word.casefold()] = None
        for oldest in list(self._words)[:-MOST_WORDS]:
            del self._words[oldest]
        each = "|".join(re.escape(word) for word in sorted(self._words, key=len, reverse=True))
        between = r"(?:[\W\d_]|\\[nrt])+"
        self._pieces = re.compile(
            rf"(?<![^\W_])(?:{each})(?:{between}(?:{each})){{{FEWEST_WORDS - 1},}}(?![^\W_])", re.IGNORECASE
        )

    def without(self, text: str) -> str:
        """With the mark in the place of each, and of pieces of a phrase."""
        plain = _plain(text)
        for secret in sorted((secret for secret in self._texts if secret in plain), key=len, reverse=True):
            text = self._without(text, secret)
        if text.endswith(("…", "...")):
            text = self._without_end(text)
        if self._pieces and sum(word in plain for word in self._words) >= FEWEST_WORDS:
            text = self._pieces.sub(MARK, text)
        return text

    def without_words(self, text: str) -> str:
        """The same, and without any single word of a phrase."""
        text = self.without(text)
        lower = text.casefold()
        for word in [word for word in self._words if word in lower]:
            text = re.sub(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", MARK, text, flags=re.IGNORECASE)
        return text

    def _without(self, text: str, secret: str) -> str:
        words = map(re.escape, self._texts[secret].split())
        text = re.sub(r"\s+".join(words), MARK, text, flags=re.IGNORECASE)
        if not _has(text, secret):
            return text
        # Encoded: the pattern above does not see it, so what is around it goes, and at worst everything.
        for between in (r"([\s?&#=;]+)", r"(\s+)"):
            parts = [MARK if _has(part, secret) else part for part in re.split(between, text)]
            text = "".join(parts)
            if not _has(text, secret):
                return text
        return MARK

    def _without_end(self, text: str) -> str:
        """Whoever cut the text may have cut a secret in two."""
        kept = text.rstrip("…. ")
        for secret in self._texts.values():
            for length in range(min(len(secret), len(kept)), SHORTEST - 1, -1):
                if kept.casefold().endswith(secret[:length].casefold()):
                    return f"{kept[:-length]}{MARK}…"
        return text


def _has(text: str, secret: str) -> bool:
    # What stands on the two sides of a mark does not make a secret.
    return secret in _plain(text.replace(MARK, "\ue000"))


def _plain(text: str) -> str:
    """What two spellings of one text have in common."""
    if text.isascii() and not _ODD.search(text):
        return "".join(text.casefold().split())
    return _DROPPED.sub("", unicodedata.normalize("NFKC", _decoded(text)).casefold())


def _decoded(text: str) -> str:
    for _ in range(_ROUNDS):
        once = unquote(html.unescape(_unescaped(text)))
        if once == text:
            break
        text = once
    # Two surrogates that were escaped are one character; one alone is none.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(text: str) -> str:
    """As JSON escapes it."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    return re.sub(r"\\+[nrtbf]", " ", text)
