"""Settings: defaults, then a file, then `FOOTLIGHT_*` variables, then flags, into one frozen object.

The specification of the browser server fixes some keys and defaults; the others are marked "ours".
The same names work everywhere: `browser.downloadPath` in a file is `FOOTLIGHT_BROWSER_DOWNLOAD_PATH` in
the environment. Durations are in milliseconds, sizes in bytes.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from footlight.errors import ConfigurationError

__all__ = [
    "AppSettings",
    "BrowserSettings",
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
    "load_settings",
]

ENVIRONMENT_PREFIX = "FOOTLIGHT_"
OF_A_TEST = ("FOOTLIGHT_SESSION_NAME",)
OTHER_VARIABLES = (
    *("FOOTLIGHT_DAEMON_DIR", "FOOTLIGHT_LIFELINE", "FOOTLIGHT_CDP_ENDPOINT", "FOOTLIGHT_CDP_TARGET"),
    *("FOOTLIGHT_PARAM_", "FOOTLIGHT_PARAMS", "FOOTLIGHT_TEST_", "FOOTLIGHT_METAMASK_DIST"),
)
"""Variables with our prefix, or beginnings of such, that are not settings."""
MAX_COMPARED = 100
MAX_SUGGESTED = 8
"""No settings: what `browser.run_test` tells the tests. One of them may start a server."""

DialogAnswer = Literal["accept", "dismiss", "ask"]


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=False, extra="forbid", frozen=True, strict=True
    )


def _path(value: object) -> object:
    if not isinstance(value, str | Path):
        return value
    if "\0" in str(value):
        raise ValueError("a path cannot hold a NUL character")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("there is no such home directory") from None


def _domain(value: str) -> str:
    """A pattern that no host can match would block nothing, and nobody would notice."""
    if not re.fullmatch(_DOMAIN, value.strip()):
        raise ValueError("must be a host such as example.com or *.example.com, with no scheme, port or path")
    return value


_DOMAIN = (
    r"\*|(?:\*\.)?[^\s*.,/\\:@?#\[\]][^\s*,/\\:@?#\[\]]*"
    r"|\[(?=.*:.*:)[0-9a-fA-F:.]+\]|(?=.*:.*:)[0-9a-fA-F:.]+"
)


def _http_url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#\"\\]+(?:/[^\s?#\"\\]*)?", value):
        raise ValueError("must be an http or https URL without query, such as https://example.com/path")
    return value


HttpUrlSetting = Annotated[str, AfterValidator(_http_url)]
PathSetting = Annotated[Path, BeforeValidator(_path)]
DomainSetting = Annotated[str, AfterValidator(_domain)]


class BrowserSettings(_Section):
    """Which browser, and how it is started."""

    type: Literal["chromium", "firefox", "webkit"] = "chromium"
    """The engine."""
    headless: bool = True
    """Without a window. Chromium then runs as its headless shell, where there is one."""
    args: list[str] = ["--disable-dev-shm-usage"]
    """Command-line arguments. `--no-sandbox` here turns Chromium's sandbox off."""
    download_path: PathSetting | None = None
    """Where downloads are kept. Default: a folder of the server's own, gone when it ends."""
    output_path: PathSetting | None = None
    """Ours: where tools write files: prints, recordings, baselines. Default as for downloads."""
    channel: Literal["chrome", "msedge"] | None = None
    """Ours: a branded Chromium instead of the one that is found."""
    executable_path: PathSetting | None = None
    """Ours: this browser and no other."""
    cdp_endpoint: str | None = None
    """Ours: attach to a running Chromium, for example http://127.0.0.1:9222, instead of starting one."""
    extensions: list[PathSetting] = []
    """Ours: unpacked Chrome extensions, folders with a manifest.json. Each session is then a browser of its
    own, with a window, on a virtual display where there is no other."""

    @property
    def starts_chromium(self) -> bool:
        """Whether the server starts a Chromium itself, and does not attach to one that runs."""
        return self.cdp_endpoint is None and self.type == "chromium"


class PoolSettings(_Section):
    """How many browsers run."""

    min_browsers: int = Field(default=2, ge=0)
    """So many are started in advance and kept. With 0 the first starts when it is needed."""
    max_browsers: int = Field(default=10, ge=1)
    """So many at the most. Sessions are spread over them; when all are full: RESOURCE_EXHAUSTED."""
    idle_timeout: int = Field(default=300_000, ge=0)
    """Browsers above `minBrowsers` that have no session are closed after this many milliseconds."""


