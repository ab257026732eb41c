"""Statements on the page of requirements besides the tests that it names."""

import re

from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/requirements.md"
ROW = re.compile(r"^\| (R0.*?) \|$", re.MULTILINE)


def test_each_documented_difference_has_a_reason() -> None:
    rows = [row.split(" | ") for row in ROW.findall(PAGE.read_text("utf-8"))]

    assert rows
    for ids, *cells in rows:
        assert re.fullmatch(r"R00[0-4]-\d+(, R00[0-4]-\d+)*", ids), ids
        assert len(cells) == 3, ids
        assert all(len(cell) > 3 for cell in cells), ids


def test_requirement_ids_are_listed_under_their_specification() -> None:
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]:
        document = section[:3]
        found = set(re.findall(r"^(?:\| |- \*\*)R(\d{3})-", section, re.MULTILINE))
        assert found in (set(), {document}), document


def test_http_page_compares_both_transports() -> None:
    section = (ROOT / "docs/client-http.md").read_text("utf-8").partition("HTTP+SSE, 2024-11-05 | ")[2]
    rows = re.findall(r"^\| ([\w ]+) \|", section.partition("\n\n")[0], re.MULTILINE)

    assert rows == ["Addresses", "Connection", "Serverless hosts", "Complexity", "Status"]


def test_one_module_launches_extensions() -> None:
    """The only other persistent contexts are those of named sessions, which load no extension of an app."""
    source = ROOT / "src/footlight"
    texts = {path: path.read_text("utf-8") for path in source.rglob("*.py")}
    calls = [path for path, text in texts.items() if ".launch_persistent_context(" in text]
    launchers = [path for path, text in texts.items() if "(ProfileLauncher):" in text]
    makers = [path for path, text in texts.items() if " ExtensionLauncher(\n" in text]

    assert [path.name for path in calls] == ["launcher.py"]
    assert sorted(path.name for path in launchers) == ["extension_launch.py", "persistent_launch.py"]
    assert len(makers) == 1
