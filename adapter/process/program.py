"""Run a program of the user's configuration to its exit, as a hook or git is: one input, two bounded outputs, one code.

Its exit ends it, not the end of its output, which a daemon that it started may hold open; its group goes with it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.process.child import Child, Start, kill_group
from turnwire.adapter.process.pipes import OutputGrace, pipes
from turnwire.adapter.process.transport import ProcessGone


class Completed(Struct, frozen=True):
    """What a program did."""

    code: int
    """Its exit code, negative for a signal."""
    stdout: bytes
    stderr: bytes


class _Beginning:
    """The first bytes of an output; one more than the most says that it had more."""

    def __init__(self, most: int, full: Callable[[], None]) -> None:
        self._most = most
        self._full = full
        self.kept = bytearray()

    def see(self, data: bytes) -> None:
        self.kept += data[: self._most + 1 - len(self.kept)]
        if len(self.kept) > self._most:
            self._full()


async def run_program(
    argv: Sequence[str],
    *,
    body: bytes,
    workspace: Path,
    environment: Mapping[str, str],
    most: int,
    stops_full: bool = False,
    grace: OutputGrace | None = None,
) -> Completed:
    """Run a program until it exits; one that is given up by a timeout or a cancellation is killed.

    Args:
        argv: the program and its arguments.
        body: what it may read on stdin.
        workspace: its working directory.
        environment: its whole environment.
        most: bytes that are kept of each output; one that has one byte more was longer.
        stops_full: kill it once an output has more than that.
        grace: how long an output is listened to that others hold open after the exit.

    Raises:
        OSError: it cannot be started.
    """
    child: Child | None = None

    def full() -> None:
        if stops_full and child is not None:
            child.kill()

    said, complained = _Beginning(most, full), _Beginning(most, full)
    async with pipes(grace or OutputGrace(), discards=(True, True), sees=(said.see, complained.see)) as ends:
        start = Start(
            argv=argv,
            workspace=workspace,
            environment=environment,
            stdin=ends.their_stdin,
            stdout=ends.their_stdout,
            stderr=ends.their_stderr,
        )
        child = await Child.start(start, on_exit=ends.process_exited)
    try:
        try:
            await ends.stdin.write(body)
        except ProcessGone:
            pass  # it need not read what it is told
        ends.stdin.close()
        await child.exited.wait()
        await ends.over()
    finally:
        # its own children go with it, and so does one that was given up
        kill_group(child.pid)
        await child.exited.wait()
        child.close()
        ends.close()
    return Completed(child.code or 0, bytes(said.kept), bytes(complained.kept))
