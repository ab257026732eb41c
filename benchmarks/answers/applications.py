"""The applications: installed from PyPI into their own environment, and started with a fresh database."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import venv
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.servers import PEERS

__all__ = ["APPLICATIONS", "Application", "RunningApplication", "install_applications"]

PACKAGES = ("datasette==0.65.5", "django==5.2.19", "flask-admin==2.2.1", "flask-sqlalchemy==3.1.1")
ENVIRONMENT = PEERS.parent / "applications"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
SITES = Path(__file__).parent / "sites"
START_SECONDS = 60


def install_applications() -> None:
    """Install the applications once, and again if their versions change."""
    installed = ENVIRONMENT / "installed.json"
    if installed.exists() and json.loads(installed.read_text()) == list(PACKAGES):
        return
    print(f"Installing {', '.join(PACKAGES)} into {ENVIRONMENT.relative_to(PEERS.parents[1])} …")
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    installed.write_text(json.dumps(PACKAGES))


@dataclass(frozen=True)
class RunningApplication:
    """An application that answers at `url`, and its database."""

    url: str
    database: Path

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(sql).fetchall()


@dataclass(frozen=True)
class Application:
    name: str
    database: str

    def command(self, folder: Path) -> Sequence[str | Path]:
        """Return the command, which prints the port that it listens on."""
        return [PYTHON, SITES / f"{self.name}_site.py", folder]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[RunningApplication]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            process = await asyncio.create_subprocess_exec(
                *map(str, self.command(folder)),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            try:
                async with asyncio.timeout(START_SECONDS):
                    port = await _read_port(process)
                yield RunningApplication(f"http://127.0.0.1:{port}", folder / self.database)
            finally:
                process.kill()
                await process.wait()


async def _read_port(process: asyncio.subprocess.Process) -> int:
    """Return the port of the first line that is one, or that has the address at its end."""
    assert process.stdout
    lines: list[str] = []
    async for line in process.stdout:
        lines.append(line.decode(errors="replace"))
        if found := re.search(r"^(\d+)$|http://127\.0\.0\.1:(\d+)", lines[-1]):
            return int(found[1] or found[2])
    raise RuntimeError("The application ended:\n" + "".join(lines))


class Datasette(Application):
    """Datasette over the orders of a shop, with a query that writes."""

    def command(self, folder: Path) -> Sequence[str | Path]:
        database = folder / self.database
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
            connection.execute(
                "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, city TEXT, status TEXT,"
                " total INTEGER)"
            )
            connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", _orders())
        metadata = folder / "metadata.json"
        metadata.write_text(json.dumps(_METADATA))
        options = ["--port", "0", "--metadata", metadata, "--setting", "default_page_size", "50"]
        return [PYTHON, "-m", "datasette", "serve", database, *options]


def _orders() -> list[tuple[int, str, str, str, int]]:
    cities, statuses = ("Bern", "Oslo", "Rome", "Lyon", "Graz"), ("open", "paid", "late")
    return [
        (number, f"Customer {number:03}", cities[number % 5], statuses[number * 7 % 3], number * 37 % 500)
        for number in range(1, 121)
    ]


_METADATA = {
    "databases": {
        "shop": {
            "queries": {
                "add_note": {
                    "sql": "INSERT INTO notes (title, body) VALUES (:title, :body)",
                    "write": True,
                    "title": "Add a note",
                    "on_success_message": "The note was added",
                }
            },
            "tables": {"orders": {"facets": ["city", "status"]}},
        }
    }
}

DJANGO = Application("django", "library.sqlite3")
DATASETTE = Datasette("datasette", "shop.db")
FLASK = Application("flask", "team.sqlite3")
APPLICATIONS = (DJANGO, DATASETTE, FLASK)
