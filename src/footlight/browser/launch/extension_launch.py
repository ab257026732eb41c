"""Start a browser with unpacked extensions and a temporary profile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser.context.arguments import check_proxy, option_error
from footlight.browser.context.options import SessionOptions
from footlight.browser.context.storage_state import to_playwright
from footlight.browser.driver.playwright_api import Error, is_closed
from footlight.browser.launch.browser_process import close_context, end_process, find_process
from footlight.browser.launch.display import open_display
from footlight.browser.launch.extensions import (
    LoadedExtension,
    UnpackedExtension,
    find_loaded,
    load_extension,
)
from footlight.browser.launch.launcher import ProfileLauncher, launch_error
from footlight.errors import BrowserCrashedError, BrowserNotInstalledError
from footlight.private_files import remove_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psutil
    from playwright.async_api import BrowserContext, CDPSession

    from footlight.browser.launch.display import Display
    from footlight.browser.launch.installation import FoundBrowser

__all__ = ["ExtensionBrowser", "ExtensionLauncher", "WindowKind"]

LOADED_SECONDS = 5.0
"""How long a browser may take to start the extensions that it has loaded."""
CRASH_SECONDS = 1.0
"""How long after a failure the end of the browser may be reported."""
LOOK_SECONDS = 0.02
VIEWPORT = (1280, 800)
"""The default viewport of sessions."""

WindowKind = Literal["screen", "xvfb", "none"]
"""Whether the window is on this machine's screen, on a virtual display, or does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionBrowser:
    """A running browser with its extensions. The code that launched it ends it."""

    context: BrowserContext
    extensions: tuple[LoadedExtension, ...]
    options: SessionOptions
    window: WindowKind
    process: psutil.Process
    profile: Path
    _resources: contextlib.AsyncExitStack

    async def has_crashed(self) -> bool:
        """Return whether the browser ended by itself, which may be reported a moment after the failure."""
        browser = self.context.browser
        assert browser is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CRASH_SECONDS):
                while browser.is_connected():  # noqa: ASYNC110 - it may have ended before anybody listened
                    await asyncio.sleep(LOOK_SECONDS)
        return not browser.is_connected()

    async def end(self) -> None:
        """End the browser and remove its profile and display."""
        await self._resources.aclose()


class ExtensionLauncher(ProfileLauncher):
    """Starts browsers with extensions, each with a new profile in `temporary`."""

    async def launch(
        self,
        extensions: Sequence[UnpackedExtension],
        options: SessionOptions,
        *,
        headless: bool = False,
        slow_mo_ms: int = 0,
        storage: Mapping[str, Any] | None = None,
    ) -> ExtensionBrowser:
        """Start a browser. A failed start is cleaned up.

        With `storage` the first extension has these items in its `chrome.storage.local` before it runs.
        Without `headless` the browser has a window, on a virtual display if there is no other, or no window
        if no display is available.

        Raises:
            BrowserNotInstalledError: the browser is missing, does not start, or does not load extensions.
            BrowserCrashedError: the browser ended during the start.
            LaunchFailedError: the browser rejects an extension.
            InvalidParameterError: the browser refuses an option, which the error names.
            PermissionDeniedError: a proxy is set although the server has a filter proxy.
        """
        check_proxy(options, self._filter_proxy)
        async with contextlib.AsyncExitStack() as stack:
            profile = Path(tempfile.mkdtemp(prefix="profile-", dir=self._temporary))
            stack.push_async_callback(asyncio.to_thread, remove_folder, profile)
            elsewhere = _make_folder(self._temporary) if storage else None
            if elsewhere is not None:
                stack.push_async_callback(asyncio.to_thread, remove_folder, elsewhere)
            display = None if headless else await stack.enter_async_context(open_display())
            found = self.find()
            arguments = self._arguments(options, found, display)
            context = await self._start(profile, arguments | {"slow_mo": slow_mo_ms}, found)
            stack.push_async_callback(close_context, context)
            try:
                process = await find_process(context)
                stack.push_async_callback(_end, context, process)
                await _prepare(context, options)
                if storage and elsewhere:
                    first = await _fill_storage(context, extensions[0], storage, elsewhere)
                    extensions = (first, *extensions[1:])
                loaded = await self._wait_until_loaded(context, extensions, found)
            except Error as error:
                if is_closed(error):
                    raise BrowserCrashedError("The browser crashed while it was starting") from error
                raise launch_error(error, self._settings, found) from error
            return ExtensionBrowser(
                context=context,
                extensions=loaded,
                options=options,
                window=display.kind if display else "none",
                process=process,
                profile=profile,
                _resources=stack.pop_all(),
            )

    def _arguments(
        self, options: SessionOptions, found: FoundBrowser, display: Display | None
    ) -> dict[str, Any]:
        shown = options if options.device else replace(options, viewport=options.viewport or VIEWPORT)
        arguments = self._base_arguments(shown, found)
        arguments["headless"] = display is None or display.kind == "none"
        if display is not None:
            arguments["env"] |= display.environment
        # With this flag, extensions on the command line are rejected in a dialog, which may block the start.
        arguments["ignore_default_args"] += ["--disable-extensions"]
        return arguments

    async def _start(self, profile: Path, arguments: dict[str, Any], found: FoundBrowser) -> BrowserContext:
        async def discard(context: BrowserContext) -> None:
            import psutil

            # The browser has created the folder again, and writes to it until its process ends.
            process = None
            with contextlib.suppress(Error, psutil.Error):
                process = await find_process(context)
            await close_context(context)
            if process is not None:
                await asyncio.to_thread(end_process, process)
            await asyncio.to_thread(remove_folder, profile)

        try:
            return await self._launch_on(profile, arguments, found, discard=discard)
        except Error as error:
            raise option_error(error) or launch_error(error, self._settings, found) from error

    async def _wait_until_loaded(
        self, context: BrowserContext, extensions: Sequence[UnpackedExtension], found: FoundBrowser
    ) -> tuple[LoadedExtension, ...]:
        assert context.browser is not None
        cdp = await context.browser.new_browser_cdp_session()
        for each in extensions:
            await load_extension(cdp, each.folder)
        loaded = await _wait_until_running(cdp, extensions)
        await cdp.detach()
        if missing := _find_missing(extensions, loaded):
            raise self._load_error(missing, found)
        return tuple(each for each in loaded if each)

    def _load_error(
        self, missing: Sequence[UnpackedExtension], found: FoundBrowser
    ) -> BrowserNotInstalledError:
        return BrowserNotInstalledError(
            f"{found.path} did not load {', '.join(f'{each.name} ({each.folder})' for each in missing)}",
            suggestion="Chrome and Edge take no extensions from their command line any more: use Chromium "
            "(`footlight doctor --install`).",
            path=found.path,
            folders=[str(each.folder) for each in missing],
        )


