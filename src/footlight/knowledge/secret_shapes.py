"""Redaction of secrets recognised by their form: keys, tokens, seed phrases, vaults, URL credentials."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, unquote_plus

__all__ = [
    "HINTS",
    "MARK",
    "MIN_PHRASE_CHARS",
    "NameRule",
    "decode_letters",
    "find_phrase",
    "looks_random",
    "redact_shapes",
]

MARK: Final = "[REDACTED]"

NameRule = Callable[[str], bool]
"""A function that returns whether the value with this name is secret."""

_BETWEEN = r"""(?![-_./:=&#](?![\W\d_]))(?:[^\w\\]++|[\d_]++|\\++[nrt"'])++"""
"""Matches the text between two words of a phrase in a list, a table or a text. It contains no letters, and is
not a single character that joins the words of an identifier or a URL.
"""
_WORD = r"[a-z]{3,8}+(?![^\W\d_])"
_SEED_PHRASE = re.compile(
    rf"(?<![^\W\d_]){_WORD}(?:(?:{_BETWEEN}{_WORD}){{11,}}+|([-_./:=&#]){_WORD}(?:\1{_WORD}){{10,}}+)",
    re.IGNORECASE,
)
"""Twelve words or more, each as long as those of BIP-39, with only separators and numbers between them, or
all joined by the same character.

The pattern does not backtrack: a character that ends a word cannot begin a separator.
"""
_ENCODED_LETTER = re.compile(r"%(?:25)*+(4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)
_AROUND = re.compile(r"\A[\W\d_]++|(?<![\W\d_])[\W\d_]++\Z")
MIN_PHRASE_CHARS = 47
MAX_PHRASE_CHARS = 400
MAX_ENCODED_PHRASE_CHARS = 4_000
"""The maximum length of a phrase before its letters are decoded. Longer texts are not decoded."""

_WEB_TOKEN = re.compile(
    # The required dot is checked once for each run of such characters.
    r"(?<![\w-])(?=[\w-]++\.[\w-])([\w-]*?)\beyJ[\w-]{8,}+\.[\w-]+(?:\.[\w-]*){0,3}",
    re.IGNORECASE,
)
_TOKENS = re.compile(
    r"""
      (?<![^\W_])(?:0x)?[0-9a-f]{64,}                    # 32 bytes in hex, or more
    | \b[xyz]prv[1-9A-HJ-NP-Za-km-z]{40,}                # an extended private key
    | \bAKIA[0-9A-Z]{16}\b
    | -----BEGIN[ A-Z]*[ ]PRIVATE[ ]KEY-----.*?(?:-----END[ A-Z]*[ ]PRIVATE[ ]KEY-----|\Z)
    | (?<=\bbearer[ ])[\w.~+/=-]+
    | (?<=\bbasic[ ])[\w+/-]{6,}=*
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_MAYBE_RANDOM = re.compile(
    r"\b(?:(?:sk|pk|rk|gh[ops]|xox[abps]|github_pat)[-_][\w-]{16,}|[\w+/-]{64,})={0,2}"
)
_HEADER = re.compile(r"""(\b(?:proxy-)?authorization\\*["']?\s*[:=]\s*+)[^\r\n]+""", re.IGNORECASE)
_VAULT_KEY = re.compile(r"""["'](?:salt|iv|ciphertext|keyMetadata)\\*["']\s*:""")
_JSON_ENTRY = re.compile(
    r"""((?<!\\)\\*["'])([\w .-]{2,64})\1(\s*:\s*)(?:(\\*+["'])(?:.*?)(?:(?<!\\)\4|\Z)|[0-9]+)""", re.DOTALL
)
_ASSIGNED = re.compile(r"""(?<![\w.%\[\]-])([\w.%\[\]-]{2,64})=([^&#;\s"'<>]+)""")
"""Assignments in queries and fragments, and in lines such as those of `.env` files."""
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_UNENCODED_USERINFO = re.compile(r"(?<=://)(?!\[)[^/?#\s@]*?:(?![0-9]{1,5}(?:[/?#\s]|$))\S*")
_UNTIL_LAST_AT = re.compile(r"(?<!\S)\S+@")
"""The part of a word up to its last `@`, in which an unencoded user name is searched."""
_AFTER_HOST = re.compile(r"(?<=://)([^\s\"'<>/?#]*)([^\s\"'<>]+)")
_PART = re.compile(r"[^/?#&=;]{20,}")
_QUERY_NAMES = frozenset(
    ("auth", "code", "key", "sid", "sig", "signature", "state", "session", "nonce", "jwt")
)
"""Secret parameter names besides those that `is_secret_name` matches. Outside URLs they may be harmless."""

MAX_LEVELS = 4
"""Maximum depth of values inside values. Deeper values count as secret."""
MIN_RANDOM_CHARS = 20

HINTS: Final = (
    *("=", '"', "'", "%", "&", "+", "\\"),
    *("://", "authorization", "bearer", "basic", "eyj", "prv", "akia", "..."),
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gho", "ghp", "ghs", "xox", "github_pat"),
)
"""An ASCII text shorter than a seed phrase that has a secret shape or is encoded contains one of these,
in lower case and without spaces."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def redact_shapes(text: str, is_secret_name: NameRule, *, levels: int = MAX_LEVELS) -> str:
    """Replace secrets that are recognised by their form by the mark.

    `is_secret_name` checks the names before `=` and in JSON. Nested values are searched down to `levels`.
    """
    if "=" in text:
        text = _ASSIGNED.sub(lambda found: _redact_assignment(found, is_secret_name, levels), text)
    if "://" in text:
        text = _redact_urls(text, is_secret_name, levels)
    if '"' in text or "'" in text:
        text = _redact_vault(text)
        text = _JSON_ENTRY.sub(lambda found: _redact_entry(found, is_secret_name), text)
    if len(text) >= 12:
        plain = decode_letters(text)
        text = plain if not text.isascii() and _TOKENS.search(plain) else text
        text = _HEADER.sub(rf"\1{MARK}", text)
        text = _TOKENS.sub(MARK, _WEB_TOKEN.sub(rf"\1{MARK}", text))
    if len(text) >= MIN_RANDOM_CHARS:
        text = _MAYBE_RANDOM.sub(_redact_if_random, text)
    return _redact_phrases(text) if len(text) >= MIN_PHRASE_CHARS else text


def decode_letters(text: str) -> str:
    """Return the text with ASCII characters in place of their unnecessary encodings.

    Letters may be percent-encoded, and letters and digits may be in full width or another compatible form.
    Invisible characters are removed.
    """
    if not text.isascii():
        # Most texts have nothing to replace. Checking their set of characters is ten times as fast.
        plain = {each: _plain_character(each) for each in set(text)}
        if any(each != character for each, character in plain.items()):
            text = "".join(map(plain.__getitem__, text))
    return _ENCODED_LETTER.sub(lambda found: chr(int(found[1], 16)), text) if "%" in text else text


@lru_cache(maxsize=4_096)
def _plain_character(character: str) -> str:
    if unicodedata.category(character) == "Cf":
        return ""
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() and (len(plain) == 1 or plain.isdigit()) else character


def _redact_phrases(text: str) -> str:
    plain = decode_letters(text)
    return _SEED_PHRASE.sub(MARK, plain if _SEED_PHRASE.search(plain) else text)


def find_phrase(text: str) -> str | None:
    """Return the words of a text that consists only of a seed phrase, numbered or not, or None."""
    if len(text) > MAX_ENCODED_PHRASE_CHARS:
        return None
    text = _AROUND.sub("", decode_letters(text))
    is_phrase = MIN_PHRASE_CHARS <= len(text) <= MAX_PHRASE_CHARS and _SEED_PHRASE.fullmatch(text)
    return " ".join(re.findall("[a-z]{3,8}", text)) if is_phrase and text == text.lower() else None


def looks_random(value: str) -> bool:
    """Return whether a value looks like a token: long, with mixed letters and digits, or mixed case.

    Addresses of a blockchain are public and do not count.
    """
    if len(value) < MIN_RANDOM_CHARS or not re.fullmatch(r"[A-Za-z0-9+/_=~-]+", value):
        return False
    if _ADDRESS.fullmatch(value):
        return False
    # Hyphenated words with a number at the end are names chosen by people.
    pieces = [piece for piece in re.split(r"[+/_=~-]", value) if len(piece) >= 4]
    mixed = [piece for piece in pieces if re.search("[0-9]", piece) and re.search("[A-Za-z]", piece)]
    if len(mixed) > 1 or any(len(piece) >= 8 for piece in mixed):
        return True
    return len(re.findall("(?=[a-z][A-Z]|[A-Z][a-z])", value)) > len(value) // 4


def _redact_urls(text: str, is_secret_name: NameRule, levels: int) -> str:
    def redact_part(found: re.Match[str]) -> str:
        """Redact a part of a path, a query or a fragment. Some services also have keys in paths."""
        value = unquote(found[0])
        return MARK if looks_random(value) or _has_shape(value, is_secret_name, levels) else found[0]

    text = _USERINFO.sub(f"{MARK}@", text)
    text = _UNTIL_LAST_AT.sub(lambda word: _UNENCODED_USERINFO.sub(f"{MARK}@", word[0]), text)
    return _AFTER_HOST.sub(lambda found: found[1] + _PART.sub(redact_part, found[2]), text)


def _redact_assignment(found: re.Match[str], is_secret_name: NameRule, levels: int) -> str:
    name, value = unquote_plus(found[1]), unquote_plus(found[2])
    has_secret_name = name.lower() in _QUERY_NAMES or is_secret_name(name)
    secret = has_secret_name or looks_random(value) or _has_shape(value, is_secret_name, levels)
    return f"{found[1]}={MARK}" if secret else found[0]


def _has_shape(value: str, is_secret_name: NameRule, levels: int) -> bool:
    return levels == 0 or redact_shapes(value, is_secret_name, levels=levels - 1) != value


def _redact_vault(text: str) -> str:
    """Replace a vault from its first brace to its last brace."""
    if not _VAULT_KEY.search(text):
        return text
    first, last = text.find("{"), text.rfind("}")
    return f"{text[: max(first, 0)]}{MARK}{text[last + 1 :] if last > first else ''}"


def _redact_entry(found: re.Match[str], is_secret_name: NameRule) -> str:
    if not is_secret_name(found[2]):
        return found[0]
    return f"{found[1]}{found[2]}{found[1]}{found[3]}{found[4] or ''}{MARK}{found[4] or ''}"


def _redact_if_random(found: re.Match[str]) -> str:
    return MARK if looks_random(found[0]) else found[0]
