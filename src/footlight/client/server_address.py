"""The address of a server whose secrets are in environment variables, for files that are committed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.client.secret_words import SecretPlaces, hide_in_url, hide_in_words
from footlight.client.target import transport_for
from footlight.protocol.errors import MCPError

if TYPE_CHECKING:
    from footlight.protocol.channel import Channel, Receiver

__all__ = ["RedactedAddress", "ServerFromEnvironment", "is_url", "without_secrets"]


class ServerFromEnvironment:
    """A URL or a command line in which `${NAME}` is a placeholder for the environment variable NAME.

    It is a transport, so it can be used wherever a server is expected. Only the given names are replaced, and
    values are not changed: for a URL, the variable must have the percent-encoded value.
    """

    def __init__(self, address: str, *names: str) -> None:
        self.address = address
        self.names = names

    def __repr__(self) -> str:
        return f"ServerFromEnvironment({', '.join(map(repr, (self.address, *self.names)))})"

    @property
    def where(self) -> str:
        """Return the address without its secrets."""
        return self.address

    def expand(self, environment: Mapping[str, str] | None = None) -> str | Sequence[str]:
        """Return the URL, or the words of the command line, with the secrets inserted.

        Raises:
            MCPError: variables are not set. The message names them.
        """
        values = os.environ if environment is None else environment
        missing = [name for name in self.names if name not in values]
        if missing:
            raise MCPError(
                f"The server's address needs {', '.join(missing)}, which the environment does not have: set "
                f"{'it' if len(missing) == 1 else 'them'} to what stands there in {self.address}",
                reason="invalid",
            )
        places = re.compile("|".join(re.escape(f"${{{name}}}") for name in self.names) or r"(?!)")

        def fill(text: str) -> str:
            return places.sub(lambda found: values[found[0][2:-1]], text)

        return (
            fill(self.address) if is_url(self.address) else [fill(each) for each in shlex.split(self.address)]
        )

    async def open(self, receiver: Receiver) -> Channel:
        """Open a channel.

        Raises:
            MCPError: what `expand` and the server's transport raise.
        """
        return await transport_for(self.expand()).open(receiver)


def is_url(address: str) -> bool:
    """Return whether the address is a URL. A command line that contains one is not."""
    return "://" in address.strip().partition(" ")[0]


@dataclass(frozen=True, slots=True)
class RedactedAddress:
    """An address with placeholders for its secrets, their variables, and the values that were replaced.

    `values` has no entries for placeholders that were in the address before, because their values are in the
    environment.
    """

    address: str
    names: list[str]
    values: dict[str, str]

    @property
    def server(self) -> ServerFromEnvironment:
        return ServerFromEnvironment(self.address, *self.names)


def without_secrets(address: str) -> RedactedAddress:
    """Replace each secret in an address, which is a URL or a command line, by `${NAME}`.

    Secrets are credentials in front of a host, values with secret names, and values that look like keys. The
    same address always gets the same variable names.

    Raises:
        ValueError: a quote in the command line is not closed.
    """
    found = SecretPlaces()
    if is_url(address):
        safe = hide_in_url(address.strip(), found)
        found.note_places(safe)  # Other parts, such as the host, may have placeholders as well.
    else:
        safe = shlex.join(hide_in_words(shlex.split(address), found))
    # Without secrets, return the original text, because `shlex.join` may change it.
    return RedactedAddress(safe if found.names else address, found.names, found.values)
