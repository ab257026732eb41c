"""Lines that `ruff format` would leave as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footlight.client.codegen.expressions import Expression, Reference, Subscript, Union, Word
from footlight.client.python_text import LINE_LENGTH

__all__ = ["annotated", "assigned", "called", "flat", "laid_out"]

STEP = "    "

Names = Mapping[str, str]
"""Of definitions, by their keys."""


def flat(expression: Expression, names: Names) -> str:
    """On one line."""
    match expression:
        case Word(text):
            return text
        case Reference(key):
            return names[key]
        case Subscript(head, arguments):
            return f"{head}[{', '.join(flat(argument, names) for argument in arguments)}]"
        case Union(members):
            return " | ".join(flat(member, names) for member in members)


def annotated(name: str, expression: Expression, names: Names, *, indent: str) -> list[str]:
    """A field of a class: `name: expression`."""
    return laid_out(f"{indent}{name}: ", expression, "", names, indent=indent, parentheses=True)


def assigned(target: str, expression: Expression, names: Names) -> list[str]:
    """`target = expression`, of a module."""
    return laid_out(f"{target} = ", expression, "", names, indent="", parentheses=True)


def laid_out(
    before: str, expression: Expression, after: str, names: Names, *, indent: str, parentheses: bool = False
) -> list[str]:
    """The expression between what stands before and after it; `indent` is that of its first line."""
    line = before + flat(expression, names) + after
    if len(line) <= LINE_LENGTH:
        return [line]
    inner = indent + STEP
    match expression:
        case Subscript(head, (argument,)):
            return [
                f"{before}{head}[",
                *_alone(argument, names, indent=inner),
                f"{indent}]{after}",
            ]
        case Subscript(head, arguments):
            together = inner + ", ".join(flat(argument, names) for argument in arguments)
            if len(together) <= LINE_LENGTH:
                return [f"{before}{head}[", together, f"{indent}]{after}"]
            lines = [
                line for argument in arguments for line in laid_out(inner, argument, ",", names, indent=inner)
            ]
            return [f"{before}{head}[", *lines, f"{indent}]{after}"]
        case Union() if parentheses:
            return [f"{before}(", *_alone(expression, names, indent=inner), f"{indent}){after}"]
        case Union(members):
            return _operands(before, members, after, names, indent=indent)
        case Word() | Reference() if parentheses and len(before) < LINE_LENGTH:
            inside = inner + flat(expression, names)
            return [f"{before}(", inside, f"{indent}){after}"] if len(inside) <= LINE_LENGTH else [line]
        case Word() | Reference():
            return [line]


def called(before: str, arguments: Sequence[str], after: str, *, indent: str) -> list[str]:
    """Something in parentheses: all on a line, all on the next, or each on its own."""
    line = f"{before}({', '.join(arguments)}){after}"
    if len(line) <= LINE_LENGTH:
        return [line]
    together = f"{indent}{STEP}{', '.join(arguments)}"
    if len(together) <= LINE_LENGTH:
        return [f"{before}(", together, f"{indent}){after}"]
    return [f"{before}(", *(f"{indent}{STEP}{argument}," for argument in arguments), f"{indent}){after}"]


def _alone(expression: Expression, names: Names, *, indent: str) -> list[str]:
    """Within brackets that hold nothing else."""
    if isinstance(expression, Union) and len(indent + flat(expression, names)) > LINE_LENGTH:
        return _operands(indent, expression.members, "", names, indent=indent)
    return laid_out(indent, expression, "", names, indent=indent)


def _operands(
    before: str, members: Sequence[Expression], after: str, names: Names, *, indent: str
) -> list[str]:
    lines = laid_out(before, members[0], "", names, indent=indent)
    for member in members[1:]:
        lines += laid_out(f"{indent}| ", member, "", names, indent=indent)
    return [*lines[:-1], lines[-1] + after]