class DialogSettings(_Section):
    """Ours: what is answered to a page's dialogs; `ask` leaves one open until `handle_dialog` answers it."""

    alert: DialogAnswer = "accept"
    """`alert()`: it can only be closed."""
    beforeunload: DialogAnswer = "accept"
    """Leaving a page that asks whether to: `accept` leaves."""
    confirm: DialogAnswer = "dismiss"
    """`confirm()`: `accept` is OK, `dismiss` is Cancel."""
    prompt: DialogAnswer = "dismiss"
    """`prompt()`: `accept` gives its default value, `dismiss` nothing."""


class SessionSettings(_Section):
    """What a session may use."""

    default_timeout: int = Field(default=30_000, ge=1)
    """The deadline of a call that gives no `timeout`, in milliseconds."""
    max_sessions: int = Field(default=50, ge=1)
    """One more is RESOURCE_EXHAUSTED."""
    persistent_sessions: bool = False
    """Whether cookies, storage and the URL of each session survive a restart of the server."""
    element_timeout: int = Field(default=5_000, ge=0)
    """Ours: how long a call that gives no `timeout` waits for an element to appear and be usable. It limits
    nothing else."""
    idle_timeout: int = Field(default=1_800_000, ge=0)
    """Ours: a session not used for this many milliseconds is closed. 0 keeps it for ever."""
    state_directory: PathSetting = Path(".footlight/state")
    """Ours: where named states and persistent sessions are kept."""
    share_default: bool = False
    """Ours: one session `default` for all callers over HTTP and WebSocket, where only one person calls."""
    dialogs: DialogSettings = DialogSettings()


class SecuritySettings(_Section):
    """What the server refuses."""

    allowed_domains: list[DomainSetting] | None = None
    """Hosts that may be reached: `example.com`, or `*.example.com` for it and all below. None: all."""
    blocked_domains: list[DomainSetting] | None = None
    """Hosts that may not; wins over `allowedDomains`."""
    max_screenshot_size: int = Field(default=10_485_760, ge=1)
    """A screenshot of more bytes is an error."""
    enable_file_upload: bool = True
    """Whether `upload_file` may be called."""
    enable_script_evaluation: bool = False
    """Whether `evaluate` may be called."""
    upload_roots: list[PathSetting] = [Path()]
    """Ours: files may be uploaded from these folders only, by real path. Default: the working directory."""
    secrets_file: PathSetting | None = None
    """Ours: a file of `NAME=value` lines. Calls give `secret:NAME`; values are masked in all answers."""


class ToolSettings(_Section):
    """Ours: which tools are offered."""

    groups: list[str] = ["default"]
    """`default`, `minimal`, `all`, or groups: `core`, `network`, `storage`, `devtools`, `vision`,
    `handover`."""
    allow: list[str] = []
    """These tools too."""
    deny: list[str] = []
    """But never these."""
    schemas: Literal["compact", "full"] = "compact"
    """The form of the list with the toolset `browser`. `compact` is for models: without output schemas,
    limits, default values, titles and most of the parameters that the instructions describe for all tools.
    Clients that declare the experimental capability `footlight/full-schemas` get the `full` list."""


class ListenSettings(_Section):
    """Ours: the network side of the transports `http` and `websocket`."""

    host: str = "127.0.0.1"
    """The address to bind. Any but loopback needs a token, or a verifier of tokens."""
    token_file: PathSetting | None = None
    """Its first line is the token. `FOOTLIGHT_TOKEN` in the environment does the same."""
    token_verifier: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] | None = None
    """`package.module:name` of an object, or a class without arguments, with the SDK's `verify_token`."""
    public_url: HttpUrlSetting | None = None
    """Where clients find `/mcp`, such as https://browser.example.com/mcp, if that is elsewhere."""
    authorization_servers: list[HttpUrlSetting] = []
    """Issuers of the tokens that `tokenVerifier` takes. Clients without one are sent there (RFC 9728)."""
    allowed_hosts: list[str] = []
    """Names beside loopback and `host` that may stand in a request's Host header, without port."""
    allowed_origins: list[str] = []
    """Origins beside those on loopback whose pages may call, such as https://app.example.com."""
    tls_certificate: PathSetting | None = None
    """A PEM file, with the chain. Needs `tlsKey`; serves https and wss."""
    tls_key: PathSetting | None = None
    """A PEM file."""
    stateless: bool = False
    """HTTP without transport sessions: POST and a JSON answer, nothing else."""
    max_message_size: int = Field(default=4 << 20, ge=1)
    """Bytes of a request's body, or of a WebSocket message."""
    read_timeout: int = Field(default=10_000, ge=1)
    """So many milliseconds a request has to arrive whole."""
    max_connections: int = Field(default=1_000, ge=1)
    """Open connections. One more is answered 503."""
    max_requests: int = Field(default=100, ge=1)
    """Requests without an answer yet in one transport session, or on one WebSocket. One more is refused."""
    max_transport_sessions: int = Field(default=1_000, ge=1)
    """`Mcp-Session-Id`s at once. One more ends the one that is idle longest."""
    transport_session_timeout: int = Field(default=1_800_000, ge=1)
    """A transport session without a request for this many milliseconds ends. Browser sessions stay."""
    shutdown_timeout: int = Field(default=10_000, ge=0)
    """At the end, so many milliseconds for calls that run to finish."""


