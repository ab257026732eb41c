"""Find secrets in the words of a command line and in URLs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from footlight.protocol.errors import SECRET_NAME

__all__ = ["SecretPlaces", "hide_in_url", "hide_in_words", "mask_words"]

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_QUERY_NAMES = frozenset(
    ("auth", "code", "jwt", "key", "pat", "pw", "pwd", "session", "sid", "sig", "signature")
)
"""Names of secrets in URLs, in addition to those that `SECRET_NAME` matches. They are harmless in command
lines.
"""
_OF_A_SECRET = re.compile(
    r"(?:file|path|dir|folder|env|name|url|uri|type|kind|store|stdin|secrets)\Z", re.IGNORECASE
)
"""Endings of the names of options that refer to a secret, such as a file, but do not contain it."""
_KEY_PREFIXES = (
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "eyJ",
)
_LOGIN_NAMES = frozenset(("-u", "--user", "--login", "--auth", "--account", "--proxy-user"))
"""Options whose value is `user:password`, or only a name."""
_BARE_NAMES = frozenset(("apikey", "api-key", "api_key", "passphrase", "password", "secret", "token"))
"""Words that are followed by a secret without being options, unless the next word looks harmless."""
_CREDENTIALS = re.compile(r"([^\s:/@=]+:[^\s@]+)(@[\w.-]+(?::\d+)?(?:/\S*)?)", re.ASCII)
"""Credentials and a host without a scheme."""
_IN_JSON = re.compile(r'("[^"\\]{1,100}"\s{0,8}:\s{0,8}")([^"\\]*(?:\\.[^"\\]*)*)"')
"""A name and its string value in JSON."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MAY_NAME_SECRET = re.compile(
    r"(?:\A|[-_./])(?:[bkpt]|access|auth|code|creds?|hmac|jwt|nonce|pat|pin|psk|pw|pwd|salt|seed|session"
    r"|session.?id|sid|sig|signature|ticket|key|key[-_]id)\Z",
    re.IGNORECASE,
)
"""Names, including one-letter options, whose values are secret unless they look harmless."""
_HARMLESS = re.compile(
    r"[a-z]+(?:[-_.][a-z]+)*|[A-Z_]+|\d{1,5}(?:[.:]\d{1,5})*(?:/\w+)?|[\w.~@-]*[/\\].*"
    r"|[\w.-]+[@:=][\^~]?(?:\d[\w.-]{0,15}|[a-z]+)",
    re.DOTALL,
)
"""Words, small numbers, versions, addresses and paths."""
MIN_SECRET_LENGTH = 4
MIN_KEY_LENGTH = 16
MIN_RUN_LENGTH = 20
"""The minimum length of a run of letters and digits that is rarely a name."""


@dataclass(slots=True)
class SecretPlaces:
    """The variables of the placeholders for secrets, and the values that were replaced.

    `values` has no entries for placeholders that were in the address before, because their values are in the
    environment.
    """

    names: list[str] = field(default_factory=list[str])
    values: dict[str, str] = field(default_factory=dict[str, str])

    def note_places(self, text: str) -> bool:
        """Collect the variables of the placeholders in the text. Return whether it has any."""
        places = dict.fromkeys(_PLACE.findall(text))
        self.names += [name for name in places if name not in self.names]
        return bool(places)

    def replace(self, value: str, called: str) -> str:
        """Return the placeholder for a secret value. Its variable is named after `called`."""
        if self.note_places(value):
            return value
        variable = re.sub("[^A-Z0-9]+", "_", _plain_name(called).upper()).strip("_")
        name = first = variable if variable.startswith("MCP_") else f"MCP_{variable or 'SECRET'}"
        number = 1
        while self.values.get(name, None if name in self.names else value) != value:
            number += 1
            name = f"{first}_{number}"
        if name not in self.names:
            self.names.append(name)
        self.values[name] = value
        return f"${{{name}}}"


