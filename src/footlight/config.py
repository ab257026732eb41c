"""The settings and their defaults.

The same names work everywhere: `browser.downloadPath` in a file is `FOOTLIGHT_BROWSER_DOWNLOAD_PATH` in
the environment. Durations are in milliseconds, sizes in bytes. `config_loading.py` reads the settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.alias_generators import to_camel

from footlight.errors import DOCUMENTATION_URL
from footlight.setting_types import DomainSetting, HttpUrlSetting, PathSetting

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

DialogAnswer = Literal["accept", "dismiss", "ask"]


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=False, extra="forbid", frozen=True, strict=True
    )


class BrowserSettings(_Section):
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


class PoolSettings(_Section):
    """The number of running browsers."""

    min_browsers: int = Field(default=2, ge=0)
    """The number of browsers that are started in advance and kept. With 0 the first starts on demand."""
    max_browsers: int = Field(default=10, ge=1)
    """The maximum number of browsers. Sessions are spread over them. If all are full, the error is
    RESOURCE_EXHAUSTED."""
    idle_timeout: int = Field(default=300_000, ge=0)
    """Browsers above `minBrowsers` without a session are closed after this many milliseconds."""


class DialogSettings(_Section):
    """The answers to dialogs of a page. `ask` leaves a dialog open until `handle_dialog` answers it."""

    alert: DialogAnswer = "accept"
    """The answer to `alert()`. Both `accept` and `dismiss` close it."""
    beforeunload: DialogAnswer = "accept"
    """The answer to a page that asks before it is left. `accept` leaves the page."""
    confirm: DialogAnswer = "dismiss"
    """The answer to `confirm()`. `accept` means OK, `dismiss` means Cancel."""
    prompt: DialogAnswer = "dismiss"
    """The answer to `prompt()`. `accept` gives its default value, `dismiss` gives no value."""


class SessionSettings(_Section):
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


class SecuritySettings(_Section):
    """The restrictions of the server."""

    allowed_domains: list[DomainSetting] | None = None
    """Hosts that pages may reach: `example.com`, or `*.example.com` for it and its subdomains. None allows
    all."""
    blocked_domains: list[DomainSetting] | None = None
    """Hosts that pages may not reach. It takes precedence over `allowedDomains`."""
    block_private_networks: bool = False
    """Refuse this machine and every address that is not public, also where a name resolves to one. An
    address or a name of this machine that `allowedDomains` lists itself can be reached."""
    max_screenshot_size: int = Field(default=10_485_760, ge=1)
    """The maximum size of a screenshot in bytes. A larger screenshot is an error."""
    enable_file_upload: bool = True
    """Whether `upload_file` may be called."""
    enable_script_evaluation: bool = False
    """Whether `evaluate` may be called."""
    enable_page_tools: bool = False
    """Whether `list_page_tools` and `call_page_tool` may be called: tools that a page offers to models
    itself (WebMCP). Chromium then starts with that feature, which pages can see."""
    upload_roots: list[PathSetting] = [Path()]
    """The only folders from which files may be uploaded. Symbolic links are resolved first. Default:
    the working directory."""
    secrets_file: PathSetting | None = None
    """A file of `NAME=value` lines. Calls give `secret:NAME`, and all answers mask the values."""


class ToolSettings(_Section):
    """The tools that the server offers."""

    groups: list[str] = ["default"]
    """The groups of tools to offer: `default`, `minimal`, `all`, `core`, `network`, `storage`, `devtools`,
    `vision`, `touch`, `audit`, `webmcp` or `handover`."""
    allow: list[str] = []
    """Tools to offer in addition to the groups."""
    deny: list[str] = []
    """Tools that are never offered."""
    schemas: Literal["compact", "full"] = "compact"
    """The form of `tools/list` with the toolset `browser`. `compact` is for models. It leaves out output
    schemas, limits, default values, titles and most of the parameters that the instructions describe for all
    tools. Clients that declare the experimental capability `footlight/full-schemas` get the `full` list."""


class ListenSettings(_Section):
    """The network side of the transports `http` and `websocket`."""

    host: str = "127.0.0.1"
    """The address to listen on. An address other than loopback needs a token or a token verifier."""
    token_file: PathSetting | None = None
    """A file whose first line is the token. The environment variable `FOOTLIGHT_TOKEN` does the same."""
    token_verifier: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] | None = None
    """The `package.module:name` of an object with the SDK's `verify_token`, or of its class, which is called
    without arguments."""
    public_url: HttpUrlSetting | None = None
    """The public URL of `/mcp`, such as https://browser.example.com/mcp, if it differs from the local one."""
    authorization_servers: list[HttpUrlSetting] = []
    """The issuers of the tokens that `tokenVerifier` accepts. Clients without a token are referred to them
    (RFC 9728)."""
    allowed_hosts: list[str] = []
    """Further host names, without port, that a request's Host header may contain besides loopback and
    `host`."""
    allowed_origins: list[str] = []
    """Further origins, such as https://app.example.com, whose pages may send requests besides those on
    loopback."""
    tls_certificate: PathSetting | None = None
    """A PEM file with the TLS certificate and its chain, for https and wss. It needs `tlsKey`."""
    tls_key: PathSetting | None = None
    """A PEM file with the private key of the certificate."""
    stateless: bool = False
    """Serve HTTP without transport sessions: each POST request gets one JSON response."""
    max_message_size: int = Field(default=4 << 20, ge=1)
    """The maximum size of a request body or of a WebSocket message, in bytes."""
    read_timeout: int = Field(default=10_000, ge=1)
    """The time limit for the arrival of a whole request, in milliseconds."""
    max_connections: int = Field(default=1_000, ge=1)
    """The maximum number of open connections. Beyond it, the answer is status 503."""
    max_requests: int = Field(default=100, ge=1)
    """The maximum number of unanswered requests in one transport session or on one WebSocket. Further
    requests are refused."""
    max_transport_sessions: int = Field(default=1_000, ge=1)
    """The maximum number of transport sessions (`Mcp-Session-Id`). A further one ends the session that has
    been idle for the longest time."""
    transport_session_timeout: int = Field(default=1_800_000, ge=1)
    """A transport session ends after this many milliseconds without a request. Browser sessions are kept."""
    shutdown_timeout: int = Field(default=10_000, ge=0)
    """How long the server waits for running calls when it ends, in milliseconds."""


