"""What there is to know of an app under test: a value, so that one of your own needs no code of ours."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from footlight.apps.reading import Reading

__all__ = [
    "UNKNOWN",
    "AppProfile",
    "BuildRequest",
    "Facts",
    "LaunchRequest",
    "Screen",
    "Services",
    "StateMode",
]

StateMode = Literal["default", "onboarding", "custom"]

UNKNOWN = "unknown"
"""The screen that is none of those of the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A screen, known by an element that is seen, or else by where the page is.

    `test_id` is the `data-testid` of the element. `url` is a regular expression, searched in what follows the
    extension's origin, such as `/home.html#settings`.
    """

    name: str
    test_id: str | None = None
    url: str | None = None
    unlocked: bool = False
    """Whether the app is unlocked where this is seen."""
    secret: bool = False
    """Whether it shows what nobody may read: its texts are never written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """What a launch asks of the services of the app."""

    repository: Path
    """Where the app's sources are."""
    state_mode: StateMode = "default"
    fixture_preset: str | None = None
    fixture: Mapping[str, Any] | None = field(default=None, repr=False)
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """`anvil` and `fixtureServer`, where they are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    repository: Path
    build_type: str
    force: bool
    stage: Callable[[str], None]
    """Hears what the build is doing."""


class Services:
    """What runs beside the app for as long as it does. One without any is this class itself."""

    def failed(self) -> str | None:
        """Which of them has ended by itself, in words."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an unlocked app says of itself; None for what it does not say."""

    account_address: str | None = None
    network_name: str | None = None
    chain_id: int | None = None
    balance: str | None = None


async def _says_nothing(_: Reading) -> Facts:
    return Facts()


def _no_services(_: LaunchRequest) -> AbstractAsyncContextManager[Services]:
    return nullcontext(Services())


@dataclass(frozen=True, slots=True, kw_only=True)
class AppProfile:
    """An extension under test.

    Paths of pages are below the extension's origin. `screens` are looked for in their order.
    """

    name: str
    """For messages: `MetaMask`."""
    home: str = "home.html"
    settings: str | None = None
    notification: str | None = None
    """The page of the windows that the app opens by itself."""
    screens: tuple[Screen, ...] = ()
    dist: str = "dist/chrome"
    """The built extension, below the repository."""
    build: Callable[[BuildRequest], Awaitable[Path]] | None = None
    """Makes it; None where there is nothing to build."""
    services: Callable[[LaunchRequest], AbstractAsyncContextManager[Services]] = _no_services
    read: Callable[[Reading], Awaitable[Facts]] = _says_nothing
    """Asked of an unlocked app."""
    prefix: str = "app"
    """Of the names of its tools, and of the ids of its sessions."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that are never written down, such as the password of its fixtures."""

    def screen_at(self, path: str, test_ids: Iterable[str]) -> Screen:
        """The first whose element is seen, else the first whose address it is, else the unknown one."""
        seen = frozenset(test_ids)
        by_test_id = (each for each in self.screens if each.test_id in seen)
        by_url = (each for each in self.screens if each.url and re.search(each.url, path))
        return next(by_test_id, None) or next(by_url, None) or Screen(name=UNKNOWN)

    @property
    def screen_names(self) -> tuple[str, ...]:
        """Each once, the unknown one last."""
        return tuple(dict.fromkeys((*(each.name for each in self.screens), UNKNOWN)))
