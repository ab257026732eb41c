"""Find secrets in the address of a server, so that they do not get into a committed file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from footlight.client.secret_words import SecretPlaces, hide_in_url, hide_in_words
from footlight.client.server_address import ServerFromEnvironment, is_url

__all__ = ["WithoutSecrets", "without_secrets"]


@dataclass(frozen=True, slots=True)
class WithoutSecrets:
    """An address with a placeholder for each secret, the variables for them, and the values that were there.

    `values` has no entry for placeholders that the address had before: their values are in the environment.
    """

    address: str
    names: list[str]
    values: dict[str, str]

    @property
    def server(self) -> ServerFromEnvironment:
        return ServerFromEnvironment(self.address, *self.names)


def without_secrets(address: str) -> WithoutSecrets:
    """Return the address, a URL or a command line, with `${NAME}` for each secret in it.

    Credentials before a host are secret, and whatever has a secret name or looks like a key. The same address
    always gets the same names.

    Raises:
        ValueError: a quotation in the command line has no end.
    """
    found = SecretPlaces()
    if is_url(address):
        safe = hide_in_url(address.strip(), found)
        found.note_places(safe)  # There may be some in other parts too, such as the host.
    else:
        safe = shlex.join(hide_in_words(shlex.split(address), found))
    # Return the text as it was typed, unless it has secrets.
    return WithoutSecrets(safe if found.names else address, found.names, found.values)
