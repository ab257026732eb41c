"""`footlight serve`: serve the browser tools over MCP."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from footlight.cli.sections import SectionedCommand, browser_option

if TYPE_CHECKING:
    from footlight.browser.driver.early_driver import EarlyDriver
    from footlight.config import Settings

__all__ = ["serve"]

logger = logging.getLogger(__name__)

_PLUGIN_SWITCH = "PYDANTIC_DISABLE_PLUGINS"
_PLUGIN_SEARCH = "pydantic.plugin._loader"
FLAGS = {
    "browser": "browser.type",
    "headless": "browser.headless",
    "channel": "browser.channel",
    "executable_path": "browser.executablePath",
    "cdp_endpoint": "browser.cdpEndpoint",
    "download_path": "browser.downloadPath",
    "output_path": "browser.outputPath",
    "timeout": "session.defaultTimeout",
    "max_sessions": "session.maxSessions",
    "state_directory": "session.stateDirectory",
    "upload_root": "security.uploadRoots",
    "allow_domain": "security.allowedDomains",
    "block_domain": "security.blockedDomains",
    "enable_script_evaluation": "security.enableScriptEvaluation",
    "secrets": "security.secretsFile",
    "tools": "tools.groups",
    "toolset": "toolset",
    "app": "app.profile",
    "prefix": "app.prefix",
    "strict_002": "app.strict",
    "repository": "app.repository",
    "knowledge": "knowledge.directory",
    "extension": "browser.extensions",
    "sessions_dir": "profiles.directory",
    "tests_dir": "tests.directory",
    "transport": "transport",
    "host": "listen.host",
    "port": "port",
    "local": "daemon.local",
    "idle_exit": "daemon.idleExit",
    "cluster": "cluster.address",
    "token_file": "listen.tokenFile",
    "allow_host": "listen.allowedHosts",
    "allow_origin": "listen.allowedOrigins",
    "tls_certificate": "listen.tlsCertificate",
    "tls_key": "listen.tlsKey",
    "stateless": "listen.stateless",
    "share_default": "session.shareDefault",
    "observe": "observation.mode",
    "prompts": "prompts.directory",
    "watch": "watch.enabled",
    "keyframes": "watch.keyframes",
    "log_level": "logging.level",
    "log_format": "logging.format",
    "log_file": "logging.file",
}
"""The setting of each flag."""

SECTIONS = {
    "Common options": ("headed", "browser", "tools", "allow_domain", "upload_root", "secrets", "config"),
    "Transport": ("transport", "host", "port", "token_file", "shared"),
    "Network server": (
        *("allow_host", "allow_origin", "tls_certificate", "tls_key"),
        *("stateless", "share_default", "local", "idle_exit", "cluster"),
    ),
    "Browser": ("channel", "executable_path", "cdp_endpoint", "extension"),
    "Limits and permissions": ("block_domain", "enable_script_evaluation", "timeout", "max_sessions"),
    "Answers and prompts": ("observe", "prompts"),
    "Watching": ("watch", "keyframes"),
    "Files and folders": ("download_path", "output_path", "state_directory", "knowledge"),
    "Toolsets": (
        *("toolset", "sessions_dir", "tests_dir", "app", "prefix", "repository"),
        "strict_002",
    ),
    "Log": ("log_level", "log_format", "log_file"),
}
"""The options of each section of the help."""

NETWORK = ("http", "websocket")
NEEDED_SETTINGS = {
    ("host", "port", "token_file", "allow_host", "allow_origin"): ("transport", NETWORK),
    ("tls_certificate", "tls_key", "share_default"): ("transport", NETWORK),
    ("stateless", "idle_exit"): ("transport", ("http",)),
    ("sessions_dir", "tests_dir"): ("toolset", ("szkrabok",)),
    ("app", "prefix", "repository", "strict_002"): ("toolset", ("metamask",)),
}
"""Flags that have an effect only if a setting has one of these values."""

EXAMPLES = (
    "footlight serve",
    "footlight serve --headed --allow-domain '*.example.com'",
    "footlight serve --tools minimal --secrets agent.env",
    "footlight serve --transport http --port 8931 --token-file token",
    "footlight serve --config footlight.json",
)

_path = click.Path(path_type=Path)


@click.command(cls=SectionedCommand, sections=SECTIONS, examples=EXAMPLES)
@click.option("--config", type=_path, help="Settings file in JSON or TOML.")
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http", "websocket"]),
    help="Transport for clients. Default: stdio.",
)
@click.option(
    "--toolset",
    type=click.Choice(["browser", "szkrabok", "metamask"]),
    help="Toolset to offer. szkrabok: dotted tool names, named sessions. metamask: an extension under test. "
    "Default: browser.",
)
@click.option(
    "--app",
    metavar="MODULE:NAME",
    help="With metamask: the profile of the app under test. Default: MetaMask.",
)
@click.option(
    "--prefix",
    metavar="NAME",
    help="With metamask: prefix of the tool names. Default: the prefix of the app.",
)
@click.option(
    "--strict-002",
    is_flag=True,
    default=None,
    help="With metamask: leave out all tools and fields that are additions of Footlight.",
)
@click.option(
    "--repository",
    type=_path,
    help="With metamask: folder of the app's sources. Default: the current folder.",
)
@click.option("--knowledge", type=_path, help="Record every step in this folder.")
@click.option(
    "--extension", type=_path, multiple=True, help="Load this unpacked Chrome extension. Repeatable."
)
@click.option("--sessions-dir", type=_path, help="With szkrabok: folder for profiles. Default: sessions.")
@click.option(
    "--tests-dir", type=_path, help="With szkrabok: let browser.run_test run the tests in this folder."
)
@click.option(
    "--host", metavar="ADDRESS", help="Address to listen on. Default: 127.0.0.1. Others require a token."
)
@click.option("--port", type=int, metavar="N", help="Port to listen on; 0 takes a free one. Default: 8931.")
@click.option("--token-file", type=_path, help="Require the bearer token in this file from clients.")
@click.option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    help="Accept this name of the server in the Host header. Repeatable.",
)
@click.option(
    "--allow-origin",
    metavar="ORIGIN",
    multiple=True,
    help="Accept calls from web pages of this origin. Repeatable.",
)
@click.option("--tls-certificate", type=_path, help="Serve https or wss with this certificate (PEM).")
@click.option("--tls-key", type=_path, help="Private key of the certificate (PEM).")
@click.option(
    "--stateless", is_flag=True, default=None, help="Serve HTTP without transport sessions, with POST only."
)
@click.option(
    "--share-default",
    is_flag=True,
    default=None,
    help="Share the session `default` between all network clients.",
)
@click.option(
    "--local",
    is_flag=True,
    default=None,
    help="Let `footlight call` find this server. Requires --transport http.",
)
@click.option(
    "--idle-exit", type=float, metavar="SECONDS", help="Over HTTP: exit after this time without clients."
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run the browsers on this Ray cluster: host:port, or auto. Requires --transport http.",
)
@click.option(
    "--shared",
    is_flag=True,
    help="Proxy stdio to the shared background server, which is started if it is not running.",
)
@click.option(
    "--observe",
    type=click.Choice(["none", "diff", "full"]),
    help="What action results include about the page. Default: diff.",
)
@click.option(
    "--watch/--no-watch",
    default=None,
    help="Serve a page on which a person can watch and take over. Default: with --transport http, at /watch.",
)
@click.option(
    "--keyframes", is_flag=True, default=None, help="Keep a picture after each action, for reports."
)
@click.option("--prompts", type=_path, help="Offer the prompts in this folder as well.")
@browser_option
@click.option("--headed/--headless", "headed", default=None, help="Show the browser. Default: headless.")
@click.option("--channel", type=click.Choice(["chrome", "msedge"]), help="Use this branded Chromium.")
@click.option("--executable-path", type=_path, help="Use this browser executable.")
@click.option(
    "--cdp-endpoint", metavar="URL", help="Attach to a running Chromium, such as http://127.0.0.1:9222."
)
@click.option("--download-path", type=_path, help="Save downloads in this folder.")
@click.option("--output-path", type=_path, help="Save PDFs, recordings and baselines in this folder.")
@click.option("--timeout", type=int, metavar="MS", help="Default deadline of a call. Default: 30000.")
@click.option("--max-sessions", type=int, metavar="N", help="Maximum number of sessions. Default: 50.")
@click.option("--state-directory", type=_path, help="Folder for saved states.")
@click.option("--upload-root", type=_path, multiple=True, help="Allow uploads from this folder. Repeatable.")
@click.option(
    "--allow-domain",
    metavar="DOMAIN",
    multiple=True,
    help="Allow only this domain, such as '*.example.com'. Repeatable.",
)
@click.option("--block-domain", metavar="DOMAIN", multiple=True, help="Block this domain. Repeatable.")
@click.option("--enable-script-evaluation", is_flag=True, default=None, help="Enable the tool `evaluate`.")
@click.option("--secrets", type=_path, help="Let calls use the secrets in this file as secret:NAME.")
@click.option(
    "--tools",
    metavar="LIST",
    multiple=True,
    help="Tools to offer: default, minimal, all, groups or tools, separated by commas; -NAME leaves one out.",
)
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warn", "error"]), help="Log level. Default: info."
)
@click.option("--log-format", type=click.Choice(["json", "text"]), help="Log format. Default: json.")
@click.option("--log-file", type=_path, help="Log to this file instead of standard error.")
@click.pass_obj
def serve(
    early_driver: EarlyDriver | None,
    *,
    config: Path | None,
    headed: bool | None,
    shared: bool,
    **options: Any,
) -> None:
    """Serve the browser tools over MCP, on standard input and output or over a network.

    Settings are taken from the defaults, the settings file, FOOTLIGHT_* environment variables and these
    flags. Later ones override earlier ones.
    """
    if shared:
        from footlight.daemon.pump import run_pump

        sys.exit(run_pump(sys.argv[2:]))
    _leave_out_plugins()
    from footlight import app, log
    from footlight.config.loading import load_settings
    from footlight.server.selection import parse_tools_option

    options["headless"] = None if headed is None else not headed
    if options["idle_exit"] is not None:
        options["idle_exit"] = round(options["idle_exit"] * 1000)
    tools: tuple[str, ...] = options.pop("tools")
    flags = {FLAGS[name]: _value(value) for name, value in options.items()} | parse_tools_option(tools)
    if flags["logging.file"] is not None:
        flags["logging.destination"] = "file"
    settings = load_settings(file=config, environment=os.environ, flags=flags)
    _check_display(settings)
    os.environ.pop("FOOTLIGHT_TOKEN", None)  # Child processes must not inherit it.
    log.configure(settings.logging, stdout_is_protocol=settings.transport == "stdio")
    _warn_about_unused(options, settings)
    if settings.cluster.address is None:
        status = app.run(settings, command=sys.argv[1:], early_driver=early_driver)
    else:
        from footlight import cluster

        gc.enable()
        status = cluster.run(settings, command=sys.argv[1:])
    if early_driver is not None:
        early_driver.close()
    # All resources are closed. The shutdown of the interpreter would take another quarter of a second.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _warn_about_unused(options: Mapping[str, Any], settings: Settings) -> None:
    for names, (setting, values) in NEEDED_SETTINGS.items():
        if getattr(settings, setting) in values:
            continue
        for name in names:
            if options[name] not in (None, ()):
                logger.warning(
                    "--%s has no effect with the %s %s; it requires --%s %s",
                    *(name.replace("_", "-"), setting, getattr(settings, setting), setting),
                    " or ".join(values),
                )


def _check_display(settings: Settings) -> None:
    """Check that a browser window has a display, if the settings ask for a window.

    Raises:
        ConfigurationError: the settings ask for a window, but there is no display.
    """
    from footlight.toolsets import find_toolset_class

    browser = settings.browser
    if browser.headless or browser.cdp_endpoint or browser.extensions:
        return  # A browser with extensions opens a virtual display.
    toolset = find_toolset_class(settings.toolset)
    if toolset is not None and toolset.opens_display:
        return
    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return
    from footlight.errors import ConfigurationError

    raise ConfigurationError(
        "setting 'browser.headless' is false (--headed), but there is no display for a browser window",
        suggestion="Leave out --headed, or provide a display: `xvfb-run footlight serve --headed`.",
    )


def _leave_out_plugins() -> None:
    """Keep pydantic from looking for plugins, unless the user's environment says which ones to leave out.

    The search reads the metadata of all packages, which takes a tenth of the start time. Pydantic's own
    switch ends the search, but still imports its modules, which takes 6 ms and 2 MiB. A module without a
    search replaces them.
    """
    if os.environ.setdefault(_PLUGIN_SWITCH, "__all__") != "__all__" or _PLUGIN_SEARCH in sys.modules:
        return
    search = ModuleType(_PLUGIN_SEARCH)

    def find_other(name: str) -> object:
        """Return a member of the real module, for a version of pydantic that needs more of it."""
        if name.startswith("__"):  # Python asks every module for these.
            raise AttributeError(name)
        if sys.modules.get(_PLUGIN_SEARCH) is search:
            del sys.modules[_PLUGIN_SEARCH]
        return getattr(importlib.import_module(_PLUGIN_SEARCH), name)

    vars(search).update(get_plugins=tuple, __getattr__=find_other)
    sys.modules[_PLUGIN_SEARCH] = search


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value) or None  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value
