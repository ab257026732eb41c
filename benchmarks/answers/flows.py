"""Twelve flows, as a model would go through them: by roles, names and texts that the answers show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.answers.applications import DATASETTE, DJANGO, FLASK, Application, RunningApplication

__all__ = ["FLOWS", "Click", "Fill", "Flow", "Read", "Step"]


@dataclass(frozen=True)
class Target:
    """An element as a reader finds it: by its role, its name, and a text that stands before it.

    `name` and `after` are regular expressions. Of several elements, the first after that text is meant. A
    link whose name an answer does not show is found by the beginning of its `url`.
    """

    role: str
    name: str = ""
    after: str = ""
    url: str = ""


@dataclass(frozen=True)
class Fill:
    """Enter a text, choose an option, or tick a box (True)."""

    target: Target
    value: str | bool


@dataclass(frozen=True)
class Click:
    target: Target


@dataclass(frozen=True)
class Read:
    """Read what an expression finds on the page; its group, if it has one, is the answer."""

    pattern: str


Step = Fill | Click | Read
Reached = Callable[[RunningApplication, list[str]], bool]
"""Whether the application is as it should be, and what was read is true."""


@dataclass(frozen=True)
class Flow:
    name: str
    application: Application
    path: str
    steps: tuple[Step, ...]
    is_reached: Reached


def click(role: str, name: str, *, after: str = "") -> Click:
    return Click(Target(role, name, after))


def fill(values: Mapping[tuple[str, str], str | bool]) -> tuple[Fill, ...]:
    return tuple(Fill(Target(role, name), value) for (role, name), value in values.items())


LOG_IN = (
    *fill({("textbox", "Username:"): "admin", ("textbox", "Password:"): "secret"}),
    click("button", "Log in"),
)


def has(sql: str, expected: object) -> Reached:
    """Return a check that a query has this one value."""
    return lambda application, _: application.query(sql) == [(expected,)]


def agrees(sql: str) -> Reached:
    """Return a check that the last text that was read is the value of a query."""
    return lambda application, read: str(application.query(sql)[0][0]) == read[-1]


FLOWS = (
    Flow(
        "add an author",
        DJANGO,
        "/admin/",
        (
            *LOG_IN,
            click("link", "Add", after="Authors"),
            *fill({("textbox", "Name:"): "Ada Lovelace"}),
            click("button", "Save"),
            Read("was added successfully"),
        ),
        has("SELECT count(*) FROM library_author WHERE name = 'Ada Lovelace'", 1),
    ),
    Flow(
        "publish a book that is found by its title",
        DJANGO,
        "/admin/library/book/",
        (
            *LOG_IN,
            *fill({("textbox|searchbox", "Search"): "Book 13"}),
            click("button", "Search"),
            click("link", "Book 13"),
            *fill({("combobox", "Status:"): "Published"}),
            click("button", "Save"),
            Read("was changed successfully"),
        ),
        has("SELECT status FROM library_book WHERE title = 'Book 13'", "out"),
    ),
    Flow(
        "delete two books",
        DJANGO,
        "/admin/library/book/",
        (
            *LOG_IN,
            Fill(Target("checkbox", "Select this object for an action - Book 58"), True),
            Fill(Target("checkbox", "Select this object for an action - Book 41"), True),
            *fill({("combobox", "Action:"): "Delete selected books"}),
            click("button", "(?:Go|Run)"),
            click("button", "Yes, I.m sure"),
            Read("Successfully deleted 2 books"),
        ),
        has("SELECT count(*) FROM library_book", 58),
    ),
    Flow(
        "count an author's drafts",
        DJANGO,
        "/admin/library/book/",
        (
            *LOG_IN,
            click("link", "Draft"),
            click("link", "Author 3"),
            Read(r"\b(\d+) books"),
        ),
        agrees("SELECT count(*) FROM library_book WHERE status = 'draft' AND author_id = 4"),
    ),
    Flow(
        "add a note with a stored query",
        DATASETTE,
        "/",
        (
            click("link", "shop"),
            click("link", "Add a note"),
            *fill({("textbox", "title"): "Call back", ("textbox", "body"): "Customer 007, on Monday"}),
            click("button", "Run SQL"),
            Read("The note was added"),
        ),
        has("SELECT body FROM notes WHERE title = 'Call back'", "Customer 007, on Monday"),
    ),
    Flow(
        "count late orders of a city",
        DATASETTE,
        "/shop/orders",
        (click("link", "Oslo"), click("link", "late"), Read(r"\b(\d+) rows")),
        agrees("SELECT count(*) FROM orders WHERE city = 'Oslo' AND status = 'late'"),
    ),
    Flow(
        "find the largest order",
        DATASETTE,
        "/shop/orders",
        (
            click("link", "total"),
            click("link", "total ▼"),
            Read(r"(Customer \d+)"),
        ),
        agrees("SELECT customer FROM orders ORDER BY total DESC LIMIT 1"),
    ),
    Flow(
        "filter by a column",
        DATASETTE,
        "/shop/orders",
        (
            Fill(Target("combobox", "", after="orders"), "customer"),
            Fill(Target("textbox|searchbox", "", after="combobox"), "Customer 042"),
            click("button", "Apply"),
            Read(r"Customer 042\W.*?(open|paid|late)"),
        ),
        agrees("SELECT status FROM orders WHERE customer = 'Customer 042'"),
    ),
    Flow(
        "add a task",
        FLASK,
        "/admin/",
        (
            click("link", "Task"),
            click("link", "Create"),
            *fill({("textbox", r"Title \*"): "Write the report", ("checkbox", "Done"): True}),
            *fill({("textbox", "Notes"): "By Friday"}),
            click("button", "Save"),
            Read("Record was successfully created"),
        ),
        has("SELECT done FROM task WHERE title = 'Write the report'", 1),
    ),
    Flow(
        "change the hours of a task",
        FLASK,
        "/admin/task/",
        (
            *fill({("textbox|searchbox", "title"): "Task 31"}),
            click("button", "Search"),
            Click(Target("link", "Edit Record", url="/admin/task/edit/")),
            *fill({("spinbutton", "Hours"): "12"}),
            click("button", "Save"),
            Read("Record was successfully saved"),
        ),
        has("SELECT hours FROM task WHERE title = 'Task 31'", 12),
    ),
    Flow(
        "rename a person",
        FLASK,
        "/admin/",
        (
            click("link", "Person"),
            Click(Target("link", "Edit Record", after="Sort by Email|Email", url="/admin/person/edit/")),
            *fill({("textbox", r"Name \*"): "Barbara"}),
            click("button", "Save"),
            Read("Record was successfully saved"),
        ),
        has("SELECT count(*) FROM person WHERE name = 'Barbara'", 1),
    ),
    Flow(
        "add two people",
        FLASK,
        "/admin/person/new/",
        (
            *fill({("textbox", r"Name \*"): "Grace", ("textbox", "Email"): "grace@example.com"}),
            click("button", "Save and Add Another"),
            *fill({("textbox", r"Name \*"): "Edsger", ("textbox", "Email"): "edsger@example.com"}),
            click("button", "Save"),
            Read("Record was successfully created"),
        ),
        has("SELECT count(*) FROM person WHERE name IN ('Grace', 'Edsger')", 2),
    ),
)
