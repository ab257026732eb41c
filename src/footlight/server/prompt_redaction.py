"""Replace secrets in prompts by a marker.

Secrets are recognized by their value or by the name of their key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import quote

__all__ = ["MARK", "ends_in_secret", "make_secret_mask", "mask_json", "names_secret", "names_selectors"]

MARK = "[REDACTED]"

MIN_LENGTH = 4
"""The minimum length of a secret that is searched in texts. A shorter one would be found in many words."""

_SECRET = r"\b(?:password|passwd|passphrase|secret|token|api ?key|cvv|cvc|pin|otp)\b"
_USERINFO = re.compile(r"(?<=://)([^\s/?#\\:@]*):[^\s/?#\\]*@")


def names_secret(name: str) -> bool:
    """Return whether a word of the name denotes a secret.

    Examples are `user_password`, `passwordAgain` and `API-Key`, but not `shipping`.
    """
    return re.search(_SECRET, _words(name)) is not None


def ends_in_secret(name: str) -> bool:
    """Return whether the last word of the name denotes a secret.

    An example is `api_key`, but not `password_selector`, which denotes a selector.
    """
    return re.search(rf"{_SECRET}$", _words(name)) is not None


def _words(name: str) -> str:
    """Return the words of a name. For `userPIN`, `user-pin` and `user_pin`, this is `user pin`."""
    spaced = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.findall(r"[^\W\d_]+", spaced.lower()))


def names_selectors(name: str) -> bool:
    """Return whether the name denotes selectors, such as `password_selector`.

    A selector identifies the field for a secret, and does not contain the secret.
    """
    return _words(name).endswith(("selector", "selectors"))


def mask_json(value: object, *, by_key: bool = True) -> object:
    """Return a JSON value in which each secret is replaced by the marker.

    Secrets are passwords in URLs and, with `by_key`, values whose key denotes a secret.
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


def make_secret_mask(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces all occurrences of the secrets in a text by the marker.

    Secrets are found as plain text, and as escaped in JSON and in URLs.
    """
    spellings = {each for secret in secrets if len(secret) >= MIN_LENGTH for each in _spellings(secret)}
    longest_first = sorted(spellings, key=len, reverse=True)

    def mask(text: str) -> str:
        # Splitting takes linear time. An expression of long texts that begin alike would not.
        parts = [text]
        for spelling in longest_first:
            parts = [part for each in parts for part in each.split(spelling)]
        return MARK.join(parts)

    return mask


def _spellings(secret: str) -> tuple[str, ...]:
    return secret, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="", errors="replace")