class DaemonSettings(_Section):
    """Ours: the server in the background, and how this user's commands find it."""

    local: bool = False
    """Be found by `footlight call` and `serve --shared`. Needs the transport `http`."""
    dir: PathSetting | None = None
    """The folder in which it is found. The commands know it by `FOOTLIGHT_DAEMON_DIR` alone."""
    idle_exit: int = Field(default=0, ge=0)
    """Over HTTP: end when nobody was there for so many milliseconds. 0 never."""


class ObservationSettings(_Section):
    """Ours: what an acting call tells of the page after it."""

    mode: Literal["none", "diff", "full"] = "diff"
    """What a call tells that gives no `observe`: nothing, what changed, or the whole page."""
    budget: int = Field(default=8_000, ge=200)
    """Characters of page content in an answer; the rest is behind a link. A call may give its own."""
    settle: Literal["auto", "none"] = "auto"
    """Whether a call that gives no `settle` waits for what its action started."""
    settle_timeout: int = Field(default=3_000, ge=0)
    """The longest wait, in milliseconds, for the requests and the rendering that an action started."""


class ResourceSettings(_Section):
    """Ours: what is kept to be read later, and what an answer holds itself."""

    max_inline_text: int = Field(default=200_000, ge=0)
    """Bytes. An answer with more of it holds a link to the whole. 0 never links."""
    max_inline_image: int = Field(default=5_000_000, ge=0)
    """Bytes. A larger image is only linked. Models refuse images of more than 5 MB."""
    max_stored: int = Field(default=64 << 20, ge=0)
    """Bytes of screenshots and long answers that are kept; the oldest go first."""


class PromptSettings(_Section):
    """Ours: prompts beside the five that are built in."""

    directory: PathSetting | None = None
    """A folder of `*.yaml` and `*.json` files, one prompt each, in the form of the built-in prompts."""


class ProfileSettings(_Section):
    """Ours: the browser profiles of the toolset `szkrabok`, one for each session that has a name."""

    directory: PathSetting = Path("sessions")
    """The folder in which each has its own. Logins are in there."""


class SuiteSettings(_Section):
    """Ours: the tests that callers of the toolset `szkrabok` may run."""

    directory: PathSetting | None = None
    """pytest's tests in this folder. Without it `browser.run_test` is refused."""


class AppSettings(_Section):
    """Ours: the app under test of the toolset `metamask`."""

    profile: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] = "footlight.apps.metamask.app:METAMASK"
    """`package.module:name` of an `AppProfile`: another extension than MetaMask. Naming one chooses the
    toolset `metamask`."""
    prefix: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,15}$")] | None = None
    """Of the names of the tools, and in capitals of the error codes. Default: the profile's."""
    strict: bool = False
    """Offer exactly the 16 specified tools with their schemas, and add nothing to their answers."""
    repository: PathSetting = Path()
    """Where the sources of the app are, and its build. Default: the working directory."""


class KnowledgeSettings(_Section):
    """Ours: the memory of every step."""

    directory: PathSetting | None = None
    """Where it is kept. Default: `test-artifacts/llm-knowledge` in the app's repository with the toolset
    `metamask`, and nowhere with `browser`."""
    keep: bool = True
    """Whether steps are written down at all."""


class WatchSettings(_Section):
    """Ours: the page on which a person can watch the sessions and take over."""

    enabled: bool | None = None
    """Whether there is the page. Default: with the transport `http`, where it is `/watch`. Over stdio and
    WebSocket it has a port of its own on loopback, and a token that is made for it."""
    port: int = Field(default=0, ge=0, le=65535)
    """That port. 0 takes a free one."""
    keyframes: bool = False
    """Whether a picture is kept after each action, also where nobody watches, for reports."""


