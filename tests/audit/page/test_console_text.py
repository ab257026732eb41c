"""Parsing the console messages of `@playwright/mcp`."""

from __future__ import annotations

from footlight.audit.page.page import ConsoleMessage
from footlight.audit.page.server_page import read_console

HEAD = """### Result
Total messages: 5 (Errors: 3, Warnings: 1)
Returning 4 messages for level "warning"

"""


def test_multiline_messages_and_exceptions_are_parsed() -> None:
    reported = read_console(
        HEAD
        + """[WARNING] take
care @ home @ http://a.test/1:0
[ERROR] bad @ http://a.test/1:0
ReferenceError: nothing is not defined
    at there (http://a.test/1:1:105)
    at http://a.test/1:2:7
TypeError: no
    at http://a.test/app.js:3:1
[ERROR] Failed to load resource @ http://a.test/x.png:0"""
    )

    assert reported == [
        ConsoleMessage(level="warning", text="take\ncare @ home", source="http://a.test/1:0"),
        ConsoleMessage(level="error", text="bad", source="http://a.test/1:0"),
        ConsoleMessage(
            level="error",
            text="ReferenceError: nothing is not defined",
            source="http://a.test/1:1:105",
        ),
        ConsoleMessage(level="error", text="TypeError: no", source="http://a.test/app.js:3:1"),
        ConsoleMessage(level="error", text="Failed to load resource", source="http://a.test/x.png:0"),
    ]


def test_empty_console_has_no_messages() -> None:
    assert read_console("### Result\nTotal messages: 0 (Errors: 0, Warnings: 0)\n\n") == []
    assert read_console("") == []
