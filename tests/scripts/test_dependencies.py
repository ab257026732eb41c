"""Every import is a declared dependency, and every dependency is documented."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN_TIME: list[str] = PYPROJECT["project"]["dependencies"]
EXTRAS: list[str] = [
    each
    for extra in PYPROJECT["project"]["optional-dependencies"].values()
    for each in extra
    if not each.startswith("footlight[")  # an alias of another extra
]
DEVELOPMENT: list[str] = PYPROJECT["dependency-groups"]["dev"]


def find_imported_packages(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.slow
def test_package_imports_only_run_time_dependencies() -> None:
    declared = {re.split(r"[^\w-]", dependency)[0].lower() for dependency in RUN_TIME + EXTRAS}
    distributions = packages_distributions()

    undeclared = {
        (str(source.relative_to(ROOT)), package)
        for source in sorted((ROOT / "src").rglob("*.py"))
        for package in find_imported_packages(source)
        if package not in sys.stdlib_module_names | {"footlight"}
        # An extra that is not installed here has no distribution to ask: its package has its name.
        and declared.isdisjoint(
            name.lower().replace("_", "-") for name in distributions.get(package, [package])
        )
    }

    assert undeclared == set()


def test_every_dependency_is_documented_with_its_version_range() -> None:
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    tables = page.partition("## For development")

    rows = [re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \|", table, flags=re.MULTILINE) for table in tables]
    run_time, _, development = ([name + range_ for name, range_ in table] for table in rows)

    assert (sorted(run_time), sorted(development)) == (sorted(RUN_TIME), sorted(DEVELOPMENT))


def test_site_generator_is_documented_with_its_version_range() -> None:
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    [requirement] = PYPROJECT["dependency-groups"]["docs"]
    name, range_ = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()

    assert f"`{name}` (`{range_}`" in page
