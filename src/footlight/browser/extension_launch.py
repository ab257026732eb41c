"""A browser with unpacked extensions, in a window, over a profile that goes with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser._playwright import Error
from footlight.browser.browser_process import close_context, end_process, process_of
from footlight.browser.context import check_proxy, context_arguments, option_refused
from footlight.browser.display import open_display
from footlight.browser.extensions import LoadedExtension, UnpackedExtension, find_loaded
from footlight.browser.launch import did_not_start, find_browser, launch_arguments
from footlight.browser.options import SessionOptions
from footlight.browser.storage import to_playwright
from footlight.errors import BrowserNotInstalled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psutil
    from playwright.async_api import BrowserContext, Playwright

    from footlight.browser.devices import Devices
    from footlight.browser.display import Display
    from footlight.browser.launch import FoundBrowser
    from footlight.config import BrowserSettings

__all__ = ["ExtensionBrowser", "ExtensionLauncher", "Shown"]

LOADED_SECONDS = 15.0
"""How long a browser may take to have its extensions."""
LOOK_SECONDS = 0.02
VIEWPORT = (1280, 800)
"""Of sessions that want none in particular."""

Shown = Literal["screen", "xvfb", "none"]
"""Where its window is: on this machine's screen, on a virtual one, or nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionBrowser:
    """One that runs, with its extensions loaded. Whoever launched it ends it."""

    context: BrowserContext
    extensions: tuple[LoadedExtension, ...]
    options: SessionOptions
    shown: Shown
    process: psutil.Process
    profile: Path
    _resources: contextlib.AsyncExitStack

    async def end(self) -> None:
        """Be sure that it is gone, and its profile and display with it."""
        await self._resources.aclose()


class ExtensionLauncher:
    """Starts browsers with extensions, each over a fresh profile in `temporary`."""

    def __init__(
        self,
        playwright: Playwright,
        settings: BrowserSettings,
        *,
        devices: Devices,
        filter_proxy: str | None,
        temporary: Path,
    ) -> None:
        self._playwright = playwright
        self._settings = settings
        self._devices = devices
        self._filter_proxy = filter_proxy
        self._temporary = temporary

    def find(self) -> FoundBrowser:
        """Raises BrowserNotInstalled where there is none."""
        return find_browser(self._settings, Path(self._playwright.chromium.executable_path), shell=False)

    async def launch(
        self,
        extensions: Sequence[UnpackedExtension],
        options: SessionOptions,
        *,
        headless: bool = False,
        slow_mo_ms: int = 0,
    ) -> ExtensionBrowser:
        """Start one. What was begun in vain leaves nothing.

        Without `headless` it has a window, on a virtual display where there is no other; where there is no
        display at all it has none, and says so.

        Raises:
            BrowserNotInstalled: there is none, it does not start, or it does not load extensions.
            InvalidParameter: names the option that it does not take.
            PermissionDenied: a proxy, where the server has a filter of its own.
        """
        check_proxy(options, self._filter_proxy)
        async with contextlib.AsyncExitStack() as stack:
            profile = Path(tempfile.mkdtemp(prefix="profile-", dir=self._temporary))
            stack.callback(shutil.rmtree, profile, ignore_errors=True)
            display = None if headless else await stack.enter_async_context(open_display())
            found = self.find()
            arguments = self._arguments(extensions, options, found, display)
            context = await self._start(profile, arguments | {"slow_mo": slow_mo_ms}, found)
            stack.push_async_callback(close_context, context)
            process = await process_of(context)
            stack.push_async_callback(_end, context, process)
            await _prepare(context, options)
            loaded = await self._loaded(context, extensions, found)
            return ExtensionBrowser(
                context=context,
                extensions=loaded,
                options=options,
                shown=display.kind if display else "none",
                process=process,
                profile=profile,
                _resources=stack.pop_all(),
            )

    def _arguments(
        self,
        extensions: Sequence[UnpackedExtension],
        options: SessionOptions,
        found: FoundBrowser,
        display: Display | None,
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            **launch_arguments(self._settings, found, proxied=self._filter_proxy is not None),
            **context_arguments(
                options if options.device else replace(options, viewport=options.viewport or VIEWPORT),
                devices=self._devices,
                engine="chromium",
                filter_proxy=self._filter_proxy,
            ),
            "headless": display is None or display.kind == "none",
            "env": {**os.environ, "TMPDIR": str(self._temporary), **(display.environment if display else {})},
        }
        folders = ",".join(str(each.folder) for each in extensions)
        arguments["args"] += [f"--disable-extensions-except={folders}", f"--load-extension={folders}"]
        return arguments

    async def _start(self, profile: Path, arguments: dict[str, Any], found: FoundBrowser) -> BrowserContext:
        try:
            return await self._playwright.chromium.launch_persistent_context(profile, **arguments)
        except Error as error:
            raise option_refused(error) or did_not_start(error, self._settings, found) from error

    async def _loaded(
        self, context: BrowserContext, extensions: Sequence[UnpackedExtension], found: FoundBrowser
    ) -> tuple[LoadedExtension, ...]:
        assert context.browser is not None
        loaded: list[LoadedExtension | None] = []
        try:
            cdp = await context.browser.new_browser_cdp_session()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOADED_SECONDS):
                    while None in (loaded := await find_loaded(cdp, extensions)):  # noqa: ASYNC110 - no event
                        await asyncio.sleep(LOOK_SECONDS)
            await cdp.detach()
        except Error as error:
            raise did_not_start(error, self._settings, found) from error
        if len(there := [each for each in loaded if each]) < len(extensions):
            raise self._not_loaded(
                [each for each, has in zip(extensions, loaded, strict=True) if not has], found
            )
        return tuple(there)

    def _not_loaded(self, missing: Sequence[UnpackedExtension], found: FoundBrowser) -> BrowserNotInstalled:
        return BrowserNotInstalled(
            f"{found.path} did not load {', '.join(f'{each.name} ({each.folder})' for each in missing)}",
            suggestion="Chrome and Edge take no extensions from their command line any more: use Chromium "
            "(`footlight doctor --install`). If that is in use, chrome://extensions says what is wrong.",
            path=found.path,
            folders=[str(each.folder) for each in missing],
        )


async def _prepare(context: BrowserContext, options: SessionOptions) -> None:
    """What a context takes when it is made, and that of a profile only afterwards."""
    try:
        if options.state:
            await context.set_storage_state(cast("Any", to_playwright(options.state)))
        for script in options.init_scripts:
            await context.add_init_script(script)
    except Error as error:
        raise option_refused(error) or error from error


async def _end(context: BrowserContext, process: psutil.Process) -> None:
    await close_context(context)
    await asyncio.to_thread(end_process, process)