async def _fill_storage(
    context: BrowserContext, extension: UnpackedExtension, storage: Mapping[str, Any], folder: Path
) -> UnpackedExtension:
    """Put items into the storage of an extension that has not run yet, and return the extension in `folder`.

    Storage belongs to the id of an extension, which is derived from its key or its folder. So an empty
    extension gets that key and folder first and fills the storage. Then the real extension replaces it.
    """
    assert context.browser is not None
    manifest = {
        **{"name": extension.name, "version": extension.version, "manifest_version": 3},
        **{
            "permissions": ["storage", "unlimitedStorage"],
            **({"key": extension.key} if extension.key else {}),
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (folder / "fill.html").write_text("<!doctype html>", "utf-8")
    cdp = await context.browser.new_browser_cdp_session()
    id = await load_extension(cdp, folder)
    await cdp.detach()
    page = context.pages[0] if context.pages else await context.new_page()
    await page.goto(f"chrome-extension://{id}/fill.html")
    await page.evaluate("items => chrome.storage.local.set(items)", dict(storage))
    await page.goto("about:blank")
    await asyncio.to_thread(_take_place, extension.folder, folder)
    return replace(extension, folder=folder)


def _make_folder(parent: Path) -> Path:
    """Return a new folder with its real path, which is how the browser reports it."""
    return Path(tempfile.mkdtemp(prefix="extension-", dir=parent)).resolve()


def _take_place(source: Path, folder: Path) -> None:
    for each in folder.iterdir():
        each.unlink()
    shutil.copytree(source, folder, dirs_exist_ok=True)


async def _wait_until_running(
    cdp: CDPSession, extensions: Sequence[UnpackedExtension]
) -> list[LoadedExtension | None]:
    """Wait until the browser runs all extensions or the time is over, and return those that run."""
    loaded: list[LoadedExtension | None] = [None] * len(extensions)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LOADED_SECONDS):
            while None in (loaded := await find_loaded(cdp, extensions)):  # noqa: ASYNC110 - no event
                await asyncio.sleep(LOOK_SECONDS)
    return loaded


def _find_missing(
    extensions: Sequence[UnpackedExtension], loaded: Sequence[LoadedExtension | None]
) -> list[UnpackedExtension]:
    return [each for each, has in zip(extensions, loaded, strict=True) if not has]


async def _prepare(context: BrowserContext, options: SessionOptions) -> None:
    """Apply the options that a new context accepts as arguments, but a profile's context only later."""
    try:
        if options.state:
            await context.set_storage_state(cast("Any", to_playwright(options.state)))
        for script in options.init_scripts:
            await context.add_init_script(script)
    except Error as error:
        raise option_error(error) or error from error


async def _end(context: BrowserContext, process: psutil.Process) -> None:
    await close_context(context)
    await asyncio.to_thread(end_process, process)
