"""All settings of a server, and the sections for single toolsets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from footlight.config.browser_settings import (
    BrowserSettings,
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
from footlight.config.setting_types import HttpUrlSetting, PathSetting, SettingsSection
from footlight.errors import DOCUMENTATION_URL

__all__ = [
    "AppSettings",
    "KnowledgeSettings",
    "Settings",
    "SuiteSettings",
]


class SuiteSettings(SettingsSection):
    """The tests that callers of the toolset `szkrabok` may run."""

    directory: PathSetting | None = None
    """The folder of the pytest tests. Without it `browser.run_test` is refused."""


class AppSettings(SettingsSection):
    """The app under test of the toolset `metamask`."""

    profile: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] = "footlight.apps.metamask.app:METAMASK"
    """The `package.module:name` of an `AppProfile`, for an extension other than MetaMask. It selects the
    toolset `metamask`."""
    prefix: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,15}$")] | None = None
    """The prefix of the tool names and, in capitals, of the error codes. Default: the prefix of the
    profile."""
    strict: bool = False
    """Offer exactly the 16 specified tools with their schemas, and add nothing to their answers."""
    repository: PathSetting = Path()
    """The folder of the app's sources and its build. Default: the working directory."""


class KnowledgeSettings(SettingsSection):
    """The knowledge store, which records every step."""

    directory: PathSetting | None = None
    """The folder of the knowledge store. Default: `test-artifacts/llm-knowledge` in the app's repository with
    the toolset `metamask`; with the toolset `browser`, nothing is recorded."""
    keep: bool = True
    """Whether steps are recorded."""


class Settings(SettingsSection):
    """All settings of a server."""

    name: str = "playwright-mcp-server"
    """The server name that clients see."""
    version: str = "1.0.0"
    """The server version that clients see. It is not the version of the package."""
    transport: Literal["stdio", "http", "websocket"] = "stdio"
    """The transport of the server."""
    toolset: Literal["browser", "szkrabok", "metamask"] = "browser"
    """The set of tools. `szkrabok` has tools with dotted names, and named sessions. `metamask` builds,
    launches and observes an extension under test."""
    port: int | None = Field(default=None, ge=0, le=65535)
    """The port of the transports `http` and `websocket`. Default: 8931. 0 selects a free port, which the
    server reports."""
    token: SecretStr | None = None
    """The token that clients must send as `Authorization: Bearer`. Prefer `listen.tokenFile` or the
    environment."""
    documentation_url: HttpUrlSetting = DOCUMENTATION_URL
    """The documentation to which errors link, such as your own copy of the site. Errors that end a
    command before it has its settings use only the variable."""
    listen: ListenSettings = ListenSettings()
    daemon: DaemonSettings = DaemonSettings()
    cluster: ClusterSettings = ClusterSettings()
    browser: BrowserSettings = BrowserSettings()
    pool: PoolSettings = PoolSettings()
    session: SessionSettings = SessionSettings()
    security: SecuritySettings = SecuritySettings()
    tools: ToolSettings = ToolSettings()
    observation: ObservationSettings = ObservationSettings()
    resources: ResourceSettings = ResourceSettings()
    prompts: PromptSettings = PromptSettings()
    profiles: ProfileSettings = ProfileSettings()
    tests: SuiteSettings = SuiteSettings()
    app: AppSettings = AppSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    watch: WatchSettings = WatchSettings()
    logging: LoggingSettings = LoggingSettings()

    @property
    def has_watch_page(self) -> bool:
        return self.transport == "http" if self.watch.enabled is None else self.watch.enabled

    @property
    def private_paths(self) -> tuple[Path, ...]:
        """Return paths that no page may receive: saved logins, and the token, TLS key and secrets files."""
        logins = (self.session.state_directory, self.profiles.directory)
        secrets = (self.listen.token_file, self.listen.tls_key, self.security.secrets_file)
        return (*logins, *(path for path in secrets if path is not None))
