"""The examples run, and the Python code in the documents comes from them or from the product."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks
from tests.tiers import sample_parameters

EXAMPLES = ROOT / "docs/examples"
LIMIT_S = 60

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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sample_parameters(OUTPUT, "shop_by_refs.py", "client_errors.py"))
def test_example_prints_the_documented_output(name: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (0, OUTPUT[name]), ran.stderr


# tests/docs/test_first_steps.py runs the Python of its page as it stands.
@pytest.mark.parametrize(
    "block", [each for each in blocks("python") if each.page.name != "first-steps.md"], ids=str
)
def test_python_in_the_documents_comes_from_a_tested_file(block: Block) -> None:
    sources = [*EXAMPLES.rglob("*.py"), *(ROOT / "src").rglob("*.py")]

    assert [path.name for path in sources if block.text in path.read_text("utf-8")]
