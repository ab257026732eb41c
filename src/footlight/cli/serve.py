"""`footlight serve`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

__all__ = ["serve"]

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
    "token_file": "listen.tokenFile",
    "allow_host": "listen.allowedHosts",
    "allow_origin": "listen.allowedOrigins",
    "tls_certificate": "listen.tlsCertificate",
    "tls_key": "listen.tlsKey",
    "stateless": "listen.stateless",
    "share_default": "session.shareDefault",
    "observe": "observation.mode",
    "prompts": "prompts.directory",
    "log_level": "logging.level",
    "log_format": "logging.format",
    "log_file": "logging.file",
}
"""Which setting a flag sets."""

_path = click.Path(path_type=Path)


@click.command()
@click.option("--config", type=_path, help="Settings file, JSON or TOML.")
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http", "websocket"]),
    help="How it is reached. Default: stdio.",
)
@click.option(
    "--toolset",
    type=click.Choice(["browser", "szkrabok", "metamask"]),
    help="Which tools. szkrabok: dotted names, sessions that have a name. metamask: an extension under "
    "test. Default: browser.",
)
@click.option(
    "--app", metavar="MODULE:NAME", help="Toolset metamask, for the app of this profile. Default: MetaMask."
)
@click.option("--prefix", help="With metamask: begin the tools' names with this. Default: the app's.")
@click.option(
    "--strict-002", is_flag=True, default=None, help="With metamask: document 002, and nothing beside it."
)
@click.option("--repository", type=_path, help="With metamask: the app's sources. Default: here.")
@click.option("--knowledge", type=_path, help="Write every step down in this folder.")
@click.option(
    "--extension", type=_path, multiple=True, help="Load this unpacked Chrome extension. Repeatable."
)
@click.option("--sessions-dir", type=_path, help="With szkrabok: keep profiles here. Default: sessions.")
@click.option("--tests-dir", type=_path, help="With szkrabok: let browser.run_test run the tests in here.")
@click.option("--host", help="Listen on this address. Default: 127.0.0.1. Others need a token.")
@click.option("--port", type=int, help="Default: 8931. 0 takes a free one.")
@click.option("--token-file", type=_path, help="Ask clients for the bearer token in this file.")
@click.option("--allow-host", multiple=True, help="A name of this server in the Host header. Repeatable.")
@click.option("--allow-origin", multiple=True, help="Pages of this origin may call. Repeatable.")
@click.option("--tls-certificate", type=_path, help="Serve https or wss with this PEM file.")
@click.option("--tls-key", type=_path, help="The key of the certificate.")
@click.option("--stateless", is_flag=True, default=None, help="HTTP without transport sessions: only POST.")
@click.option(
    "--share-default", is_flag=True, default=None, help="One session `default` for all callers of a network."
)
@click.option("--local", is_flag=True, default=None, help="Let `footlight call` find it. Needs http.")
@click.option(
    "--idle-exit", type=float, metavar="SECONDS", help="Over HTTP: end when nobody was there so long."
)
@click.option(
    "--shared",
    is_flag=True,
    help="Be a way to the server in the background, for an MCP client on stdio. Started if there is none.",
)
@click.option(
    "--observe", type=click.Choice(["none", "diff", "full"]), help="What acting calls tell. Default: diff."
)
@click.option("--prompts", type=_path, help="Add the prompts in this folder.")
@click.option("--browser", type=click.Choice(["chromium", "firefox", "webkit"]), help="Default: chromium.")
@click.option("--headed/--headless", "headed", default=None, help="Show the browser. Default: headless.")
@click.option("--channel", type=click.Choice(["chrome", "msedge"]), help="A branded Chromium.")
@click.option("--executable-path", type=_path, help="This browser and no other.")
@click.option("--cdp-endpoint", help="Attach to a running Chromium, e.g. http://127.0.0.1:9222.")
@click.option("--download-path", type=_path, help="Keep downloads in this folder.")
@click.option("--output-path", type=_path, help="Write prints, recordings and baselines into this folder.")
@click.option("--timeout", type=int, help="Deadline of a call that gives none, in ms. Default: 30000.")
@click.option("--max-sessions", type=int, help="Default: 50.")
@click.option("--state-directory", type=_path, help="Where saved states are kept.")
@click.option("--upload-root", type=_path, multiple=True, help="Allow uploads from this folder. Repeatable.")
@click.option(
    "--allow-domain", multiple=True, help="Reach only this domain, e.g. '*.example.com'. Repeatable."
)
@click.option("--block-domain", multiple=True, help="Never reach this domain. Repeatable.")
@click.option("--enable-script-evaluation", is_flag=True, default=None, help="Switch the tool evaluate on.")
@click.option("--secrets", type=_path, help="Let calls use the secrets in this file as secret:NAME.")
@click.option(
    "--tools",
    multiple=True,
    help="Offer these: default, minimal, all, groups and tools, with commas; -NAME takes one away.",
)
@click.option("--log-level", type=click.Choice(["debug", "info", "warn", "error"]), help="Default: info.")
@click.option("--log-format", type=click.Choice(["json", "text"]), help="Default: json.")
@click.option("--log-file", type=_path, help="Log to this file instead.")
def serve(*, config: Path | None, headed: bool | None, shared: bool, **options: Any) -> None:
    """Serve the browser tools over MCP, on standard input and output or over a network.

    Settings come from defaults, then the file, then FOOTLIGHT_* variables, then these flags.
    """
    if shared:
        from footlight.daemon.pump import run_pump

        sys.exit(run_pump(sys.argv[2:]))
    from footlight import app, log
    from footlight.config import load_settings
    from footlight.server.selection import settings_of

    options["headless"] = None if headed is None else not headed
    if options["idle_exit"] is not None:
        options["idle_exit"] = round(options["idle_exit"] * 1000)
    tools: tuple[str, ...] = options.pop("tools")
    flags = {FLAGS[name]: _value(value) for name, value in options.items()} | settings_of(tools)
    if flags["logging.file"] is not None:
        flags["logging.destination"] = "file"
    settings = load_settings(file=config, environment=os.environ, flags=flags)
    os.environ.pop("FOOTLIGHT_TOKEN", None)  # No child needs it.
    log.configure(settings.logging, stdout_is_protocol=settings.transport == "stdio")
    status = app.run(settings, command=sys.argv[1:])
    # Everything is closed; the interpreter's own end would cost a client another quarter of a second.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value) or None  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value
