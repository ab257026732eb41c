"""The command `footlight codegen`."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from footlight.client.codegen.generate import command_line, generate
from footlight.client.handles import create_logger
from tests.cli.commands import run
from tests.cli.test_main import run as run_python
from tests.client.codegen.modules import execute
from tests.network import listening

ROOT = Path(__file__).parents[2]

GOTO = {"name": "nav.goto", "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}}
HEALTH = {"name": "health", "inputSchema": {"type": "object", "properties": {}}}
OPEN = {"name": "session.open", "inputSchema": {"type": "object", "properties": {"sessionName": {}}}}


class Generating:
    """A folder with a server's tools, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "mcp_tools.py"
        self.notes = folder / "notes"
        words = [sys.executable, "-m", "tests.client.codegen.listing_server", "tools.json", "notes"]
        self.server = shlex.join(words)

    def offer(self, *tools: Mapping[str, Any]) -> None:
        (self.folder / "tools.json").write_text(json.dumps(tools))

    def run(
        self, *flags: str, server: str | None = None, out: str = "mcp_tools.py", **environment: str
    ) -> tuple[int, str, str]:
        words = ["codegen", "--server", self.server if server is None else server, "--out", out, *flags]
        done = run(*words, cwd=self.folder, PYTHONPATH=str(ROOT), **environment)
        assert "Traceback" not in done.err
        return done.status, done.out, done.err

    @property
    def command(self) -> str:
        return command_line(self.server, Path("mcp_tools.py"))

    def module(self) -> dict[str, Any]:
        return execute(self.out.read_text("utf-8"))


@pytest.fixture
def generating(tmp_path: Path) -> Generating:
    one = Generating(tmp_path)
    one.offer(GOTO, HEALTH)
    return one


def test_module_is_written_once_and_then_only_on_changes(generating: Generating) -> None:
    """One process each time, which ends; the same tools are written once."""
    first = generating.run()
    written = (generating.out.read_bytes(), generating.out.stat().st_mtime_ns)
    again = generating.run()
    kept = (generating.out.read_bytes(), generating.out.stat().st_mtime_ns)
    generating.offer(GOTO)
    fewer = generating.run()

    assert first == (0, "Generated 2 tools.\n", "")
    assert again == (0, "No changes.\n", "")
    assert kept == written
    assert fewer == (0, "Generated 1 tools.\n", "")
    assert generating.notes.read_text() == "started\nended\n" * 3
    assert sorted(path.name for path in generating.folder.iterdir()) == [
        "mcp_tools.py",
        "notes",
        "tools.json",
    ]


def test_header_and_module_contain_the_command(generating: Generating) -> None:
    """It can be pasted, and is what drift tells to run."""
    generating.run()
    lines = generating.out.read_text("utf-8").split("\n")
    module = generating.module()

    assert lines[1] == f"# Regenerate: {generating.command}"
    assert lines[3] == f"# Tools: 2  Hash: {module['REGISTRY_HASH']}"
    assert (module["SERVER"], module["REGENERATE"]) == (generating.server, generating.command)
    words = shlex.split(generating.command)
    assert words == ["footlight", "codegen", "--server", generating.server, "--out", "mcp_tools.py"]


def test_check_writes_nothing_and_reports_differences(generating: Generating) -> None:
    missing = generating.run("--check")
    generating.run()
    same = generating.run("--check")
    before = generating.out.read_bytes()
    other = {**GOTO, "inputSchema": {"type": "object", "properties": {"url": {}, "wait": {}}}}
    generating.offer(other, {**HEALTH, "description": "Now with words."}, {**HEALTH, "name": "more"})
    differs = generating.run("--check")
    generating.offer(GOTO)
    fewer = generating.run("--check")

    run_it = f"Run {generating.command}\n"
    assert missing == (1, f"mcp_tools.py is not up to date:\n  there is no such file\n{run_it}", "")
    assert same == (0, "No changes.\n", "")
    assert differs == (
        1,
        "mcp_tools.py is not up to date:\n  new: more\n  other parameters: nav.goto\n"
        f"  other words, result or method: health\n{run_it}",
        "",
    )
    assert fewer == (1, f"mcp_tools.py is not up to date:\n  no longer there: health\n{run_it}", "")
    assert generating.out.read_bytes() == before


