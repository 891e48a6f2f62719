"""A sandbox around a small program, for tests; sandboxes need bubblewrap and user namespaces."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import Exit
from turnwire.adapter.sandbox.gate import Ask, Denied, HostAnswer
from turnwire.adapter.sandbox.hosts import Target
from turnwire.adapter.sandbox.sandbox import Sandbox, open_sandbox
from turnwire.adapter.sandbox.settings import SandboxSettings


class Ran(NamedTuple):
    exit: Exit
    output: str
    errors: str


class Place(NamedTuple):
    """A session's sandbox, and what became of its hosts."""

    sandbox: Sandbox | None
    workspace: Path
    environment: dict[str, str]
    asked: list[str]
    told: list[Denied]

    async def start(self, argv: Sequence[str]) -> CliProcess:
        return await CliProcess.spawn(
            argv, workspace=self.workspace, environment=self.environment, sandbox=self.sandbox
        )

    async def run(self, script: str) -> Ran:
        process = await self.start(["/bin/sh", "-c", script])
        process.close_input()
        output = b""
        while piece := await process.read():
            output += piece
        exit_ = await process.wait()
        return Ran(exit_, output.decode(), process.stderr_tail)


async def nobody(_: Target) -> HostAnswer:
    return HostAnswer(allowed=False, scope="once", reason="nobody wants that")


Places = Callable[..., AbstractAsyncContextManager[Place]]


def places(tmp_path: Path) -> Places:
    """Return what makes sandboxes around a workspace below a home directory of the test's own."""
    home, workspace = tmp_path / "home", tmp_path / "home" / "work"
    workspace.mkdir(parents=True)
    usual = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    @asynccontextmanager
    async def enter(
        settings: SandboxSettings,
        ask: Ask = nobody,
        own_places: Sequence[str] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncIterator[Place]:
        given = {**usual, **environment}
        async with open_sandbox(
            settings, workspace=workspace, program="/bin/sh", environment=given, own_places=own_places
        ) as sandbox:
            asked: list[str] = []
            told: list[Denied] = []

            async def note(target: Target) -> HostAnswer:
                asked.append(str(target))
                return await ask(target)

            if sandbox is not None:
                sandbox.gate.attach(note, told.append)
            yield Place(sandbox, workspace, given, asked, told)

    return enter
