"""What the pages of a live session are made to believe: their device, place, language, colours, speed.

Playwright has no such switch for most of it once a context is there, so Chromium is told by a CDP session for
each page, which is kept, because the emulation ends with it. A popup is told when it is there: its first
request went out before.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from footlight.browser._playwright import Error, is_taken, refused_option
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ViewportSize
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.devices import Device, Devices
    from footlight.browser.options import ColorScheme, Geolocation, ReducedMotion
    from footlight.browser.page import Page
    from footlight.browser.session import Session

__all__ = ["Emulation", "Emulator", "Media"]

Media = Literal["screen", "print"]

AGAIN_SECONDS = 1.0
"""How long a page may take to be told of its screen again; one that hangs is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """None is as the session was made."""

    viewport: tuple[int, int] | None = None
    device: Device | None = None
    color_scheme: ColorScheme | None = None
    reduced_motion: ReducedMotion | None = None
    media: Media | None = None
    geolocation: Geolocation | None = None
    permissions: tuple[str, ...] | None = None
    locale: str | None = None
    timezone: str | None = None
    cpu_rate: float | None = None
    user_agent: str | None = None

    def with_(self, other: Emulation) -> Emulation:
        """This one, and what the other says."""
        given = {each.name: getattr(other, each.name) for each in fields(other)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    @property
    def size(self) -> tuple[int, int] | None:
        """Of the viewport."""
        return self.viewport or (self.device.viewport if self.device else None)

    @property
    def agent(self) -> str | None:
        """How the browser calls itself."""
        return self.user_agent or (self.device.user_agent if self.device else None)


NOTHING = Emulation()


class Emulator:
    """Keeps the pages of a session, also those to come, at one emulation."""

    def __init__(self, session: Session, devices: Devices) -> None:
        self._session = session
        self.devices = devices
        self._own_device = devices.get(session.options.device) if session.options.device else None
        self._in_force = NOTHING
        self._made: WeakKeyDictionary[PlaywrightPage, ViewportSize | None] = WeakKeyDictionary()
        self._cdp: WeakKeyDictionary[PlaywrightPage, CDPSession] = WeakKeyDictionary()

    @property
    def in_force(self) -> Emulation:
        return self._in_force

    async def change(self, to: Emulation) -> None:
        """Bring every page there, or leave them all as they are.

        Raises:
            InvalidParameter: names what the browser does not take.
        """
        before = self._in_force
        self._check(to)
        await self._session.page()  # Only a page shows whether it is right.
        try:
            await self._move_all(before, to)
        except Error as error:
            with contextlib.suppress(Error):
                await self._move_all(to, before)
            if option := refused_option(error):
                raise InvalidParameter(f"{option[0]}: {option[1]}", parameter=option[0]) from error
            raise
        self._in_force = to

    async def prepare(self, page: Page) -> None:
        """Tell a new page."""
        await self._move(page, NOTHING, self._in_force)

    async def again(self, page: Page) -> None:
        """Tell a page of its screen again: a screenshot makes Chromium forget what is not Playwright's."""
        device, cdp = self._in_force.device, self._cdp.get(page.playwright)
        if device is None or cdp is None:
            return
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(AGAIN_SECONDS):
                if await page.playwright.evaluate("devicePixelRatio") != device.scale:
                    # Told the same once more, it would do nothing.
                    await cdp.send("Emulation.clearDeviceMetricsOverride")
                    await self._send_screen(page, self._in_force)

    def _check(self, to: Emulation) -> None:
        wanted = {
            "device": to.device,
            "locale": to.locale,
            "timezone": to.timezone,
            "cpuRate": to.cpu_rate,
            "userAgent": to.user_agent,
        }
        engine, options = self._session.engine, self._session.options
        for name, value in wanted.items():
            if value is not None and engine != "chromium":
                raise InvalidParameter(
                    f"{name}: needs Chromium; this session runs {engine}", parameter=name, engine=engine
                )
        for name, made in (("locale", options.locale), ("timezone", options.timezone)):
            if wanted[name] is not None and made is not None:
                raise InvalidParameter(
                    f"{name}: this session was made with {made}, which stays",
                    parameter=name,
                    suggestion=f"Make another one with create_session and the {name}.",
                )

    async def _move_all(self, before: Emulation, after: Emulation) -> None:
        await self._move_context(before, after)
        for page in self._session.pages:
            await self._move(page, before, after)

    async def _move_context(self, before: Emulation, after: Emulation) -> None:
        context, options = self._session.context, self._session.options
        if before.geolocation != after.geolocation:
            place = after.geolocation or options.geolocation
            await context.set_geolocation(
                {"latitude": place.latitude, "longitude": place.longitude, "accuracy": place.accuracy}
                if place
                else None
            )
        if (before.permissions, before.geolocation) != (after.permissions, after.geolocation):
            granted = list(self._granted(after))
            await context.grant_permissions(granted)  # The others are kept where one is not known.
            await context.clear_permissions()
            await context.grant_permissions(granted)

    def _granted(self, emulation: Emulation) -> tuple[str, ...]:
        if emulation.permissions is not None:
            return emulation.permissions
        own = self._session.options.granted
        return own if emulation.geolocation is None or "geolocation" in own else (*own, "geolocation")

    async def _move(self, page: Page, before: Emulation, after: Emulation) -> None:
        options = self._session.options
        if (before.size, before.device) != (after.size, after.device):
            await self._resize(page, after)
        seen = (before.color_scheme, before.reduced_motion, before.media)
        if seen != (after.color_scheme, after.reduced_motion, after.media):
            await page.playwright.emulate_media(
                color_scheme=after.color_scheme or options.color_scheme or "light",
                reduced_motion=after.reduced_motion or options.reduced_motion or "no-preference",
                media=after.media or "null",
            )
        if (before.agent, before.locale) != (after.agent, after.locale):
            await self._name(page, after)
        if before.locale != after.locale:
            locale = {"locale": after.locale} if after.locale else {}
            await self._override(page, "Emulation.setLocaleOverride", locale)
        if before.timezone != after.timezone:
            # Changed from one to the other, a wrong one would not be told.
            await self._override(page, "Emulation.setTimezoneOverride", {"timezoneId": ""})
            if after.timezone:
                await self._override(page, "Emulation.setTimezoneOverride", {"timezoneId": after.timezone})
        if before.cpu_rate != after.cpu_rate:
            cdp = await self._cdp_of(page)
            await cdp.send("Emulation.setCPUThrottlingRate", {"rate": after.cpu_rate or 1})

    async def _resize(self, page: Page, to: Emulation) -> None:
        shown = page.playwright
        made = self._made.setdefault(shown, shown.viewport_size)
        size: ViewportSize | None = {"width": to.size[0], "height": to.size[1]} if to.size else made
        if size is not None:
            await shown.set_viewport_size(size)
        if to.device is not None or shown in self._cdp:
            await self._send_screen(page, to)

    async def _send_screen(self, page: Page, to: Emulation) -> None:
        """Playwright knows but the size. It is told as Playwright does, where nothing is emulated."""
        if (size := page.playwright.viewport_size) is None:
            return
        device = to.device or self._own_device
        screen = device.screen if device and not to.viewport else (size["width"], size["height"])
        cdp = await self._cdp_of(page)
        await cdp.send(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": size["width"],
                "height": size["height"],
                "screenWidth": screen[0],
                "screenHeight": screen[1],
                "deviceScaleFactor": device.scale if device else 1,
                "mobile": bool(device and device.mobile),
            },
        )
        touch = bool(device and device.touch)
        await cdp.send(
            "Emulation.setTouchEmulationEnabled",
            {"enabled": touch, **({"maxTouchPoints": 5} if touch else {})},
        )

    async def _name(self, page: Page, to: Emulation) -> None:
        own = self._own_device.user_agent if self._own_device else ""
        locale = to.locale or self._session.options.locale
        cdp = await self._cdp_of(page)
        await cdp.send(
            "Emulation.setUserAgentOverride",
            {
                "userAgent": to.agent or self._session.options.user_agent or own,
                **({"acceptLanguage": locale} if locale else {}),
            },
        )

    async def _override(self, page: Page, method: str, parameters: dict[str, Any]) -> None:
        cdp = await self._cdp_of(page)
        try:
            await cdp.send(method, parameters)
        except Error as error:
            if not is_taken(error):
                raise

    async def _cdp_of(self, page: Page) -> CDPSession:
        if page.playwright not in self._cdp:
            self._cdp[page.playwright] = await page.playwright.context.new_cdp_session(page.playwright)
        return self._cdp[page.playwright]