def test_server_secrets_are_not_written_to_the_module(generating: Generating) -> None:
    ignored = ("listing", "--token", "t0k3n", "postgres://ann:hunter2@127.0.0.1/db")
    server = shlex.join(["sh", "-c", f"exec {generating.server}", *ignored])
    done = generating.run(server=server)
    text = generating.out.read_text("utf-8")
    module = generating.module()
    environment = {"MCP_TOKEN": "t0k3n", "MCP_CREDENTIALS": "ann:hunter2"}
    # As the module itself says.
    template = shlex.split(module["REGENERATE"])[3]
    again = generating.run("--check", server=template, **environment)

    assert done == (
        0,
        "Generated 2 tools.\n",
        "footlight: mcp_tools.py does not contain the secrets of --server; it reads them from the "
        "environment: MCP_TOKEN, MCP_CREDENTIALS\n",
    )
    assert [secret for secret in ("t0k3n", "hunter2", "ann:") if secret in text] == []
    assert module["SERVER"].expand(environment) == shlex.split(server)
    assert again == (0, "No changes.\n", "")
    assert generating.run(server=template) == (
        2,
        "",
        "footlight: The server's address needs MCP_TOKEN, MCP_CREDENTIALS, which the environment does not "
        f"have: set them to what stands there in {template}\n",
    )


