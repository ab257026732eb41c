"""For whom a page is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from footlight.errors import ConfigurationError

__all__ = ["Persona"]


@dataclass(frozen=True, slots=True)
class Persona:
    """Somebody who comes with goals (document 004, entity 9). Each goal is tried on the page.

    Raises:
        ConfigurationError: the name or the description is empty, or there is no goal, or an empty one.
    """

    name: str
    description: str
    goals: Sequence[str]

    def __post_init__(self) -> None:
        for field in ("name", "description"):
            if not str(getattr(self, field)).strip():
                raise ConfigurationError(f"a persona's {field} must not be empty")
        if isinstance(self.goals, str) or not self.goals:
            raise ConfigurationError(f"persona {self.name}: goals must be a list with at least one goal")
        if not all(isinstance(goal, str) and goal.strip() for goal in self.goals):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"persona {self.name}: each goal must be a text that is not empty")
        object.__setattr__(self, "goals", tuple(self.goals))
