"""The changes: which are possible, which are drawn, and which tests belong to their modules."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.mutations.project_copy import ROOT

__all__ = ["Change", "draw", "tests_of"]

SOURCE = Path("src/footlight")

TESTS = {
    "app": ("tests/cli", "tests/server", "tests/transports", "tests/watch", "tests/e2e"),
    "apps": ("tests/apps", "tests/toolsets/metamask"),
    "audit": ("tests/audit", "tests/cli/test_audit.py"),
    "browser": ("tests/browser", "tests/toolsets/browser", "tests/server", "tests/e2e"),
    "browser_client": ("tests/browser_client", "tests/client", "tests/audit"),
    "cli": ("tests/cli", "tests/demo", "tests/docs"),
    "client": ("tests/client", "tests/testing", "tests/cli"),
    "cluster": ("tests/cluster",),
    "config": ("tests/test_config.py", "tests/cli", "tests/transports"),
    "daemon": ("tests/cli",),
    "demo": ("tests/demo", "tests/docs"),
    "knowledge": ("tests/knowledge", "tests/toolsets/metamask", "tests/cli/test_knowledge.py"),
    "protocol": ("tests/protocol", "tests/client"),
    "server": ("tests/server", "tests/toolsets/browser", "tests/protocol", "tests/e2e"),
    "testing": ("tests/testing",),
    "toolsets/browser": ("tests/toolsets/browser", "tests/server"),
    "toolsets/metamask": ("tests/toolsets/metamask", "tests/e2e"),
    "toolsets/szkrabok": ("tests/toolsets/szkrabok", "tests/e2e"),
    "transports": ("tests/transports", "tests/protocol", "tests/e2e"),
    "watch": ("tests/watch",),
}
"""The tests of each package. Other modules have the tests of their name and the end-to-end tests."""
OTHERS = ("tests/cli", "tests/server", "tests/transports", "tests/toolsets/browser")

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Change:
    """A change: `text` replaces the bytes from `start` to `end` of a file. `line` is the line of `start`."""

    path: Path
    line: int
    start: int
    end: int
    text: str
    was: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(SOURCE)}:{self.line}: {self.was!r} -> {self.text!r}"


def changes_in(path: Path) -> Iterator[Change]:
    """Yield the possible changes within the functions of a file."""
    source = (ROOT / path).read_text("utf-8")
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data = source.encode()

    def change(node: ast.expr | ast.stmt, new: ast.AST | str) -> Change:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        return Change(path, node.lineno, start, end, text, data[start:end].decode())

    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in (each for statement in function.body for each in ast.walk(statement)):
            if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
                other = COMPARISONS[type(node.ops[0])]()
                yield change(node, ast.Compare(node.left, [other, *node.ops[1:]], node.comparators))
            elif isinstance(node, ast.BoolOp):
                other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
                yield change(node, ast.BoolOp(other, node.values))
            elif isinstance(node, ast.If):
                yield change(node.test, f"(not ({ast.unparse(node.test)}))")
            elif isinstance(node, ast.Return) and node.value is not None:
                if not isinstance(node.value, ast.Constant):
                    yield change(node.value, "None")
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
                other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                yield change(node, ast.BinOp(node.left, other, node.right))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
                yield change(node, "pass")


def package_of(path: Path) -> str:
    first, *rest = path.relative_to(SOURCE).parts
    return f"{first}/{rest[0]}" if first == "toolsets" and len(rest) > 1 else first


def draw(count: int, seed: int) -> list[Change]:
    """Return a number of changes for each package in proportion to its lines, at least one."""
    chance = random.Random(seed)
    packages: dict[str, list[Path]] = {}
    for file in sorted((ROOT / SOURCE).rglob("*.py")):
        path = file.relative_to(ROOT)
        packages.setdefault(package_of(path), []).append(path)
    lines = {name: sum(len((ROOT / path).read_bytes()) for path in paths) for name, paths in packages.items()}
    total = sum(lines.values())
    drawn: list[Change] = []
    for name, paths in packages.items():
        possible = [change for path in paths for change in changes_in(path)]
        share = max(1 if lines[name] > total / 200 else 0, round(count * lines[name] / total))
        drawn += chance.sample(possible, min(share, len(possible)))
    return drawn


def tests_of(path: Path) -> tuple[list[str], list[str]]:
    """Return the tests that have the name of a module, and those that belong to its package."""
    package = [name for name in TESTS.get(package_of(path), OTHERS) if (ROOT / name).exists()]
    named = sorted((ROOT / "tests").rglob(f"test_{path.stem}.py"))
    own = [str(file.relative_to(ROOT)) for file in named]
    return [name for name in own if name.startswith(tuple(package))], package
