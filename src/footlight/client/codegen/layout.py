"""Lay out generated code in lines that `ruff format` does not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footlight.client.codegen.expressions import Expression, Reference, SimpleType, Subscript, Union
from footlight.client.codegen.python_text import LINE_LENGTH

__all__ = ["assignment", "call_lines", "field_line", "flat", "lay_out"]

STEP = "    "

Names = Mapping[str, str]
"""The names of definitions, by their keys."""


def flat(expression: Expression, names: Names) -> str:
    """Return an expression on one line."""
    match expression:
        case SimpleType(text):
            return text
        case Reference(key):
            return names[key]
        case Subscript(head, arguments):
            return f"{head}[{', '.join(flat(argument, names) for argument in arguments)}]"
        case Union(members):
            return " | ".join(flat(member, names) for member in members)


def field_line(name: str, expression: Expression, names: Names, *, indent: str) -> list[str]:
    """Return the lines of a class field: `name: expression`."""
    return lay_out(f"{indent}{name}: ", expression, "", names, indent=indent, parentheses=True)


def assignment(target: str, expression: Expression, names: Names) -> list[str]:
    """Return the lines of an assignment at module level: `target = expression`."""
    return lay_out(f"{target} = ", expression, "", names, indent="", parentheses=True)


def lay_out(
    before: str, expression: Expression, after: str, names: Names, *, indent: str, parentheses: bool = False
) -> list[str]:
    """Return the lines of `before`, the expression and `after`. `indent` is the first line's indentation."""
    line = before + flat(expression, names) + after
    if len(line) <= LINE_LENGTH:
        return [line]
    inner = indent + STEP
    match expression:
        case Subscript(head, (argument,)):
            return [
                f"{before}{head}[",
                *_lay_out_in_brackets(argument, names, indent=inner),
                f"{indent}]{after}",
            ]
        case Subscript(head, arguments):
            one_line = inner + ", ".join(flat(argument, names) for argument in arguments)
            if len(one_line) <= LINE_LENGTH:
                return [f"{before}{head}[", one_line, f"{indent}]{after}"]
            lines = [
                line for argument in arguments for line in lay_out(inner, argument, ",", names, indent=inner)
            ]
            return [f"{before}{head}[", *lines, f"{indent}]{after}"]
        case Union() if parentheses:
            return [f"{before}(", *_lay_out_in_brackets(expression, names, indent=inner), f"{indent}){after}"]
        case Union(members):
            return _operands(before, members, after, names, indent=indent)
        case SimpleType() | Reference() if parentheses and len(before) < LINE_LENGTH:
            inside = inner + flat(expression, names)
            return [f"{before}(", inside, f"{indent}){after}"] if len(inside) <= LINE_LENGTH else [line]
        case SimpleType() | Reference():
            return [line]


def call_lines(before: str, arguments: Sequence[str], after: str, *, indent: str) -> list[str]:
    """Return the lines of a call: arguments on the same line, on the next line, or one on each line."""
    line = f"{before}({', '.join(arguments)}){after}"
    if len(line) <= LINE_LENGTH:
        return [line]
    one_line = f"{indent}{STEP}{', '.join(arguments)}"
    if len(one_line) <= LINE_LENGTH:
        return [f"{before}(", one_line, f"{indent}){after}"]
    return [f"{before}(", *(f"{indent}{STEP}{argument}," for argument in arguments), f"{indent}){after}"]


def _lay_out_in_brackets(expression: Expression, names: Names, *, indent: str) -> list[str]:
    """Return the lines of an expression that is the only one within brackets."""
    if isinstance(expression, Union) and len(indent + flat(expression, names)) > LINE_LENGTH:
        return _operands(indent, expression.members, "", names, indent=indent)
    return lay_out(indent, expression, "", names, indent=indent)


def _operands(
    before: str, members: Sequence[Expression], after: str, names: Names, *, indent: str
) -> list[str]:
    lines = lay_out(before, members[0], "", names, indent=indent)
    for member in members[1:]:
        lines += lay_out(f"{indent}| ", member, "", names, indent=indent)
    return [*lines[:-1], lines[-1] + after]
