"""Emulation in the pages of a running session: device, location, language, media, CPU and network speed.

Playwright cannot change most of these in an existing context, so they are set through a CDP session for each
page, in Chromium only. These CDP sessions are kept open, because the emulation ends with them. The emulation
of a popup starts after its first request.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from footlight.browser.driver.playwright_api import Error, find_refused_option, is_override_taken
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, ViewportSize
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.context.devices import Device, Devices
    from footlight.browser.context.options import (
        ColorScheme,
        Contrast,
        ForcedColors,
        Geolocation,
        ReducedMotion,
        SessionOptions,
    )
    from footlight.browser.network.throttling import Throttling
    from footlight.browser.page.page import Page, TouchSource

__all__ = ["Emulation", "Emulator", "Media"]

Media = Literal["screen", "print"]

RESTORE_SECONDS = 1.0
"""How long a page may take to restore its emulation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """The emulation of a session. None means the session's original option."""

    viewport: tuple[int, int] | None = None
    device: Device | None = None
    color_scheme: ColorScheme | None = None
    reduced_motion: ReducedMotion | None = None
    forced_colors: ForcedColors | None = None
    contrast: Contrast | None = None
    media: Media | None = None
    geolocation: Geolocation | None = None
    permissions: tuple[str, ...] | None = None
    locale: str | None = None
    timezone: str | None = None
    cpu_rate: float | None = None
    user_agent: str | None = None

    def merge(self, other: Emulation) -> Emulation:
        """Return a copy with the values that are set in `other`."""
        values = {each.name: getattr(other, each.name) for each in fields(other)}
        return replace(self, **{name: value for name, value in values.items() if value is not None})

    @property
    def size(self) -> tuple[int, int] | None:
        """The size of the viewport."""
        return self.viewport or (self.device.viewport if self.device else None)

    @property
    def looks(self) -> tuple[str | None, ...]:
        """The values that affect the media queries of a page."""
        return (self.color_scheme, self.reduced_motion, self.forced_colors, self.contrast, self.media)

    @property
    def agent(self) -> str | None:
        """The user agent."""
        return self.user_agent or (self.device.user_agent if self.device else None)


NOTHING = Emulation()


