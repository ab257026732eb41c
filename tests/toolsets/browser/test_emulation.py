"""Changing the emulation of a live session."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import SessionBrowser
from tests.site import Site

pytestmark = pytest.mark.anyio

PAGE = "<meta name=viewport content='width=device-width'><p>x</p>"

SEEN = """({
  agent: navigator.userAgent, size: [innerWidth, innerHeight], scale: devicePixelRatio,
  touch: navigator.maxTouchPoints > 0, language: navigator.language,
  number: Intl.NumberFormat().resolvedOptions().locale,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  still: matchMedia('(prefers-reduced-motion: reduce)').matches,
  print: matchMedia('print').matches,
})"""

WHERE = """new Promise((found, failed) => navigator.geolocation.getCurrentPosition(
  it => found([it.coords.latitude, it.coords.longitude]), it => found(it.message)))"""


async def read_seen(browser: SessionBrowser, script: str = SEEN, **arguments: Any) -> Any:
    return (await browser.call("evaluate", script=script, **arguments))["result"]


async def test_page_sees_the_emulated_values(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    in_force = await browser.call(
        "emulate",
        viewport={"width": 500, "height": 400},
        colorScheme="dark",
        reducedMotion="reduce",
        media="print",
        locale="de-DE",
        timezone="Asia/Tokyo",
        userAgent="Lamp/9",
        cpuRate=2,
    )

    assert in_force == {
        "viewport": {"width": 500, "height": 400},
        "colorScheme": "dark",
        "reducedMotion": "reduce",
        "media": "print",
        "locale": "de-DE",
        "timezone": "Asia/Tokyo",
        "cpuRate": 2,
        "userAgent": "Lamp/9",
    }
    assert await read_seen(browser) == {
        "agent": "Lamp/9",
        "size": [500, 400],
        "scale": 1,
        "touch": False,
        "language": "de-DE",
        "number": "de-DE",
        "zone": "Asia/Tokyo",
        "dark": True,
        "still": True,
        "print": True,
    }


async def test_contrast_and_forced_colours_are_emulated(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    script = "['(forced-colors: active)', '(prefers-contrast: more)'].map(each => matchMedia(each).matches)"

    for given, found in (
        ({"contrast": "more"}, [False, True]),
        ({"forcedColors": "active", "contrast": "no-preference"}, [True, False]),
        ({"forcedColors": "none", "contrast": "more"}, [False, True]),
    ):
        assert (await browser.call("emulate", **given)).items() >= given.items()
        assert await read_seen(browser, script) == found, given
    assert await browser.call("emulate", reset=True) == {}
    assert await read_seen(browser, script) == [False, False]


async def test_emulating_one_option_keeps_the_others(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    await browser.call("emulate", colorScheme="dark", timezone="Asia/Tokyo")

    assert await browser.call("emulate", timezone="Europe/Rome") == {
        "colorScheme": "dark",
        "timezone": "Europe/Rome",
    }
    assert await browser.call("emulate") == {"colorScheme": "dark", "timezone": "Europe/Rome"}
    look = await read_seen(browser)
    assert (look["dark"], look["zone"]) == (True, "Europe/Rome")


async def test_reset_restores_the_options_of_the_session(browser: SessionBrowser) -> None:
    made = {"viewport": {"width": 640, "height": 360}, "userAgent": "Lamp/7", "colorScheme": "dark"}
    session = await browser.call("create_session", **made)
    await browser.show(PAGE, **session)
    before = await read_seen(browser, **session)
    await browser.call("emulate", device="iPhone 13", colorScheme="light", media="print", **session)
    await browser.call("emulate", locale="fr-FR", timezone="Asia/Tokyo", cpuRate=3, **session)

    assert await browser.call("emulate", reset=True, **session) == {}

    await browser.call("reload", **session)
    assert await read_seen(browser, **session) == before
    assert (before["agent"], before["size"], before["dark"]) == ("Lamp/7", [640, 360], True)
    assert await browser.call("emulate", reset=True, media="print", **session) == {"media": "print"}
    await browser.call("close_session", **session)


async def test_emulated_device_survives_a_screenshot(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    in_force = await browser.call("emulate", device="pixel 7")

    assert in_force["device"] == "Pixel 7"
    assert "Android" in in_force["userAgent"]
    for _ in range(2):
        look = await read_seen(browser)
        assert look["size"] == list(in_force["viewport"].values())
        assert (look["scale"], look["touch"], look["agent"]) == (2.625, True, in_force["userAgent"])
        await browser.call("screenshot")


@pytest.mark.slow
async def test_print_emulation_survives_navigation_and_a_drop(browser: SessionBrowser, site: Site) -> None:
    page = f"{PAGE}<div style='width: 9px; height: 9px' ondragover='event.preventDefault()'></div>"
    await browser.show(page)
    await browser.call("emulate", media="print")

    for host in ("localhost", "127.0.0.1"):
        await browser.call("navigate", url=site.page(page).replace("127.0.0.1", host))
        assert (await read_seen(browser))["print"]
    await browser.call("drop", selector="div", data={"text/plain": "x"})
    assert (await read_seen(browser))["print"]


async def test_device_replaces_earlier_device_and_viewport(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    await browser.call("emulate", viewport={"width": 500, "height": 400}, userAgent="Lamp/9")

    phone = await browser.call("emulate", device="iPhone 13")
    assert (phone["viewport"], "iPhone" in phone["userAgent"]) == ({"width": 390, "height": 664}, True)
    desktop = await browser.call("emulate", device="Desktop Chrome")

    look = await read_seen(browser)
    assert (look["size"], look["scale"], look["touch"]) == ([1280, 720], 1, False)
    assert look["agent"] == desktop["userAgent"]


async def test_site_receives_emulated_user_agent_and_language(browser: SessionBrowser) -> None:
    from starlette.requests import Request
    from starlette.responses import JSONResponse

    async def answer_headers(request: Request) -> JSONResponse:
        return JSONResponse([request.headers["user-agent"], request.headers["accept-language"]])

    await browser.call("emulate", userAgent="Lamp/9", locale="fr-FR")
    await browser.call("navigate", url=browser.site.route(answer_headers))

    assert await browser.call("get_text", selector="body") == {"text": '["Lamp/9","fr-FR"]'}


async def test_emulation_applies_to_pages_opened_later(browser: SessionBrowser, site: Site) -> None:
    await browser.show(f"<a href={site.page(PAGE)} target=_blank>new</a>")
    await browser.call("emulate", device="iPhone 13", timezone="Asia/Tokyo", colorScheme="dark")

    clicked = await browser.call("click", selector="a")
    look = await read_seen(browser, pageId=clicked["newPages"][0]["pageId"])

    assert (look["zone"], look["dark"], look["scale"]) == ("Asia/Tokyo", True, 3)
    assert "iPhone" in look["agent"]
    assert look["size"] == [390, 664]


async def test_geolocation_and_permissions_are_emulated(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    place = {"latitude": 48.2, "longitude": 16.4}

    in_force = await browser.call("emulate", geolocation=place)

    assert in_force == {"geolocation": {**place, "accuracy": 0}}
    assert await read_seen(browser, WHERE) == [48.2, 16.4]
    await browser.call("emulate", permissions=[])
    states = (
        "Promise.all(['geolocation', 'notifications'].map(name => navigator.permissions.query({name}))).then("
    )
    states += "all => all.map(it => it.state === 'granted'))"
    assert await read_seen(browser, states) == [False, False]
    await browser.call("emulate", permissions=["notifications"])
    assert await read_seen(browser, states) == [False, True]
    await browser.call("emulate", reset=True)
    assert await read_seen(browser, states) == [False, False]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"device": "Nokia 3310"}, "device"),
        ({"locale": "!!"}, "locale"),
        ({"timezone": "Nowhere/Else"}, "timezone"),
        ({"permissions": ["levitation"]}, "permissions"),
        ({"permissions": [""]}, "permissions.0"),
        ({"locale": ""}, "locale"),
        ({"timezone": ""}, "timezone"),
        ({"userAgent": ""}, "userAgent"),
        ({"userAgent": "Lamp/9\nX: y"}, "userAgent"),
        ({"viewport": {"width": 0, "height": 1}}, "viewport.width"),
        ({"geolocation": {"latitude": 1}}, "geolocation.longitude"),
        ({"cpuRate": 0.5}, "cpuRate"),
        ({"media": "braille"}, "media"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_invalid_emulation_is_refused_and_changes_nothing(
    browser: SessionBrowser, arguments: dict[str, Any], parameter: str
) -> None:
    await browser.show(PAGE)
    await browser.call("emulate", timezone="Asia/Tokyo", locale="de-DE")
    before = await read_seen(browser)

    error = await browser.refused("emulate", **{"colorScheme": "dark", **arguments})

    assert error["code"] in ("INVALID_PARAMETER", "MISSING_PARAMETER")
    assert error["details"]["parameter"] == parameter
    assert await browser.call("emulate") == {"timezone": "Asia/Tokyo", "locale": "de-DE"}
    assert await read_seen(browser) == before
    assert (await browser.call("emulate", permissions=["geolocation"]))["permissions"] == ["geolocation"]


async def test_locale_of_a_session_cannot_be_changed(browser: SessionBrowser) -> None:
    session = await browser.call("create_session", locale="de-DE")

    error = await browser.refused("emulate", locale="fr-FR", **session)

    assert error["message"] == "locale: this session was created with de-DE, which cannot be changed"
    assert error["suggestion"] == "Create another session with create_session and the locale."
    await browser.call("close_session", **session)
