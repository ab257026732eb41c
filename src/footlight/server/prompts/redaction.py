"""What no model should read is replaced by a mark: a secret known by its value, or by what it is called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import quote

__all__ = ["MARK", "ends_in_secret", "mask_json", "mask_secrets", "names_secret", "names_selectors"]

MARK = "[REDACTED]"

SHORTEST = 4
"""A shorter secret is not looked for in a text: it would be found in half of the words."""

_SECRET = r"\b(?:password|passwd|passphrase|secret|token|api ?key|cvv|cvc|pin|otp)\b"
_USERINFO = re.compile(r"(?<=://)([^\s/?#\\:@]*):[^\s/?#\\]*@")


def names_secret(name: str) -> bool:
    """Return whether a word of the name means a secret: in `user_password`, `passwordAgain` and `API-Key`,
    not in `shipping`.
    """
    return re.search(_SECRET, _words(name)) is not None


def ends_in_secret(name: str) -> bool:
    """Return whether the last word means a secret: in `api_key`, but not in `password_selector`, which names
    a selector.
    """
    return re.search(rf"{_SECRET}$", _words(name)) is not None


def _words(name: str) -> str:
    """Return the words of a name: `userPIN`, `user-pin` and `user_pin` are `user pin`."""
    apart = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.findall(r"[^\W\d_]+", apart.lower()))


def names_selectors(name: str) -> bool:
    """Return whether the name is that of selectors, such as `password_selector`: they show where a secret
    goes, not the secret.
    """
    return _words(name).endswith(("selector", "selectors"))


def mask_json(value: object, *, by_key: bool = True) -> object:
    """Return a JSON value with a mark in place of passwords in URLs and, with `by_key`, of values whose key
    names a secret.
    """
    if isinstance(value, str):
        return _USERINFO.sub(rf"\1:{MARK}@", value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value).items()
        return {
            mask_json(key): MARK if by_key and names_secret(key) else mask_json(item, by_key=by_key)
            for key, item in entries
        }
    if isinstance(value, list):
        return [mask_json(item, by_key=by_key) for item in cast("Sequence[object]", value)]
    return value


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text with a mark in place of every occurrence of a secret: plain, as in JSON, or as in a
    URL.
    """
    spellings = {each for secret in secrets if len(secret) >= SHORTEST for each in _spellings(secret)}
    if not spellings:
        return text
    longest_first = sorted(spellings, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), MARK, text)


def _spellings(secret: str) -> tuple[str, ...]:
    return secret, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="", errors="replace")