class _Masked(SecretPlaces):
    """Replaces each secret by asterisks."""

    def replace(self, value: str, called: str) -> str:
        del value, called
        return "***"


def mask_words(words: Iterable[str]) -> list[str]:
    """Return the words of a command line with asterisks for its secrets, for errors and logs."""
    return hide_in_words(words, _Masked())


def hide_in_url(url: str, found: SecretPlaces) -> str:
    """Return a URL with placeholders for its secrets."""
    scheme, _, rest = url.partition("://")
    authority, place, query = _parts(rest)
    credentials, at, host = authority.rpartition("@")
    if not at and "@" in rest and re.fullmatch(r"[^:]+(?::[0-9]*)?", authority) is None:
        # The password contains a slash, a question mark or a hash sign that should have been encoded.
        credentials, at, rest = rest.rpartition("@")
        host, place, query = _parts(rest)
    if credentials:
        credentials = found.replace(credentials, "credentials")
    return f"{scheme}://{credentials}{at}{host}{_in_query(place, found)}{_in_query(query, found)}"


def _parts(rest: str) -> tuple[str, str, str]:
    """Return the authority, the path, and the query with the fragment, including their separators."""
    end = re.search(r"[?#]|\Z", rest)
    before = rest[: end.start()] if end else rest
    authority, slash, path = before.partition("/")
    return authority, slash + path, rest[len(before) :]


def _in_query(query: str, found: SecretPlaces) -> str:
    parts = re.split("([/?&;#])" if query.startswith("/") else "([?&;#])", query)
    return "".join(_in_entry(part, found) for part in parts)


def _in_entry(entry: str, found: SecretPlaces) -> str:
    name, equals, value = entry.partition("=")
    if not equals:
        return found.replace(entry, "key") if _is_key(entry) else entry
    plain = _plain_name(name)
    if plain.lower() in ("user", "login", "account") and ":" in value:
        return f"{name}={_in_login(value, found)}"
    secret = (
        _names_secret(plain)
        or plain.lower() in _QUERY_NAMES
        or _may_be_secret(plain, unquote(value))
        or _is_key(value)
        or ("%22" in value and _in_json(unquote(value), _Masked()) != unquote(value))
    )
    return f"{name}={found.replace(value, plain) if secret and value else _in_json(value, found)}"


def hide_in_words(words: Iterable[str], found: SecretPlaces) -> list[str]:
    """Return the words of a command line with placeholders for their secrets."""
    safe: list[str] = []
    called = ""
    for word in words:
        if word.lower() in ("bearer", "basic"):
            safe.append(word)
            called = "authorization"
            continue
        is_value = called and not word.startswith("-")
        if is_value and called in _LOGIN_NAMES:
            secret = ":" not in word and _may_be_secret(called, word)
            safe.append(found.replace(word, called) if secret else _in_login(word, found))
        elif is_value and called in _BARE_NAMES:
            secret = len(word) >= MIN_SECRET_LENGTH and not _HARMLESS.fullmatch(word)
            safe.append(found.replace(word, called) if secret else _in_word(word, found))
        elif is_value and word and (_names_secret(called) or _may_be_secret(called, word)):
            safe.append(found.replace(word, called))
        else:
            safe.append(_in_word(word, found))
        if word or not called:
            called = _option_of_secret(word)
    return safe


def _option_of_secret(word: str) -> str:
    """Return the word if a secret may follow it, or else an empty string."""
    if word in _LOGIN_NAMES or word in _BARE_NAMES:
        return word
    # After an option such as `--env`, the name of a variable can be a word without a value.
    alone = re.fullmatch(r"--?[\w.-]+|['\"]?[\w.-]+:|[A-Z][A-Z0-9_]*", _plain_name(word), re.ASCII)
    name = word.strip("'\":")
    is_option = word.startswith("-") and _MAY_NAME_SECRET.search(name)
    return word if alone and (_names_secret(name) or is_option) else ""


