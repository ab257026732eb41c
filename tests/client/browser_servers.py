"""The commands of the two browser servers that the typed client supports."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from footlight.browser.launch.installation import find_browser
from footlight.browser_client.mcp_config import MCPConfig
from footlight.config import BrowserSettings
from tests.conftest import ENGINE, server_command
from tests.tiers import sample_parameters

FAMILIES = tuple(sample_parameters(("footlight", "@playwright/mcp"), "footlight"))

_SCRIPT = Path(__file__).parents[2] / ".peers/node_modules/@playwright/mcp/cli.js"


def config_of(family: str, *flags: str) -> MCPConfig:
    """Return the configuration of a server. Skip the test, with a hint, if it is not installed."""
    if family == "footlight":
        command, *arguments = server_command("--enable-script-evaluation", *flags)
        return MCPConfig(command, tuple(arguments))
    if not _SCRIPT.exists():
        pytest.skip(
            "@playwright/mcp is not installed: `npm ci` of peers/package-lock.json puts it into .peers"
        )
    if ENGINE != "chromium":
        pytest.skip("@playwright/mcp is tested with Chromium alone")
    own = Path(tempfile.gettempdir()) / "no-such-build"
    browser = str(find_browser(BrowserSettings(), own).executable or "")
    found = ("--executable-path", browser) if browser else ()
    unsafe = ("--no-sandbox",) if getattr(os, "geteuid", lambda: 1)() == 0 else ()
    return MCPConfig(
        str(compute_driver_executable()[0]), (str(_SCRIPT), "--isolated", *unsafe, *found, *flags)
    )
