"""The process that brings an agent's interface into a terminal, as `turnwire attach --native` is one: it gets tickets and starts programs."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

PROGRAM = """
import socket, subprocess, sys
for line in sys.stdin:
    kind, _, rest = line.strip().partition(" ")
    if kind == "door":
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(rest)
            print(door.makefile().readline().strip(), flush=True)
    elif kind == "start":
        print(subprocess.Popen(rest.split(), stdin=subprocess.DEVNULL).pid, flush=True)
    elif kind == "end":
        program = subprocess.Popen(["true"])
        program.wait()
        print(program.pid, flush=True)
"""


class TerminalOwner:
    """A process of its own; `started` makes one."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.programs: list[int] = []
        """What it has started."""

    @classmethod
    async def started(cls) -> "TerminalOwner":
        return cls(
            await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, stdin=PIPE, stdout=PIPE)
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    async def ticket(self, begun: object) -> str:
        """What the process reads at the door that `native.begin` names; empty where it gets none."""
        assert isinstance(begun, dict)
        assert list(begun) == ["door"]
        return await self._tells(f"door {begun['door']}")

    async def program(self, *argv: str) -> int:
        """Start a program, and return its process id."""
        self.programs.append(int(await self._tells(f"start {' '.join(argv)}")))
        return self.programs[-1]

    async def ended_program(self) -> int:
        """Start a program, and return its process id after its end."""
        return int(await self._tells("end"))

    async def _tells(self, line: str) -> str:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{line}\n".encode())
        return (await stdout.readline()).decode().strip()

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
