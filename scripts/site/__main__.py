"""Build the documentation as a site, from README.md, CONTRIBUTING.md, CHANGELOG.md and docs.

    python -m scripts.site [--out FOLDER]

Broken links, and pages that are not in the navigation, are errors. Nothing is loaded from the network, except
the generator, which is installed into an environment of its own the first time.
"""

from __future__ import annotations

import argparse
import fcntl
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from scripts.environments import make_environment
from scripts.site.pages import UnknownTargetError, copy_pages

__all__ = ["build_site", "main"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".docs"
CONFIGURATION = Path(__file__).with_name("zensical.toml")
LIMIT_SECONDS = 600


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=FOLDER / "site", help="folder of the site (default: .docs/site)"
    )
    out: Path = parser.parse_args().out.resolve()
    build_site(out)
    print(f"Built {out / 'index.html'}")


def build_site(out: Path) -> None:
    """Build the site in an empty folder `out`.

    Raises:
        SystemExit: a link is broken, or a page is not in the navigation.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    generator = _install_generator(project["dependency-groups"]["docs"])
    repository: str = project["project"]["urls"]["Repository"]
    work = out.with_name(f"{out.name}-source")
    for folder in (out, work):
        shutil.rmtree(folder, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        pages = copy_pages(ROOT, work / "source", repository=repository)
    except UnknownTargetError as error:
        raise SystemExit(str(error)) from None
    configuration = CONFIGURATION.read_text("utf-8")
    listed = _pages_of(tomllib.loads(configuration)["project"]["nav"])
    if listed != pages:
        raise SystemExit(
            f"These pages are in docs or in zensical.toml, but not in both: {sorted(listed ^ pages)}"
        )
    (work / "zensical.toml").write_text(configuration, "utf-8")
    done = subprocess.run(
        (generator, "build", "--clean", "--strict"),
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout)
    shutil.move(work / "site", out)
    shutil.rmtree(work)


def _install_generator(requirements: list[str]) -> str:
    """Install what builds the site into an environment of its own, once, and return its command."""
    environment = FOLDER / "venv"
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Tests in several processes build several sites.
        stamp = environment / "installed.txt"
        expected = "\n".join((sys.version, *requirements))
        if not stamp.is_file() or stamp.read_text("utf-8") != expected:
            print("Installing the generator of the site into .docs/venv …", flush=True)
            make_environment(environment, *requirements)
            stamp.write_text(expected, "utf-8")
    return str(environment / "bin/zensical")


def _pages_of(navigation: list[Any]) -> set[str]:
    pages: set[str] = set()
    for entry in navigation:
        for target in entry.values():
            pages |= {target} if isinstance(target, str) else _pages_of(target)
    return pages


if __name__ == "__main__":
    main()
