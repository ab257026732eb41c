"""What is secret by its form, whoever wrote it: keys, tokens, seed phrases, vaults, credentials in a URL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote, unquote_plus

__all__ = ["HINTS", "MARK", "SHORTEST_PHRASE", "Named", "find_phrase", "looks_random", "without_shapes"]

MARK: Final = "[REDACTED]"

Named = Callable[[str], bool]
"""Whether what has this name is secret."""

_BETWEEN = r"""(?:[\s,;|+"']|[0-9]{1,2}[.):]?|%20|\\+[nrt"'])+"""
_SEED_PHRASE = re.compile(
    rf"(?<![^\W_])(?:[a-z]{{3,8}}{_BETWEEN}){{11,}}[a-z]{{3,8}}(?![^\W_])", re.IGNORECASE
)
"""Twelve words or more, each as long as those of BIP-39, and nothing but numbers between them."""
SHORTEST_PHRASE = 47
LONGEST_PHRASE = 400

_TOKENS = re.compile(
    r"""
      \beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*){0,3}            # a JSON Web Token
    | (?<![^\W_])(?:0x)?[0-9a-f]{64,}                    # 32 bytes in hex, or more
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
_HEADER = re.compile(r"""(\b(?:proxy-)?authorization\\*["']?\s*[:=]\s*)[^\r\n]+""", re.IGNORECASE)
_VAULT_KEY = re.compile(r"""\\*["'](?:salt|iv|ciphertext|keyMetadata)\\*["']\s*:""")
_JSON_ENTRY = re.compile(
    r"""(\\*["'])([\w .-]{2,64})\1(\s*:\s*)(?:(\\*["'])(?:.*?)(?:(?<!\\)\4|\Z)|[0-9]+)""", re.DOTALL
)
_ASSIGNED = re.compile(r"""(?<![\w.%\[\]-])([\w.%\[\]-]{2,64})=([^&#;\s"'<>]+)""")
"""In queries and fragments, but also in lines such as those of `.env`."""
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_UNENCODED_USERINFO = re.compile(r"(?<=://)(?!\[)[^/?#\s@]*:(?![0-9]{1,5}(?:[/?#\s]|$))[^\s]*@")
_AFTER_HOST = re.compile(r"(?<=://)([^\s\"'<>/?#]*)([^\s\"'<>]+)")
_PART = re.compile(r"[^/?#&=;]{20,}")
_QUERY_NAMES = frozenset(
    ("auth", "code", "key", "sid", "sig", "signature", "state", "session", "nonce", "jwt")
)
"""Beside those that `named` knows. Anywhere but in a URL they may be harmless."""

SHORTEST_RANDOM = 20

HINTS: Final = (
    *("=", '"', "'", "%", "&", "+", "\\"),
    *("://", "authorization", "bearer", "basic", "eyj", "prv", "akia", "..."),
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gho", "ghp", "ghs", "xox", "github_pat"),
)
"""Without spaces, and in small letters, one of them is in each ASCII text that has a shape or is encoded, and
is shorter than a seed phrase."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def without_shapes(text: str, named: Named) -> str:
    """With the mark in their place. `named` judges the names before `=` and in JSON."""
    if "=" in text:
        text = _ASSIGNED.sub(lambda found: _assigned(found, named), text)
    if "://" in text:
        text = _in_urls(text, named)
    if '"' in text or "'" in text:
        text = _without_vault(text)
        text = _JSON_ENTRY.sub(lambda found: _entry(found, named), text)
    if len(text) >= 12:
        text = _HEADER.sub(rf"\1{MARK}", text)
        text = _TOKENS.sub(MARK, text)
    if len(text) >= SHORTEST_RANDOM:
        text = _MAYBE_RANDOM.sub(_if_random, text)
    return _SEED_PHRASE.sub(MARK, text) if len(text) >= SHORTEST_PHRASE else text


def find_phrase(text: str) -> str | None:
    """The words of a text that is a seed phrase, numbered or not, and nothing else."""
    text = text.strip()
    is_phrase = SHORTEST_PHRASE <= len(text) <= LONGEST_PHRASE and _SEED_PHRASE.fullmatch(text)
    return " ".join(re.findall("[a-z]{3,8}", text)) if is_phrase and text == text.lower() else None


def looks_random(value: str) -> bool:
    """As tokens do: long, letters and digits mixed, or large and small ones. Addresses are public."""
    if len(value) < SHORTEST_RANDOM or not re.fullmatch(r"[A-Za-z0-9+/_=~-]+", value):
        return False
    if _ADDRESS.fullmatch(value):
        return False
    # Words with hyphens, and a number at the end, are what people choose.
    pieces = [piece for piece in re.split(r"[+/_=~-]", value) if len(piece) >= 4]
    mixed = [piece for piece in pieces if re.search("[0-9]", piece) and re.search("[A-Za-z]", piece)]
    if len(mixed) > 1 or any(len(piece) >= 8 for piece in mixed):
        return True
    return len(re.findall("(?=[a-z][A-Z]|[A-Z][a-z])", value)) > len(value) // 4


def _in_urls(text: str, named: Named) -> str:
    def part(found: re.Match[str]) -> str:
        """Of a path, a query or a fragment. Providers put their keys into paths, too."""
        value = unquote(found[0])
        return MARK if looks_random(value) or _has_shape(value, named) else found[0]

    text = _USERINFO.sub(f"{MARK}@", text)
    text = _UNENCODED_USERINFO.sub(f"{MARK}@", text)
    return _AFTER_HOST.sub(lambda found: found[1] + _PART.sub(part, found[2]), text)


def _assigned(found: re.Match[str], named: Named) -> str:
    name, value = unquote_plus(found[1]), unquote_plus(found[2])
    secret = name.lower() in _QUERY_NAMES or named(name) or looks_random(value) or _has_shape(value, named)
    return f"{found[1]}={MARK}" if secret else found[0]


def _has_shape(value: str, named: Named) -> bool:
    return without_shapes(value, named) != value


def _without_vault(text: str) -> str:
    """From its first brace to its last one."""
    if not _VAULT_KEY.search(text):
        return text
    first, last = text.find("{"), text.rfind("}")
    return f"{text[: max(first, 0)]}{MARK}{text[last + 1 :] if last > first else ''}"


def _entry(found: re.Match[str], named: Named) -> str:
    if not named(found[2]):
        return found[0]
    return f"{found[1]}{found[2]}{found[1]}{found[3]}{found[4] or ''}{MARK}{found[4] or ''}"


def _if_random(found: re.Match[str]) -> str:
    return MARK if looks_random(found[0]) else found[0]
