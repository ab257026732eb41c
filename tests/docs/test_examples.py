"""The examples run, and the Python code in the documents comes from them or from the product."""

import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks

EXAMPLES = ROOT / "docs/examples"
LIMIT_S = 110

OUTPUT = {
    "scrape_table.py": """\
[
  {
    "Item": "Gaffer tape",
    "Size": "50 mm",
    "Price": "12.50"
  },
  {
    "Item": "Hook clamp",
    "Size": "48 mm",
    "Price": "9.20"
  },
  {
    "Item": "Hook clamp",
    "Size": "50 mm",
    "Price": "9.80"
  }
]
""",
    "keep_login.py": """\
saved: ['shop']
another session: Sign in
after restore_state: Account
""",
    "files_up_and_down.py": """\
sorted.txt
Fly 7
LX 12
Sound 3
""",
    "watch_page.py": """\
before: Act one
after: Interval
""",
    "over_http.py": """\
['Skull', 'Letter', 'Lantern']
""",
    "over_websocket.py": """\
Stand by, LX 12
1 session
""",
    "shop_by_refs.py": next(block.text for block in blocks("text") if block.page == ROOT / "README.md"),
    "batch_and_watch.py": """\
the last step: {'text': '12 in stock'}
console: warning Only 12 of gaffer tape left
request_body: {"item":"gaffer tape"}
response_body: {"count": 12}
""",
    "compare_pictures.py": """\
baseline: tonight.png
/: the same, 0.0 % []
/blue: different, 10.0 % [{'x': 0, 'y': 0, 'width': 1280, 'height': 72}]
""",
}

OUTPUT |= {
    example[1]: example[2]
    for block in blocks("console")
    if (
        example := re.fullmatch(
            r"\$ python docs/examples/((?:client_\w+|audit_\w+|own_app)\.py)\n(.*)", block.text, re.DOTALL
        )
    )
}
"""The guides to the client, to audits and to extensions show what their examples print."""


def test_every_example_has_an_expected_output() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(OUTPUT)


FAST = ("shop_by_refs.py",)
OTHERS = sorted({*OUTPUT} - {*FAST})
SIDE_BY_SIDE = 3
"""The number of examples that run at the same time: they spend most of their time on starting and waiting."""


@pytest.mark.parametrize(
    "names",
    [
        FAST,
        *(
            pytest.param(OTHERS[first : first + SIDE_BY_SIDE], marks=pytest.mark.slow)
            for first in range(0, len(OTHERS), SIDE_BY_SIDE)
        ),
    ],
    ids=" ".join,
)
def test_examples_print_the_documented_output(names: Sequence[str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(names)) as threads:
        ran = threads.map(lambda name: run_example(name, tmp_path / name.removesuffix(".py")), names)

    assert [*ran] == [(name, 0, OUTPUT[name]) for name in names]


def run_example(name: str, folder: Path) -> tuple[str, int, str]:
    """Return the name of the example, its exit status and what it prints, with its errors if it fails."""
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    return name, ran.returncode, ran.stdout + (ran.stderr if ran.returncode else "")


# tests/docs/test_first_steps.py runs the Python of its page as it stands.
@pytest.mark.parametrize(
    "block", [each for each in blocks("python") if each.page.name != "first-steps.md"], ids=str
)
def test_python_in_the_documents_comes_from_a_tested_file(block: Block) -> None:
    sources = [*EXAMPLES.rglob("*.py"), *(ROOT / "src").rglob("*.py")]

    assert [path.name for path in sources if block.text in path.read_text("utf-8")]
