"""Which tools a server offers: by group and by name, as `tools` in the settings and `--tools` say."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from footlight.errors import ConfigurationError
from footlight.server.tool import GROUPS

if TYPE_CHECKING:
    from footlight.config import ToolSettings
    from footlight.server.tool import Tool

__all__ = ["PRESETS", "choose", "fitted", "how_to_get", "settings_of"]

PRESETS = ("default", "minimal", "all")
"""Beside the groups: `default` is the group core, `minimal` the few tools that most work needs."""

DEFAULT = ("core",)


def settings_of(words: Iterable[str]) -> dict[str, list[str]]:
    """What `--tools` sets: `tools.groups`, `tools.allow` and `tools.deny`.

    What is named is what is offered. With nothing but names to take away, those are taken from the default.
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


def choose(tools: Sequence[Tool], settings: ToolSettings, *, minimal: Collection[str]) -> tuple[Tool, ...]:
    """Those that are offered, in their order. What is denied is not, however it was allowed.

    Raises:
        ConfigurationError: a group or a tool that does not exist, or no tool is left.
    """
    by_name = {tool.name: tool for tool in tools}
    _check("groups", settings.groups, (*PRESETS, *GROUPS))
    _check("allow", settings.allow, (*by_name, *PRESETS, *GROUPS))
    _check("deny", settings.deny, by_name)
    members = {group: {tool.name for tool in tools if tool.group == group} for group in GROUPS}
    members |= {
        "all": set(by_name),
        "minimal": set(minimal) & set(by_name),
        "default": {tool.name for tool in tools if tool.group in DEFAULT},
    }
    offered = set(settings.allow).union(*(members[group] for group in settings.groups)) - set(settings.deny)
    if not offered:
        raise ConfigurationError("setting 'tools': no tool is left")
    return tuple(tool for tool in tools if tool.name in offered)


def how_to_get(tool: Tool, settings: ToolSettings) -> str:
    """Said to whoever calls a tool that there is, but that is not offered."""
    if tool.name in settings.deny:
        return f"{tool.name} is denied on this server (setting tools.deny)"
    return (
        f"{tool.name}, of the group {tool.group}, is not offered by this server. Whoever runs it can add it: "
        f"--tools {','.join((*settings.groups, *settings.allow, tool.name))}"
    )


def fitted(text: str, offered: Collection[str], tools: Iterable[Tool]) -> str:
    """Instructions without the sentences that name a tool in backticks which is not offered."""
    withheld = {tool.name for tool in tools} - set(offered)
    if not withheld:
        return text
    kept = (_without(line, withheld) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept))


def _without(line: str, withheld: Set[str]) -> str:
    # Not after a digit: "1. Go there." is one sentence.
    sentences = re.split(r"(?<=[^\d\s]\.) +", line)
    return " ".join(each for each in sentences if withheld.isdisjoint(re.findall(r"`([\w.]+)`", each)))


def _check(setting: str, names: Iterable[str], known: Collection[str] | Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            near = f"; closest: {', '.join(close)}" if close else ""
            groups = f"; groups: {', '.join((*PRESETS, *GROUPS))}" if setting == "groups" else ""
            kind = "group" if setting == "groups" else "tool"
            raise ConfigurationError(
                f"setting 'tools.{setting}': there is no {kind} {name!r}{near or groups}"
            )
