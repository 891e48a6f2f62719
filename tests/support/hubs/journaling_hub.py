"""A process that appends to a journal on disk and serves it, until it is killed: `journaling_hub.py FILE PORT TOKEN SEED`.

The text of each event is its number, so that whoever follows can tell what is missing or twice.
"""

import asyncio
import random
import sys
from pathlib import Path

from hub_harness import SESSION, StubHost, chunk
from pydantic import SecretStr

from turnwire.hub.config import HubConfig
from turnwire.hub.hub import Hub
from turnwire.journal.sqlite.journal import SqliteJournal


async def main(file: str, port: int, token: str, seed: int) -> None:
    chance = random.Random(seed)
    journal = await SqliteJournal.open(Path(file))
    hub = Hub(journal, StubHost(), HubConfig(port=port, token=SecretStr(token)))
    await hub.start()
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    last = journal.last(SESSION)
    while True:
        count = chance.randint(1, 20)
        last = await journal.append(SESSION, [chunk(str(last + number)) for number in range(1, count + 1)])
        await asyncio.sleep(chance.random() * 0.005)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
