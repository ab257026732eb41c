"""Use the demo shop as an agent does, and keep each call with a picture of the page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio.from_thread

from footlight.demo.shop.records import PASSWORD, USER
from footlight.demo.shop.site import ShopSite, serve_shop
from scripts.screenshots.viewer import Browser, find_ref, open_browser

__all__ = ["PAGE_SIZE", "Box", "TourStep", "serve_demo_shop", "shop_secrets", "take_tour", "use_shop"]

PAGE_SIZE = (820, 738)
SHOP_HOST = "shop.localhost"
MAX_LINES = 7


class Box(NamedTuple):
    """An area of the page, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, kw_only=True)
class TourStep:
    """A call, the lines of its answer, and the page afterwards."""

    tool: str
    arguments: dict[str, Any]
    kind: str
    lines: list[str]
    """The part of the observation that concerns the step."""
    left_out: int
    """The number of lines of the observation that are not in `lines`."""
    targets: list[Box]
    """The boxes of the elements that the call names."""
    picture: bytes
    url: str
    url_before: str


@contextmanager
def serve_demo_shop() -> Generator[str]:
    """Serve a new demo shop under a name of its own, and yield its URL."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_shop()) as site,
    ):
        yield _with_name(site)


def _with_name(site: ShopSite) -> str:
    return f"http://{SHOP_HOST}:{urlsplit(site.url).port}"


@contextmanager
def shop_secrets() -> Generator[str]:
    """Write the password of the shop to a file for `--secrets`, and yield its path."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "shop.env")
        file.touch(mode=0o600)
        file.write_text(f"SHOP_PASSWORD='{PASSWORD}'\n")
        yield str(file)


def take_tour() -> list[TourStep]:
    """Use the demo shop, and return each call with its pictures."""
    with (
        serve_demo_shop() as shop,
        shop_secrets() as secrets,
        open_browser("--secrets", secrets, size=PAGE_SIZE) as browser,
    ):
        camera = _Camera(browser)
        use_shop(camera.observe, shop)
        return camera.steps


def use_shop(observe: Callable[..., str], shop: str) -> None:
    """Sign in to the demo shop, answer its notice, and ask for a voucher.

    `observe` calls a tool and returns what its answer says about the page.
    """
    form = observe("navigate", url=f"{shop}/login")
    fields = {
        find_ref(form, 'textbox "User name"'): USER,
        find_ref(form, 'textbox "Password"'): "secret:SHOP_PASSWORD",
    }
    observe("fill_form", fields=fields)
    observe("click", selector=find_ref(form, 'button "Sign in"'))
    # The answer may say only that the navigation is as before, so its link is named by its text.
    notice = observe("click", selector="text=Offers")
    offer = observe("click", selector=find_ref(notice, 'button "Accept and go on"'))
    observe("click", selector=find_ref(offer, 'button "Reveal the code"'))


class _Camera:
    """Calls tools, and takes a picture of the page after each."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._url = ""
        self.steps: list[TourStep] = []

    def observe(self, tool: str, /, **arguments: Any) -> str:
        targets = [self._find_box(selector) for selector in _selectors(arguments)]
        observation = self._browser.call(tool, **arguments)["observation"]
        url_before, self._url = self._url, self._browser.call("get_page_metadata")["data"]["url"]
        lines = observation["text"].splitlines()
        relevant = _relevant_lines(lines)
        step = TourStep(
            tool=tool,
            arguments=arguments,
            kind=observation["kind"],
            lines=relevant,
            left_out=len(lines) - len(relevant),
            targets=targets,
            picture=self._browser.screenshot(),
            url=self._url,
            url_before=url_before,
        )
        self.steps.append(step)
        return observation["text"]

    def _find_box(self, selector: str) -> Box:
        element = self._browser.call("find_element", selector=selector)["data"]["element"]
        return Box(**element["boundingBox"])


def _selectors(arguments: dict[str, Any]) -> list[str]:
    if fields := arguments.get("fields"):
        return [*fields]
    return [arguments["selector"]] if "selector" in arguments else []


def _relevant_lines(lines: list[str]) -> list[str]:
    """Return the content of `main`, without what is around it on every page of the shop."""
    start = next((index + 1 for index, line in enumerate(lines) if re.match(r"e\d+ main\b", line)), 0)
    end = next(
        (index for index, line in enumerate(lines) if re.match(r"e\d+ contentinfo\b", line)), len(lines)
    )
    return [line for line in lines[start:end] if line.strip() != "paragraph"][:MAX_LINES]
