"""`scripts/setup-tests` in a folder of its own, with fake programs that report what they would install."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SYSTEM = "/usr/bin:/bin"


class Checkout:
    """`tools` is all that is found besides `cmp` and `dirname`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a checkout"
        self.tools = folder / "tools"
        self.lock = self._place(self.root / "peers/package-lock.json", "one")
        self.script = self.root / "scripts/setup-tests"
        self.script.parent.mkdir()
        shutil.copy(ROOT / "scripts/setup-tests", self.script)
        self.tools.mkdir()
        for name in ("cmp", "dirname"):
            found = shutil.which(name, path=SYSTEM)
            assert found
            (self.tools / name).symlink_to(found)
        self._executable(self.tools / "Xvfb", "exit 1")
        self.python(status=0)

    def python(self, *, status: int) -> None:
        self._executable(self.root / ".venv/bin/python", f"echo installing\nexit {status}")

    def npm(self) -> None:
        self._executable(self.tools / "npm", "exit 1")

    def remove_xvfb(self, *, apt_get: str | None) -> None:
        (self.tools / "Xvfb").unlink()
        if apt_get is not None:
            self._executable(self.tools / "apt-get", apt_get)

    def place_lock(self, lock: str) -> None:
        self._place(self.root / ".peers/installed.json", lock)

    def run(self) -> tuple[int, str, str]:
        done = subprocess.run(
            ["/bin/sh", self.script],
            env={"PATH": str(self.tools)},
            capture_output=True,
            text=True,
            timeout=30,
        )
        return done.returncode, done.stdout, done.stderr

    def _executable(self, path: Path, script: str) -> None:
        self._place(path, f"#!/bin/sh\n{script}\n").chmod(0o755)

    def _place(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_peer_servers_are_installed_by_npm(checkout: Checkout) -> None:
    checkout.npm()

    assert checkout.run() == (0, "installing\n", "")


def test_peer_servers_are_reinstalled_when_the_lock_file_changes(checkout: Checkout) -> None:
    checkout.npm()
    checkout.place_lock("another")

    assert checkout.run() == (0, "installing\n", "")


def test_unchanged_lock_file_installs_nothing(checkout: Checkout) -> None:
    checkout.npm()
    checkout.place_lock("one")

    assert checkout.run() == (0, "", "")


def test_setup_continues_without_npm(checkout: Checkout) -> None:
    assert checkout.run() == (
        *(0, "", "There is no npm: the tests with other people's servers are skipped.\n"),
    )


def test_setup_continues_when_npm_fails(checkout: Checkout) -> None:
    checkout.npm()
    checkout.python(status=1)

    assert checkout.run() == (
        *(
            0,
            "installing\n",
            "npm could not install peers/: the tests with other people's servers are skipped.\n",
        ),
    )


def test_setup_succeeds_without_peer_servers(checkout: Checkout) -> None:
    checkout.lock.unlink()

    assert checkout.run() == (0, "", "")


def test_xvfb_is_installed_once(checkout: Checkout) -> None:
    checkout.place_lock("one")
    checkout.remove_xvfb(apt_get='echo "$*" >> ../apt-get-calls')

    assert checkout.run() == (0, "", "Installing Xvfb …\n")
    assert checkout.run() == (0, "", "")
    calls = (checkout.root.parent / "apt-get-calls").read_text().splitlines()
    assert calls == ["update -qq", "install -y -qq xvfb"]


@pytest.mark.parametrize("apt_get", [None, "exit 100"], ids=["no apt-get", "apt-get fails"])
def test_setup_continues_without_xvfb(checkout: Checkout, apt_get: str | None) -> None:
    checkout.place_lock("one")
    checkout.remove_xvfb(apt_get=apt_get)

    assert checkout.run() == (
        *(0, ""),
        "Installing Xvfb …\nXvfb could not be installed, so the tests that need it are skipped. "
        "On Debian and Ubuntu: apt-get install xvfb\n",
    )
