"""Replace secrets in prompts by a mark: a secret is recognized by its value or by the name of its key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import quote

__all__ = ["MARK", "ends_in_secret", "mask_json", "mask_secrets", "names_secret", "names_selectors"]

MARK = "[REDACTED]"

SHORTEST = 4
"""Characters. A shorter secret is not searched for in a text: it would be found in many words."""

_SECRET = r"\b(?:password|passwd|passphrase|secret|token|api ?key|cvv|cvc|pin|otp)\b"
_USERINFO = re.compile(r"(?<=://)([^\s/?#\\:@]*):[^\s/?#\\]*@")


def names_secret(name: str) -> bool:
    """Return whether a word of the name means a secret.

    This is so for `user_password`, `passwordAgain` and `API-Key`, and not for `shipping`.
    """
    return re.search(_SECRET, _words(name)) is not None


def ends_in_secret(name: str) -> bool:
    """Return whether the last word of the name means a secret.

    This is so for `api_key`, and not for `password_selector`, which names a selector.
    """
    return re.search(rf"{_SECRET}$", _words(name)) is not None


def _words(name: str) -> str:
    """Return the words of a name: `userPIN`, `user-pin` and `user_pin` are `user pin`."""
    spaced = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.findall(r"[^\W\d_]+", spaced.lower()))


def names_selectors(name: str) -> bool:
    """Return whether the name means selectors, such as `password_selector`.

    They say where a secret is typed, and do not contain it.
    """
    return _words(name).endswith(("selector", "selectors"))


def mask_json(value: object, *, by_key: bool = True) -> object:
    """Return a JSON value with a mark in place of each secret.

    Secrets are passwords in URLs and, with `by_key`, the values whose key names a secret.
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
    """Return the text with a mark in place of every occurrence of a secret.

    A secret is found as plain text, and as it is escaped in JSON or in a URL.
    """
    spellings = {each for secret in secrets if len(secret) >= SHORTEST for each in _spellings(secret)}
    if not spellings:
        return text
    longest_first = sorted(spellings, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), MARK, text)


def _spellings(secret: str) -> tuple[str, ...]:
    return secret, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="", errors="replace")
