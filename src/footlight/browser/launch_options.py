"""How the browser of a profile is started, as its caller says it: options, presets, and what stealth does.

Stealth forges nothing. The user agent, the languages, the timezone and the size of the window agree with each
other, in pages, in their workers and in what servers are sent; `measures` says what of that is in force, and
what others do and this does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from footlight.browser.options import SessionOptions
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from footlight.browser.devices import Device, Devices

__all__ = [
    "PRESETS",
    "Launch",
    "LaunchOptions",
    "Measure",
    "Preset",
    "measures",
    "needs_own_agent",
    "reduced_agent",
]

MOST_PIXELS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Values that go together. The user agent is the browser's own, or that of the device."""

    locale: str
    timezone: str
    viewport: tuple[int, int] | None = None
    device: str | None = None
    """A name of Playwright's list."""


PRESETS: Mapping[str, Preset] = {
    "desktop-us": Preset(locale="en-US", timezone="America/New_York", viewport=(1440, 900)),
    "desktop-uk": Preset(locale="en-GB", timezone="Europe/London", viewport=(1440, 900)),
    "desktop-de": Preset(locale="de-DE", timezone="Europe/Berlin", viewport=(1440, 900)),
    "mobile-android": Preset(locale="en-US", timezone="America/New_York", device="Pixel 7"),
    "mobile-iphone": Preset(locale="en-US", timezone="America/New_York", device="iPhone 15"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """None was not given. The viewport is (width, height) in CSS pixels."""

    preset: str | None = None
    stealth: bool | None = None
    headless: bool | None = None
    viewport: tuple[int, int] | None = None
    user_agent: str | None = None
    locale: str | None = None
    timezone: str | None = None
    disable_webgl: bool | None = None

    def check(self) -> None:
        """A preset with a part of it changed would be a browser that does not exist (R000-87).

        Raises:
            InvalidParameter: names the option.
        """
        if self.preset is not None:
            self._check_preset(self.preset)
        if self.viewport is not None and not all(1 <= side <= MOST_PIXELS for side in self.viewport):
            raise _wrong("viewport", f"must be from 1 to {MOST_PIXELS} pixels wide and high")
        if self.user_agent is not None and not re.fullmatch(r"[\x20-\x7e]{1,1000}", self.user_agent):
            raise _wrong("userAgent", "must be 1 to 1000 printable ASCII characters")
        if self.locale is not None and not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", self.locale):
            raise _wrong("locale", f"must be a language tag such as de-DE, not {self.locale!r}")

    def _check_preset(self, name: str) -> None:
        if name not in PRESETS:
            raise _wrong("preset", f"no preset is named {name!r}; there are {', '.join(PRESETS)}")
        beside = [alias for alias, value in self._parts() if value is not None]
        if beside:
            raise InvalidParameter(
                f"launchOptions.preset: {name} sets userAgent, viewport, locale and timezone together, "
                f"so it cannot go with {', '.join(beside)}",
                suggestion=f"Leave out preset, or {' and '.join(beside)}.",
                parameter="launchOptions.preset",
                exclusive=beside,
            )

    def _parts(self) -> list[tuple[str, object]]:
        """What a preset stands for."""
        return [
            ("userAgent", self.user_agent),
            ("viewport", self.viewport),
            ("locale", self.locale),
            ("timezone", self.timezone),
        ]

    def over(self, saved: LaunchOptions) -> LaunchOptions:
        """These, and what was saved where nothing is said.

        A preset takes the place of a viewport, locale … that was saved, and the other way round.
        """
        if self.preset is not None:
            saved = replace(saved, user_agent=None, viewport=None, locale=None, timezone=None)
        elif any(value is not None for _, value in self._parts()):
            saved = replace(saved, preset=None)
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(saved, **{name: value for name, value in given.items() if value is not None})

    def to_json(self) -> dict[str, Any]:
        """By the names that callers use; what is None is left out."""
        return {_ALIASES[name]: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LaunchOptions:
        """Raises ValueError where they are damaged, or of another version."""
        if unknown := sorted(set(data) - set(_NAMES)):
            raise ValueError(f"{unknown[0]!r} is no launch option")
        try:
            options = _ADAPTER.validate_python({_NAMES[alias]: value for alias, value in data.items()})
            options.check()
        except (ValidationError, InvalidParameter) as error:
            raise ValueError(f"they are no launch options: {error}") from None
        return options


_ALIASES = {
    "preset": "preset",
    "stealth": "stealth",
    "headless": "headless",
    "viewport": "viewport",
    "user_agent": "userAgent",
    "locale": "locale",
    "timezone": "timezone",
    "disable_webgl": "disableWebGL",
}
_NAMES = {alias: name for name, alias in _ALIASES.items()}
_ADAPTER = TypeAdapter(LaunchOptions)


def _wrong(option: str, why: str) -> InvalidParameter:
    return InvalidParameter(f"launchOptions.{option}: {why}", parameter=f"launchOptions.{option}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What `LaunchOptions` come to for one browser."""

    options: LaunchOptions
    context: SessionOptions
    args: tuple[str, ...]
    headless: bool
    agent: str | None
    """What the browser calls itself, where that is not its own word."""

    @classmethod
    def of(cls, options: LaunchOptions, *, headless: bool, own_agent: str | None, devices: Devices) -> Launch:
        """`headless` is what the settings say; `own_agent` is needed for `stealth` and for a device.

        The user agent is a switch of the browser, because what Playwright says in its place does not reach
        service workers, and takes the client hints from the others.
        """
        preset = PRESETS[options.preset] if options.preset else None
        device = devices.get(preset.device) if preset and preset.device else None
        agent = _agent(options, device, own_agent)
        locale = options.locale or (preset and preset.locale)
        args = [
            *([f"--user-agent={agent}"] if agent else ()),
            *([f"--accept-lang={locale}"] if locale else ()),
            *(["--disable-3d-apis"] if options.disable_webgl else ()),
        ]
        context = SessionOptions(
            user_agent=agent if device else None,
            device=device.name if device else None,
            viewport=options.viewport or (preset and preset.viewport),
            locale=locale,
            timezone=options.timezone or (preset and preset.timezone),
        )
        shown = headless if options.headless is None else options.headless
        return cls(options=options, context=context, args=tuple(args), headless=shown, agent=agent)


def needs_own_agent(options: LaunchOptions) -> bool:
    """Whether it must be known what the browser calls itself."""
    preset = PRESETS[options.preset] if options.preset else None
    return options.user_agent is None and bool(options.stealth or (preset and preset.device))


def _agent(options: LaunchOptions, device: Device | None, own: str | None) -> str | None:
    if options.user_agent is not None:
        return options.user_agent
    if own is None:
        return device.user_agent if device else None
    if device is not None:
        version = re.search(r"Chrome/[\d.]+", reduced_agent(own))
        return re.sub(r"Chrome/[\d.]+", version[0], device.user_agent) if version else device.user_agent
    return reduced_agent(own) if options.stealth else None


def reduced_agent(own: str) -> str:
    """A user agent as the same browser has it with a window: no `Headless`, no minor version."""
    return re.sub(r"(?:Headless)?Chrome/(\d+)[\d.]*", r"Chrome/\1.0.0.0", own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Something that tells browsers apart, whether it was set, and to what or why not."""

    name: str
    on: bool
    detail: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "on": self.on, "detail": self.detail}


def measures(launch: Launch, *, shell: bool = False) -> tuple[Measure, ...]:
    """What stealth has set, and what not; nothing without it. `shell`: the browser is a headless shell."""
    if not launch.options.stealth:
        return ()
    context = launch.context
    size = f"{context.viewport[0]}x{context.viewport[1]}" if context.viewport else None
    own = "" if launch.options.user_agent is None else ", as it was given"
    words = {
        "userAgent": f"{launch.agent} in headers, pages and workers{own}",
        "locale": context.locale and f"{context.locale} in Accept-Language, navigator.languages and Intl",
        "timezone": context.timezone and f"{context.timezone} in Date and Intl",
        "viewport": size or (context.device and f"that of {context.device}"),
        "webGL": "there is none" if launch.options.disable_webgl else None,
    }
    told = [
        Measure(name=name, on=bool(detail), detail=detail or _NOT_GIVEN[name])
        for name, detail in words.items()
    ]
    return (*told, _client_hints(launch, shell=shell), *_NOT_DONE)


_NOT_GIVEN = {
    "locale": "the browser's own; give locale",
    "timezone": "this machine's; give timezone, so that it fits the locale",
    "viewport": "the browser's own",
    "webGL": "it tells of this machine's graphics; disableWebGL turns it off",
}


def _client_hints(launch: Launch, *, shell: bool) -> Measure:
    if shell:
        why = "only the headless shell is here, and Sec-CH-UA names it"
    elif launch.options.user_agent is not None:
        why = "they are the browser's own, and need not fit the userAgent that was given"
    elif launch.context.device is not None:
        why = "those of the device, but for navigator.platform and shared workers"
    else:
        return Measure(name="clientHints", on=True, detail="the browser's own, which fit its user agent")
    return Measure(name="clientHints", on=False, detail=why)


_NOT_DONE = (
    Measure(name="webdriver", on=False, detail="navigator.webdriver is true: this is an automated browser"),
    Measure(name="canvas", on=False, detail="no noise in canvas and audio: that is found out more easily"),
    Measure(name="hardware", on=False, detail="fonts, processors and memory are this machine's"),
    Measure(name="address", on=False, detail="requests come from this machine's address"),
)
"""What others forge."""
