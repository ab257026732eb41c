"""Find the secrets that a client gives to its server, and mask them in errors and logs.

No I/O is done.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from footlight.client.secret_words import SecretPlaces, hide_in_url, hide_in_words
from footlight.client.transports.http_headers import SESSION_HEADER
from footlight.protocol.errors import SECRET_NAME, MCPError
from footlight.protocol.messages import Message, kind_of
from footlight.protocol.untrusted_json import an_object

__all__ = [
    "mask_answer",
    "mask_error",
    "mask_secrets",
    "secrets_in_form",
    "secrets_in_headers",
    "secrets_in_url",
    "secrets_in_words",
]

MAX_VALUES = 100_000
"""The maximum number of values in the data of an error. Larger data is left out."""
MIN_SECRET = 4
"""The minimum length of a value that is masked in the server's answers. Shorter ones could match anything."""

Secrets = Collection[str]

_SETTINGS = frozenset(("auto", "default", "disabled", "enabled", "false", "none", "null", "required", "true"))
"""Values of variables and options that are not secret, although the names suggest it."""
_FORM_FIELDS = frozenset(("assertion", "client_assertion", "client_secret", "code", "code_verifier"))


def secrets_in_url(url: str) -> set[str]:
    """Return the password, the values of the query and the keys that are secret, encoded and decoded."""
    found = SecretPlaces()
    hide_in_url(url, found)
    values = set(found.values.values())
    credentials = urlsplit(url).netloc.rpartition("@")[0]
    if credentials:
        values.add(credentials.partition(":")[2] or credentials)
    return _with_decoded(values)


def secrets_in_headers(headers: Iterable[tuple[str, str]]) -> set[str]:
    """Return the tokens, keys, cookies and session ids in headers."""
    values: set[str] = set()
    others: list[str] = []
    for name, value in headers:
        if name.lower() == "cookie":
            values.update(cookie.partition("=")[2].strip() for cookie in value.split(";"))
        elif SECRET_NAME.search(name) or name.lower() == SESSION_HEADER.lower():
            scheme, _, token = value.rpartition(" ")
            values.add(token)
            if scheme.lower() == "basic":
                values.update(_password(token))
        else:
            others.append(f"{name}: {value}")
    return _with_decoded(values) | secrets_in_words(others)


def secrets_in_words(words: Iterable[str]) -> set[str]:
    """Return the secrets in the words of a command line, or in texts such as `NAME=value`."""
    found = SecretPlaces()
    hide_in_words(words, found)
    return _with_decoded(value for value in found.values.values() if value.lower() not in _SETTINGS)


def secrets_in_form(body: bytes) -> set[str]:
    """Return the secrets in the form that is sent to a token endpoint."""
    try:
        fields = parse_qsl(body.decode("ascii"), max_num_fields=100)
    except ValueError:
        return set()
    return {value for name, value in fields if name in _FORM_FIELDS or SECRET_NAME.search(name)}


def mask_secrets(text: str, secrets: Secrets) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= MIN_SECRET:
            text = text.replace(secret, "***")
    return text


def mask_answer(message: Message, secrets: Secrets) -> Message:
    """Return the message, in which the secrets are masked if it is an error."""
    if kind_of(message) != "error":
        return message
    masked = _mask_value(message["error"], secrets)
    if masked is None:
        fields = an_object(message["error"])
        masked = {name: _mask_value(fields.get(name), secrets) for name in ("code", "message")}
    return {**message, "error": masked}


def mask_error(error: MCPError, secrets: Secrets) -> None:
    """Mask the secrets in the message and the data of an error."""
    error.message = mask_secrets(error.message, secrets)
    error.args = (error.message,)
    error.data = _mask_value(error.data, secrets)


def _mask_value(value: object, secrets: Secrets) -> Any:
    """Return a JSON value with the secrets masked, or None if it is too large or nested too deeply."""
    values = 0

    def mask(each: object) -> object:
        nonlocal values
        values += 1
        if values > MAX_VALUES:
            raise OverflowError
        if isinstance(each, str):
            return mask_secrets(each, secrets)
        if isinstance(each, Mapping):
            members = cast("Mapping[str, object]", each)
            return {mask_secrets(name, secrets): mask(member) for name, member in members.items()}
        if isinstance(each, list):
            return [mask(member) for member in cast("list[object]", each)]
        return each

    try:
        return mask(value)
    except (OverflowError, RecursionError):
        return None


def _password(token: str) -> Iterator[str]:
    """Yield the password of Basic authentication."""
    try:
        user, colon, password = base64.b64decode(token).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return
    yield password if colon else user


def _with_decoded(values: Iterable[str]) -> set[str]:
    return {each for value in values for each in (value, unquote(value))}