def test_url_credentials_are_not_disclosed(tmp_path: Path) -> None:
    """Also where the server says that they are wrong, nothing of them is told."""
    server = "http://ann:hunter2@127.0.0.1:9/mcp?token=t0k3n"
    done = run("codegen", "--server", server, "--out", str(tmp_path / "tools.py"))

    assert done.status == 3
    assert [secret for secret in ("t0k3n", "hunter2", "ann:") if secret in done.out + done.err] == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_module_with_secrets_connects_using_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over HTTP, to a server that wants the token."""
    async with listening("http") as url:
        server = f"{url.replace('://', '://ann:hunter2@')}/mcp?token=t0k3n"
        out = tmp_path / "tools.py"
        await generate(server, out)
        same = await generate(server, out, check=True)
        text = out.read_text("utf-8")
        monkeypatch.setenv("MCP_CREDENTIALS", "ann:hunter2")
        monkeypatch.setenv("MCP_TOKEN", "t0k3n")
        async with execute(text)["mcp_connect"]("x", log=create_logger(console=False)) as mcp:
            listed = await mcp.root.list_sessions()

    assert [secret for secret in ("t0k3n", "hunter2", "ann:") if secret in text] == []
    assert same.differences == ()
    assert listed["success"] is True


@pytest.mark.slow
def test_different_spelling_of_the_output_path_changes_nothing(generating: Generating) -> None:
    generating.run()
    written = generating.out.read_bytes()
    (generating.folder / "inner").mkdir()
    spellings = ("./mcp_tools.py", "inner/../mcp_tools.py", str(generating.out))
    done = [generating.run(*flags, out=out) for out in spellings for flags in ((), ("--check",))]

    assert done == [(0, "No changes.\n", "")] * 6
    assert generating.out.read_bytes() == written


def test_explicit_default_adapter_changes_nothing(generating: Generating) -> None:
    generating.run()

    assert generating.run("--check", "--adapter", "none") == (0, "No changes.\n", "")
    assert generating.run("--check", "--adapter", "browser")[0] == 1


def test_header_is_validated_and_not_disclosed() -> None:
    def codegen(server: str, header: str) -> tuple[int, str]:
        done = run("codegen", "--server", server, "--out", "x.py", "--header", header)
        return done.status, done.err

    assert codegen("http://127.0.0.1:9/mcp", "s3cret") == (2, "footlight: --header must be NAME:VALUE\n")
    status, said = codegen("no-such-command", "Authorization: Bearer s3cret")
    assert (status, "s3cret" in said) == (2, False)


def test_adapter_is_chosen_by_tools_or_option(generating: Generating) -> None:
    generating.offer(GOTO, OPEN)
    generating.run()
    chosen = generating.out.read_text("utf-8")
    generating.run("--adapter", "none")
    given = generating.out.read_text("utf-8")

    assert ("import Adapter, szkrabok_session" in chosen, "`session.open`" in chosen) == (True, False)
    assert "import Adapter, no_session" in given
    assert given.split("\n")[1].endswith("--out mcp_tools.py --adapter none")


def test_file_not_generated_is_not_overwritten(generating: Generating) -> None:
    generating.out.write_text("mine = 1\n")
    refused = generating.run()
    kept = generating.out.read_text()
    forced = generating.run("--force")

    assert refused == (
        2,
        "",
        "footlight: mcp_tools.py was not generated: give another --out, or --force to overwrite it\n",
    )
    assert kept == "mine = 1\n"
    assert forced == (0, "Generated 2 tools.\n", "")
    assert generating.notes.read_text() == "started\nended\n"  # The refusal started nothing.


def test_damaged_module_is_regenerated(generating: Generating) -> None:
    generating.run()
    generating.out.write_text(generating.out.read_text("utf-8")[:900] + "\n(", "utf-8")
    checked = generating.run("--check")
    generating.run()

    assert checked[:2] == (
        1,
        "mcp_tools.py is not up to date:\n  the existing file is not a generated module\n"
        f"Run {generating.command}\n",
    )
    assert generating.run("--check")[0] == 0


def test_other_line_endings_are_no_change(generating: Generating) -> None:
    """As git makes them on Windows."""
    generating.run()
    generating.out.write_bytes(generating.out.read_bytes().replace(b"\n", b"\r\n"))

    assert generating.run() == (0, "No changes.\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither these links nor these modes")
def test_symbolic_link_and_file_mode_are_kept(generating: Generating) -> None:
    target = generating.folder / "elsewhere.py"
    generating.out.symlink_to(target)
    generating.run()
    target.chmod(0o600)
    generating.offer(GOTO)
    generating.run()

    assert generating.out.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "# Tools: 1 " in target.read_text("utf-8")


@pytest.mark.parametrize(
    ("flags", "status", "said"),
    [
        ({"server": "no-such-program --flag"}, 3, "The command 'no-such-program' was not found: install it"),
        ({"server": f"{sys.executable} -c 'import sys; sys.exit(7)'"}, 3, "7"),
        ({"server": f"{sys.executable} -c 'print(\"Hello\"); input()'"}, 3, "footlight: "),
        ({"server": "http://127.0.0.1:9/mcp"}, 3, "127.0.0.1:9"),
        (
            {"server": "ftp://x"},
            2,
            "ftp:// is not supported; give http(s)://, ws(s):// or a command",
        ),
        ({"server": "'"}, 2, "No closing quotation"),
        ({"server": ""}, 2, "the command is empty"),
        ({"out": "none/mcp_tools.py"}, 2, "There is no folder none: make it, or give another --out"),
        ({"out": "."}, 2, ". is a folder: name a file in it, such as mcp_tools.py"),
        pytest.param(
            *({"out": os.devnull}, 2, f"{os.devnull} is a device or a pipe: give another --out"),
            marks=pytest.mark.skipif(os.name == "nt", reason="needs POSIX devices"),
        ),
        ({"out": "binary"}, 2, "binary was not generated: give another --out, or --force to overwrite it"),
    ],
)
def test_invalid_arguments_are_refused_with_a_remedy(
    generating: Generating, flags: Mapping[str, str], status: int, said: str
) -> None:
    (generating.folder / "binary").write_bytes(b"\xff\x00")

    done = generating.run(**flags)  # type: ignore[arg-type]

    assert (done[0], done[1]) == (status, "")
    assert said in done[2]
    assert not generating.out.exists()


@pytest.mark.parametrize(
    "server",
    [
        "footlight serve --toolset szkrabok",
        "footlight",
        'python -c "print(1)"',
        "it's $HOME `x` \\ !y",
        "http://127.0.0.1:80/mcp?a=b&c=d",
        "tab\tand\nline",
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="It is pasted into a shell of Unix")
def test_regenerate_command_can_be_pasted_into_a_shell(server: str) -> None:
    """Whatever shells make of quotes, the words are those that were typed."""
    command = command_line(server, Path("my tools.py"), adapter="none")
    displayed = subprocess.run(
        ["bash", "-c", f"footlight() {{ printf '%s\\0' \"$@\"; }}; {command}"],
        capture_output=True,
        check=True,
        text=True,
        timeout=20,
    )

    expected: Sequence[str] = ("codegen", "--server", server, "--out", "my tools.py", "--adapter", "none")
    assert displayed.stdout.split("\0")[:-1] == list(expected)
    assert "\n" not in command


def test_regenerate_command_matches_the_specification() -> None:
    assert command_line("footlight serve --toolset szkrabok", Path("mcp_tools.py")) == (
        'footlight codegen --server "footlight serve --toolset szkrabok" --out mcp_tools.py'
    )


def test_help_imports_no_client() -> None:
    report = (
        "import atexit, sys\n"
        "atexit.register(lambda: print([name for name in sys.modules if 'footlight.client' in name]))\n"
        "from footlight.cli.main import main\nmain()"
    )

    assert run_python("-c", report, "codegen", "--help").stdout.splitlines()[-1] == "[]"
