"""The profile of an app under test: a value that describes your own app to Footlight.

    footlight serve --app mypackage.myapp:profile

where `profile` is an `AppProfile`. This module has all types that a profile needs.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.patterns import LinearPattern, PatternError

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.browser.reading.test_ids import VisibleTestId

__all__ = [
    "UNKNOWN",
    "AppProfile",
    "BuildRequest",
    "Facts",
    "LaunchRequest",
    "Reading",
    "Screen",
    "Services",
    "StateMode",
]

StateMode = Literal["default", "onboarding", "custom"]
"""The initial state of the app: the default one, none, or the caller's `fixture`."""

UNKNOWN = "unknown"
"""The name of a screen that the profile does not know."""

PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A screen of the app's pages, known by an element that can be seen, or else by its address.

    Give `test_id`, `url` or both. Several may have one name, such as those of a screen in two forms.

    Raises:
        ValueError: `url` is no regular expression.
    """

    name: str
    """As `currentScreen` has it, and the memory of steps."""
    test_id: str | None = None
    """The `data-testid` of an element that can be seen there, and on no screen that is later in the
    profile."""
    url: str | None = None
    """A regular expression, searched in what follows the extension's origin, such as `/home.html#settings`.
    It has RE2's syntax: no lookarounds, no backreferences. Asked only where no screen is known by its
    element."""
    unlocked: bool = False
    """Whether the app can be used where this is seen: only then `AppProfile.read` is asked."""
    secret: bool = False
    """Whether it shows what nobody may read, such as a seed phrase: its texts are never written down."""

    def __post_init__(self) -> None:
        try:
            LinearPattern(self.url or "")
        except PatternError as error:
            raise ValueError(f"screen {self.name}: url is no regular expression: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """What the caller of `launch` wants of the services, which may pass over what they have no use for.

    What they cannot do they refuse with `footlight.errors.InvalidConfig`.
    """

    repository: Path
    """Where the app's sources are: absolute, the setting `app.repository`."""
    state_mode: StateMode = "default"
    fixture_preset: str | None = None
    """The name of a state that the services know. None: none was named."""
    fixture: Mapping[str, Any] | None = field(default=None, repr=False)
    """The state itself, plain JSON values."""
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """`anvil` and `fixtureServer`, each only where it was given. Without, take the app's own or a free
    one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What the caller of `build` wants, or a launch that finds no `extensionPath`."""

    repository: Path
    """Where the app's sources are: absolute, the setting `app.repository`."""
    build_type: str
    """Always `build:test` for now."""
    force: bool
    """Whether to build where there is a build already."""
    stage: Callable[[str], None]
    """Call it with a few words of what the build is doing: whoever waits for the call is told."""


class Services:
    """What runs beside the app for as long as it does. Of an app that needs nothing it is this class itself.

    A subclass holds what `AppProfile.read` needs of them: it is `Reading.services` there.
    """

    def failed(self) -> str | None:
        """Which of them has ended by itself, in words; None while all are well.

        Asked once the app has opened: an answer makes the launch fail with it.
        """
        return None

    def notes(self) -> Sequence[str]:
        """What whoever launched the app should know, in a sentence each."""
        return ()

    def state_to_store(self) -> Mapping[str, Any] | None:
        """What the app's `chrome.storage.local` is to hold before its first start; None for nothing.

        Asked once the app shows a screen. An app that has not asked for its state by then is started once
        more, over a new profile, with these items in its storage.
        """
        return None

    def opens_home(self) -> bool:
        """Whether the app, as it has started, opens its own page by itself, which a launch then waits for."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an unlocked app reports about itself; None for what it does not report.

    An app that is not a wallet may give the fields another meaning.
    """

    account_address: str | None = None
    """Whose it is: of a wallet the whole address, of another app a name."""
    network_name: str | None = None
    """What it is connected to, as people call it."""
    chain_id: int | None = None
    balance: str | None = None
    """What there is, with its unit: `25 ETH`."""


async def _says_nothing(_: Reading) -> Facts:
    return Facts()


def _no_services(_: LaunchRequest) -> AbstractAsyncContextManager[Services]:
    return nullcontext(Services())


