"""Run the public conformance suite of the protocol against our client, and print one table.

For each scenario the suite starts a server, and `tests/protocol/conformance_client.py` as a process that uses
the client as the scenario asks. What counts is as in `run_conformance.py`; a client that ends with an error
is a failure too, where the suite does not expect one.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence

from scripts.run_conformance import (
    CACHE,
    EXPECTED,
    HEADS,
    Check,
    Run,
    Verdict,
    harness,
    install,
    print_table,
    read_checks,
    read_expected,
)

RESULTS = CACHE / "client-results"
COMMAND = shlex.join([sys.executable, "-m", "tests.protocol.conformance_client"])
CLIENT_MS = 60_000

CORE = (
    *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"),
    *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3"),
    *("auth/basic-cimd", "auth/pre-registration", "auth/scope-from-www-authenticate"),
    *("auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up"),
    *("auth/scope-retry-limit", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post"),
    "auth/token-endpoint-auth-none",
)
"""The scenarios of `--suite core` in 0.1.16, which has no command to list them."""

RUNS = (
    Run("client", "0.1.16 core", "conformance-0.1", (), CORE),
    Run("client", "0.2.0 2025-11-25", "conformance-0.2", ("--force", "--spec-version", "2025-11-25")),
    Run("client", "0.2.0 2026-07-28", "conformance-0.2", ("--force", "--spec-version", "2026-07-28")),
)
"""Runs without scenarios use those that the revision requires, and additional ones of other revisions or of
none, which `--force` allows."""


def main() -> int:
    install()
    shutil.rmtree(RESULTS, ignore_errors=True)
    verdicts = asyncio.run(judge())
    for complaint in (line for verdict in verdicts for line in verdict.complaints()):
        print(complaint)
    print_table([HEADS, *(verdict.row() for verdict in verdicts)])
    return 0 if all(verdict.good for verdict in verdicts) else 1


async def judge() -> list[Verdict]:
    return [Verdict(run, await run_all(run), read_expected(EXPECTED / f"{run.name}.yml")) for run in RUNS]


async def run_all(run: Run) -> list[Check]:
    """Run the scenarios with one client per core. The suite starts all at once, and some would time out."""
    free = asyncio.Semaphore(os.cpu_count() or 1)

    async def run_in_turn(scenario: str) -> list[Check]:
        async with free:
            return await run_scenario(run, scenario)

    scenarios = run.scenarios or await list_scenarios(run)
    return [check for checks in await asyncio.gather(*map(run_in_turn, scenarios)) for check in checks]


async def run_scenario(run: Run, scenario: str) -> list[Check]:
    results = RESULTS / run.name
    status, _ = await harness(
        *(run.harness, "client", "--command", COMMAND, "--scenario", scenario),
        *("--timeout", str(CLIENT_MS), "-o", str(results), *run.options),
    )
    checks = read_checks(results, scenario)
    if status != 0 and not any(check.failed for check in checks):
        return [
            *checks,
            Check(scenario, "client", "FAILURE", f"the client failed; see stderr.txt in {results}"),
        ]
    return checks


async def list_scenarios(run: Run) -> Sequence[str]:
    """Return the scenarios of a run.

    Raises:
        SystemExit: the suite lists none.
    """
    version = run.options[-1]
    _, listed = await harness(run.harness, "list", "--client", "--requirements", version)
    required = re.findall(r"^  - (\S+)$", listed.partition("Client scenarios")[2], re.MULTILINE)
    optional = re.findall(r"^    - (\S+) \[client\]$", listed, re.MULTILINE)
    if not required:
        raise SystemExit(f"{run.harness} lists no scenarios for {version}:\n{listed}")
    return [*required, *optional]


if __name__ == "__main__":
    sys.exit(main())
