"""The settings of the server, such as its restrictions, tools, listeners, workers and log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from footlight.config.setting_types import DomainSetting, HttpUrlSetting, PathSetting, SettingsSection

__all__ = [
    "ClusterSettings",
    "DaemonSettings",
    "ListenSettings",
    "LoggingSettings",
    "PromptSettings",
    "ResourceSettings",
    "SecuritySettings",
    "ToolSettings",
    "WatchSettings",
]


class SecuritySettings(SettingsSection):
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


class ToolSettings(SettingsSection):
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


class ListenSettings(SettingsSection):
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


class DaemonSettings(SettingsSection):
    """The background server, and how the commands of this user find it."""

    local: bool = False
    """Let `footlight call` and `serve --shared` find this server. It needs the transport `http`."""
    dir: PathSetting | None = None
    """The folder through which commands find the server. Commands read it only from
    `FOOTLIGHT_DAEMON_DIR`."""
    idle_exit: int = Field(default=0, ge=0)
    """With the transport `http`: end the server after this many milliseconds without clients. 0 means
    never."""


class ClusterSettings(SettingsSection):
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


class ResourceSettings(SettingsSection):
    """The limits between what answers contain themselves and what is stored as resources."""

    max_inline_text: int = Field(default=200_000, ge=0)
    """The maximum size of text in an answer, in bytes. A longer answer has a link to the whole text. With 0
    answers never link to text."""
    max_inline_image: int = Field(default=5_000_000, ge=0)
    """The maximum size of an image in an answer, in bytes. A larger image is only linked. Models refuse
    images of more than 5 MB."""
    max_stored: int = Field(default=64 << 20, ge=0)
    """The maximum size of all stored screenshots and long answers, in bytes. The oldest are removed first."""


class PromptSettings(SettingsSection):
    """Prompts in addition to the five built-in prompts."""

    directory: PathSetting | None = None
    """A folder of `*.yaml` and `*.json` files, one prompt each, in the form of the built-in prompts."""


class WatchSettings(SettingsSection):
    """The watch page, on which a person can watch the sessions and take over."""

    enabled: bool | None = None
    """Whether the server has the watch page. Default: only with the transport `http`, at `/watch`. With stdio
    and WebSocket, the page has its own port on loopback and its own generated token."""
    port: int = Field(default=0, ge=0, le=65535)
    """The port of the watch page with stdio and WebSocket. 0 selects a free port."""
    keyframes: bool = False
    """Whether a picture is kept for reports after each action, even if nobody watches."""


class LoggingSettings(SettingsSection):
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