@dataclass(frozen=True, slots=True, kw_only=True)
class AppProfile:
    """A Chrome extension under test. Only its name must be given.

    `home`, `settings` and `notification` are paths below the extension's origin, without a leading slash,
    such as `home.html#settings`. `build`, `services` and `read` run in the server's event loop, which they
    must not block. An error of `footlight.errors` that they raise is told with its message. Any other is a
    bug of the profile: the server logs it, and answers `INTERNAL_ERROR`.

    Raises:
        ValueError: `prefix` is not as it must be.
    """

    name: str
    """What messages call the app: `MetaMask`."""
    home: str = "home.html"
    """The app's own page, which a launch opens and `navigate` goes to as `home`."""
    settings: str | None = None
    """Where `navigate` goes as `settings`; None where there is no such page."""
    notification: str | None = None
    """The page of the windows that the app opens by itself, such as confirmations; None where there are
    none."""
    screens: tuple[Screen, ...] = ()
    """In the order in which they are looked for. Where there are any, a launch waits up to a minute for one,
    and goes on without."""
    dist: str = "dist/chrome"
    """Where the built extension is below the repository, with slashes."""
    build: Callable[[BuildRequest], Awaitable[Path]] | None = None
    """Makes the build, and answers with its folder, absolute. None: what is in `dist` is taken as it is.

    One call at a time. Where there is a build and `force` is false it should answer at once. When it is
    cancelled it leaves no process behind. Raise `BuildFailed` or `DependenciesMissing`."""
    services: Callable[[LaunchRequest], AbstractAsyncContextManager[Services]] = _no_services
    """What runs beside the app: an async context manager, as a rule a function with `@asynccontextmanager`.

    It is entered before the browser starts and left after the browser has ended, also where the launch fails
    or is cancelled, and in the task that ends the session, which may be another. Nothing of it may be there
    once it is left. Raise `PortInUse`, `InvalidConfig`, `DependenciesMissing` or `LaunchFailed`; any other
    error is told as a `LaunchFailed`."""
    read: Callable[[Reading], Awaitable[Facts]] = _says_nothing
    """What the app says of itself, asked with each look at it while it is unlocked: so it should take
    milliseconds. It gives None for what cannot be learnt just now, and raises nothing."""
    prefix: str = "app"
    """Of the names of its tools (`app_click`), of the ids of its sessions (`app-…`), and in capitals of its
    error codes (`APP_CLICK_FAILED`): a small letter, and up to 15 small letters and digits."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that are never written down, such as the password of its fixtures."""

    def __post_init__(self) -> None:
        if not PREFIX.fullmatch(self.prefix):
            raise ValueError(f"prefix: {self.prefix!r} is not a small letter and up to 15 more, or digits")

    def screen_at(self, path: str, test_ids: Iterable[str]) -> Screen:
        """The first whose element is seen, else the first whose address it is, else the unknown one."""
        seen = frozenset(test_ids)
        by_test_id = (each for each in self.screens if each.test_id in seen)
        by_url = (each for each in self.screens if each.url and LinearPattern(each.url).is_in(path))
        return next(by_test_id, None) or next(by_url, None) or Screen(name=UNKNOWN)

    @property
    def screen_names(self) -> tuple[str, ...]:
        """Each once, the unknown one last."""
        return tuple(dict.fromkeys((*(each.name for each in self.screens), UNKNOWN)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What `AppProfile.read` is given: one look at the app while it is unlocked."""

    app: ExtensionApp
    """Its pages, and what it keeps: asked for what no page shows."""
    services: Services
    """What the profile's own `services` gave."""
    screen: Screen
    """The one that is shown, which is an unlocked one."""
    test_ids: Sequence[VisibleTestId]
    """`(test_id, tag, text)` of each that can be seen, in the order of the page: at most 500, with 100
    characters of text each. Of the app's own page, where calls work in a site meanwhile."""

    def text_of(self, test_id: str) -> str | None:
        """What the first element of that test id says; None where none can be seen."""
        return next((each.text for each in self.test_ids if each.test_id == test_id), None)

    async def stored(self, *keys: str) -> Mapping[str, Any]:
        """What the extension keeps in `chrome.storage.local` under these keys; all of it without any.

        Keys that it does not have are left out. Takes some milliseconds.

        Raises:
            FootlightError: the browser gives no answer.
        """
        return await self.app.stored(keys)