class LoggingSettings(_Section):
    """Where the log goes. On stdio `stdout` means stderr: stdout belongs to the protocol."""

    level: Literal["debug", "info", "warn", "error"] = "info"
    """The least that is written. `info` is a line for each call."""
    format: Literal["json", "text"] = "json"
    """An object a line, or lines for reading."""
    destination: Literal["stdout", "file"] = "stdout"
    """`file` needs `logging.file`."""
    file: PathSetting | None = None
    """It is appended to; its folder is made. `--log-file` sets the destination too."""


class Settings(_Section):
    """All settings of a server."""

    name: str = "playwright-mcp-server"
    """What the server calls itself to clients."""
    version: str = "1.0.0"
    """The version it tells them. Not that of the package."""
    transport: Literal["stdio", "http", "websocket"] = "stdio"
    """How it is reached."""
    toolset: Literal["browser", "szkrabok", "metamask"] = "browser"
    """Ours: which tools are offered. `szkrabok` has the dotted names, and sessions that have a name;
    `metamask` builds, launches and looks at an extension under test."""
    port: int | None = Field(default=None, ge=0, le=65535)
    """For the transports that listen. Default: 8931. 0 takes a free one, and says which."""
    token: SecretStr | None = None
    """Ours: what clients must send as `Authorization: Bearer`. Better in a file, or in the environment."""
    listen: ListenSettings = ListenSettings()
    daemon: DaemonSettings = DaemonSettings()
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
        """What no page may be given: saved logins, and what the server shows or asks to be trusted."""
        logins = (self.session.state_directory, self.profiles.directory)
        secrets = (self.listen.token_file, self.listen.tls_key, self.security.secrets_file)
        return (*logins, *(path for path in secrets if path is not None))


Key = tuple[str, ...]


