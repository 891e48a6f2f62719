"""What `turnwire attach` costs: its start on a long log, and the imports in it; CPU and memory during a stream, and what the hub pays.

    python bench/bench_terminal.py [--quick]

The terminal is a pseudo-terminal of 100 by 30 that is read at once. The texts come in pieces, a hundred to a message.
"""

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.hub_setting import SESSION, delivered, frontends, hub_of, installed, journals
from turnwire.journal.base import Entry, Journal

TICK_S = 0.05
"""Seconds between two batches of the stream."""


def piece(number: int, text: str = "some words of a text ") -> Entry:
    message = number // 100
    return Entry(
        b'{"type":"message_chunk","session_id":"c0ffee","message_id":"m%d","block_index":0,"is_delta":true,"text":"%s"}'
        % (message, text.encode())
    )


class Attached:
    """A running `turnwire attach`."""

    def __init__(self, pid: int, side: int) -> None:
        self.pid, self._side = pid, side
        self.drawn = b""
        os.set_blocking(side, False)
        asyncio.get_running_loop().add_reader(side, self._read)

    def _read(self) -> None:
        try:
            self.drawn = (self.drawn + os.read(self._side, 1 << 16))[-(1 << 17) :]
        except OSError:
            asyncio.get_running_loop().remove_reader(self._side)

    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        """Megabytes of memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * 4096 / 1e6

    async def sees(self, word: bytes) -> None:
        async with asyncio.timeout(120):
            while word not in self.drawn:  # noqa: ASYNC110 - a terminal tells nobody what it draws
                await asyncio.sleep(0.005)


@asynccontextmanager
async def attached(url: str, token: str) -> AsyncIterator[Attached]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    with TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "turnwire", "attach", f"{url}#token={token}&session={SESSION}",
            stdin=theirs, stdout=theirs, stderr=theirs,
            env={**installed(Path(home)), "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        )  # fmt: skip
        os.close(theirs)
        place = Attached(process.pid, ours)
        try:
            yield place
        finally:
            asyncio.get_running_loop().remove_reader(ours)
            if process.returncode is None:
                process.kill()
            await process.wait()
            os.close(ours)


async def fill(journal: Journal, count: int) -> None:
    for first in range(0, count, 500):
        await journal.append(SESSION, [piece(number) for number in range(first, min(count, first + 500))])
    await journal.append(SESSION, [piece(count + 100, "newest-word")])
    await journal.flush()


async def imports() -> None:
    """Tell the parts of a start apart; each has the start of Python in it."""
    print("\nThe start of Python, and what is imported before the first screen")
    for said, statement in (
        ("Python", "pass"),
        ("Textual", "import textual.app"),
        ("the client", "import turnwire.client"),
        ("the interface", "import turnwire.sidecar.cli.attach, turnwire.frontends.terminal.app"),
    ):
        begun, before = time.monotonic(), os.times()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", statement)
        await process.wait()
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"{said:>16}: {time.monotonic() - begun:.2f} s, CPU {cpu:.2f} s")


async def opening(events: int) -> None:
    print("\nOpening, from the command to the newest text on the screen")
    for count in (0, events):
        async with journals("memory") as journal, hub_of(journal) as (url, token, _):
            await fill(journal, count)
            page = url.replace("ws:", "http:").removesuffix("ws")
            begun = time.monotonic()
            async with attached(page, token) as place:
                await place.sees(b"newest-word")
                print(
                    f"{count:>9} events: {time.monotonic() - begun:.2f} s, CPU {place.cpu():.2f} s, "
                    f"{place.resident():.0f} MB"
                )


async def stream(journal: Journal, seconds: int, rate: int) -> None:
    number, each = 1_000_000, int(rate * TICK_S)
    begun = time.monotonic()
    for tick in range(int(seconds / TICK_S)):
        await journal.append(SESSION, [piece(number + one) for one in range(each)])
        number += each
        await asyncio.sleep(max(0.0, begun + (tick + 1) * TICK_S - time.monotonic()))


async def streaming(seconds: int, rate: int = 1_000) -> None:
    print(f"\nA stream of {rate} events a second for {seconds} s, journal SQLite")
    for is_attached in (False, True):
        async with journals("SQLite") as journal, hub_of(journal) as (url, token, hub):
            await fill(journal, 100)
            page = url.replace("ws:", "http:").removesuffix("ws")
            last = journal.last(SESSION) + int(seconds / TICK_S) * int(rate * TICK_S)
            async with frontends("follow", url, token, 1, last):
                if not is_attached:
                    before = time.process_time()
                    await stream(journal, seconds, rate)
                    await delivered(hub)
                    print(
                        f"one other frontend: hub {100 * (time.process_time() - before) / seconds:.0f} % of a core"
                    )
                    continue
                async with attached(page, token) as place:
                    await place.sees(b"newest-word")
                    idle, began = place.cpu(), time.monotonic()
                    await asyncio.sleep(3)
                    print(f"idle: {100 * (place.cpu() - idle) / (time.monotonic() - began):.1f} % of a core")
                    cpu, memory, before = place.cpu(), place.resident(), time.process_time()
                    began = time.monotonic()
                    await stream(journal, seconds, rate)
                    took = time.monotonic() - began
                    ended = time.monotonic()
                    await delivered(hub)
                    print(
                        f"and a terminal:     hub {100 * (time.process_time() - before) / took:.0f} % of a core, terminal "
                        f"{100 * (place.cpu() - cpu) / took:.0f} %, {memory:.0f} MB before and {place.resident():.0f} MB after, "
                        f"{1000 * (time.monotonic() - ended):.0f} ms behind at the end"
                    )


async def main() -> None:
    quick = "--quick" in sys.argv
    await imports()
    await opening(5_000 if quick else 50_000)
    await streaming(3 if quick else 15)


if __name__ == "__main__":
    asyncio.run(main())
