"""What a session has stored: cookies, localStorage, sessionStorage, where it was. Taken and put back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser import navigation
from footlight.browser._playwright import Error, cause
from footlight.browser.deadline import Deadline
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Route

    from footlight.browser.session import Session

__all__ = ["SessionState", "StateStore", "restore", "take", "to_playwright", "write_private"]

Storage = dict[str, dict[str, str]]
"""Items by origin."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """`local_storage` and `session_storage` are items by origin; `url` is the current page's."""

    cookies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    local_storage: Storage = field(default_factory=dict[str, dict[str, str]])
    session_storage: Storage = field(default_factory=dict[str, dict[str, str]])
    url: str = "about:blank"

    def to_json(self) -> dict[str, Any]:
        return {
            "cookies": self.cookies,
            "localStorage": self.local_storage,
            "sessionStorage": self.session_storage,
            "url": self.url,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SessionState:
        """Raises InvalidParameter, which names the field."""
        unknown = sorted(set(data) - {"cookies", "localStorage", "sessionStorage", "url"})
        if unknown:
            raise InvalidParameter(
                f"state: unknown field {unknown[0]!r}; it has cookies, localStorage, sessionStorage and url",
                parameter="state",
            )
        url = data.get("url", "about:blank")
        if not isinstance(url, str):
            raise InvalidParameter("state.url: must be a string", parameter="state.url")
        return cls(
            cookies=_cookies(data.get("cookies", [])),
            local_storage=_storage(data.get("localStorage", {}), "localStorage"),
            session_storage=_storage(data.get("sessionStorage", {}), "sessionStorage"),
            url=url,
        )


def _cookies(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise InvalidParameter("state.cookies: must be an array of cookies", parameter="state.cookies")
    cookies = cast("list[object]", value)
    if not all(isinstance(cookie, dict) for cookie in cookies):
        raise InvalidParameter("state.cookies: each cookie must be an object", parameter="state.cookies")
    return cast("list[dict[str, Any]]", cookies)


def _storage(value: object, name: str) -> Storage:
    if isinstance(value, dict):
        origins = cast("dict[str, object]", value)
        if all(_is_items(items) and "://" in origin for origin, items in origins.items()):
            return cast("Storage", origins)
    raise InvalidParameter(
        f"state.{name}: must be an object of origins (https://…), each with an object of string items",
        parameter=f"state.{name}",
    )


def _is_items(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(item, str) for item in cast("dict[str, object]", value).values()
    )


def to_playwright(state: SessionState) -> dict[str, Any]:
    """Playwright's storage state, which has no sessionStorage and no URL."""
    origins = [
        {"origin": origin, "localStorage": [{"name": key, "value": value} for key, value in items.items()]}
        for origin, items in state.local_storage.items()
    ]
    return {"cookies": state.cookies, "origins": origins}


async def take(session: Session) -> SessionState:
    """The session's state now. sessionStorage comes from the frames of its current page."""
    stored: Any = await session.context.storage_state()
    local: Storage = {
        origin["origin"]: {item["name"]: item["value"] for item in origin["localStorage"]}
        for origin in stored["origins"]
        if origin["localStorage"]
    }
    page = session.tabs.current(session.pages)
    if page is None:
        return SessionState(stored["cookies"], local)
    if dialog := await session.dialogs.blocking(page):
        raise dialog.error()
    tab: Storage = {}
    for frame in page.playwright.frames:
        try:
            origin, items = await frame.evaluate(_TAB_STORAGE)
        except Error:  # A frame without an origin has no storage.
            continue
        if items and "://" in origin:
            tab[origin] = items
    url = page.url
    return SessionState(stored["cookies"], local, tab, url if url.startswith("http") else "about:blank")


async def restore(session: Session, state: SessionState, deadline: Deadline) -> None:
    """Replace what the session has stored, and go back to where it was.

    Raises:
        InvalidParameter: the browser refuses a cookie.
        PermissionDenied: the policy refuses the URL.
    """
    session.policy.check_url(state.url)
    try:
        await session.context.set_storage_state(cast("Any", to_playwright(state)))
    except Error as error:
        raise InvalidParameter(f"state: {cause(error)}", parameter="state") from error
    page = await session.page()
    for origin, items in state.session_storage.items():
        await _put_session_storage(session, origin, items, deadline)
    if state.url != page.url or state.url != "about:blank":
        await navigation.navigate(page, state.url, "load", deadline)


async def _put_session_storage(
    session: Session, origin: str, items: Mapping[str, str], deadline: Deadline
) -> None:
    """sessionStorage belongs to the tab, so the tab visits an empty page of the origin."""
    session.policy.check_url(origin)
    page = (await session.page()).playwright

    async def empty(route: Route) -> None:
        await route.fulfill(status=200, content_type="text/html", body="")

    try:
        await page.route(f"{origin}/**", empty)
        await page.goto(f"{origin}/", timeout=deadline.remaining_ms)
        await page.evaluate(_PUT_TAB_STORAGE, list(items.items()))
    except Error as error:
        raise InvalidParameter(
            f"state.sessionStorage: {origin} cannot be given its items: {cause(error)}",
            parameter="state.sessionStorage",
        ) from error
    finally:
        await page.unroute(f"{origin}/**", empty)


# By key and method, because an item named `length` is no property of the storage.
_TAB_STORAGE = """(() => {
  const keys = Array.from({length: sessionStorage.length}, (_, index) => sessionStorage.key(index));
  return [location.origin, Object.fromEntries(keys.map(key => [key, sessionStorage.getItem(key)]))];
})()"""
_PUT_TAB_STORAGE = """items => {
  sessionStorage.clear();
  for (const [key, value] of items) sessionStorage.setItem(key, value);
}"""


class StateStore:
    """States kept by name, each a file that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, name: str, state: SessionState) -> Path:
        return write_private(self._path(name), state.to_json())

    def find(self, name: str) -> SessionState | None:
        data = _read(self._path(name), name)
        return None if data is None else SessionState.from_json(data)

    def save_options(self, name: str, options: Mapping[str, Any]) -> None:
        """How the session was made whose state it is. Nothing is kept of one that was made plainly."""
        path = self._options_path(name)
        if options:
            write_private(path, options)
        else:
            path.unlink(missing_ok=True)

    def find_options(self, name: str) -> Mapping[str, Any]:
        return _read(self._options_path(name), name) or {}

    def get(self, name: str) -> SessionState:
        """Raises InvalidParameter, which lists the names there are."""
        if state := self.find(name):
            return state
        known = ", ".join(self.names()) or "none"
        raise InvalidParameter(
            f"state.name: no state named {name!r} is saved; saved: {known}", parameter="state"
        )

    def names(self) -> Sequence[str]:
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def below(self, folder: str) -> StateStore:
        """A store apart from this one."""
        return StateStore(self._folder / folder) if folder else self

    def forget(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)
        self._options_path(name).unlink(missing_ok=True)

    def _options_path(self, name: str) -> Path:
        """No state, so not one of the `*.json`."""
        return self._path(name).with_suffix(".options")

    def _path(self, name: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            raise InvalidParameter(
                f"name: {name!r} may hold only letters, digits, dots, dashes and underscores, at most 100",
                parameter="name",
            )
        return self._folder / f"{name}.json"


def write_private(path: Path, data: Mapping[str, Any]) -> Path:
    """For its owner alone; whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(data, file)
    unfinished.replace(path)
    return path


def _read(path: Path, name: str) -> dict[str, Any] | None:
    try:
        data: object = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(name, str(error)) from None
    if not isinstance(data, dict):
        raise _damaged(name, "it is no JSON object")
    return cast("dict[str, Any]", data)


def _damaged(name: str, why: str) -> InvalidParameter:
    return InvalidParameter(f"state: the saved state {name!r} is damaged: {why}", parameter="state")
