"""The two ends of a stream: bytes in by chunks, whole lines out within a bound."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from turnwire.runner.input import Input
from turnwire.runner.output import Output, OutputLost
from waiting import until


async def gathered(source: Input) -> bytes:
    async with asyncio.timeout(60):
        return b"".join([chunk async for chunk in source.chunks()])


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"x" * 1_000_000)
    with path.open("rb") as file:
        assert await gathered(Input(file.fileno())) == b"x" * 1_000_000


async def test_a_pipe_that_does_not_block_is_read_as_any_other() -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    source = Input(read)
    reading = asyncio.create_task(gathered(source))
    await asyncio.to_thread(os.write, write, b"late")
    os.close(write)
    assert await reading == b"late"
    os.close(read)


async def test_no_more_is_read_than_somebody_asks_for() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    chunks = aiter(Input(read).chunks())

    def is_full() -> bool:
        try:
            return os.write(write, b"x" * 65536) == 0
        except BlockingIOError:
            return True

    await until(is_full)
    assert await anext(chunks)
    os.close(write)


@pytest.mark.parametrize("blocks", [True, False])
async def test_lines_of_many_writers_stay_whole_and_in_order(blocks: bool) -> None:
    read, write = os.pipe()
    os.set_blocking(write, blocks)
    output = Output(write, capacity=10_000)

    async def writes(number: int) -> None:
        for index in range(200):
            await output.put(b"%d %d %s\n" % (number, index, b"x" * (index * 7 % 900)))

    def read_all() -> list[bytes]:
        with os.fdopen(read, "rb") as file:
            return file.read().split(b"\n")[:-1]

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(asyncio.to_thread(read_all))
        async with asyncio.TaskGroup() as writing:
            for number in range(20):
                writing.create_task(writes(number))
        await output.flush()
        os.close(write)
    seen: dict[int, int] = {}
    for line in reading.result():
        writer, index, rest = line.split(b" ")
        assert rest == b"x" * (int(index) * 7 % 900)
        assert int(index) == seen.get(int(writer), -1) + 1
        seen[int(writer)] = int(index)
    assert seen == dict.fromkeys(range(20), 199)


async def test_what_must_be_said_never_waits_and_the_rest_does() -> None:
    read, write = os.pipe()
    output = Output(write, capacity=1000)
    output.add(b"x" * 200_000)  # more than the pipe holds
    waiting = asyncio.create_task(output.put(b"later\n"))
    output.add(b"end\n")
    await asyncio.sleep(0)
    assert not waiting.done()

    def read_all() -> bytes:
        with os.fdopen(read, "rb") as file:
            return file.read()

    reading = asyncio.create_task(asyncio.to_thread(read_all))
    async with asyncio.timeout(60):
        await waiting
        await output.flush()
        os.close(write)
        assert (await reading).endswith(b"xend\nlater\n")


async def test_a_reader_that_has_gone_is_told_to_everybody_who_waits() -> None:
    read, write = os.pipe()
    output = Output(write, capacity=10)
    lost = asyncio.create_task(output.lost())
    os.close(read)
    output.add(b"x" * 100)
    async with asyncio.timeout(60):
        with pytest.raises(OutputLost):
            await lost
        with pytest.raises(OutputLost):
            await output.put(b"more")
        with pytest.raises(OutputLost):
            await output.flush()
    output.add(b"ignored")
    os.close(write)


async def test_a_thread_ends_with_its_loop() -> None:
    read, write = os.pipe()

    async def leaves() -> None:
        Input(read)

    await asyncio.to_thread(lambda: asyncio.run(leaves()))
    os.write(write, b"nobody listens")
    os.close(write)
    await until(lambda: not any(thread.name == f"input {read}" for thread in threading.enumerate()))
    os.close(read)