class Emulator:
    """Applies one emulation and one network speed to all pages of a session, including later pages."""

    def __init__(
        self,
        context: BrowserContext,
        options: SessionOptions,
        *,
        engine: str,
        devices: Devices,
        pages: Callable[[], Sequence[Page]],
        ensure_page: Callable[[], Awaitable[Page]],
    ) -> None:
        """Create the emulator. `pages` returns the open pages; `ensure_page` opens a page if none is open."""
        self._context = context
        self._options = options
        self._engine = engine
        self.devices = devices
        self._pages = pages
        self._ensure_page = ensure_page
        self._own_device = devices.get(options.device) if options.device else None
        self._in_force = NOTHING
        self._offline = options.offline
        self._throttling: Throttling | None = None
        self._original_sizes: WeakKeyDictionary[PlaywrightPage, ViewportSize | None] = WeakKeyDictionary()
        self._cdp: WeakKeyDictionary[PlaywrightPage, CDPSession] = WeakKeyDictionary()

    @property
    def in_force(self) -> Emulation:
        return self._in_force

    @property
    def touch_source(self) -> TouchSource | None:
        """Return what provides the touch screen of the pages, or None without one."""
        device = self._in_force.device or self._own_device
        if device is None or not device.touch:
            return None
        # Playwright can only touch the pages of a context that was created with a touch screen.
        return "context" if self._own_device and self._own_device.touch else "emulation"

    async def change(self, to: Emulation) -> None:
        """Change the emulation of every page, or of no page if the browser refuses a value.

        Raises:
            InvalidParameterError: the browser refuses a value, which the message names.
        """
        before = self._in_force
        self._check(to)
        await self._ensure_page()  # The browser validates the values only in a page.
        try:
            await self._apply_to_all(before, to)
        except Error as error:
            with contextlib.suppress(Error):
                await self._apply_to_all(to, before)
            if option := find_refused_option(error):
                raise InvalidParameterError(f"{option[0]}: {option[1]}", parameter=option[0]) from error
            raise
        self._in_force = to

    async def set_offline(self, offline: bool) -> None:
        """Disable or enable the network. The throttling is kept."""
        self._offline = offline
        await self._context.set_offline(offline)
        for page in self._pages():
            await self._throttle(page)

    async def throttle(self, throttling: Throttling) -> None:
        """Throttle the network of every page.

        Raises:
            InvalidParameterError: the browser is not Chromium.
        """
        if self._engine != "chromium":
            raise InvalidParameterError(
                f"set_throttling needs Chromium; this session runs {self._engine}", engine=self._engine
            )
        self._throttling = throttling
        for page in self._pages():
            await self._throttle(page)

    async def _throttle(self, page: Page) -> None:
        if self._throttling is not None:
            await page.throttle(self._throttling, offline=self._offline)

    async def prepare(self, page: Page) -> None:
        """Apply the emulation and the throttling to a new page."""
        await self._throttle(page)
        await self._apply(page, NOTHING, self._in_force)

    async def restore(self, page: Page) -> None:
        """Apply again what Chromium has dropped by itself. A page that hangs is skipped."""
        if self._in_force.media is None and self._in_force.device is None:
            return
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(RESTORE_SECONDS):
                await self._restore_media(page)
                await self._restore_screen(page)

    async def _restore_media(self, page: Page) -> None:
        """Emulate the media again.

        Each CDP session has its own media, none at first. It takes effect when the session is detached and
        when the page moves to another process.
        """
        if self._in_force.media is not None:
            await page.playwright.emulate_media(media=self._in_force.media)

    async def _restore_screen(self, page: Page) -> None:
        """Emulate the screen again.

        A screenshot makes Chromium drop metrics that Playwright did not set itself.
        """
        device, cdp = self._in_force.device, self._cdp.get(page.playwright)
        if device is None or cdp is None:
            return
        if await page.playwright.evaluate("devicePixelRatio") != device.scale:
            # Chromium ignores an override that equals the last one.
            await cdp.send("Emulation.clearDeviceMetricsOverride")
            await self._send_screen(page, self._in_force)

    def _check(self, to: Emulation) -> None:
        values = {
            "device": to.device,
            "locale": to.locale,
            "timezone": to.timezone,
            "cpuRate": to.cpu_rate,
            "userAgent": to.user_agent,
        }
        engine, options = self._engine, self._options
        for name, value in values.items():
            if value is not None and engine != "chromium":
                raise InvalidParameterError(
                    f"{name}: needs Chromium; this session runs {engine}", parameter=name, engine=engine
                )
        for name, made in (("locale", options.locale), ("timezone", options.timezone)):
            if values[name] is not None and made is not None:
                raise InvalidParameterError(
                    f"{name}: this session was created with {made}, which cannot be changed",
                    parameter=name,
                    suggestion=f"Create another session with create_session and the {name}.",
                )

    async def _apply_to_all(self, before: Emulation, after: Emulation) -> None:
        await self._apply_to_context(before, after)
        for page in self._pages():
            await self._apply(page, before, after)

    async def _apply_to_context(self, before: Emulation, after: Emulation) -> None:
        context, options = self._context, self._options
        if before.geolocation != after.geolocation:
            place = after.geolocation or options.geolocation
            await context.set_geolocation(
                {"latitude": place.latitude, "longitude": place.longitude, "accuracy": place.accuracy}
                if place
                else None
            )
        if (before.permissions, before.geolocation) != (after.permissions, after.geolocation):
            granted = list(self._permissions_of(after))
            try:
                # Grant first: if the browser does not know a permission, the existing ones stay unchanged.
                await context.grant_permissions(granted)
            finally:
                # Playwright adds to the permissions of the last request, even if the browser refused it.
                await context.clear_permissions()
            await context.grant_permissions(granted)

    def _permissions_of(self, emulation: Emulation) -> tuple[str, ...]:
        if emulation.permissions is not None:
            return emulation.permissions
        own = self._options.granted
        return own if emulation.geolocation is None or "geolocation" in own else (*own, "geolocation")

    async def _apply(self, page: Page, before: Emulation, after: Emulation) -> None:
        options = self._options
        if (before.size, before.device) != (after.size, after.device):
            await self._resize(page, after)
        if before.looks != after.looks:
            await page.playwright.emulate_media(
                color_scheme=after.color_scheme or options.color_scheme or "light",
                reduced_motion=after.reduced_motion or options.reduced_motion or "no-preference",
                forced_colors=after.forced_colors or "none",
                contrast=after.contrast or "no-preference",
                media=after.media or "null",
            )
        if (before.agent, before.locale) != (after.agent, after.locale):
            await self._set_user_agent(page, after)
        if before.locale != after.locale:
            locale = {"locale": after.locale} if after.locale else {}
            await self._override(page, "Emulation.setLocaleOverride", locale)
        if before.timezone != after.timezone:
            # Chromium reports an invalid timezone only if none is set.
            await self._override(page, "Emulation.setTimezoneOverride", {"timezoneId": ""})
            if after.timezone:
                await self._override(page, "Emulation.setTimezoneOverride", {"timezoneId": after.timezone})
        if before.cpu_rate != after.cpu_rate:
            cdp = await self._cdp_of(page)
            await cdp.send("Emulation.setCPUThrottlingRate", {"rate": after.cpu_rate or 1})

    async def _resize(self, page: Page, to: Emulation) -> None:
        playwright = page.playwright
        made = self._original_sizes.setdefault(playwright, playwright.viewport_size)
        size: ViewportSize | None = {"width": to.size[0], "height": to.size[1]} if to.size else made
        if size is not None:
            await playwright.set_viewport_size(size)
        if to.device is not None or playwright in self._cdp:
            await self._send_screen(page, to)

    async def _send_screen(self, page: Page, to: Emulation) -> None:
        """Override the device metrics, because Playwright only sets the size of the viewport."""
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

    async def _set_user_agent(self, page: Page, to: Emulation) -> None:
        own = self._own_device.user_agent if self._own_device else ""
        locale = to.locale or self._options.locale
        cdp = await self._cdp_of(page)
        await cdp.send(
            "Emulation.setUserAgentOverride",
            {
                "userAgent": to.agent or self._options.user_agent or own,
                **({"acceptLanguage": locale} if locale else {}),
            },
        )

    async def _override(self, page: Page, method: str, parameters: dict[str, Any]) -> None:
        cdp = await self._cdp_of(page)
        try:
            await cdp.send(method, parameters)
        except Error as error:
            if not is_override_taken(error):
                raise

    async def _cdp_of(self, page: Page) -> CDPSession:
        if page.playwright not in self._cdp:
            self._cdp[page.playwright] = await page.playwright.context.new_cdp_session(page.playwright)
        return self._cdp[page.playwright]
