"""The command `footlight skill install`, whose SKILL.md describes commands that work."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.cli.background import background
from tests.cli.commands import run
from tests.site import Site

pytestmark = pytest.mark.anyio

LOGIN = """<!doctype html><html lang=en><title>Sign in</title><h1>Sign in</h1><form action=javascript:void(0)
onsubmit="document.querySelector('h1').textContent = 'Welcome, ' + this.user.value">
<label>Name <input name=user></label>
<label>Code <input name=code></label><button>Sign in</button></form>"""


@pytest.mark.slow
def test_skill_is_written_to_the_agent_skill_folders(tmp_path: Path) -> None:
    done = run("skill", "install", "--claude", "--cursor", "--dir", "mine", cwd=tmp_path)

    files = [f"{folder}/footlight/SKILL.md" for folder in (".claude/skills", ".cursor/skills", "mine")]
    texts = {(tmp_path / file).read_text("utf-8") for file in files}
    assert (done.status, done.out.splitlines()) == (0, files)
    [text] = texts
    head = yaml.safe_load(text.split("---")[1])
    assert (head["name"], set(head)) == ("footlight", {"name", "description"})
    assert len(text) / 4.1 < 1_500, "tokens, as tests/server/tools/test_selection.py counts them"
    assert all(code in text for code in ("ELEMENT_NOT_FOUND", "STALE_REF", "DIALOG_OPEN"))


def test_existing_foreign_skill_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / ".claude/skills/footlight/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("mine")

    refused = run("skill", "install", cwd=tmp_path)
    kept = file.read_text()
    forced = run("skill", "install", "--force", cwd=tmp_path)
    again = run("skill", "install", cwd=tmp_path)

    assert (refused.status, kept) == (2, "mine")
    assert "use --force to overwrite it" in refused.err
    assert (forced.status, again.status) == (0, 0)


@pytest.mark.slow
async def test_skill_commands_work_as_written(tmp_path: Path, site: Site) -> None:
    """In order, with a page of the test in place of the example's."""
    run("skill", "install", cwd=tmp_path)
    text = (tmp_path / ".claude/skills/footlight/SKILL.md").read_text("utf-8")
    loop, audit = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    commands = [shlex.split(line.removeprefix("$ ")) for line in loop.splitlines()]
    listed = [shlex.split(each)[2] for each in re.findall(r"^- `(footlight call .*?)`", text, re.MULTILINE)]
    url = site.page(LOGIN)

    async with background(tmp_path) as own:
        for command in commands:
            words = [url if word == "https://example.com/login" else word for word in command[1:]]
            done = await own.run(*words)
            assert done.status == 0, (command, done)
        named = {line.split()[0] for line in (await own.run("tools")).out.splitlines()}
        heading = await own.run("call", "get_text", "--selector", "h1")

        assert "Welcome, reader" in heading.out
        assert (own.root / "page.png").stat().st_size > 0
        assert {*listed} <= named
        assert len(listed) >= 10
        assert audit.startswith("$ footlight audit https://example.com/login --out audit.html")
