"""The command-line flags of Chromium that Footlight sets."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "BEHIND_PROXY",
    "DEBUGGING_PORTS",
    "NO_LINK_LOCAL",
    "NO_OWN_REQUESTS",
    "PAGE_TOOLS",
    "PLAYWRIGHT_FEATURES",
    "UNLIMITED_NAVIGATIONS",
    "close_debugging_ports",
    "enable_feature",
]

NO_OWN_REQUESTS = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Flags that disable Chromium's own requests."""

_LINK_LOCAL = (
    "169.254.*.*",
    "::ffff:a9fe:*",
    "64:ff9b::a9fe:*",
    "fe8?:*",
    "fe9?:*",
    "fea?:*",
    "feb?:*",
    "fd00:ec2::254",
)
"""Host patterns in Chromium's syntax: addresses in their shortest form, IPv6 without brackets."""

NO_LINK_LOCAL = ("--host-resolver-rules=" + ", ".join(f"MAP {host} ~NOTFOUND" for host in _LINK_LOCAL),)
"""Blocks link-local addresses, also in redirects and requests of pages, which only the proxy could see."""

BEHIND_PROXY = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp",)
"""Flags that prevent traffic from bypassing the proxy that enforces the domain policy."""

PAGE_TOOLS = "WebMCP"
"""The Chromium feature by which pages offer tools to models."""

PLAYWRIGHT_FEATURES = ("CDPScreenshotNewSurface", "SkipListAccountsWithoutGaiaCookies")
"""The features that Playwright enables, with a switch that a later one replaces."""

_FEATURES = "--enable-features="

UNLIMITED_NAVIGATIONS = ("--disable-ipc-flooding-protection",)
"""Flags of Playwright that are not used. With this one, Chromium would not limit a page to 200 navigations
within its document in 10 seconds, and a page that calls `history.pushState` in a loop would keep the driver
busy, and with it every session.
"""

DEBUGGING_PORTS = range(20_000, 30_000)
"""The ports of browsers for debuggers. Pages must not reach them, because a debugger can read any file."""


RULES = "--host-resolver-rules="
_THIS_MACHINE = (
    *("localhost", "localhost.", "*.localhost", "*.localhost.", "127.*", "0.*"),
    *("[::ffff:7f*]", "[::ffff:0:*]"),
)
"""The host names for which debuggers accept connections. In `DEBUGGING_PORTS`, `?` also matches nothing."""
_SHORT_PORTS = tuple(f"MAP {host}:2??? {host}" for host in ("localhost", "127.0.0.1"))
"""The shorter ports that the pattern also matches. They stay open."""


def enable_feature(args: Sequence[str], feature: str) -> list[str]:
    """Return the flags with a Chromium feature enabled.

    Only the last switch is used, so all are merged, with that of Playwright.
    """
    before = [arg.removeprefix(_FEATURES) for arg in args if arg.startswith(_FEATURES)]
    others = [arg for arg in args if not arg.startswith(_FEATURES)]
    return [*others, _FEATURES + ",".join([*PLAYWRIGHT_FEATURES, *filter(None, before), feature])]


def close_debugging_ports(args: Sequence[str]) -> list[str]:
    """Return the flags with rules that keep pages from the debugging ports of all browsers.

    Only the last switch with a name is used, so its rules are merged.
    """
    caller_rules = [arg.removeprefix(RULES) for arg in args if arg.startswith(RULES)]
    rules = [*_SHORT_PORTS, *(f"MAP {host}:2???? ~NOTFOUND" for host in _THIS_MACHINE), *caller_rules]
    return [*(arg for arg in args if not arg.startswith(RULES)), RULES + ", ".join(rules)]
