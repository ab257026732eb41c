"""Sessions of an imagined wallet, in the files that a recorder writes."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
URL = "chrome-extension://abc/home.html"
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b]0;x\x07\u202e"

Seen = Sequence[tuple[str, str]]

SCREENS: Mapping[str, tuple[Seen, Seen]] = {
    "unlock": (
        [("unlock-page", ""), ("unlock-password", ""), ("unlock-submit", "Unlock")],
        [
            ("heading", "Welcome back!"),
            ("textbox", "Password"),
            ("button", "Unlock"),
            ("link", "Forgot password?"),
        ],
    ),
    "home": (
        [("account-menu-icon", "Account 1"), ("eth-overview-send", "Send"), ("token-list-item", "25 ETH")],
        [
            ("button", "Account 1"),
            ("button", "Send"),
            ("button", "Swap"),
            ("link", "Tokens"),
            ("link", "Activity"),
        ],
    ),
    "settings": (
        [("settings-page", ""), ("settings-search", ""), ("tab-advanced", "Advanced")],
        [
            ("heading", "Settings"),
            ("textbox", "Search"),
            ("button", "Advanced"),
            ("switch", "Show test networks"),
        ],
    ),
    "unknown": ([("confirm-footer-button", "Confirm")], [("dialog", "Confirm"), ("button", "Confirm")]),
}
"""Test ids with their texts, and roles with their names."""


def record(
    tool: str,
    *,
    screen: str = "home",
    at: datetime = START,
    session_id: str = "mm-one",
    ok: bool = True,
    code: str = "MM_TARGET_NOT_FOUND",
    message: str = "Nothing has this test id",
    details: Mapping[str, Any] | None = None,
    input: Mapping[str, Any] | None = None,
    duration_ms: int = 40,
    seen: tuple[Seen, Seen] | None = None,
    screenshot: str | None = None,
    **target: str,
) -> dict[str, Any]:
    """Return a StepRecord v1. `target` is `testId`, `selector` or `a11yRef`."""
    ids, nodes = SCREENS.get(screen, ((), ())) if seen is None else seen
    return {
        "schemaVersion": 1,
        "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z",
        "sessionId": session_id,
        "environment": {"platform": "linux", "nodeVersion": "v20.11.0", "yarnVersion": "4.1.0"},
        "git": {"branch": "fix/send-flow", "commit": "0123456789abcdef0123", "dirty": True},
        "build": {"buildType": "build:test", "extensionPathResolved": "dist/chrome"},
        "tool": {
            "name": tool,
            "input": {**(input or {}), **target},
            **({"target": target} if target else {}),
            **({"textRedacted": True, "textLength": 24} if tool == "mm_type" else {}),
        },
        "timing": {"durationMs": duration_ms},
        "outcome": {"ok": ok}
        if ok
        else {"ok": ok, "error": {"code": code, "message": message, "details": details or {}}},
        "observation": {
            "state": {
                "isLoaded": True,
                "currentUrl": URL,
                "extensionId": "abc",
                "isUnlocked": screen != "unlock",
                "currentScreen": screen,
                "accountAddress": None
                if screen == "unlock"
                else "0x5CfE73b6021E818B776b421B1c4Db2474086a7e1",
                "networkName": "Localhost 8545",
                "chainId": 1337,
                "balance": "25 ETH",
            },
            "testIds": [{"testId": id, "tag": "div", "text": text, "visible": True} for id, text in ids],
            "a11y": {
                "nodes": [
                    {
                        "ref": f"e{number}",
                        "role": role,
                        "name": name,
                        "disabled": False,
                        "path": ["dialog:Wallet"],
                    }
                    for number, (role, name) in enumerate(nodes, 1)
                ]
            },
        },
        **(
            {"artifacts": {"screenshot": {"path": screenshot, "width": 640, "height": 400}}}
            if screenshot
            else {}
        ),
    }


def write(root: Path, *records: Mapping[str, Any]) -> list[Path]:
    """Write the records to the recorder's paths, and return the paths."""
    return [_write(root, each) for each in records]


def space_by_seconds(records: Sequence[dict[str, Any]], *, start: datetime = START) -> list[dict[str, Any]]:
    """Return the same records, one second apart."""
    return [
        {**each, "timestamp": f"{start + timedelta(seconds=number):%Y-%m-%dT%H:%M:%S}.000Z"}
        for number, each in enumerate(records)
    ]


def _write(root: Path, each: Mapping[str, Any]) -> Path:
    stamp = each["timestamp"].replace("-", "").replace(":", "")
    path = root / each["sessionId"] / "steps" / f"{stamp}-{each['tool']['name']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.name}.new")
    written.write_text(json.dumps(each), "utf-8")
    written.replace(path)
    return path


def make_long_session(session_id: str = "mm-long") -> list[dict[str, Any]]:
    """Return forty steps on three screens, with failures, a notification, screenshots and hostile texts."""
    made: list[dict[str, Any]] = []
    at = START

    def step(tool: str, screen: str, *, later_ms: int = 900, **facts: Any) -> None:
        nonlocal at
        made.append(record(tool, screen=screen, at=at, session_id=session_id, **facts))
        at += timedelta(milliseconds=later_ms + int(facts.get("duration_ms", 40)))

    step(
        "mm_launch",
        "unlock",
        duration_ms=8200,
        input={"stateMode": "default", "fixturePreset": "withERC20Tokens"},
    )
    step("mm_describe_screen", "unlock", duration_ms=120, screenshot="screenshots/unlock.png")
    step("mm_type", "unlock", a11yRef="e2", duration_ms=95)
    step("mm_click", "home", testId="unlock-submit", duration_ms=1480)
    for turn in range(3):
        step("mm_describe_screen", "home", duration_ms=140)
        step(
            "mm_click",
            "home",
            ok=False,
            testId="send-button",
            duration_ms=15_000,
            details={"timeoutMs": 15000, "closest": ["eth-overview-send"]},
        )
        step("mm_click", "settings", a11yRef="e1", duration_ms=310)
        step("mm_list_testids", "settings", duration_ms=60)
        step("mm_wait_for", "settings", testId="tab-advanced", duration_ms=700)
        step("mm_click", "settings", testId="tab-advanced", duration_ms=220)
        step("mm_type", "settings", selector="input[type=search]", duration_ms=180)
        step("mm_get_state", "settings", duration_ms=25)
        step("mm_accessibility_snapshot", "settings", duration_ms=90)
        step(
            "mm_click",
            "home",
            selector=".settings-page__header__title-container__close-button",
            duration_ms=400,
        )
        if turn == 1:
            step(
                "mm_screenshot",
                "home",
                duration_ms=350,
                input={"name": "home"},
                screenshot="screenshots/home.png",
            )
    step("mm_wait_for_notification", "unknown", duration_ms=2100)
    step(
        "mm_describe_screen",
        "unknown",
        seen=([("confirm-footer-button", HOSTILE)], [("dialog", HOSTILE), ("button", "Confirm")]),
    )
    step("mm_click", "home", testId="confirm-footer-button", duration_ms=600)
    step("mm_click", "home", ok=False, code="MM_CLICK_FAILED", message=HOSTILE, a11yRef="e9")
    step("mm_get_state", "home")
    return made


def picture(width: int = 640, height: int = 400) -> bytes:
    """Return a PNG of one colour that gets lighter downwards."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + bytes((40 + 150 * y // height, 90, 160)) * width for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )
