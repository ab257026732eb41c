"""Loading a profile by its name, and the errors when that fails."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from footlight.apps.metamask.app import METAMASK
from footlight.apps.profile import load_profile
from footlight.errors import ConfigurationError
from tests.apps.reader_profile import READER_APP


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The working directory, whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_a_profile_is_found_by_module_and_name() -> None:
    assert load_profile("tests.apps.reader_profile:READER_APP") is READER_APP
    assert load_profile("footlight.apps.metamask.app:METAMASK") is METAMASK


def test_module_in_working_directory_is_found(here: Path) -> None:
    (here / "my_own_app.py").write_text(
        "from footlight.apps.profile import AppProfile\n"
        "class Apps:\n    notes = AppProfile(name='Notes', prefix='notes')\n",
        "utf-8",
    )

    assert load_profile("my_own_app:Apps.notes").name == "Notes"


def test_working_directory_does_not_shadow_other_modules(here: Path) -> None:
    (here / "json.py").write_text("raise RuntimeError('not this one')\n", "utf-8")

    assert load_profile("tests.apps.reader_profile:READER_APP") is READER_APP
    assert sys.path[-1] == str(here)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("no_such_app:A", None, "cannot be loaded: ModuleNotFoundError: No module named 'no_such_app'"),
        ("some_app:A", "", "cannot be loaded: AttributeError: module 'some_app' has no attribute 'A'"),
        ("some_app:A", "A = 1 / 0", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("some_app:A", "A = {}", "must be an AppProfile, not dict"),
        (
            "some_app:A",
            "from footlight.apps.profile import AppProfile as A",
            "must be an AppProfile, not type",
        ),
    ],
    ids=["no module", "no name", "raises", "no profile", "a class"],
)
def test_unavailable_profile_is_a_configuration_error(
    name: str, text: str | None, said: str, here: Path
) -> None:
    if text is not None:
        (here / "some_app.py").write_text(text, "utf-8")

    with pytest.raises(ConfigurationError) as raised:
        load_profile(name)

    assert raised.value.message == f"setting 'app.profile': {name} {said}"
