"""A process that journals until it is killed, and says on stdout what became readable; for tests/journal.

    python journal_child.py FILE LAST_KNOWN

Checks first that the log reaches at least LAST_KNOWN without a hole, then prints `SEQ` lines for ever.
"""

import asyncio
import os
import sys
from pathlib import Path

from turnwire.journal.base import Entry, Retention
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor


async def _main(path: Path, known: int) -> None:
    journal = await SqliteJournal.open(path, Retention(max_count=3000))
    last = journal.last("s")
    if last < known:
        sys.exit(f"{known} had been announced but the log ends at {last}")
    cursor = Cursor(journal.epoch, max(0, last - 50))
    expected = cursor.seq
    for envelope in (await journal.read_after("s", cursor)).envelopes:
        expected += 1
        if envelope.seq != expected or envelope.event != b'{"n":%d}' % expected + b" " * (expected % 977):
            sys.exit(f"event {expected} is not what was appended")
    journal.watch(lambda _, seq: (os.write(1, b"%d\n" % seq), None)[1])
    while True:
        batch = [
            Entry(b'{"n":%d}' % n + b" " * (n % 977), raw=b"r" * 300)
            for n in range(last + 1, last + 1 + 1 + last % 7)
        ]
        last = await journal.append("s", batch)
        if last % 4:
            await journal.flush()


asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2])))
