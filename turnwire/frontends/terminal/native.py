"""`turnwire attach --native`: the agent's own interface in this terminal, on the conversation of a session.

This process shows the sidecar that it runs on its machine, by a ticket from a Unix socket. The sidecar ends its own CLI and says what
to run. It follows the conversation's file, so other frontends see it live. When the interface ends, the sidecar has the conversation again.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import structs

from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import Client, CommandFailed, ConnectionLost
from turnwire.client.commands import NativeBegin, NativeEnd
from turnwire.client.results import NativeProgram
from turnwire.protocol.visible import visible

from .guard import END_S, Guard
from .problems import NotAttached

LOOK_S = 0.3
"""How often the list of sessions is looked at."""

PATIENCE = 100
"""Looks for a sidecar that has gone away, to say that the interface has ended."""


async def native(
    client: Client,
    session: str,
    guard: Guard,
    *,
    end_background: bool = False,
    arguments: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run the agent's own interface and return its exit code. Raises NotAttached, and what a client's command raises.

    `arguments`: those of the person for a new conversation. `environment`: what the agent's configuration adds.
    """
    command = NativeBegin(
        session=session,
        host=_host(),
        end_background=end_background,
        new=arguments is not None,
    )
    begun = await _begun(client, command)
    if begun.argv is None:
        raise NotAttached(
            "the sidecar does not say how to run the agent's interface; is it of another version?"
        )
    words = [*begun.argv, *(arguments or ())]
    code = 1
    try:
        program = _started(words, begun.workspace or ".", environment or {})
        code = await _run(client, command, program, guard)
    finally:
        await _ended(client, command)
    return code


async def _begun(client: Client, command: NativeBegin) -> NativeProgram:
    """Begin, after the end of the turn that is open; raises NotAttached for what the person must decide."""
    told = False
    while True:
        try:
            return await client.command(structs.replace(command, ticket=await _ticket(client, command)))
        except CommandFailed as error:
            if error.code == "background_work":
                raise NotAttached(
                    f"{error.message}; give --end-background to end it, or wait for it"
                ) from error
            if error.code != "busy":
                raise
            if not told:
                sys.stderr.write("turnwire: waiting for the end of the turn; Ctrl+C leaves\n")
            told = True
            await asyncio.sleep(LOOK_S)


async def _ticket(client: Client, command: NativeBegin) -> str:
    """Return a ticket that shows the sidecar which process this is; raises NotAttached where no socket of it can be reached."""
    door = (await client.command(structs.replace(command, ticket=None, program=None))).door
    try:
        reader, writer = await asyncio.open_unix_connection(door or "")
        ticket = (await reader.readline()).decode().strip()
        writer.close()
    except (OSError, ValueError) as error:
        raise NotAttached(
            f"the sidecar's socket for terminals cannot be reached ({error}); run this on its machine, as its user"
        ) from error
    if not ticket:
        raise NotAttached("the sidecar gives this process no ticket; run this as the sidecar's user")
    return ticket


async def _run(client: Client, command: NativeBegin, program: "subprocess.Popen[bytes]", guard: Guard) -> int:
    """Wait for the interface, and return its exit code."""
    guard.ends(program.pid)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, program.send_signal, number)
    try:
        async with TaskOwner() as tasks:
            tasks.keep("the hub's wish to have the conversation back", _watch(client, command, program))
            code = await asyncio.to_thread(_waited, program)
    finally:
        guard.ended(program.pid)
        guard.restore(reset=_by_signal(program.returncode))
    return code if code >= 0 else 128 - code


def _started(argv: Sequence[str], folder: str, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start the interface in our group: the terminal is its own, and its keys are not ours."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, _pass)  # unlike SIG_IGN, a handler is not the child's
    try:
        return subprocess.Popen(argv, cwd=folder, env={**os.environ, **environment})
    except OSError as error:
        raise NotAttached(f"{argv[0]} cannot be started: {error.strerror}") from error


def _pass(*_: object) -> None:
    """Take a signal that is the interface's."""


def _by_signal(code: int | None) -> bool:
    """Say whether a process was ended by a signal, so it may not have cleared up."""
    return code is None or code < 0 or code >= 128


def _waited(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the interface; while it is stopped, this process is, too."""
    while True:
        try:
            _, status = os.waitpid(process.pid, os.WUNTRACED)
        except ChildProcessError:
            return process.wait()
        if os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)
            process.send_signal(signal.SIGCONT)
            continue
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode


async def _watch(client: Client, command: NativeBegin, process: "subprocess.Popen[bytes]") -> None:
    """Tell the sidecar which process it is, and end it when the conversation is wanted back."""
    while True:
        with suppress(ConnectionLost, NotAttached):
            ticket = await _ticket(client, command)
            await client.command(
                NativeBegin(session=command.session, host=command.host, ticket=ticket, program=process.pid)
            )
            break
        await asyncio.sleep(LOOK_S)
    while True:
        if any(one.session == command.session and one.wanted_back for one in client.known_sessions):
            process.send_signal(signal.SIGTERM)
            await asyncio.sleep(END_S)
            process.kill()
        await asyncio.sleep(LOOK_S)


async def _ended(client: Client, command: NativeBegin) -> None:
    for _ in range(PATIENCE):
        try:
            ticket = await _ticket(client, command)
            await client.command(NativeEnd(session=command.session, ticket=ticket))
        except (ConnectionLost, NotAttached):
            await asyncio.sleep(LOOK_S)
        else:
            return
    sys.stderr.write("turnwire: the sidecar is gone; the conversation is the agent's own\n")


def _host() -> str:
    return visible(socket.gethostname()).strip() or "this machine"
