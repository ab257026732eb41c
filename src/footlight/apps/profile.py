"""The profile of an app under test, which describes your own app to Footlight.

    footlight serve --app mypackage.myapp:profile

`profile` is an `AppProfile`. This module contains all types that a profile needs.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.errors import ConfigurationError
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
"""The name of a screen that is not in the profile."""

PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A screen of the app, recognised by a visible element, or else by its URL.

    Give `test_id`, `url` or both. Several screens may have the same name, such as two forms of one screen.

    Raises:
        ValueError: `url` is not a valid regular expression.
    """

    name: str
    """The name in `currentScreen` and in the knowledge store."""
    test_id: str | None = None
    """The `data-testid` of an element that is visible on this screen, and not on later screens of the
    profile."""
    url: str | None = None
    """A regular expression for the URL after the extension's origin, such as `/home.html#settings`. It is
    searched, not matched as a whole. The syntax is RE2, without lookarounds and backreferences. It is only
    used if no screen is recognised by its element."""
    unlocked: bool = False
    """Whether the app is unlocked on this screen. `AppProfile.read` is only called on such screens."""
    secret: bool = False
    """Whether the screen shows secrets, such as a seed phrase. Its texts are never recorded."""

    def __post_init__(self) -> None:
        try:
            LinearPattern(self.url or "")
        except PatternError as error:
            raise ValueError(f"screen {self.name}: url is not a valid regular expression: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """The options of a `launch` call for the services.

    Services may ignore options that they do not need. They raise
    `footlight.app_errors.InvalidConfigError` for options that they do not support.
    """

    repository: Path
    """The absolute path of the app's sources, from the setting `app.repository`."""
    state_mode: StateMode = "default"
    fixture_preset: str | None = None
    """The name of a state that the services define, or None if the caller gave no name."""
    fixture: Mapping[str, Any] | None = field(default=None, repr=False)
    """The initial state as plain JSON values."""
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """The ports `anvil` and `fixtureServer` that the caller gave. For the others, use the default of the app
    or a free port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """The options of a `build` call, or of a launch without `extensionPath`."""

    repository: Path
    """The absolute path of the app's sources, from the setting `app.repository`."""
    build_type: str
    """The build type, at present always `build:test`."""
    force: bool
    """Whether to build again if there is a build."""
    stage: Callable[[str], None]
    """A function that reports the current stage of the build, in a few words, to the waiting caller."""


class Services:
    """The services that run beside the app. An app without services uses this class itself.

    A subclass stores the data that `AppProfile.read` needs, and is passed to it as `Reading.services`.
    """

    def find_failure(self) -> str | None:
        """Return a message about a service that has ended unexpectedly, or None if all are running.

        It is called once after the app has opened. A message makes the launch fail with it.
        """
        return None

    def notes(self) -> Sequence[str]:
        """Return notes about the launch for its caller, one sentence each."""
        return ()

    def state_to_store(self) -> Mapping[str, Any] | None:
        """Return the items for `chrome.storage.local` before the first start of the app, or None.

        It is called when the app shows a screen. An app that has not requested its state by then is started
        again with a new profile and these items in its storage.
        """
        return None

    def opens_home(self) -> bool:
        """Return whether the app opens its home page itself after this start. The launch then waits for
        it.
        """
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts that an unlocked app reports about itself. Unknown values are None.

    An app that is not a wallet may give the fields another meaning.
    """

    account_address: str | None = None
    """The account: the whole address for a wallet, or a name for another app."""
    network_name: str | None = None
    """The display name of the network that the app is connected to."""
    chain_id: int | None = None
    balance: str | None = None
    """The balance with its unit, such as `25 ETH`."""


async def _read_no_facts(_: Reading) -> Facts:
    return Facts()


def _run_no_services(_: LaunchRequest) -> AbstractAsyncContextManager[Services]:
    return nullcontext(Services())


@dataclass(frozen=True, slots=True, kw_only=True)
class AppProfile:
    """A Chrome extension under test. Only the name is required.

    `home`, `settings` and `notification` are paths below the extension's origin, without a leading slash,
    such as `home.html#settings`. `build`, `services` and `read` run in the server's event loop, which they
    must not block. The caller receives errors of `footlight.errors` with their messages. Any other error is a
    bug of the profile: the server logs it and answers `INTERNAL_ERROR`.

    Raises:
        ValueError: `prefix` is not valid.
    """

    name: str
    """The name of the app in messages, such as `MetaMask`."""
    home: str = "home.html"
    """The home page of the app, which a launch and `navigate` with `home` open."""
    settings: str | None = None
    """The page that `navigate` opens as `settings`, or None if there is none."""
    notification: str | None = None
    """The page in the windows that the app opens itself, such as confirmations, or None if there are none."""
    screens: tuple[Screen, ...] = ()
    """The screens, in the order in which they are checked. If there are any, a launch waits up to a minute
    for one of them, and then continues without it."""
    dist: str = "dist/chrome"
    """The path of the built extension below the repository, with slashes."""
    build: Callable[[BuildRequest], Awaitable[Path]] | None = None
    """A function that builds the extension and returns its absolute folder. None uses the build in `dist`.

    Only one call runs at a time. If there is a build and `force` is false, the function should return at
    once. A cancelled build must leave no process behind. Raise `BuildFailedError` or
    `DependenciesMissingError`."""
    services: Callable[[LaunchRequest], AbstractAsyncContextManager[Services]] = _run_no_services
    """The services beside the app: an async context manager, usually a function with `@asynccontextmanager`.

    It is entered before the browser starts and left after the browser has ended, also if the launch fails or
    is cancelled. The task that leaves it may differ from the one that enters it. It must leave nothing
    behind. Raise `PortInUseError`, `InvalidConfigError`, `DependenciesMissingError` or
    `LaunchFailedError`; any other error is reported as `LaunchFailedError`."""
    read: Callable[[Reading], Awaitable[Facts]] = _read_no_facts
    """A function that reads the facts of the app. It is called with each observation of the unlocked app, so
    it should take only milliseconds. It returns None for unknown facts and must not raise errors."""
    prefix: str = "app"
    """The prefix of tool names (`app_click`), session ids (`app-…`) and, in capitals, error codes
    (`APP_CLICK_FAILED`). It is a lower-case letter and up to 15 lower-case letters and digits."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that are never recorded, such as the password of the fixtures."""

    def __post_init__(self) -> None:
        if not PREFIX.fullmatch(self.prefix):
            raise ValueError(
                f"prefix: {self.prefix!r} is not a lower-case letter with up to 15 letters or digits"
            )

    def screen_at(self, path: str, test_ids: Iterable[str]) -> Screen:
        """Return the first screen with a visible element, or else with this URL, or the unknown screen."""
        seen = frozenset(test_ids)
        by_test_id = (each for each in self.screens if each.test_id in seen)
        by_url = (each for each in self.screens if each.url and LinearPattern(each.url).is_in(path))
        return next(by_test_id, None) or next(by_url, None) or Screen(name=UNKNOWN)

    @property
    def screen_names(self) -> tuple[str, ...]:
        """Return the distinct names of the screens, with the unknown screen last."""
        return tuple(dict.fromkeys((*(each.name for each in self.screens), UNKNOWN)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The argument of `AppProfile.read`: one observation of the unlocked app."""

    app: ExtensionApp
    """The app with its pages and its storage, for facts that no page shows."""
    services: Services
    """The services that `AppProfile.services` returned."""
    screen: Screen
    """The current screen. The app is unlocked on it."""
    test_ids: Sequence[VisibleTestId]
    """The visible test ids as `(test_id, tag, text)` in page order: at most 500, with 100 characters of text
    each. They are those of the app's home page if calls use the page of a site."""

    def text_of(self, test_id: str) -> str | None:
        """Return the text of the first visible element with a test id, or None."""
        return next((each.text for each in self.test_ids if each.test_id == test_id), None)

    async def read_storage(self, *keys: str) -> Mapping[str, Any]:
        """Return items of `chrome.storage.local` by key, or all items if no key is given.

        Missing keys are left out. A call takes some milliseconds.

        Raises:
            FootlightError: The browser does not answer.
        """
        return await self.app.read_storage(keys)


def load_profile(name: str) -> AppProfile:
    """Load the profile `package.module:name`. Modules in the working directory are found too.

    Raises:
        ConfigurationError: The import fails, or the module has no profile of this name.
    """
    module_name, _, attribute = name.partition(":")
    if (directory := str(Path.cwd())) not in sys.path:
        sys.path.append(directory)
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        # The profile is third-party code, which may raise any exception.
        raise ConfigurationError(
            f"setting 'app.profile': {name} cannot be loaded: {type(error).__name__}: {error}",
            suggestion="Give package.module:name of a footlight AppProfile.",
        ) from error
    if not isinstance(found, AppProfile):
        raise ConfigurationError(
            f"setting 'app.profile': {name} must be an AppProfile, not {type(found).__name__}",
            suggestion="Give package.module:name of a footlight AppProfile.",
        )
    return found
