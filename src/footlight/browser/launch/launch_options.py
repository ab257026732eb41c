"""The launch options of a browser with a profile: options, presets, and stealth.

Stealth does not forge values. It makes user agent, languages, timezone and window size consistent in pages,
in their workers and in request headers. `list_measures` returns which of these are set, and which common
measures are not taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from footlight.browser.context.options import SessionOptions
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from footlight.browser.context.devices import Device, Devices

__all__ = [
    "PRESETS",
    "LaunchOptions",
    "LaunchPlan",
    "Measure",
    "Preset",
    "list_measures",
    "needs_own_agent",
    "reduce_agent",
]

MAX_PIXELS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A consistent set of values. The user agent is that of the browser, or of the device."""

    locale: str
    timezone: str
    viewport: tuple[int, int] | None = None
    device: str | None = None
    """A name in Playwright's list of devices."""


PRESETS: Mapping[str, Preset] = {
    "desktop-us": Preset(locale="en-US", timezone="America/New_York", viewport=(1440, 900)),
    "desktop-uk": Preset(locale="en-GB", timezone="Europe/London", viewport=(1440, 900)),
    "desktop-de": Preset(locale="de-DE", timezone="Europe/Berlin", viewport=(1440, 900)),
    "mobile-android": Preset(locale="en-US", timezone="America/New_York", device="Pixel 7"),
    "mobile-iphone": Preset(locale="en-US", timezone="America/New_York", device="iPhone 15"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """Options from a caller; None means not given. The viewport is (width, height) in CSS pixels."""

    preset: str | None = None
    stealth: bool | None = None
    headless: bool | None = None
    viewport: tuple[int, int] | None = None
    user_agent: str | None = None
    locale: str | None = None
    timezone: str | None = None
    disable_webgl: bool | None = None

    def check(self) -> None:
        """Validate the options.

        Parts of a preset cannot be overridden, because no real browser has such a combination.

        Raises:
            InvalidParameterError: an option is invalid; the error names it.
        """
        if self.preset is not None:
            self._check_preset(self.preset)
        if self.viewport is not None and not all(1 <= side <= MAX_PIXELS for side in self.viewport):
            raise _option_error("viewport", f"must be from 1 to {MAX_PIXELS} pixels wide and high")
        if self.user_agent is not None and not re.fullmatch(r"[\x20-\x7e]{1,1000}", self.user_agent):
            raise _option_error("userAgent", "must be 1 to 1000 printable ASCII characters")
        if self.locale is not None and not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", self.locale):
            raise _option_error("locale", f"must be a language tag such as de-DE, not {self.locale!r}")

    def _check_preset(self, name: str) -> None:
        if name not in PRESETS:
            raise _option_error("preset", f"no preset is named {name!r}; there are {', '.join(PRESETS)}")
        conflicting = [alias for alias, value in self._parts() if value is not None]
        if conflicting:
            raise InvalidParameterError(
                f"launchOptions.preset: {name} sets userAgent, viewport, locale and timezone together, "
                f"so it cannot go with {', '.join(conflicting)}",
                suggestion=f"Leave out preset, or {' and '.join(conflicting)}.",
                parameter="launchOptions.preset",
                exclusive=conflicting,
            )

    def _parts(self) -> list[tuple[str, object]]:
        """Return the options that a preset would set."""
        return [
            ("userAgent", self.user_agent),
            ("viewport", self.viewport),
            ("locale", self.locale),
            ("timezone", self.timezone),
        ]

    def with_defaults(self, saved: LaunchOptions) -> LaunchOptions:
        """Return these options, completed with saved ones.

        A preset replaces a saved viewport, locale and so on, and vice versa.
        """
        if self.preset is not None:
            saved = replace(saved, user_agent=None, viewport=None, locale=None, timezone=None)
        elif any(value is not None for _, value in self._parts()):
            saved = replace(saved, preset=None)
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(saved, **{name: value for name, value in values.items() if value is not None})

    def to_json(self) -> dict[str, Any]:
        """Return the options under the names that callers use, without those that are None."""
        return {_ALIASES[name]: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LaunchOptions:
        """Parse saved options. Raise ValueError if they are damaged or from another version."""
        if unknown := sorted(set(data) - set(_NAMES)):
            raise ValueError(f"{unknown[0]!r} is not a launch option")
        try:
            options = _ADAPTER.validate_python({_NAMES[alias]: value for alias, value in data.items()})
            options.check()
        except (ValidationError, InvalidParameterError) as error:
            raise ValueError(f"they are not launch options: {error}") from None
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


def _option_error(option: str, why: str) -> InvalidParameterError:
    return InvalidParameterError(f"launchOptions.{option}: {why}", parameter=f"launchOptions.{option}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """The decisions about the launch of one browser: its options and arguments."""

    options: LaunchOptions
    context: SessionOptions
    args: tuple[str, ...]
    headless: bool
    agent: str | None
    """The user agent to set, or None for the browser's own."""

    @classmethod
    def of(
        cls, options: LaunchOptions, *, headless: bool, own_agent: str | None, devices: Devices
    ) -> LaunchPlan:
        """Return a plan. `headless` is the setting; `own_agent` is required for `stealth` and for a device.

        The user agent is set by a command-line switch. Playwright's override would not reach service workers,
        and would remove the client hints elsewhere.
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
        runs_headless = headless if options.headless is None else options.headless
        return cls(options=options, context=context, args=tuple(args), headless=runs_headless, agent=agent)


def needs_own_agent(options: LaunchOptions) -> bool:
    """Return whether the browser's own user agent must be known."""
    preset = PRESETS[options.preset] if options.preset else None
    return options.user_agent is None and bool(options.stealth or (preset and preset.device))


def _agent(options: LaunchOptions, device: Device | None, own: str | None) -> str | None:
    if options.user_agent is not None:
        return options.user_agent
    if own is None:
        return device.user_agent if device else None
    if device is not None:
        version = re.search(r"Chrome/[\d.]+", reduce_agent(own))
        return re.sub(r"Chrome/[\d.]+", version[0], device.user_agent) if version else device.user_agent
    return reduce_agent(own) if options.stealth else None


def reduce_agent(own: str) -> str:
    """Return the user agent of the same browser with a window: no `Headless`, and no minor version."""
    return re.sub(r"(?:Headless)?Chrome/(\d+)[\d.]*", r"Chrome/\1.0.0.0", own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A property by which browsers can be distinguished, whether it is set, and its value or the reason."""

    name: str
    on: bool
    detail: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "on": self.on, "detail": self.detail}


def list_measures(launch: LaunchPlan, *, shell: bool = False) -> tuple[Measure, ...]:
    """Return the measures that stealth has taken and not taken. Empty without stealth.

    `shell`: whether the browser is a headless shell.
    """
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
    measures = [
        Measure(name=name, on=bool(detail), detail=detail or _NOT_GIVEN[name])
        for name, detail in words.items()
    ]
    return (*measures, _client_hints(launch, shell=shell), *_NOT_FORGED)


_NOT_GIVEN = {
    "locale": "the browser's own; give locale",
    "timezone": "this machine's; give timezone, so that it fits the locale",
    "viewport": "the browser's own",
    "webGL": "it tells of this machine's graphics; disableWebGL turns it off",
}


def _client_hints(launch: LaunchPlan, *, shell: bool) -> Measure:
    if shell:
        why = "only the headless shell is here, and Sec-CH-UA names it"
    elif launch.options.user_agent is not None:
        why = "they are the browser's own, and need not fit the userAgent that was given"
    elif launch.context.device is not None:
        why = "those of the device, but for navigator.platform and shared workers"
    else:
        return Measure(name="clientHints", on=True, detail="the browser's own, which fit its user agent")
    return Measure(name="clientHints", on=False, detail=why)


_NOT_FORGED = (
    Measure(name="webdriver", on=False, detail="navigator.webdriver is true: this is an automated browser"),
    Measure(name="canvas", on=False, detail="no noise in canvas and audio: that is found out more easily"),
    Measure(name="hardware", on=False, detail="fonts, processors and memory are this machine's"),
    Measure(name="address", on=False, detail="requests come from this machine's address"),
)
"""Properties that other tools forge."""
