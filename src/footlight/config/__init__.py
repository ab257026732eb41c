"""The settings and their defaults.

The same names work everywhere: `browser.downloadPath` in a file is `FOOTLIGHT_BROWSER_DOWNLOAD_PATH` in
the environment. Durations are in milliseconds, sizes in bytes. `loading.py` reads the settings.
"""

from footlight.config.browser_settings import (
    BrowserSettings,
    DialogAnswer,
    DialogSettings,
    ObservationSettings,
    PoolSettings,
    ProfileSettings,
    SessionSettings,
)
from footlight.config.server_settings import (
    ClusterSettings,
    DaemonSettings,
    ListenSettings,
    LoggingSettings,
    PromptSettings,
    ResourceSettings,
    SecuritySettings,
    ToolSettings,
    WatchSettings,
)
from footlight.config.settings import AppSettings, KnowledgeSettings, Settings, SuiteSettings

__all__ = [
    "AppSettings",
    "BrowserSettings",
    "ClusterSettings",
    "DaemonSettings",
    "DialogAnswer",
    "DialogSettings",
    "KnowledgeSettings",
    "ListenSettings",
    "LoggingSettings",
    "ObservationSettings",
    "PoolSettings",
    "ProfileSettings",
    "PromptSettings",
    "ResourceSettings",
    "SecuritySettings",
    "SessionSettings",
    "Settings",
    "SuiteSettings",
    "ToolSettings",
    "WatchSettings",
]
