"""A TCP line between a frontend and a hub that a test can cut, mend, lead to another hub, and make slow."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LATE_S = (0.1, 0.2)
"""How late a piece is on a slow line, at least and at most, in seconds. No piece overtakes another."""

PIECE = 64
"""Most bytes that come at once on a slow line."""


class Line:
    """A TCP line to the hub that can be cut and mended."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.up = True
        """While it is cut, connections are closed at once."""
        self.writers: set[asyncio.StreamWriter] = set()

    def is_cut(self) -> bool:
        """Whether nothing is let through."""
        return not self.up

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut():
            writer.close()
            return
        try:
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        if self.is_cut():  # meanwhile
            writer.close()
            back_writer.close()
            return
        self.writers |= {writer, back_writer}
        async with asyncio.TaskGroup() as both:
            both.create_task(self.pump(reader, back_writer))
            both.create_task(self.pump(back_reader, writer))

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65536):
                writer.write(chunk)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()
            self.writers.discard(writer)

    def cut(self) -> None:
        self.up = False
        for writer in self.writers:
            writer.transport.abort()

    def mend(self, target: int | None = None) -> None:
        """Let connections through again, to another port if one is given."""
        self.target = target or self.target
        self.up = True


class SlowLine(Line):
    """A line each of whose directions is late by a varying time and delivers small pieces."""

    def __init__(self, target: int) -> None:
        super().__init__(target)
        self._random = random.Random(1)

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(10_000)
        through = asyncio.StreamReader()

        async def deliver() -> None:
            while True:
                due, piece = await late.get()
                await asyncio.sleep(due - loop.time())
                if not piece:
                    through.feed_eof()
                    return
                through.feed_data(piece)

        async def take() -> None:
            piece = b"."
            while piece:
                try:
                    piece = await reader.read(PIECE)
                except ConnectionError:
                    piece = b""
                await late.put((loop.time() + self._random.uniform(*LATE_S), piece))

        async with asyncio.TaskGroup() as group:
            group.create_task(take())
            group.create_task(deliver())
            group.create_task(super().pump(through, writer))


def port_of(base: str) -> int:
    """The port of an address without a path."""
    return int(base.rpartition(":")[2])


@asynccontextmanager
async def line_to(base: str, kind: type[Line] = Line) -> AsyncIterator[tuple[Line, str]]:
    """A line to the hub at `base`, and its own address."""
    line = kind(port_of(base))
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    try:
        yield line, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        line.cut()
        server.close()
        await server.wait_closed()
