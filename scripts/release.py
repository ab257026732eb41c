"""Build and check the files of a release: wheel, sdist, MCPB bundle and container context. Publish nothing.

    release.py [--out FOLDER]

The wheel is installed into a clean virtual environment, which must start a browser and answer a call.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema

from scripts.environments import make_environment
from scripts.local_server import serve_folder

__all__ = ["container_files", "make_manifest"]

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "tests/scripts/schemas/mcpb-manifest-v0.4.schema.json"
ICON_SIZE = 512
LIMIT_SECONDS = 600
TOOLS = ("build>=1.6,<2", "twine>=7,<8")
BUILD = ("-m", "build", "--quiet", "--no-isolation")
"""The arguments with which the environment of the tools builds. It has what the package is built with."""
PAGE = "<!doctype html><title>Release</title><h1>The release answers</h1>"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the files (default: dist)")
    out: Path = parser.parse_args().out.resolve()
    check_versions()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="footlight-release-") as name:
        folder = Path(name)
        tools = make_environment(folder / "tools", *TOOLS, *read_build_requirements())
        wheel = build_distributions(out, tools)
        build_bundle(out, folder, tools)
        build_container_context(out, folder, tools)
        check_installation(wheel, folder)
    for file in sorted(out.iterdir()):
        print(f"{file.stat().st_size:>10,}  {file.name}")
    print("Built and checked. Nothing was published.")


def read_project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read_build_requirements() -> list[str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]


def check_versions() -> None:
    """Compare the version of `server.json` with that of the package.

    Raises:
        SystemExit: they differ.
    """
    server = json.loads((ROOT / "server.json").read_text("utf-8"))
    version = read_project()["version"]
    if {server["version"], *(each["version"] for each in server["packages"])} != {version}:
        raise SystemExit(f"server.json has another version than pyproject.toml ({version})")


def build_distributions(out: Path, tools: Path) -> Path:
    """Build the wheel and the sdist, and check them as a package index does. Return the wheel."""
    _step("wheel and sdist", str(tools), *BUILD, "--outdir", str(out), str(ROOT))
    files = [str(file) for file in out.iterdir()]
    _step("twine check", str(tools), "-m", "twine", "check", "--strict", *files)
    return next(out.glob("*.whl"))


def make_manifest() -> dict[str, Any]:
    """Return the manifest of the MCPB bundle, made from `pyproject.toml`."""
    project = read_project()
    urls = project["urls"]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "Footlight",
        "version": project["version"],
        "description": project["description"],
        "author": {"name": "Footlight contributors", "url": urls["Homepage"]},
        "repository": {"type": "git", "url": urls["Repository"]},
        "homepage": urls["Homepage"],
        "documentation": urls["Documentation"],
        "support": urls["Issues"],
        "icon": "icon.png",
        "server": {
            "type": "uv",
            "entry_point": "src/footlight/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "footlight", "serve"],
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": project["keywords"],
        "license": project["license"],
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project["requires-python"]},
        },
    }


def build_bundle(out: Path, folder: Path, tools: Path) -> None:
    """Write the MCPB bundle, with which a desktop application installs the server by a click."""
    manifest = make_manifest()
    jsonschema.validate(manifest, json.loads(SCHEMA.read_text("utf-8")))
    bundle = out / f"footlight-{manifest['version']}.mcpb"
    icon = folder / "icon.png"
    draw_icon(icon)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest, indent=2) + "\n")
        archive.write(icon, "icon.png")
        for file in _package_files():
            archive.write(ROOT / file, file)
    unpacked = folder / "bundle"
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(unpacked)
    missing = [
        each
        for each in (manifest["icon"], manifest["server"]["entry_point"])
        if not (unpacked / each).is_file()
    ]
    if missing:
        raise SystemExit(f"{bundle.name} lacks {', '.join(missing)}")
    _build_wheel("the bundle", unpacked, folder / "from-bundle", tools)


def draw_icon(file: Path) -> None:
    """Render the logo as PNG, which desktop applications require."""
    from playwright.sync_api import sync_playwright

    from footlight.browser.launch.installation import find_browser
    from footlight.config import BrowserSettings

    browser = find_browser(BrowserSettings(), file.parent / "no-such-build").executable
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=str(browser) if browser else None, chromium_sandbox=os.geteuid() != 0
        )
        page = chromium.new_page(viewport={"width": ICON_SIZE, "height": ICON_SIZE})
        logo = (ROOT / "docs/logo.svg").read_text("utf-8")
        page.set_content(f"<style>body{{margin:0}}svg{{display:block;width:100vw}}</style>{logo}")
        page.screenshot(path=file, omit_background=True)
        chromium.close()


def container_files() -> list[str]:
    """Return what the Containerfile copies from the checkout."""
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    return [path for paths in copies for path in paths]


def build_container_context(out: Path, folder: Path, tools: Path) -> None:
    """Write the folder from which the container image is built, as an archive."""
    name = f"footlight-{read_project()['version']}-container"
    archive = out / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for path in ("Containerfile", ".dockerignore", *container_files()):
            tar.add(ROOT / path, f"{name}/{path}", filter=_without_bytecode)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    _build_wheel("the container context", folder / name, folder / "from-context", tools)


def check_installation(wheel: Path, folder: Path) -> None:
    """Install the wheel into a clean environment, and let it start a browser and answer a call."""
    footlight = str(make_environment(folder / "clean", str(wheel)).with_name("footlight"))
    print("ok  the wheel in a clean environment", flush=True)
    _step("footlight doctor", footlight, "doctor", "--quiet")
    with _serve_page(folder) as url:
        call = ("call", "get_text", "--selector", "h1", "--server", f"{footlight} serve")
        _step("a call that fails", footlight, *call, fails=True)
        navigate = ("call", "navigate", "--url", url, "--server", f"{footlight} serve")
        output = _step("a call", footlight, *navigate)
    if "The release answers" not in output:
        raise SystemExit(f"the installed package did not show the page:\n{output}")


def _package_files() -> list[str]:
    project = read_project()
    sources = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "src").rglob("*") if file.is_file())
    fixed = ["pyproject.toml", "README.md", *project["license-files"]]
    return [*fixed, *(file for file in sources if "__pycache__" not in file)]


def _build_wheel(what: str, source: Path, target: Path, tools: Path) -> None:
    _step(f"a wheel from {what}", str(tools), *BUILD, "--wheel", "--outdir", str(target), str(source))


def _without_bytecode(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in entry.name else entry


def _step(name: str, *command: str, fails: bool = False) -> str:
    """Run a command outside of the checkout and return its output.

    Raises:
        SystemExit: it ended with another status than expected.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=tempfile.gettempdir(),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if bool(done.returncode) is not fails:
        raise SystemExit(f"{name}: exit status {done.returncode}\n{done.stdout}")
    print(f"ok  {name}", flush=True)
    return done.stdout


@contextmanager
def _serve_page(folder: Path) -> Generator[str]:
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    with serve_folder(site) as url:
        yield f"{url}/"


if __name__ == "__main__":
    main()
