"""Known secret texts, which are found in any case, spacing and encoding."""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

from footlight.knowledge.secret_shapes import MARK, decode_letters
from footlight.patterns import ANY_SPACE, AnyOf, encoded_forms, overlapping_rest

__all__ = ["SecretTexts"]

MAX_TEXTS = 64
MAX_WORDS = 96
"""Maximum number of stored texts and words. The oldest are dropped."""
MAX_TEXT_CHARS = 2_000
MIN_TEXT_CHARS = 4
"""Minimum length of a text. Shorter texts occur in many words, so they are stored as words."""
MIN_WORD_CHARS = 3
MIN_PHRASE_WORDS = 3
"""The number of consecutive words of a phrase that count as a part of it."""
MAX_ACCENTS = 30
MAX_DECODINGS = 4
"""Maximum number of nested encodings that are decoded."""

_ODD = re.compile(r"[%&\\+\x00-\x08\x0e-\x1f\x7f-\x9f]")
_DROPPED = re.compile(r"[\s+\\\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2060\ufeff\ufffd]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


class SecretTexts:
    """The latest secret texts.

    Case, white space and encodings (JSON, URL, HTML, Base64, hexadecimal) are ignored in a search.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: dict[str, str] = {}
        """The texts by their normal form."""
        self._encoded: dict[str, dict[str, str]] = {}
        """The expressions for the encodings of each text by their normal form, also by the text's."""
        self._words: dict[str, None] = {}
        self._phrase_parts: re.Pattern[str] | None = None
        """Compiled when it is needed, because each phrase that is stored changes it."""
        self._pattern: tuple[tuple[str, ...], AnyOf] | None = None
        """The normal forms that the last text with secrets contained, and their pattern."""
        for text in texts:
            self.remember(text)

    def __repr__(self) -> str:
        return f"SecretTexts({len(self._texts)} texts, {len(self._words)} words)"

    def __contains__(self, text: str) -> bool:
        """Return whether a text contains one of the secrets."""
        return bool(self._find_forms(_normalize(text)))

    @property
    def search_hints(self) -> tuple[str, ...]:
        """Lower-case texts without spaces. Every ASCII text with a secret contains at least one of them."""
        encoded = itertools.chain.from_iterable(self._encoded.values())
        return (*self._texts, *encoded, *("".join(word.split()) for word in self._words))

    @property
    def words(self) -> frozenset[str]:
        """The words of seed phrases, in lower case."""
        return frozenset(self._words)

    def remember(self, text: str, *, min_word_chars: int = MIN_WORD_CHARS, also_public: bool = False) -> None:
        """Store a secret text, and the words of a seed phrase.

        Addresses of a blockchain are public and are stored only with `also_public`.
        """
        text = text.strip()[:MAX_TEXT_CHARS]
        if _ADDRESS.fullmatch(text) and not also_public:
            return
        plain = _normalize(text)
        if len(plain) < MIN_TEXT_CHARS:
            if len(plain) >= min_word_chars:
                self.remember_words([text])
            return
        self._texts.pop(plain, None)
        self._texts[plain] = text
        self._encoded[plain] = {
            _normalize(each): form.pattern for form in encoded_forms(text) for each in form.texts
        }
        self._pattern = None
        if len(self._texts) > MAX_TEXTS:
            oldest = next(iter(self._texts))
            del self._texts[oldest], self._encoded[oldest]
        words = text.split()
        if 12 <= len(words) <= 24 and all(word.isalpha() for word in words):
            self.remember_words(words)

    def remember_words(self, words: Iterable[str]) -> None:
        """Store the words of a seed phrase. Each is secret as a whole word."""
        for word in words:
            self._words.pop(word.casefold(), None)
            self._words[word.casefold()] = None
        for oldest in list(self._words)[:-MAX_WORDS]:
            del self._words[oldest]
        self._phrase_parts = None

    def copy(self) -> SecretTexts:
        """Return a copy, which another thread may use while this object changes."""
        other = SecretTexts()
        other._texts, other._words = self._texts.copy(), self._words.copy()
        other._encoded = self._encoded.copy()
        return other

    def redact(self, text: str) -> str:
        """Replace secrets and parts of a seed phrase by the mark."""
        plain = _normalize(text)
        if found := self._find_forms(plain):
            text = self._redact_secrets(text, found)
        if text.endswith(("…", "...")):
            text = self._redact_cut_end(text)
        text = self._decode_words(text)
        if sum(word in plain for word in self._words) >= MIN_PHRASE_WORDS:
            text = self._compile_phrase_parts().sub(MARK, text)
        return text

    def redact_words(self, text: str) -> str:
        """Replace secrets and every single word of a seed phrase by the mark."""
        text = self._decode_words(self.redact(text))
        lower = text.casefold()
        for word in [word for word in self._words if word in lower]:
            text = re.sub(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", MARK, text, flags=re.IGNORECASE)
        return text

    def _find_forms(self, plain: str) -> tuple[str, ...]:
        """Return the normal forms of secrets and of their encodings that a normal form contains."""
        forms = (form for secret in self._texts for form in (secret, *self._encoded[secret]))
        return tuple(sorted((form for form in forms if form in plain), key=len, reverse=True))

    def _compile_phrase_parts(self) -> re.Pattern[str]:
        if self._phrase_parts is None:
            each = "|".join(re.escape(word) for word in sorted(self._words, key=len, reverse=True))
            between, word = r"(?:[\W\d_]|\\[nrt])+", rf"(?:{each})(?![^\W\d_])"
            self._phrase_parts = re.compile(
                rf"(?<![^\W_]){word}(?:{between}{word}){{{MIN_PHRASE_WORDS - 1},}}+", re.IGNORECASE
            )
        return self._phrase_parts

    def _decode_words(self, text: str) -> str:
        """Return the text with percent-encoded letters decoded, if that shows a word of a seed phrase."""
        plain = decode_letters(text)
        if plain == text:
            return text
        lower = plain.casefold()
        return plain if any(word in lower for word in self._words) else text

    def _redact_secrets(self, text: str, forms: tuple[str, ...]) -> str:
        """Replace secrets whose forms occur in the text, the longest first. All are searched together."""
        if self._pattern is None or self._pattern[0] != forms:
            texts = [self._texts[form] for form in forms if form in self._texts]
            encoded = {form: each for of in self._encoded.values() for form, each in of.items()}
            self._pattern = (
                forms,
                AnyOf(
                    [
                        _plain_pattern(self._texts[form], texts) if form in self._texts else encoded[form]
                        for form in forms
                    ]
                ),
            )
        text = self._pattern[1].replace(text, lambda _, __: MARK)
        # The pattern misses an encoded secret, so the part around it is redacted, or otherwise the whole
        # text.
        for separator in (r"([\s?&#=;]+)", r"(\s+)"):
            forms = _contained(text, forms)
            if not forms:
                return text
            parts = re.split(separator, text)
            text = "".join(MARK if _contained(part, forms) else part for part in parts)
        return MARK if _contained(text, forms) else text

    def _redact_cut_end(self, text: str) -> str:
        """Replace a secret at the end of a text that was cut, possibly in the middle of the secret."""
        without_mark = text.rstrip("…. ")
        end = without_mark[-MAX_TEXT_CHARS:].casefold()
        for secret in self._texts.values():
            folded = secret.casefold()
            at = end.find(folded[:MIN_TEXT_CHARS], max(0, len(end) - len(folded)))
            while at >= 0:
                if folded.startswith(end[at:]):
                    return f"{without_mark[: at - len(end)]}{MARK}…"
                at = end.find(folded[:MIN_TEXT_CHARS], at + 1)
        return text


def _plain_pattern(text: str, others: list[str]) -> str:
    return f"(?i){f'{ANY_SPACE}+'.join(map(re.escape, text.split()))}{overlapping_rest(text, others)}"


def _contained(text: str, forms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the normal forms that a text contains."""
    # The texts on both sides of a mark must not be joined to a secret.
    plain = _normalize(text.replace(MARK, "\ue000"))
    return tuple(form for form in forms if form in plain)


def _normalize(text: str) -> str:
    """Return the normal form of a text, in which all its spellings are equal."""
    if text.isascii() and not _ODD.search(text):
        return "".join(text.casefold().split())
    folded = unicodedata.normalize("NFKC", _limit_accents(_decode(text))).casefold()
    # Case folding turns some letters into a letter with separate accents.
    return _DROPPED.sub("", unicodedata.normalize("NFKC", folded))


def _limit_accents(text: str) -> str:
    """Drop accents after the 30th on one letter, as in Unicode's Stream-Safe Text Format.

    Normalisation sorts the accents of a letter in quadratic time.
    """
    if not any(map(unicodedata.combining, set(text))):
        return text
    chars: list[str] = []
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run <= MAX_ACCENTS:
            chars.append(char)
    return "".join(chars)


def _decode(text: str) -> str:
    for _ in range(MAX_DECODINGS):
        once = unquote(_decode_entities(_decode_escapes(text)))
        if once == text:
            break
        text = once
    # A pair of escaped surrogates is one character; an unpaired surrogate is replaced.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decode_entities(text: str) -> str:
    """Decode HTML entities. Long numbers are shortened first: Python refuses to parse thousands of digits."""
    short = re.sub(r"(&#[0-9]{8})[0-9]+", r"\1", re.sub(r"(&#)0+(?=[0-9])", r"\1", text))
    return html.unescape(short)


def _decode_escapes(text: str) -> str:
    """Decode the escape sequences of JSON."""
    text = re.sub(r"(?<!\\)\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    return re.sub(r"(?<!\\)\\+[nrtbf]", " ", text)
