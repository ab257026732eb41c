"""Launch options: validation, merging with saved ones, and the report of the stealth measures."""

from __future__ import annotations

import re
from zoneinfo import available_timezones

import pytest

from footlight.browser.context.devices import Devices
from footlight.browser.context.options import SessionOptions
from footlight.browser.launch.launch_options import (
    PRESETS,
    LaunchOptions,
    LaunchPlan,
    Measure,
    list_measures,
    needs_own_agent,
    reduce_agent,
)
from footlight.errors import InvalidParameterError

OWN = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.8078.79 Safari/537.36"  # noqa: E501
SHOWN = OWN.replace("HeadlessChrome/156.0.8078.79", "Chrome/156.0.0.0")
PIXEL = "Mozilla/5.0 (Linux; Android 14; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0.1.2 Mobile Safari/537.36"  # noqa: E501
SIZES = {"width": 412, "height": 839}
DEVICES = Devices(
    {
        "Pixel 7": {
            "user_agent": PIXEL,
            "viewport": SIZES,
            "screen": SIZES,
            "device_scale_factor": 2.625,
            "is_mobile": True,
            "has_touch": True,
        }
    }
)


def launch_of(options: LaunchOptions, *, own_agent: str | None = OWN) -> LaunchPlan:
    return LaunchPlan.of(options, headless=True, own_agent=own_agent, devices=DEVICES)


def check_refused(options: LaunchOptions) -> InvalidParameterError:
    with pytest.raises(InvalidParameterError) as raised:
        options.check()
    return raised.value


# What may be said


def test_preset_with_conflicting_options_is_refused() -> None:
    """Lessons 2.0: silent mixtures produced inconsistent fingerprints."""
    error = check_refused(LaunchOptions(preset="desktop-de", locale="en-US", viewport=(800, 600)))

    assert error.message == (
        "launchOptions.preset: desktop-de sets userAgent, viewport, locale and timezone together, "
        "so it cannot go with viewport, locale"
    )
    assert error.suggestion == "Leave out preset, or viewport and locale."
    assert error.details == {"parameter": "launchOptions.preset", "exclusive": ["viewport", "locale"]}


@pytest.mark.parametrize("part", ["user_agent", "viewport", "locale", "timezone"])
def test_each_option_set_by_a_preset_conflicts_with_it(part: str) -> None:
    value = (1, 1) if part == "viewport" else "en"

    assert "cannot go with" in check_refused(LaunchOptions(preset="desktop-us", **{part: value})).message


def test_other_options_are_allowed_with_a_preset() -> None:
    LaunchOptions(preset="desktop-us", stealth=True, headless=False, disable_webgl=True).check()


def test_unknown_preset_error_lists_known_presets() -> None:
    assert check_refused(LaunchOptions(preset="desktop")).message == (
        "launchOptions.preset: no preset is named 'desktop'; there are desktop-us, desktop-uk, desktop-de, "
        "mobile-android, mobile-iphone"
    )


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (LaunchOptions(viewport=(0, 600)), "viewport"),
        (LaunchOptions(viewport=(800, 10_001)), "viewport"),
        (LaunchOptions(user_agent=""), "userAgent"),
        (LaunchOptions(user_agent="x\r\nCookie: y"), "userAgent"),
        (LaunchOptions(user_agent="x" * 1_001), "userAgent"),
        (LaunchOptions(locale="de_DE"), "locale"),
        (LaunchOptions(locale="de-DE --no-sandbox"), "locale"),
        (LaunchOptions(locale=""), "locale"),
    ],
)
def test_invalid_launch_options_are_refused(options: LaunchOptions, option: str) -> None:
    error = check_refused(options)

    assert error.message.startswith(f"launchOptions.{option}: ")
    assert error.details["parameter"] == f"launchOptions.{option}"


def test_presets_use_valid_timezones_and_locales() -> None:
    zones = available_timezones()
    if not zones:
        pytest.skip("this system has no list of timezones")
    for name, preset in PRESETS.items():
        assert preset.timezone in zones, name
        assert (preset.viewport is None) != (preset.device is None), name
        LaunchOptions(locale=preset.locale).check()


# What was saved


@pytest.mark.parametrize(
    ("given", "saved", "together"),
    [
        (LaunchOptions(), LaunchOptions(locale="de-DE"), LaunchOptions(locale="de-DE")),
        (LaunchOptions(locale="en-US"), LaunchOptions(locale="de-DE"), LaunchOptions(locale="en-US")),
        (
            LaunchOptions(stealth=False),
            LaunchOptions(stealth=True, locale="de-DE"),
            LaunchOptions(stealth=False, locale="de-DE"),
        ),
        (
            LaunchOptions(preset="desktop-us"),
            LaunchOptions(locale="de-DE", user_agent="x", stealth=True),
            LaunchOptions(preset="desktop-us", stealth=True),
        ),
        (
            LaunchOptions(locale="fr-FR"),
            LaunchOptions(preset="desktop-us", disable_webgl=True),
            LaunchOptions(locale="fr-FR", disable_webgl=True),
        ),
        (
            LaunchOptions(headless=False),
            LaunchOptions(preset="desktop-us"),
            LaunchOptions(headless=False, preset="desktop-us"),
        ),
    ],
)
def test_explicit_options_override_saved_ones(
    given: LaunchOptions, saved: LaunchOptions, together: LaunchOptions
) -> None:
    """Explicit before saved, and a preset never mixed with parts of another."""
    assert given.with_defaults(saved) == together
    together.check()


