"""Names of sessions and files made from the names of tests."""

import re

import pytest

from footlight.testing.watched_test import file_name, session_name


def test_session_name_is_unique_per_test_and_process() -> None:
    names = {
        session_name(nodeid, worker=worker, run=run)
        for nodeid in ("test_a.py::test_x", "test_b.py::test_x", "test_b.py::test_X", "t.py::test_x[../ä]")
        for worker in (None, "gw0", "gw1")
        for run in ("411", "412")
    }

    assert len({name.casefold() for name in names}) == 24
    assert all(re.fullmatch(r"test-[a-z0-9_-]{1,59}", name) for name in names)
    assert session_name("test_a.py::test_x", worker="gw0") == "test-x-be25ccd4-gw0"
    assert len(session_name(f"t.py::test_{'x' * 500}", worker="gw10")) <= 64


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("test_a.py::test_x", "test_a-test_x"),
        ("shop/test_a.py::TestCart::test_x", "shop-test_a-TestCart-test_x"),
        ("test_a.py::test_x[1/2]", "test_a-test_x-1-2-"),
        ("test_a.py::test_x[1-2]", "test_a-test_x-1-2-"),
        (f"test_a.py::test_{'x' * 500}", f"test_a-test_{'x' * 108}-"),
    ],
    ids=["plain", "in a folder", "with a slash", "with a hyphen", "long"],
)
def test_file_is_named_after_its_test(nodeid: str, name: str) -> None:
    assert re.fullmatch(f"{name}[0-9a-f]{{8}}" if name.endswith("-") else name, file_name(nodeid))
