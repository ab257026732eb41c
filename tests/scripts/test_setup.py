"""`scripts/setup` in a folder of its own, with a fake interpreter that records its calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Stands for Python: "-m venv" makes a .venv whose python and footlight are this script too.
INTERPRETER = """\
#!/bin/sh
echo "$(basename "$0") $*" >> "{calls}"
case "$*" in
    *"-m venv"*)
        rm -rf .venv
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        cp "$0" .venv/bin/footlight
        echo "command = python -m venv $(pwd -P)/.venv" > .venv/pyvenv.cfg
        ;;
    "-m pip"*|doctor*) [ ! -e "{broken}" ] || {{ echo "no such package"; exit 1; }} ;;
    *"import ensurepip"*) {ensurepip} ;;
    *) exec "{python}" "$@" ;;
esac
"""

MADE = ["python -m venv --clear .venv"]
INSTALLED = ["python -m pip install pip>=25.1", "python -m pip install --editable .[audit] --group dev"]
BROWSER = ["footlight doctor --install --quiet"]


class Checkout:
    """A folder with the script and a pyproject.toml, and the stand-in for Python beside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a checkout"
        (self.root / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "scripts/setup", self.root / "scripts/setup")
        self.pyproject = self.root / "pyproject.toml"
        self.pyproject.write_text('[project]\nname = "one"\n')
        self.python = folder / "python"
        self.broken = folder / "broken"
        self._calls = folder / "calls"
        self.place_python(ensurepip="exit 0")

    def place_python(self, *, ensurepip: str) -> None:
        text = INTERPRETER.format(
            calls=self._calls, broken=self.broken, python=sys.executable, ensurepip=ensurepip
        )
        self.python.write_text(text)
        self.python.chmod(0o755)

    def set_up(self, *arguments: str, python: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / "scripts/setup", *arguments],
            env={"PATH": os.environ["PATH"], "PYTHON": python or str(self.python)},
            capture_output=True,
            text=True,
            timeout=30,
        )

    def take_calls(self) -> list[str]:
        """Return the calls since the last time that change something."""
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        self._calls.unlink(missing_ok=True)
        return [line for line in lines if line in MADE + INSTALLED + BROWSER]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_first_setup_installs_everything_and_the_second_does_nothing(checkout: Checkout) -> None:
    first = checkout.set_up()
    assert (first.returncode, checkout.take_calls()) == (0, MADE + INSTALLED + BROWSER)

    second = checkout.set_up()
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert checkout.take_calls() == []


def test_a_changed_pyproject_is_installed_into_the_same_environment(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.take_calls()
    checkout.pyproject.write_text('[project]\nname = "two"\n')

    assert checkout.set_up().returncode == 0
    assert checkout.take_calls() == INSTALLED + BROWSER


def test_no_browser_option_skips_the_browser_check(checkout: Checkout) -> None:
    checkout.set_up("--no-browser")
    assert checkout.take_calls() == MADE + INSTALLED

    checkout.set_up()
    assert checkout.take_calls() == BROWSER


def test_environment_copied_from_another_folder_is_recreated(checkout: Checkout, tmp_path: Path) -> None:
    checkout.set_up()
    checkout.take_calls()
    checkout.root = checkout.root.rename(tmp_path / "another checkout")

    assert checkout.set_up().returncode == 0
    assert checkout.take_calls() == MADE + INSTALLED + BROWSER


def test_failed_install_shows_its_output_and_is_retried(checkout: Checkout) -> None:
    checkout.broken.touch()
    failed = checkout.set_up()
    assert failed.returncode == 1
    assert failed.stderr.endswith("no such package\npip could not be brought to 25.1.\n")
    checkout.take_calls()

    checkout.broken.unlink()
    assert checkout.set_up().returncode == 0
    assert checkout.take_calls() == INSTALLED + BROWSER


def test_missing_or_too_old_interpreter_is_named(checkout: Checkout, tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)

    for python in (str(old), "no-such-python"):
        refused = checkout.set_up(python=python)
        assert (refused.returncode, refused.stderr) == (
            1,
            f"Footlight needs Python 3.11 or later; tried: {python}.\n"
            "Install it, or name it: PYTHON=/path/to/python make …\n",
        )


def test_python_without_ensurepip_is_refused_with_instructions(checkout: Checkout) -> None:
    checkout.place_python(ensurepip="exit 1")

    refused = checkout.set_up()

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert (refused.returncode, refused.stderr.splitlines()[:2]) == (
        1,
        [
            f"{checkout.python} cannot make a virtual environment: its ensurepip is missing.",
            f"On Debian and Ubuntu: apt-get install python{version}-venv",
        ],
    )
    assert not (checkout.root / ".venv").exists()