def load_settings(
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Merge the layers; later ones win key by key.

    `flags` maps dotted keys (`browser.headless`) to values; a value of None was not given.

    Raises:
        ConfigurationError: names the key, the file, variable or flag it came from, and what was expected.
    """
    merged: dict[str, Any] = {}
    origin: dict[Key, str] = {}
    if file is not None:
        _merge(merged, origin, _read(file), str(file))
    for variable, key, value in _from_environment(environment or {}):
        _merge(merged, origin, _nested(key, value), f"environment variable {variable}")
    for name, value in (flags or {}).items():
        if value is not None:
            _merge(merged, origin, _nested(tuple(name.split(".")), value), f"flag for {name}")
    _imply(merged)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise _explained(error, origin) from None
    return _consistent(settings)


def _imply(merged: dict[str, Any]) -> None:
    """Whoever names an app means the toolset that tests it."""
    app = merged.get("app")
    if isinstance(app, dict) and "profile" in app:
        merged.setdefault("toolset", "metamask")


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"{file}: the configuration cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file}: the configuration is not UTF-8 text") from None
    try:
        data: object = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if file.suffix == ".toml" else "JSON"
        raise ConfigurationError(f"{file}: not valid {kind}: {error}") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"{file}: the configuration must be an object")
    settings = cast("dict[str, Any]", data)
    settings.pop("$schema", None)  # For editors.
    return settings


def _from_environment(environment: Mapping[str, str]) -> list[tuple[str, Key, object]]:
    known = {_variable(key): (key, field) for key, field in leaves(Settings).items()}
    sections = [
        f"{_variable(key)}_" for key in sorted({key[:1] for key, _ in known.values() if len(key) > 1})
    ]
    found: list[tuple[str, Key, object]] = []
    for variable, text in environment.items():
        if variable in OF_A_TEST:
            continue
        if variable in known:
            key, field = known[variable]
            found.append((variable, key, _parsed(text, field)))
        elif section := next((each for each in sections if variable.startswith(each)), None):
            beside = ", ".join(name for name in known if name.startswith(section))
            raise ConfigurationError(f"environment variable {variable}: unknown; known here: {beside}")
        elif variable.startswith(ENVIRONMENT_PREFIX) and not variable.startswith(OTHER_VARIABLES):
            raise ConfigurationError(
                f"environment variable {variable}: unknown{_suggest_variables(variable, list(known))}",
                suggestion="Remove it or correct its name. docs/reference/configuration.md lists all.",
            )
    return found


def _suggest_variables(variable: str, known: Sequence[str]) -> str:
    """Return the known variables whose last words are closest to the name, for an error message."""
    from difflib import SequenceMatcher

    name = variable.removeprefix(ENVIRONMENT_PREFIX)[:MAX_COMPARED]

    def likeness(candidate: str) -> float:
        words = candidate.removeprefix(ENVIRONMENT_PREFIX).split("_")
        ends = ("_".join(words[start:]) for start in range(len(words)))
        return max(SequenceMatcher(None, name, end).ratio() for end in ends)

    likely = {each: likeness(each) for each in known}
    near = sorted((each for each in known if likely[each] > 0.75), key=lambda each: -likely[each])
    return f"; closest: {', '.join(near[:MAX_SUGGESTED])}" if near else ""


def leaves(model: type[BaseModel], prefix: Key = ()) -> dict[Key, FieldInfo]:
    """Every single setting by its key, in order."""
    found: dict[Key, FieldInfo] = {}
    for name, field in model.model_fields.items():
        key = (*prefix, field.alias or name)
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            found |= leaves(section, key)
        else:
            found[key] = field
    return found


def _variable(key: Key) -> str:
    return ENVIRONMENT_PREFIX + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", "_".join(key)).upper()


def _parsed(text: str, field: FieldInfo) -> object:
    """A list may be written with commas; a switch or a number as in JSON; the rest is text."""
    kind = str(field.annotation)
    if "list" in kind:
        return (
            _json(text)
            if text.startswith("[")
            else [item for part in text.split(",") if (item := part.strip())]
        )
    if "bool" in kind or "int" in kind:
        return _json(text.lower())
    return text


def _json(text: str) -> object:
    """What is no JSON stays as it is, and is told as of the wrong type."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _nested(key: Key, value: object) -> dict[str, Any]:
    for part in reversed(key):
        value = {part: value}
    return cast("dict[str, Any]", value)


def _merge(
    into: dict[str, Any], origin: dict[Key, str], layer: dict[str, Any], source: str, at: Key = ()
) -> None:
    for name, value in layer.items():
        key = (*at, name)
        below = into.get(name)
        if isinstance(value, dict) and name in into and not isinstance(below, dict):
            continue  # A section that is none: told as the fault of the layer it is in.
        origin[key] = source
        if isinstance(value, dict) and isinstance(below, dict):
            _merge(cast("dict[str, Any]", below), origin, cast("dict[str, Any]", value), source, key)
        elif isinstance(value, dict):
            into[name] = {}
            _merge(into[name], origin, cast("dict[str, Any]", value), source, key)
        else:
            into[name] = value


def _explained(error: ValidationError, origin: Mapping[Key, str]) -> ConfigurationError:
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        key = tuple(str(part) for part in problem["loc"])
        dotted = ".".join(key)
        source = next((origin[key[:end]] for end in range(len(key), 0, -1) if key[:end] in origin), None)
        where = f"{source}: " if source else ""
        if problem["type"] == "extra_forbidden":
            known = ", ".join(sorted(_known_beside(key)))
            lines.append(f"{where}unknown setting {dotted!r}; known here: {known}")
        else:
            got = "" if dotted == "token" else f", got {problem['input']!r}"
            lines.append(f"{where}setting {dotted!r}: {problem['msg']}{got}")
    return ConfigurationError("\n".join(lines))


def _known_beside(key: Key) -> set[str]:
    depth = len(key) - 1
    return {leaf[depth] for leaf in leaves(Settings) if leaf[:depth] == key[:-1]}


def _consistent(settings: Settings) -> Settings:
    if settings.pool.min_browsers > settings.pool.max_browsers:
        raise ConfigurationError("setting 'pool.minBrowsers' must not be greater than 'pool.maxBrowsers'")
    if settings.logging.destination == "file" and settings.logging.file is None:
        raise ConfigurationError("setting 'logging.file' must be given when 'logging.destination' is 'file'")
    if settings.browser.channel and settings.browser.type != "chromium":
        raise ConfigurationError("setting 'browser.channel' needs 'browser.type' to be 'chromium'")
    if (settings.listen.tls_certificate is None) != (settings.listen.tls_key is None):
        raise ConfigurationError("settings 'listen.tlsCertificate' and 'listen.tlsKey' need each other")
    listen = settings.listen
    if listen.authorization_servers and (listen.public_url is None or listen.token_verifier is None):
        raise ConfigurationError(
            "setting 'listen.authorizationServers' needs 'listen.publicUrl' and 'listen.tokenVerifier'"
        )
    if settings.daemon.local and settings.transport != "http":
        raise ConfigurationError("setting 'daemon.local' needs 'transport' to be 'http'")
    if settings.browser.cdp_endpoint and settings.browser.type != "chromium":
        raise ConfigurationError("setting 'browser.cdpEndpoint' needs 'browser.type' to be 'chromium'")
    return settings
