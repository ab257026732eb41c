"""Replace secrets in the address of a server, so that they are not written to a committed file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from footlight.client.secret_words import SecretPlaces, hide_in_url, hide_in_words
from footlight.client.server_address import ServerFromEnvironment, is_url

__all__ = ["RedactedAddress", "without_secrets"]


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
