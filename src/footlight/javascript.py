"""JavaScript modules of the package, joined into scripts for a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources.abc import Traversable

__all__ = ["join_modules", "page_function", "run_once", "selector_engine"]


def join_modules(folder: Traversable, names: Sequence[str]) -> str:
    """Return the code of the modules `NAME.js` as one script with one scope, in this order.

    A name may be the path of a module in another folder. Imports, exports and type casts are left out,
    because only linters and type checkers need them. Comment lines and indentation are left out too, because
    some scripts are sent with every request.

    Raises:
        ValueError: Two modules declare the same name, so one would replace the other. Or code follows a
            comment that begins its line.
    """
    declared: dict[str, str] = {}
    lines: list[str] = []
    for name in names:
        source = folder.joinpath(f"{name}.js").read_text(encoding="utf-8")
        for declaration in _DECLARATION.findall(source):
            if declared.setdefault(declaration, name) != name:
                raise ValueError(f"{declared[declaration]}.js and {name}.js both declare {declaration}")
        lines += _code_lines(source)
    return "".join(f"{line}\n" for line in lines)


def page_function(folder: Traversable, names: Sequence[str], function: str) -> str:
    """Return these modules as one function, which passes its two arguments to `function` of theirs."""
    code = join_modules(folder, names)
    return f'(first, second) => {{\n"use strict";\n{code}return {function}(first, second);\n}}'


def selector_engine(folder: Traversable, *names: str) -> str:
    """Return these modules as a selector engine of Playwright; one of them has `queryAll(root, body)`."""
    engine = "{ query: (root, body) => queryAll(root, body)[0], queryAll }"
    return f'(() => {{\n"use strict";\n{join_modules(folder, names)}return {engine};\n}})()'


def run_once(name: str, engine: str) -> str:
    """Return a selector engine that runs once in each document, whether Playwright runs it first or we do."""
    return f'(globalThis[Symbol.for("footlight.{name}.engine")] ??= {engine})'


_DECLARATION = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
"""A name that a module declares at its top level, that is, without indentation."""

_CAST = re.compile(r"/\*\* @type \{[^*]*\} \*/ ?")
"""The comment that gives the expression after it a type."""


def _code_lines(source: str) -> Iterator[str]:
    end_of_skipped = ""
    for line in map(str.strip, _CAST.sub("", source).splitlines()):
        if end_of_skipped:
            end_of_skipped = "" if line.endswith(end_of_skipped) else end_of_skipped
        elif line.startswith(("/*", "import ")):
            end = "*/" if line.startswith("/*") else ";"
            if end == "*/" and end in line.removesuffix(end):
                raise ValueError(f"Code after a comment would be left out: {line}")
            end_of_skipped = "" if line.endswith(end) else end
        elif line and not line.startswith("//"):
            yield line.removeprefix("export ")
