"""The Containerfile, as far as it can be checked without building it."""

import json
import re
import shlex
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest

from footlight.cli.commands import cli
from footlight.config.loading import load_settings
from footlight.transports.network.listener import DEFAULT_PORT

ROOT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    """Of the whole file, their lines joined."""
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def list_instructions(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def list_copied() -> list[str]:
    """From the checkout."""
    return [
        path
        for rest in list_instructions("COPY")
        if not rest.startswith("--from")
        for path in rest.split()[:-1]
    ]


def test_copied_files_exist_and_are_not_ignored() -> None:
    """`.dockerignore` keeps out everything else."""
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()

    assert [path for path in list_copied() if not (ROOT / path).exists()] == []
    assert "*" in ignored
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == set(list_copied())


def test_copied_files_are_exactly_those_the_build_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages: list[str] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    needed = {"pyproject.toml", "README.md", *project["project"]["license-files"]}

    assert set(list_copied()) == needed | {package.partition("/")[0] for package in packages}


def test_container_python_version_matches_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = {
        re.match(r"docker.io/library/python:([\d.]+)-slim-bookworm", image)
        for image in list_instructions("FROM")
    }

    assert all(versions)
    assert {f">={found[1]}" for found in versions if found} == {project["requires-python"]}


def test_apt_packages_exist_in_debian() -> None:
    [install] = [rest for rest in list_instructions("RUN") if "apt-get install" in rest]
    arguments = shlex.split(install.partition("apt-get install")[2].partition("&&")[0])
    names = [argument for argument in arguments if not argument.startswith("-")]
    assert names == ["chromium-headless-shell", "fonts-liberation"]
    if not knows_debians_packages():
        pytest.skip("the lists of Debian's packages are not on this system")

    displayed = subprocess.run(["apt-cache", "show", *names], capture_output=True, text=True, check=False)

    assert set(re.findall(r"^Package: (.+)$", displayed.stdout, re.MULTILINE)) == set(names)


def knows_debians_packages() -> bool:
    release = Path("/etc/os-release")
    is_bookworm = release.exists() and "VERSION_CODENAME=bookworm" in release.read_text("utf-8")
    return is_bookworm and any(Path("/var/lib/apt/lists").glob("*_Packages*"))


def test_container_command_and_variables_are_valid() -> None:
    [entrypoint], [command] = list_instructions("ENTRYPOINT"), list_instructions("CMD")
    assert json.loads(entrypoint) == ["footlight"]
    name, *options = json.loads(command)
    serve = cli.get_command(click.Context(cli), name)
    assert serve
    variables = dict(
        assignment.split("=") for rest in list_instructions("ENV") for assignment in shlex.split(rest)
    )

    given = serve.make_context(name, options).params
    settings = load_settings(environment=variables)

    assert {key: value for key, value in given.items() if value} == {"transport": "http", "host": "0.0.0.0"}
    folders = [
        *settings.security.upload_roots,
        settings.browser.download_path,
        settings.session.state_directory,
    ]
    [made] = [rest for rest in list_instructions("RUN") if "install --directory" in rest]
    assert [str(folder) for folder in folders] == re.findall(r"/data/\w+", made)


def test_container_does_not_run_as_root() -> None:
    [user] = list_instructions("USER")

    assert user != "root"
    assert any(f"useradd --uid 1000 --create-home {user}" in rest for rest in list_instructions("RUN"))


@pytest.mark.parametrize(("status", "exit_status"), [(200, 0), (503, 1)])
def test_health_check_queries_the_server(status: int, exit_status: int) -> None:
    with healthy(status) as port:
        assert health_check(port) == exit_status


def test_health_check_fails_without_a_server() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))

        assert health_check(unused.getsockname()[1]) == 1


def health_check(port: int) -> int:
    [check] = list_instructions("HEALTHCHECK")
    _, program, *arguments = check.partition("CMD")
    del program
    python, *rest = json.loads(arguments[0])
    assert python == "python"
    assert f"'127.0.0.1', {DEFAULT_PORT}," in rest[1]
    assert list_instructions("EXPOSE") == [str(DEFAULT_PORT)]
    ran = subprocess.run(
        [sys.executable, rest[0], rest[1].replace(str(DEFAULT_PORT), str(port))],
        capture_output=True,
        timeout=30,
        check=False,
    )
    return ran.returncode


@contextmanager
def healthy(status: int) -> Generator[int]:
    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
