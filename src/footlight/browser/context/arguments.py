"""Open the browser context of a session with its options.

If the server restricts domains, all traffic goes through the filter proxy, so a session cannot have its own
proxy. Chromium would leave the resolution of link-local addresses to a session's proxy, which may run on this
machine. So these addresses always bypass the proxy, regardless of the session's `bypass`, and the browser
itself refuses them (`launch.NO_LINK_LOCAL`).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.context.storage_state import to_playwright
from footlight.browser.driver.playwright_api import Error, find_refused_option
from footlight.errors import InvalidParameterError, PermissionDeniedError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

    from footlight.browser.context.devices import Devices
    from footlight.browser.context.options import Proxy, SessionOptions

__all__ = ["check_proxy", "context_arguments", "open_context", "option_error"]

BESIDE_PROXY = ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "64:ff9b::a9fe:0/112")
"""Hosts that bypass the proxy, in Chromium's syntax. The last entry that matches is used."""


async def open_context(
    browser: Browser, options: SessionOptions, *, devices: Devices, filter_proxy: str | None
) -> BrowserContext:
    """Open a context. A first page is opened if an option can only be validated by a page.

    Raises:
        InvalidParameterError: the browser refuses an option, which the error names, or the device is unknown.
        PermissionDeniedError: the options have a proxy although a `filter_proxy` (a URL) is used.
    """
    engine = browser.browser_type.name
    check_proxy(options, filter_proxy)
    arguments = context_arguments(options, devices=devices, engine=engine, filter_proxy=filter_proxy)
    if options.state:
        arguments["storage_state"] = cast("Any", to_playwright(options.state))
    try:
        context = await browser.new_context(**arguments)
    except Error as error:
        raise option_error(error) or error from error
    try:
        for script in options.init_scripts:
            await context.add_init_script(script)
        if options.locale or options.timezone or options.extra_headers:
            await context.new_page()
    except BaseException as error:
        with contextlib.suppress(Error):
            await context.close()
        if isinstance(error, Error) and (refused := option_error(error)):
            raise refused from error
        raise
    return context


def check_proxy(options: SessionOptions, filter_proxy: str | None) -> None:
    """Raise PermissionDeniedError if a session's proxy would bypass the filter proxy."""
    if options.proxy and filter_proxy:
        raise PermissionDeniedError(
            "proxy: this server restricts domains, so all its traffic goes through a filter of its own",
            suggestion="Leave proxy out.",
            parameter="proxy",
        )


def context_arguments(
    options: SessionOptions, *, devices: Devices, engine: str, filter_proxy: str | None
) -> dict[str, Any]:
    """Return Playwright's arguments for a new context or for the context of a profile."""
    return {
        **_device_arguments(options, devices, engine),
        **_plain_arguments(options),
        "proxy": {"server": filter_proxy} if filter_proxy else _proxy(options.proxy, engine),
    }


def _device_arguments(options: SessionOptions, devices: Devices, engine: str) -> dict[str, Any]:
    device = devices.get(options.device) if options.device else None
    viewport = options.viewport or (device and device.viewport)
    arguments: dict[str, Any] = {
        "user_agent": options.user_agent or (device and device.user_agent),
        "viewport": viewport and {"width": viewport[0], "height": viewport[1]},
    }
    if device is not None:
        arguments["screen"] = {"width": device.screen[0], "height": device.screen[1]}
        arguments["device_scale_factor"] = device.scale
        arguments["has_touch"] = device.touch
        if engine != "firefox":  # Firefox does not emulate mobile pages.
            arguments["is_mobile"] = device.mobile
    return arguments


def _plain_arguments(options: SessionOptions) -> dict[str, Any]:
    place, credentials = options.geolocation, options.http_credentials
    return {
        "locale": options.locale,
        "timezone_id": options.timezone,
        "geolocation": place
        and {"latitude": place.latitude, "longitude": place.longitude, "accuracy": place.accuracy},
        "permissions": list(options.granted) or None,
        "color_scheme": options.color_scheme,
        "reduced_motion": options.reduced_motion,
        "extra_http_headers": dict(options.extra_headers) or None,
        "http_credentials": credentials
        and {
            "username": credentials.username,
            "password": credentials.password,
            **({"origin": credentials.origin} if credentials.origin else {}),
        },
        "offline": options.offline or None,
        "ignore_https_errors": options.ignore_https_errors or None,
    }


def _proxy(proxy: Proxy | None, engine: str) -> dict[str, str] | None:
    if proxy is None:
        return None
    hosts = proxy.bypass.split(",") if proxy.bypass else []
    bypass = ["<-loopback>", *hosts, *BESIDE_PROXY] if engine == "chromium" else hosts
    return {
        "server": proxy.server,
        **({"username": proxy.username} if proxy.username is not None else {}),
        **({"password": proxy.password} if proxy.password is not None else {}),
        **({"bypass": ",".join(bypass)} if bypass else {}),
    }


def option_error(error: Error, *, of: str = "") -> InvalidParameterError | None:
    """Return the error for an option that the browser refuses, or None for other errors.

    `of` precedes the name of the option if it is a part of a parameter.
    """
    option = find_refused_option(error)
    if option is None:
        return None
    name = f"{of}{option[0]}"
    return InvalidParameterError(f"{name}: {option[1]}", parameter=name)
