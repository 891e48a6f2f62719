"""`turnwire record`: run an agent, pass its three streams on byte for byte, and record them in a folder.

The agent gets no terminal: its stdin is the piped input, or empty. A terminal shows control characters of its output in
readable form. Ctrl-C interrupts the agent. If it does not exit, it is killed with all its children, and the recording is
still complete.
"""

import asyncio
import codecs
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import structs

from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import Exit
from turnwire.adapter.session.lines import Lines
from turnwire.config.agents import DEMOS, Agent, AgentNotFoundError, find
from turnwire.config.known_agents import KNOWN
from turnwire.config.settings import Settings
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.visible import visible
from turnwire.recordings.folder import FolderRecorder, Workspace
from turnwire.recordings.redaction.redact import redact_folder
from turnwire.recordings.redaction.redaction import Redaction
from turnwire.runner.input import Input
from turnwire.runner.output import Output, OutputLost
from turnwire.sidecar.streams.relayed_cli import UNSAID, run_cli
from turnwire.sidecar.streams.sandboxed import sandboxed


class RecordError(TurnwireError):
    """The agent cannot be recorded. The message says what to do."""


def command_of(name: str, arguments: Sequence[str], settings: Settings) -> Agent:
    """Return the command to run. Raises AgentNotFoundError.

    For a known agent it is its program with these arguments, or with its own if there are none. Otherwise it is a configured
    command, or any program, with these arguments added.
    """
    if name in settings.agents or name in KNOWN or name in DEMOS:
        agent = find(name, settings.agents)
        is_replaced = bool(arguments) and name in KNOWN and name not in settings.agents
        argv = agent.argv[:1] if is_replaced else agent.argv
        return structs.replace(agent, argv=(*argv, *arguments))
    program = shutil.which(name)
    if program is None:
        raise AgentNotFoundError(
            f"there is no agent and no program {name!r}; `turnwire agents` lists the agents"
        )
    return Agent(Path(name).name, (program, *arguments))


def record(agent: Agent, out: Path, workspace: Path, settings: Settings, *, redact: bool) -> int:
    """Run and record an agent. Returns its exit code, or -N for signal N.

    Raises RecordError, ProgramNotFound, SandboxUnavailable and OSError.
    """
    out = out.absolute()
    if out.exists():
        raise RecordError(f"{out} is there already; name a folder that is not")
    out.parent.mkdir(parents=True, exist_ok=True)
    # secrets must not stay on the disk in an unredacted copy
    with tempfile.TemporaryDirectory(prefix=".turnwire-record-", dir=out.parent) as hidden:
        with FolderRecorder(Path(hidden) / "raw" if redact else out) as recorder:
            seen = Workspace(workspace, [out, Path(hidden)])
            environment = {**os.environ, **agent.env}
            about: JsonObject = {
                "agent": agent.name,
                "argv": list(agent.argv),
                "env": sorted(environment),
                "cwd": str(workspace),
            }
            code = asyncio.run(_run(agent, environment, workspace, recorder, settings))
            recorder.close(about, code, seen.changed())
        if redact:
            redaction = Redaction(secrets.token_bytes(32))
            redact_folder(recorder.folder, out, redaction, lambda _: None)
    counts = recorder.counts
    sys.stderr.write(
        f"turnwire: {out}: {counts['send']} lines in, {counts['recv']} out, {counts['err']} of stderr; "
        f"`turnwire conform recording {out}` judges it\n"
    )
    return code


async def _run(
    agent: Agent,
    environment: Mapping[str, str],
    workspace: Path,
    recorder: FolderRecorder,
    settings: Settings,
) -> int:
    async with sandboxed(agent, settings, environment, workspace) as sandbox:
        return await run_cli(
            agent.argv,
            partial(_relayed, recorder),
            workspace=workspace,
            environment=environment,
            stop_timeout=settings.stop_timeout_s,
            sandbox=sandbox,
        )


async def _relayed(recorder: FolderRecorder, process: CliProcess) -> Exit:
    lines = Lines(process, most_posted=sys.maxsize)
    async with asyncio.TaskGroup() as tasks:
        others = [tasks.create_task(lines.write_posted()), tasks.create_task(_say(process, lines, recorder))]
        readers = [
            tasks.create_task(_pass_on(process.read, 1, partial(recorder.see, "recv"))),
            tasks.create_task(_pass_on(process.read_stderr, 2, partial(recorder.see, "err"))),
        ]
        ended = await process.wait()
        await asyncio.wait(readers)
        for other in others:
            other.cancel()
    return ended


async def _say(process: CliProcess, lines: Lines, recorder: FolderRecorder) -> None:
    """Write piped input to the agent, and then its end."""
    if not sys.stdin.isatty():
        async for chunk in Input(sys.stdin.fileno()).chunks():
            recorder.see("send", chunk)
            lines.post(chunk)
            await lines.below(UNSAID)
    lines.post(b"", after=process.close_input)


def _shown(fd: int) -> Callable[[bytes], bytes]:
    """Return a filter for output to a terminal that spells out control characters. A pipe or file gets every byte."""
    if not os.isatty(fd):
        return lambda chunk: chunk
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return lambda chunk: visible(decoder.decode(chunk)).encode("utf-8", "replace")


async def _pass_on(read: Callable[[], Awaitable[bytes]], fd: int, keep: Callable[[bytes], None]) -> None:
    is_read, shown = True, _shown(fd)
    output = Output(fd)
    while chunk := await read():
        keep(chunk)
        try:
            if is_read:
                await output.put(shown(chunk))
        except OutputLost:
            is_read = False  # the reader is gone; the recording continues
    try:
        if is_read:
            await output.flush()
    except OutputLost:
        pass  # as above
