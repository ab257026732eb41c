"""The settings of browsers, sessions, and page observations."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from footlight.config.setting_types import PathSetting, SettingsSection

__all__ = [
    "BrowserSettings",
    "DialogAnswer",
    "DialogSettings",
    "ObservationSettings",
    "PoolSettings",
    "ProfileSettings",
    "SessionSettings",
]

DialogAnswer = Literal["accept", "dismiss", "ask"]


class BrowserSettings(SettingsSection):
    """The browser and how it is started."""

    type: Literal["chromium", "firefox", "webkit"] = "chromium"
    """The browser engine."""
    headless: bool = True
    """Run the browser without a window. Chromium uses its headless shell if it is installed."""
    args: list[str] = ["--disable-dev-shm-usage"]
    """Command-line arguments of the browser. `--no-sandbox` turns off Chromium's sandbox."""
    download_path: PathSetting | None = None
    """The folder for downloads. Default: a temporary folder, which the server removes when it ends."""
    output_path: PathSetting | None = None
    """The folder for files that tools write: PDF files, recordings and baselines. Default: as for
    downloads."""
    session_file_quota: int = Field(default=2_000_000_000, ge=0)
    """How many bytes the downloads and output files of one session may have together. A larger download
    is cancelled, and the error is QUOTA_EXCEEDED. With 0 there is no limit."""
    file_quota: int = Field(default=10_000_000_000, ge=0)
    """The same for all files that the server has written since its start and that still exist."""
    channel: Literal["chrome", "msedge"] | None = None
    """Use this branded browser instead of the Chromium that the server finds."""
    executable_path: PathSetting | None = None
    """The path of the browser to start."""
    cdp_endpoint: str | None = None
    """Attach to a running Chromium, such as http://127.0.0.1:9222, instead of starting one."""
    extensions: list[PathSetting] = []
    """The folders of unpacked Chrome extensions, each with a manifest.json. Each session then has its
    own browser with a window. Without a display the server starts a virtual one."""

    @property
    def starts_chromium(self) -> bool:
        """Return whether the server starts a Chromium itself and does not attach to a running one."""
        return self.cdp_endpoint is None and self.type == "chromium"


class PoolSettings(SettingsSection):
    """The number of running browsers."""

    min_browsers: int = Field(default=2, ge=0)
    """The number of browsers that are started in advance and kept. With 0 the first starts on demand."""
    max_browsers: int = Field(default=10, ge=1)
    """The maximum number of browsers. Sessions are spread over them. If all are full, the error is
    RESOURCE_EXHAUSTED."""
    idle_timeout: int = Field(default=300_000, ge=0)
    """Browsers above `minBrowsers` without a session are closed after this many milliseconds."""


class DialogSettings(SettingsSection):
    """The answers to dialogs of a page. `ask` leaves a dialog open until `handle_dialog` answers it."""

    alert: DialogAnswer = "accept"
    """The answer to `alert()`. Both `accept` and `dismiss` close it."""
    beforeunload: DialogAnswer = "accept"
    """The answer to a page that asks before it is left. `accept` leaves the page."""
    confirm: DialogAnswer = "dismiss"
    """The answer to `confirm()`. `accept` means OK, `dismiss` means Cancel."""
    prompt: DialogAnswer = "dismiss"
    """The answer to `prompt()`. `accept` gives its default value, `dismiss` gives no value."""


class SessionSettings(SettingsSection):
    """The limits of sessions, and the state that they keep."""

    default_timeout: int = Field(default=30_000, ge=1)
    """The time limit of a call without `timeout`, in milliseconds."""
    max_sessions: int = Field(default=50, ge=1)
    """The maximum number of sessions. Beyond it, the error is RESOURCE_EXHAUSTED."""
    persistent_sessions: bool = False
    """Whether cookies, storage and the URL of each session survive a restart of the server."""
    element_timeout: int = Field(default=5_000, ge=0)
    """How long a call without `timeout` waits for an element to appear and become usable, in
    milliseconds. Other waits are not affected."""
    idle_timeout: int = Field(default=1_800_000, ge=0)
    """An unused session is closed after this many milliseconds. With 0 it is never closed."""
    state_directory: PathSetting = Path(".footlight/state")
    """The folder for named states and persistent sessions."""
    share_default: bool = False
    """Let all callers over HTTP and WebSocket share one session `default`, if only one person uses the
    server."""
    dialogs: DialogSettings = DialogSettings()


class ObservationSettings(SettingsSection):
    """The parts of the page that results of actions include."""

    mode: Literal["none", "diff", "full"] = "diff"
    """What the result of a call without `observe` includes: nothing, the changes, or the whole page."""
    budget: int = Field(default=3_000, ge=200)
    """The maximum number of characters of page content in an answer. The rest is behind a link. A call may
    give its own limit."""
    settle: Literal["auto", "none"] = "auto"
    """Whether a call without `settle` waits for the requests and the rendering that its action started."""
    settle_timeout: int = Field(default=3_000, ge=0)
    """The longest wait, in milliseconds, for the requests and the rendering that an action started."""


class ProfileSettings(SettingsSection):
    """The browser profiles of the toolset `szkrabok`, one for each named session."""

    directory: PathSetting = Path("sessions")
    """The folder that contains one folder for each profile. The profiles contain logins."""