def test_options_are_saved_under_their_public_names() -> None:
    options = LaunchOptions(
        stealth=True,
        headless=False,
        viewport=(800, 600),
        user_agent="x",
        locale="de-DE",
        timezone="Europe/Berlin",
        disable_webgl=True,
    )

    kept = options.to_json()

    assert kept == {
        "stealth": True,
        "headless": False,
        "viewport": (800, 600),
        "userAgent": "x",
        "locale": "de-DE",
        "timezone": "Europe/Berlin",
        "disableWebGL": True,
    }
    assert LaunchOptions.from_json({**kept, "viewport": [800, 600]}) == options
    assert LaunchOptions.from_json(LaunchOptions(preset="desktop-us").to_json()) == LaunchOptions(
        preset="desktop-us"
    )


@pytest.mark.parametrize("data", [{"zoom": 2}, {"viewport": [1]}, {"preset": "gone"}, {"locale": "*"}])
def test_unknown_saved_options_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not (a )?launch option"):
        LaunchOptions.from_json(data)


# What they come to


def test_empty_options_change_nothing() -> None:
    assert launch_of(LaunchOptions(), own_agent=None) == LaunchPlan(
        options=LaunchOptions(), context=SessionOptions(), args=(), headless=True, agent=None
    )


def test_desktop_preset_becomes_browser_switches() -> None:
    """What Playwright sets does not reach service workers."""
    options = LaunchOptions(preset="desktop-de", stealth=True, disable_webgl=True, headless=False)

    assert launch_of(options) == LaunchPlan(
        options=options,
        context=SessionOptions(viewport=(1440, 900), locale="de-DE", timezone="Europe/Berlin"),
        args=(f"--user-agent={SHOWN}", "--accept-lang=de-DE", "--disable-3d-apis"),
        headless=False,
        agent=SHOWN,
    )


def test_device_preset_uses_the_running_browser_version() -> None:
    launch = launch_of(LaunchOptions(preset="mobile-android"))

    agent = PIXEL.replace("Chrome/99.0.1.2", "Chrome/156.0.0.0")
    assert launch.agent == agent
    assert launch.args == (f"--user-agent={agent}", "--accept-lang=en-US")
    assert launch.context == SessionOptions(
        user_agent=agent, device="Pixel 7", locale="en-US", timezone="America/New_York"
    )


def test_browser_user_agent_is_read_only_when_needed() -> None:
    needed = [
        options
        for options in (
            LaunchOptions(),
            LaunchOptions(preset="desktop-us"),
            LaunchOptions(stealth=True, user_agent="x"),
            LaunchOptions(stealth=True),
            LaunchOptions(preset="mobile-android"),
        )
        if needs_own_agent(options)
    ]

    assert needed == [LaunchOptions(stealth=True), LaunchOptions(preset="mobile-android")]


@pytest.mark.parametrize("own", [OWN, SHOWN, OWN.replace("156.0.8078.79", "156.0.0.0")])
def test_stealth_user_agent_equals_the_headed_browser(own: str) -> None:
    assert reduce_agent(own) == SHOWN


# What stealth tells


def test_stealth_reports_active_and_missing_measures() -> None:
    reported = list_measures(launch_of(LaunchOptions(stealth=True, locale="de-DE", disable_webgl=True)))

    assert reported == (
        Measure(name="userAgent", on=True, detail=f"{SHOWN} in headers, pages and workers"),
        Measure(name="locale", on=True, detail="de-DE in Accept-Language, navigator.languages and Intl"),
        Measure(
            name="timezone", on=False, detail="this machine's; give timezone, so that it fits the locale"
        ),
        Measure(name="viewport", on=False, detail="the browser's own"),
        Measure(name="webGL", on=True, detail="there is none"),
        Measure(name="clientHints", on=True, detail="the browser's own, which fit its user agent"),
        Measure(
            name="webdriver", on=False, detail="navigator.webdriver is true: this is an automated browser"
        ),
        Measure(
            name="canvas", on=False, detail="no noise in canvas and audio: that is found out more easily"
        ),
        Measure(name="hardware", on=False, detail="fonts, processors and memory are this machine's"),
        Measure(name="address", on=False, detail="requests come from this machine's address"),
    )
    assert reported[0].to_json() == {"name": "userAgent", "on": True, "detail": reported[0].detail}


@pytest.mark.parametrize(
    ("options", "shell", "why"),
    [
        (LaunchOptions(stealth=True, user_agent="x"), False, "need not fit the userAgent that was given"),
        (LaunchOptions(stealth=True), True, "Sec-CH-UA names it"),
        (LaunchOptions(stealth=True, preset="mobile-android"), False, "those of the device, but for"),
    ],
)
def test_stealth_reports_revealing_client_hints(options: LaunchOptions, shell: bool, why: str) -> None:
    hints = next(
        each for each in list_measures(launch_of(options), shell=shell) if each.name == "clientHints"
    )

    assert not hints.on
    assert re.search(why, hints.detail)


def test_no_measures_are_reported_without_stealth() -> None:
    assert list_measures(launch_of(LaunchOptions(preset="desktop-us"))) == ()
