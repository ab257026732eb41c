"""Find secrets in the address of a server, so that they do not get into a committed file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from footlight.client.server_address import ServerFromEnvironment, is_url
from footlight.protocol.errors import SECRET_NAME

__all__ = ["WithoutSecrets", "without_secrets"]

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_QUERY_NAMES = frozenset(
    ("auth", "code", "jwt", "key", "pat", "pw", "pwd", "session", "sid", "sig", "signature")
)
"""Names of secrets in a URL, besides those that `SECRET_NAME` matches. In a command line they are harmless.
"""
_OF_A_SECRET = re.compile(
    r"(?:file|path|dir|folder|env|name|url|uri|type|kind|store|stdin|secrets)\Z", re.IGNORECASE
)
"""Endings of the names of options that say where a secret is, and do not contain it."""
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
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SHORTEST_KEY = 16
SHORTEST_RUN = 20
"""Letters and digits without a break, of a length at which a text is rarely a name."""


@dataclass(slots=True)
class WithoutSecrets:
    """An address with a placeholder for each secret, the variables for them, and the values that were there.

    `values` has no entry for placeholders that the address had before: their values are in the environment.
    """

    address: str = ""
    names: list[str] = field(default_factory=list[str])
    values: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def server(self) -> ServerFromEnvironment:
        return ServerFromEnvironment(self.address, *self.names)

    def note_places(self, text: str) -> bool:
        """Note the placeholders in the text, which are read from the environment too.

        Return whether there are any.
        """
        places = dict.fromkeys(_PLACE.findall(text))
        self.names += [name for name in places if name not in self.names]
        return bool(places)

    def replace(self, value: str, called: str) -> str:
        """Return the placeholder for a secret value, with a variable name made from `called`."""
        if self.note_places(value):
            return value
        variable = re.sub("[^A-Z0-9]+", "_", called.upper()).strip("_")
        name = first = variable if variable.startswith("MCP_") else f"MCP_{variable or 'SECRET'}"
        number = 1
        while self.values.get(name, None if name in self.names else value) != value:
            number += 1
            name = f"{first}_{number}"
        if name not in self.names:
            self.names.append(name)
        self.values[name] = value
        return f"${{{name}}}"


def without_secrets(address: str) -> WithoutSecrets:
    """Return the address, a URL or a command line, with `${NAME}` for each secret in it.

    Credentials before a host are secret, and whatever has a secret name or looks like a key. The same address
    always gets the same names.

    Raises:
        ValueError: a quotation in the command line has no end.
    """
    found = WithoutSecrets()
    if is_url(address):
        safe = _in_url(address.strip(), found)
        found.note_places(safe)  # There may be some in other parts too, such as the host.
    else:
        safe = shlex.join(_in_words(shlex.split(address), found))
    # Return the text as it was typed, unless it has secrets.
    found.address = safe if found.names else address
    return found


def _in_url(url: str, found: WithoutSecrets) -> str:
    scheme, _, rest = url.partition("://")
    authority, place, query = _parts(rest)
    credentials, at, host = authority.rpartition("@")
    if not at and "@" in rest and re.fullmatch(r"[^:]+(?::[0-9]*)?", authority) is None:
        # A password with a slash, a question mark or a hash sign, which should have been encoded.
        credentials, at, rest = rest.rpartition("@")
        host, place, query = _parts(rest)
    if credentials:
        credentials = found.replace(credentials, "credentials")
    segments = (found.replace(each, "key") if _is_key(each) else each for each in place.split("/"))
    return f"{scheme}://{credentials}{at}{host}{'/'.join(segments)}{_in_query(query, found)}"


def _parts(rest: str) -> tuple[str, str, str]:
    """Return the authority, the path, and the query with the fragment, each with the characters before it."""
    end = re.search(r"[?#]|\Z", rest)
    before = rest[: end.start()] if end else rest
    authority, slash, path = before.partition("/")
    return authority, slash + path, rest[len(before) :]


def _in_query(query: str, found: WithoutSecrets) -> str:
    parts = re.split("([?&;#])", query)
    return "".join(_in_entry(part, found) for part in parts)


def _in_entry(entry: str, found: WithoutSecrets) -> str:
    name, equals, value = entry.partition("=")
    if not equals:
        return found.replace(entry, "key") if _is_key(entry) else entry
    secret = _names_secret(name) or name.lower() in _QUERY_NAMES or _is_key(value)
    return f"{name}={found.replace(value, name)}" if secret and value else entry


def _in_words(words: Iterable[str], found: WithoutSecrets) -> list[str]:
    safe: list[str] = []
    called = ""
    for word in words:
        if word.lower() in ("bearer", "basic"):
            safe.append(word)
            called = "authorization"
            continue
        is_named = called and not word.startswith("-")
        safe.append(found.replace(word, called) if is_named else _in_word(word, found))
        alone = re.fullmatch(r"--?[\w.-]+|['\"]?[\w.-]+:", word, re.ASCII)
        called = word if alone and _names_secret(word.strip("'\":")) else ""
    return safe


def _in_word(word: str, found: WithoutSecrets) -> str:
    """Return a word with placeholders for its secrets.

    The word may be a URL, `--name=value`, `NAME=value`, a header `Name: value`, a shell line, or a key.
    """
    if re.match(r"[\w+.-]+://", word):
        return _in_url(word, found)
    if named := re.match(r"['\"]?-{0,2}[\w.-]+(?:=|:\s*)", word, re.ASCII):
        name, value = named[0], word[named.end() :]
        secret = value and _names_secret(name.strip("'\"=: "))
        return name + (found.replace(value, name) if secret else _in_word(value, found))
    if " " in word:
        return " ".join(_in_words(word.split(" "), found))
    return found.replace(word, "key") if _is_key(word) else word


def _names_secret(name: str) -> bool:
    return (
        SECRET_NAME.search(name) is not None
        and _OF_A_SECRET.search(name) is None
        and not name.startswith("--no-")
    )


def _is_key(value: str) -> bool:
    """Return whether the value looks like a key: it begins as keys do, or is long and mixed."""
    if len(value) >= SHORTEST_KEY and value.startswith(_KEY_PREFIXES):
        return True
    if _UUID.fullmatch(value):
        return True
    runs = re.findall("[A-Za-z0-9]+", value) if re.fullmatch(r"[\w.~+=%-]+", value, re.ASCII) else []
    return any(
        len(run) >= SHORTEST_RUN and re.search("[0-9]", run) and re.search("[A-Za-z]", run) for run in runs
    )
