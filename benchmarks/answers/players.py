"""Go through a flow with a server as a model would: look, then act by refs that the answers show.

Both players follow the same rules. A ref is taken from the newest answer that shows it. If no answer shows
what is looked for, or the page may be another one, the next call is a snapshot or a search, at most one for
each thing. Fields of one form are filled in one call, together with the click after them if the server has a
tool for that.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from benchmarks.answers.flows import Click, Fill, Flow, Read, Step, Target
from benchmarks.servers import Footlight, PlaywrightMcp, Server, text_of

__all__ = ["PLAYERS", "Exchange", "Player"]

Call = tuple[str, dict[str, Any]]


class NotVisibleError(Exception):
    """The answers do not show what the step needs. `name` is the name of the element, if it has one."""

    def __init__(self, what: object) -> None:
        super().__init__(str(what))
        self.name = what.name if isinstance(what, Target) else ""


@dataclass(frozen=True)
class Exchange:
    """A call: its arguments and the text of its answer."""

    tool: str
    arguments: str
    answer: str


@dataclass
class Player(ABC):
    server: Server
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    read: list[str] = field(default_factory=list[str])
    shown: str = ""
    """What the answers have shown of the current page."""

    kind: ClassVar[type[Server]]

    async def play(self, flow: Flow, url: str) -> None:
        """Go through the flow.

        Raises:
            NotVisibleError: a snapshot does not show what the flow needs.
        """
        await self.call(self.open(url + flow.path))
        for group in _groups(flow.steps):
            await self._do(group)

    async def _do(self, group: Sequence[Step]) -> None:
        """Do steps in one call if possible. Look at the page first if the answers do not show enough."""
        match group[0]:
            case Read(pattern):
                self.read.append(await self._find(pattern))
            case _:
                await self._act([step for step in group if isinstance(step, Fill | Click)])

    async def _find(self, pattern: str) -> str:
        for _ in range(2):
            if found := re.search(pattern, self.shown, re.DOTALL):
                return found[found.lastindex or 0]
            await self.call(self.look(pattern))
        raise NotVisibleError(pattern)

    async def _act(self, steps: Sequence[Fill | Click]) -> None:
        looked: set[str] = set()
        while True:
            missing = ""
            try:
                calls = self.act(steps)
            except NotVisibleError as error:
                if error.name in looked:
                    raise
                calls, missing = [], error.name
            if calls and all([await self.call(call) for call in calls]):
                return
            if missing in looked:
                raise NotVisibleError(steps)
            looked.add(missing)
            await self.call(self.look(missing))

    async def call(self, call: Call) -> bool:
        """Make a call, and return whether it succeeded."""
        tool, arguments = call
        result = await self.server.client.call_tool(tool, arguments)
        answer = text_of(result)
        self.exchanges.append(Exchange(tool, json.dumps(arguments, ensure_ascii=False), answer))
        self.learn(answer)
        return not result.is_error

    def ref(self, target: Target) -> str:
        """Return the ref of an element in what was shown."""
        start = 0
        if target.after:
            text = re.search(target.after, self.shown)
            if text is None:
                raise NotVisibleError(target)
            start = text.end()
        found = [
            match[match.lastindex or 0] for match in re.finditer(self.pattern(target), self.shown[start:])
        ]
        if not found:
            raise NotVisibleError(target)
        return found[0]

    @abstractmethod
    def pattern(self, target: Target) -> str:
        """Return the expression for an element in an answer, with its ref as the group."""

    @abstractmethod
    def learn(self, answer: str) -> None: ...

    @abstractmethod
    def open(self, url: str) -> Call: ...

    @abstractmethod
    def look(self, words: str) -> Call:
        """Return the call that shows the page, or what the expression `words` finds if the page is long."""

    @abstractmethod
    def act(self, steps: Sequence[Fill | Click]) -> list[Call]: ...


def _groups(steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
    """Yield fields with the click that follows them, and each other step on its own."""
    group: list[Step] = []
    for step in steps:
        group.append(step)
        if not isinstance(step, Fill):
            yield group
            group = []
    if group:
        yield group


class FootlightPlayer(Player):
    kind = Footlight

    def pattern(self, target: Target) -> str:
        if not target.name:
            return rf"\b(e\d+) (?:{target.role})\b"
        # In a row of links, say, the role is written once for all of them.
        return rf"\b(e\d+) (?:(?:{target.role}) )?\"{target.name}\""

    def learn(self, answer: str) -> None:
        page = "\n".join(re.findall(r"<page-content [^>]*>\n(.*?)\n</page-content", answer, re.DOTALL))
        is_partial = '"kind":"diff"' in answer or '"count":' in answer
        if is_partial or re.search(r" unchanged(?:=\d+)?$", page, re.MULTILINE):
            # The newest lines come first, because they say what an element is now.
            self.shown = f"{page}\n{self.shown}"
        elif page:
            self.shown = page

    def open(self, url: str) -> Call:
        return "navigate", {"url": url}

    def look(self, words: str) -> Call:
        is_shortened = "\n… shortened: " in self.shown or "\n… cut: " in self.shown
        return ("find", {"regex": words}) if words and is_shortened else ("snapshot", {})

    def act(self, steps: Sequence[Fill | Click]) -> list[Call]:
        fields = {self.ref(each.target): each.value for each in steps if isinstance(each, Fill)}
        refs = [self.ref(each.target) for each in steps if isinstance(each, Click)]
        if fields:
            return [("fill_form", {"fields": fields, **({"submit": refs[0]} if refs else {})})]
        return [("click", {"selector": ref}) for ref in refs]


class PlaywrightPlayer(Player):
    kind = PlaywrightMcp

    def pattern(self, target: Target) -> str:
        name = rf' "{target.name}"' if target.name else r'(?: "[^"\n]*")?'
        by_name = rf"(?:{target.role}){name}[^\n]*?\[ref=(\w+)\]"
        by_url = rf"{target.role}[^\n]*?\[ref=(\w+)\][^\n]*\n *- /url: {re.escape(target.url)}"
        return f"{by_name}|{by_url}" if target.url else by_name

    def learn(self, answer: str) -> None:
        if snapshot := re.search(r"```yaml\n(.*?)```", answer, re.DOTALL):
            self.shown = snapshot[1]
        elif "### Snapshot" in answer or "Page URL" in answer:
            self.shown = ""

    def open(self, url: str) -> Call:
        return "browser_navigate", {"url": url}

    def look(self, words: str) -> Call:  # noqa: ARG002 - its snapshots are whole
        return "browser_snapshot", {}

    def act(self, steps: Sequence[Fill | Click]) -> list[Call]:
        calls: list[Call] = []
        fields = [self._field(each) for each in steps if isinstance(each, Fill)]
        if fields:
            calls.append(("browser_fill_form", {"fields": fields}))
        for each in steps:
            if isinstance(each, Click):
                words = {"element": each.target.name or each.target.role, "target": self.ref(each.target)}
                calls.append(("browser_click", words))
        return calls

    def _field(self, step: Fill) -> dict[str, str]:
        role = step.target.role.partition("|")[0]
        kind = role if role in ("checkbox", "radio", "combobox", "slider") else "textbox"
        value = str(step.value).lower() if isinstance(step.value, bool) else step.value
        return {
            "target": self.ref(step.target),
            "name": step.target.name or role,
            "type": kind,
            "value": value,
        }


PLAYERS: tuple[type[Player], ...] = (FootlightPlayer, PlaywrightPlayer)
