"""Joining JavaScript modules into one script."""

from __future__ import annotations

from pathlib import Path

import pytest

from footlight.javascript import join_modules

FIRST = """// What the module is for.
import { other } from "./second.js";

/** Add one. */
export function first(number) {
  // A comment.
  return other(number) + 1;
}
"""
SECOND = """const ONE = 1;
export const other = (number) => number * ONE;
"""


def write(folder: Path, **modules: str) -> None:
    for name, source in modules.items():
        (folder / f"{name}.js").write_text(source, encoding="utf-8")


def test_modules_are_joined_in_the_given_order(tmp_path: Path) -> None:
    write(tmp_path, first=FIRST, second=SECOND)

    assert join_modules(tmp_path, ["second", "first"]).splitlines() == [
        "const ONE = 1;",
        "const other = (number) => number * ONE;",
        "function first(number) {",
        "return other(number) + 1;",
        "}",
    ]


TYPED = """/** @import { Facts } from "./facts.js" */

/** @typedef {{ tag: string }} Shape */

/** @type {(facts: Facts) => Shape} */
export function shapeOf(facts) {
  /** @type {Shape[]} */
  const shapes = [];
  for (const one of facts.list) shapes.push(/** @type {Shape} */ (one));
  return (
    /** @type {Shape} */ (shapes.pop())
  );
}
"""


def test_jsdoc_type_comments_are_stripped(tmp_path: Path) -> None:
    write(tmp_path, typed=TYPED)

    assert join_modules(tmp_path, ["typed"]).splitlines() == [
        "function shapeOf(facts) {",
        "const shapes = [];",
        "for (const one of facts.list) shapes.push((one));",
        "return (",
        "(shapes.pop())",
        ");",
        "}",
    ]


def test_code_after_a_leading_comment_is_refused(tmp_path: Path) -> None:
    write(tmp_path, first="/* why */ go();\n")

    with pytest.raises(ValueError, match=r"^Code after a comment would be left out: /\* why \*/ go\(\);$"):
        join_modules(tmp_path, ["first"])


@pytest.mark.parametrize(
    "declaration", ["const first = 2;", "export async function first() {}", "class first {}"]
)
def test_name_declared_by_two_modules_is_refused(tmp_path: Path, declaration: str) -> None:
    write(tmp_path, first=FIRST, second=f"{SECOND}\n{declaration}\n")

    with pytest.raises(ValueError, match=r"^second.js and first.js both declare first$"):
        join_modules(tmp_path, ["second", "first"])
