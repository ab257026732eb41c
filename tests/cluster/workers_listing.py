"""Write the workers of a cluster as JSON for each line of standard input, which takes milliseconds.

`footlight cluster status` starts a process and joins the cluster each time, which takes seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys

from footlight.cluster.commands import connect_cluster, describe_workers


async def main(address: str) -> None:
    async with connect_cluster(address):
        while await asyncio.to_thread(sys.stdin.readline):
            sys.stdout.write(f"{json.dumps(await describe_workers())}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
