"""Capture, restore and lock the state of a session: cookies, localStorage, sessionStorage and URL."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.actions import navigation
from footlight.browser.actions.dialogs import find_blocking_dialog
from footlight.browser.context.cookies import make_refused_cookie_error
from footlight.browser.context.storage_state import SessionState, Storage, to_playwright
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, cause, is_closed, is_too_large
from footlight.browser.driver.scripts import run
from footlight.browser.launch.profile_lock import ProfileLock, find_holder, lock_file
from footlight.errors import InvalidParameterError, NavigationFailedError, ResourceExhaustedError
from footlight.javascript import page_function
from footlight.private_files import ensure_private_folder

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Route
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.sessions.session import Session

__all__ = ["SessionLock", "apply_state", "capture_state", "lock_session"]

logger = logging.getLogger(__name__)

_READ_TAB_STORAGE, _REPLACE_TAB_STORAGE, _FIND_INVALID_URL = (
    page_function(Path(__file__).parent, ["session_storage"], name)
    for name in ("readTabStorage", "replaceTabStorage", "findInvalidUrl")
)

MAX_ORIGINS = 300
"""The browser opens a page for each origin, and cannot be stopped in between."""
MAX_DATA_URL = 10_000
"""The maximum length of a saved `data:` URL. A longer one would fill the results of `save_state`."""
SURELY_STORED = 1_000_000
"""The total length of an origin's items, in characters, that every browser can store."""


async def capture_state(session: Session) -> SessionState:
    """Return the session's current state. sessionStorage is read from the frames of the current page."""
    try:
        stored: Any = await session.context.storage_state()
    except Error as error:
        raise (_too_much_error() if is_too_large(error) else error) from error
    local: Storage = {
        origin["origin"]: {item["name"]: item["value"] for item in origin["localStorage"]}
        for origin in stored["origins"]
        if origin["localStorage"]
    }
    page = session.page_table.current
    if page is None:
        return SessionState(stored["cookies"], local)
    if dialog := await find_blocking_dialog(page):
        raise dialog.error()
    tab: Storage = {}
    for frame in page.playwright.frames:
        try:
            origin, items = await run(frame, _READ_TAB_STORAGE)
        except Error as error:
            if is_too_large(error):
                raise _too_much_error() from error
            continue  # A frame without an origin has no storage.
        if items and "://" in origin:
            tab[origin] = items
    return SessionState(stored["cookies"], local, tab, _find_url_to_save(page.url))


def _too_much_error() -> ResourceExhaustedError:
    return ResourceExhaustedError(
        "the state is not saved: a site has stored more items than the server reads",
        retryable=False,
        suggestion="Remove what the login does not need, with storage.",
    )


def _find_url_to_save(url: str) -> str:
    """Return the URL that a restored session opens."""
    if url.startswith(("http:", "https:")) or (url.startswith("data:") and len(url) <= MAX_DATA_URL):
        return url
    return "about:blank"


async def apply_state(session: Session, state: SessionState, deadline: Deadline) -> None:
    """Replace the stored data of the session, and navigate to the saved URL.

    A state that is refused does not change the session.

    Raises:
        InvalidParameterError: the browser refuses a cookie or an item.
        PermissionDeniedError: the policy refuses the URL, or an origin of sessionStorage.
        NavigationFailedError: the URL cannot be opened. The stored data has already been replaced.
    """
    for url in (state.url, *state.session_storage):
        session.policy.check_url(url)
    for name, storage in (("localStorage", state.local_storage), ("sessionStorage", state.session_storage)):
        if len(storage) > MAX_ORIGINS:
            raise InvalidParameterError(
                f"state.{name}: has {len(storage):,} origins; at most {MAX_ORIGINS} can be restored",
                parameter=f"state.{name}",
            )
    await _check_accepted(session, state, deadline)
    try:
        await session.context.set_storage_state(cast("Any", to_playwright(state)))
    except Error as error:
        if is_closed(error):
            raise
        raise InvalidParameterError(f"state: {cause(error)}", parameter="state") from error
    page = await session.page_table.get()
    await _put_session_storage(page.playwright, state.session_storage, deadline)
    if state.url != page.url or state.url != "about:blank":
        try:
            await navigation.navigate(page, state.url, "load", deadline)
        except NavigationFailedError as error:
            error.message += ". Cookies and storage have been replaced by those of the state"
            raise


