"""A TCP line between a frontend and a hub that a test can cut, mend, and lead to another hub."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


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


def port_of(base: str) -> int:
    """The port of an address without a path."""
    return int(base.rpartition(":")[2])


@asynccontextmanager
async def line_to(base: str) -> AsyncIterator[tuple[Line, str]]:
    """A line to the hub at `base`, and its own address."""
    line = Line(port_of(base))
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    try:
        yield line, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        line.cut()
        server.close()
        await server.wait_closed()