def _in_word(word: str, found: SecretPlaces) -> str:
    """Return a word with placeholders for its secrets.

    The word may be a URL, `--name=value`, `NAME=value`, a header `Name: value`, a shell line, JSON, a
    connection string, credentials with a host, or a key.
    """
    if re.match(r"[\w+.-]+://", word):
        return hide_in_url(word, found)
    if attached := re.fullmatch(r"(-[kptu]|-{0,2}(?:user|login|account)=)(.+)", word):
        name, value = attached.groups()
        if name not in ("-k", "-p", "-t"):
            return name + _in_login(value, found)
        return name + found.replace(value, name) if _may_be_secret(name, value) else word
    if named := re.match(r"['\"]?(?:-{0,2}|/)[\w.-]+(?:=|:\s*)", word):
        name, value = named[0], word[named.end() :]
        plain = name.strip("'\"=: ")
        secret = value and (_names_secret(plain) or _may_be_secret(plain, value))
        if secret and ";" not in value:
            return name + found.replace(value, name)
        if with_host := _CREDENTIALS.fullmatch(word):
            return found.replace(with_host[1], "credentials") + with_host[2]
        if ";" in word and "=" in name:
            return ";".join(_in_entry(each, found) for each in word.split(";"))
        return name + (found.replace(value, name) if secret else _in_word(value, found))
    if ('"' in word or "'" in word) and ":" in word:
        return _in_json(word, found)
    if " " in word:
        return " ".join(hide_in_words(word.split(" "), found))
    if with_host := _CREDENTIALS.fullmatch(word):
        return found.replace(with_host[1], "credentials") + with_host[2]
    return found.replace(word, "key") if _is_key(word) else word


def _in_login(login: str, found: SecretPlaces) -> str:
    """Return `user:password` with a placeholder for the password."""
    name, colon, password = login.partition(":")
    return f"{name}:{found.replace(password, 'password')}" if colon and password else login


def _in_json(text: str, found: SecretPlaces) -> str:
    """Return a text with placeholders for the JSON string values that have secret names."""

    def replace(entry: re.Match[str]) -> str:
        name = entry[1].split('"')[1]
        secret = entry[2] and (_names_secret(name) or _may_be_secret(name, entry[2]))
        return f'{entry[1]}{found.replace(entry[2], name)}"' if secret else entry[0]

    if '"' not in text and "'" in text:
        return _in_json(text.replace("'", '"'), found).replace('"', "'")
    return _IN_JSON.sub(replace, text)


def _plain_name(name: str) -> str:
    return unicodedata.normalize("NFKC", unquote(name))


def _names_secret(name: str) -> bool:
    plain = _plain_name(name)
    return (
        SECRET_NAME.search(plain) is not None
        and _OF_A_SECRET.search(plain) is None
        and not plain.startswith("--no-")
    )


def _may_be_secret(name: str, value: str) -> bool:
    """Return whether the name may be that of a secret and the value does not look harmless.

    For example, `--seed 42` and `-p 8080` are harmless.
    """
    named = _MAY_NAME_SECRET.search(_plain_name(name))
    return named is not None and len(value) >= MIN_SECRET_LENGTH and not _HARMLESS.fullmatch(value)


def _is_key(value: str) -> bool:
    """Return whether the value looks like a key: by its prefix, as a UUID, or by a long run of characters."""
    if len(value) >= MIN_KEY_LENGTH and value.startswith(_KEY_PREFIXES):
        return True
    if _UUID.fullmatch(value):
        return True
    runs = re.findall("[A-Za-z0-9]+", value) if re.fullmatch(r"[\w.~+=%-]+", value, re.ASCII) else []
    return any(
        len(run) >= MIN_RUN_LENGTH and re.search("[0-9]", run) and re.search("[A-Za-z]", run) for run in runs
    )
