"""Choose the tools that a server offers, by group and name, from the settings `tools` and `--tools`."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Collection, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Literal

from footlight.errors import ConfigurationError

if TYPE_CHECKING:
    from footlight.config import ToolSettings

__all__ = [
    "GROUPS",
    "PRESETS",
    "Group",
    "choose_tools",
    "explain_withheld",
    "instructions_for",
    "parse_tools_option",
]

Group = Literal["core", "network", "storage", "devtools", "vision", "touch", "audit", "webmcp", "handover"]
"""A group of tools, which `--tools` can offer."""

GROUPS: tuple[Group, ...] = typing.get_args(Group)

PRESETS = ("default", "minimal", "all")
"""Names that are accepted like groups.

`default` is the group `core`, and `minimal` has the most used tools.
"""

DEFAULT = ("core",)


def parse_tools_option(words: Iterable[str]) -> dict[str, list[str]]:
    """Return the settings for `--tools`: `tools.groups`, `tools.allow` and `tools.deny`.

    Only named tools and groups are offered. If all names are removals (`-name`), they are removed from the
    default.
    """
    each = [word.strip() for part in words for word in part.split(",") if word.strip()]
    deny = [word[1:].strip() for word in each if word.startswith("-")]
    named = [word for word in each if not word.startswith("-")]
    groups = [word for word in named if word in (*PRESETS, *GROUPS)]
    allow = [word for word in named if word not in groups]
    return {
        **({"tools.groups": groups, "tools.allow": allow} if named else {}),
        **({"tools.deny": deny} if deny else {}),
    }


def choose_tools(
    tools: Mapping[str, Group], settings: ToolSettings, *, minimal: Collection[str]
) -> tuple[str, ...]:
    """Return the names of the tools to offer, in their order. `tools` maps each tool to its group.

    Denied tools are never offered.

    Raises:
        ConfigurationError: a group or a tool does not exist, or no tool is left.
    """
    _check_names("groups", settings.groups, (*PRESETS, *GROUPS))
    _check_names("allow", settings.allow, (*tools, *PRESETS, *GROUPS))
    _check_names("deny", settings.deny, tools)
    members: dict[str, set[str]] = {
        group: {name for name, of in tools.items() if of == group} for group in GROUPS
    }
    members |= {
        "all": set(tools),
        "minimal": set(minimal) & set(tools),
        "default": {name for name, group in tools.items() if group in DEFAULT},
    }
    offered = set(settings.allow).union(*(members[group] for group in settings.groups)) - set(settings.deny)
    if not offered:
        raise ConfigurationError("setting 'tools': no tool is left")
    return tuple(name for name in tools if name in offered)


def explain_withheld(name: str, group: Group, settings: ToolSettings) -> str:
    """Return the reason why an existing tool is not offered, and how the server operator can add it."""
    if name in settings.deny:
        return f"{name} is denied on this server (setting tools.deny)"
    return (
        f"{name}, of the group {group}, is not offered by this server. The server operator can add "
        f"it: --tools {','.join((*settings.groups, *settings.allow, name))}"
    )


def instructions_for(offered: Collection[str], text: str, tools: Iterable[str]) -> str:
    """Return the instructions without sentences that contain, in backticks, a tool that is not offered."""
    withheld = set(tools) - set(offered)
    if not withheld:
        return text
    lines = (_without_sentences(line, withheld) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _without_sentences(line: str, withheld: Set[str]) -> str:
    # Do not split after a digit, because "1. Go there." is one sentence.
    sentences = re.split(r"(?<=[^\d\s]\.) +", line)
    return " ".join(each for each in sentences if withheld.isdisjoint(re.findall(r"`([\w.]+)`", each)))


def _check_names(setting: str, names: Iterable[str], known: Collection[str] | Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            suggestions = f"; closest: {', '.join(close)}" if close else ""
            groups = f"; groups: {', '.join((*PRESETS, *GROUPS))}" if setting == "groups" else ""
            kind = "group" if setting == "groups" else "tool"
            raise ConfigurationError(
                f"setting 'tools.{setting}': there is no {kind} {name!r}{suggestions or groups}"
            )
