"""Choosing the display of a browser's window: the screen, a virtual one, or none."""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from footlight.browser.launch.display import Display, open_display
from tests.processes import children_of, line_of, name_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="windows need no display of X elsewhere"),
]

needs_xvfb = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without a display."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return monkeypatch


@pytest.fixture
def xvfb(tmp_path: Path, nowhere: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a program of that text in Xvfb's place."""

    def put(text: str) -> Path:
        program = tmp_path / "Xvfb"
        program.write_text(text)
        program.chmod(0o755)
        nowhere.setenv("PATH", str(tmp_path))
        return program

    return put


def displays() -> list[psutil.Process]:
    """Return the display servers that this process has started."""
    mine = children_of(psutil.Process())
    return [each for each in mine if "Xvfb" in name_of(each) and line_of(each)]


@pytest.mark.parametrize("variable", ["DISPLAY", "WAYLAND_DISPLAY"])
async def test_existing_display_is_used(nowhere: pytest.MonkeyPatch, variable: str) -> None:
    nowhere.setenv(variable, ":7")

    async with open_display() as display:
        assert display == Display("screen", {})
        assert displays() == []


def lock_of(number: str) -> Path:
    return Path(f"/tmp/.X{number}-lock")


@needs_xvfb
async def test_virtual_display_is_started_and_ended_when_none_exists(
    nowhere: pytest.MonkeyPatch,
) -> None:
    async with open_display() as display:
        [process] = displays()
        number = display.environment["DISPLAY"].removeprefix(":")
        assert display == Display("xvfb", {"DISPLAY": f":{number}"})
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"\0/tmp/.X11-unix/X{number}")

    _, alive = psutil.wait_procs([process], timeout=20)
    assert alive == []
    assert not await asyncio.to_thread(lock_of(number).exists)


@needs_xvfb
async def test_two_virtual_displays_differ(nowhere: pytest.MonkeyPatch) -> None:
    async with open_display() as one, open_display() as another:
        assert one.environment != another.environment


@needs_xvfb
async def test_virtual_display_ends_when_its_task_is_cancelled(nowhere: pytest.MonkeyPatch) -> None:
    opened = asyncio.Event()

    async def hold() -> None:
        async with open_display():
            opened.set()
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    await opened.wait()
    processes = displays()
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding

    _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


async def test_missing_display_and_xvfb_are_logged(
    nowhere: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere.setenv("PATH", str(tmp_path))

    with caplog.at_level(logging.WARNING, "footlight"):
        async with open_display() as display:
            assert display == Display("none", {})

    assert [each.message for each in caplog.records if each.name.startswith("footlight")] == [
        "there is no display and no Xvfb: the browser runs without a window"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\nexit 1\n", "Xvfb did not start: the browser runs without a window"),
        ("no program", "Xvfb could not be started, so the browser runs without a window: [Errno 8]"),
    ],
)
async def test_failing_xvfb_is_logged_and_not_used(
    xvfb: Callable[[str], Path], caplog: pytest.LogCaptureFixture, text: str, said: str
) -> None:
    xvfb(text)

    with caplog.at_level(logging.WARNING, "footlight"):
        async with open_display() as display:
            assert display == Display("none", {})

    [reported] = [each.message for each in caplog.records if each.name.startswith("footlight")]
    assert reported.startswith(said)
    assert displays() == []


async def test_unresponsive_xvfb_is_killed_after_timeout(
    xvfb: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footlight.browser.launch.display.START_SECONDS", 0.2)
    xvfb(
        f"#!{sys.executable}\nimport signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pause()\n"
    )
    monkeypatch.setattr("footlight.browser.launch.display.END_SECONDS", 0.2)
    before = children_of(psutil.Process())

    async with open_display() as display:
        assert display == Display("none", {})
        mine = [each for each in children_of(psutil.Process()) if each not in before]

    _, alive = psutil.wait_procs(mine, timeout=20)
    assert alive == []
