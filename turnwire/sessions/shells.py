"""Shells that people open where a session works: its folder, its sandbox if it has one, and few variables of its environment.

A shell is a person's: no rule, policy or quota of the agent applies to it. The audit trail says who opened it. It ends with the agent.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.process.environment import build_environment
from turnwire.adapter.process.terminal import InputFull, TerminalProcess
from turnwire.config.settings import Settings
from turnwire.hub.host import Frontend
from turnwire.hub.wire import frames
from turnwire.sessions.hosted import refuse
from turnwire.sessions.live import LiveSession
from turnwire.sessions.records.options import sandbox_of
from turnwire.sessions.workspaces import workspace_of

MOST_SHELLS = 4
"""Shells of one session."""

ALLOWED = ("HOME", "PATH", "SHELL", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_*")
"""Names, with wildcards, that a shell gets of the agent's environment: no tokens, no keys, and nothing of turnwire's."""

GIVEN = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
"""What the terminals of frontends understand."""

DEFAULT = "/bin/sh"


class SessionShell:
    """A shell of one session."""

    def __init__(self, process: TerminalProcess, over: Callable[["SessionShell"], None]) -> None:
        self._process = process
        self._over = over

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.code

    async def read(self) -> bytes:
        """Return what it wrote; b"" at its end."""
        return await self._process.read()

    def write(self, typed: bytes) -> None:
        """Give it input; raises CommandRefused while too much waits."""
        try:
            self._process.write(typed)
        except InputFull as error:
            refuse("rate_limited", str(error), "text")

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of its terminal."""
        self._process.resize(columns, rows)

    async def close(self) -> None:
        """End it and all that it has started."""
        await self._process.close()
        self._over(self)


class SessionShells:
    """Opens the shells of all sessions."""

    def __init__(
        self,
        settings: Settings,
        audit: Callable[[str], AuditTrail | None],
        find: Callable[[str], LiveSession],
    ) -> None:
        """`audit` opens a session's trail; `find` returns a session that frontends may work in, and refuses others."""
        self._settings = settings
        self._audit = audit
        self._find = find
        self._opening: dict[str, int] = {}

    async def open(self, command: frames.ShellOpen, frontend: Frontend) -> SessionShell:
        """Open a shell; raises CommandRefused."""
        session = self._find(command.session)
        name = session.session
        if len(session.shells) + self._opening.get(name, 0) >= MOST_SHELLS:
            refuse("no_shell", f"{MOST_SHELLS} shells of this session are open, the most allowed; close one")
        self._opening[name] = self._opening.get(name, 0) + 1
        try:
            return await self._opened(session, command, frontend)
        finally:
            self._opening[name] -= 1
            if not self._opening[name]:
                del self._opening[name]

    async def _opened(
        self, session: LiveSession, command: frames.ShellOpen, frontend: Frontend
    ) -> SessionShell:
        agent = session.cli
        if agent is None:
            refuse("not_running", "the shell ends with the agent, which does not run; start it first")
        box, level = agent.options.box, sandbox_of(session.record, self._settings)
        if box is None and level != "off":
            refuse("no_shell", f"the sandbox {level!r} of this session is not open yet; try again")
        workspace = workspace_of(session.record.workspace)
        environment = build_environment(agent.options.environment, allowed=ALLOWED, given=GIVEN)
        program = program_of(environment)
        await asyncio.to_thread(self._note, session, frontend.name, program, workspace, level)
        try:
            process = await TerminalProcess.spawn(
                [program],
                workspace=workspace,
                environment=environment,
                columns=command.columns,
                rows=command.rows,
                sandbox=box,
            )
        except OSError as error:
            refuse("no_shell", f"{program} cannot be started in {workspace}: {error.strerror or error}")
        shell = SessionShell(process, session.shells.discard)
        if session.cli is not agent:
            await shell.close()
            refuse("not_running", "the agent has ended meanwhile, and the shell with it; start it first")
        session.shells.add(shell)
        return shell

    def _note(self, session: LiveSession, by: str, program: str, workspace: Path, level: str) -> None:
        """Note who opens it, before it is there."""
        try:
            trail = self._audit(session.session)
        except OSError as error:
            refuse("no_shell", f"the audit trail cannot be written: {error.strerror or error}")
        if trail is None:
            return
        trail.note_shell(by, program, str(workspace), level)
        trail.close()
        if trail.trouble is not None:
            refuse("no_shell", f"the audit trail cannot be written: {trail.trouble}")


def program_of(environment: Mapping[str, str]) -> str:
    """Return the shell of a person: SHELL where that is a program, else /bin/sh."""
    named = Path(environment.get("SHELL", ""))
    return str(named) if named.is_absolute() and named.is_file() and os.access(named, os.X_OK) else DEFAULT