class DaemonSettings(_Section):
    """The background server, and how the commands of this user find it."""

    local: bool = False
    """Let `footlight call` and `serve --shared` find this server. It needs the transport `http`."""
    dir: PathSetting | None = None
    """The folder through which commands find the server. Commands read it only from
    `FOOTLIGHT_DAEMON_DIR`."""
    idle_exit: int = Field(default=0, ge=0)
    """With the transport `http`: end the server after this many milliseconds without clients. 0 means
    never."""


class ClusterSettings(_Section):
    """The workers of a server whose browsers run on a Ray cluster."""

    address: str | None = Field(default=None, min_length=1)
    """The Ray cluster whose machines run the browsers: `host:port` of its head, or `auto` for the cluster of
    this machine. It needs the transport `http` and the toolset `browser`."""
    min_workers: int = Field(default=1, ge=1)
    """The number of workers that are started in advance. Each has its own browsers and at most
    `session.maxSessions` sessions."""
    max_workers: int = Field(default=10, ge=1)
    """The maximum number of workers. A worker that finds no free machine waits for one, so an autoscaler adds
    it."""
    worker_cpus: int = Field(default=1, ge=0)
    """The processors that Ray reserves for each worker."""
    idle_timeout: int = Field(default=600_000, ge=200)
    """After this many milliseconds without sessions, a worker above `cluster.minWorkers` ends, so that an
    autoscaler can remove its machine."""
    queue_timeout: int = Field(default=30_000, ge=0)
    """How long a new session waits for a place, in milliseconds. Then the error is RESOURCE_EXHAUSTED."""
    lease: int = Field(default=300_000, ge=200)
    """After this many milliseconds without any server, a worker closes its sessions and ends."""


class ObservationSettings(_Section):
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


class ResourceSettings(_Section):
    """The limits between what answers contain themselves and what is stored as resources."""

    max_inline_text: int = Field(default=200_000, ge=0)
    """The maximum size of text in an answer, in bytes. A longer answer has a link to the whole text. With 0
    answers never link to text."""
    max_inline_image: int = Field(default=5_000_000, ge=0)
    """The maximum size of an image in an answer, in bytes. A larger image is only linked. Models refuse
    images of more than 5 MB."""
    max_stored: int = Field(default=64 << 20, ge=0)
    """The maximum size of all stored screenshots and long answers, in bytes. The oldest are removed first."""


class PromptSettings(_Section):
    """Prompts in addition to the five built-in prompts."""

    directory: PathSetting | None = None
    """A folder of `*.yaml` and `*.json` files, one prompt each, in the form of the built-in prompts."""


class ProfileSettings(_Section):
    """The browser profiles of the toolset `szkrabok`, one for each named session."""

    directory: PathSetting = Path("sessions")
    """The folder that contains one folder for each profile. The profiles contain logins."""


class SuiteSettings(_Section):
    """The tests that callers of the toolset `szkrabok` may run."""

    directory: PathSetting | None = None
    """The folder of the pytest tests. Without it `browser.run_test` is refused."""


class AppSettings(_Section):
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


class KnowledgeSettings(_Section):
    """The knowledge store, which records every step."""

    directory: PathSetting | None = None
    """The folder of the knowledge store. Default: `test-artifacts/llm-knowledge` in the app's repository with
    the toolset `metamask`; with the toolset `browser`, nothing is recorded."""
    keep: bool = True
    """Whether steps are recorded."""


class WatchSettings(_Section):
    """The watch page, on which a person can watch the sessions and take over."""

    enabled: bool | None = None
    """Whether the server has the watch page. Default: only with the transport `http`, at `/watch`. With stdio
    and WebSocket, the page has its own port on loopback and its own generated token."""
    port: int = Field(default=0, ge=0, le=65535)
    """The port of the watch page with stdio and WebSocket. 0 selects a free port."""
    keyframes: bool = False
    """Whether a picture is kept for reports after each action, even if nobody watches."""


class LoggingSettings(_Section):
    """The log. With the transport `stdio`, `stdout` means stderr, because stdout belongs to the protocol."""

    level: Literal["debug", "info", "warn", "error"] = "info"
    """The lowest level that is written. `info` writes a line for each call."""
    format: Literal["json", "text"] = "json"
    """One JSON object per line, or lines of plain text."""
    destination: Literal["stdout", "file"] = "stdout"
    """Where the log is written. `file` needs `logging.file`."""
    file: PathSetting | None = None
    """The log file. The log is appended to it, and its folder is created. `--log-file` sets the destination
    too."""


class Settings(_Section):
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
        default = self.transport == "http" and self.cluster.address is None
        return default if self.watch.enabled is None else self.watch.enabled

    @property
    def private_paths(self) -> tuple[Path, ...]:
        """Paths that no page may receive: saved logins, and the token, TLS key and secrets files."""
        logins = (self.session.state_directory, self.profiles.directory)
        secrets = (self.listen.token_file, self.listen.tls_key, self.security.secrets_file)
        return (*logins, *(path for path in secrets if path is not None))