async def _check_accepted(session: Session, state: SessionState, deadline: Deadline) -> None:
    """Try the state in a separate context, because Playwright clears the context before it validates.

    For sites with few items only the origin is validated: storing the items takes one page per site.
    """
    if not (state.cookies or state.local_storage or state.session_storage):
        return
    trial = await session.browser.browser.new_context()
    try:
        for name, storage in (
            ("localStorage", state.local_storage),
            ("sessionStorage", state.session_storage),
        ):
            if storage:
                await _check_addresses(trial, f"state.{name}", storage)
        tried = replace(state, local_storage=_find_doubtful(state.local_storage))
        await trial.set_storage_state(cast("Any", to_playwright(tried)))
        if tab := _find_doubtful(state.session_storage):
            await _put_session_storage(await trial.new_page(), tab, deadline)
    except Error as error:
        if is_closed(error):
            raise
        refusal = await make_refused_cookie_error(session.browser.browser, state.cookies, error, of="state.")
        raise refusal or InvalidParameterError(f"state: {cause(error)}", parameter="state") from error
    finally:
        with suppress(Error):
            await trial.close()


async def _check_addresses(trial: BrowserContext, field: str, storage: Storage) -> None:
    page = trial.pages[0] if trial.pages else await trial.new_page()
    if refused := await page.evaluate(_FIND_INVALID_URL, list(storage)):
        raise InvalidParameterError(f"{field}: {refused[:100]!r} is not a valid origin", parameter=field)


def _find_doubtful(storage: Storage) -> Storage:
    """Return the origins that are not sites, or whose items may exceed the browser's limit for an origin."""
    return {
        origin: items
        for origin, items in storage.items()
        if not origin.startswith(("http://", "https://"))
        or sum(len(key) + len(value) for key, value in items.items()) > SURELY_STORED
    }


async def _put_session_storage(page: PlaywrightPage, storage: Storage, deadline: Deadline) -> None:
    """Visit an empty page of each origin in the tab, because sessionStorage belongs to the tab."""

    async def answer_empty(route: Route) -> None:
        await route.fulfill(status=200, content_type="text/html", body="")

    for origin, items in storage.items():
        try:
            await page.route(f"{origin}/**", answer_empty)
            await page.goto(f"{origin}/", timeout=deadline.remaining_ms)
            await page.evaluate(_REPLACE_TAB_STORAGE, list(items.items()))
        except PlaywrightTimeout:
            raise TimeoutError from None
        except Error as error:
            raise InvalidParameterError(
                f"state.sessionStorage: the items of {origin} cannot be stored: {cause(error)}",
                parameter="state.sessionStorage",
            ) from error
        finally:
            await page.unroute(f"{origin}/**", answer_empty)


class SessionLock:
    """A lock that is released at the end of its block, unless it is kept as long as a session.

    `elsewhere` describes the server that has the session open, or is None.
    """

    def __init__(self, lock: ProfileLock | None = None, *, elsewhere: str | None = None) -> None:
        self._lock = lock
        self._kept = False
        self.elsewhere = elsewhere

    def keep(self) -> SessionLock:
        self._kept = True
        return self

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> SessionLock:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._kept:
            self.release()


def lock_session(path: Path) -> SessionLock:
    """Lock a kept session by a file beside its state, so that only one server has it open."""
    try:
        ensure_private_folder(path.parent)
        lock = lock_file(path)
    except OSError as error:
        # The state cannot be saved there either, which is reported when the session ends.
        logger.warning("the session of %s is not locked: %s", path.name, error.strerror)
        return SessionLock()
    if lock is not None:
        return SessionLock(lock)
    holder = find_holder(path)
    return SessionLock(elsewhere="" if holder is None else f" (process {holder.pid} on {holder.host})")
