"""A conversation in the agent's own interface: who has it, what it asks there, and the prompts that wait for its end.

The session follows the conversation's file, as it does with one that somebody has opened in a terminal. The interface's hooks come
in by a socket. A request is published as if a headless CLI had asked it. The first answer wins, in the terminal or elsewhere.
"""

import asyncio
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from uuid import uuid4

from pydantic import JsonValue

from turnwire.adapter.hooks import relay
from turnwire.adapter.interface import InterfaceHooks
from turnwire.adapter.permissions.answers import InvalidAnswer, answer_tool, answer_user_question
from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.real_paths import protected_places
from turnwire.config.agents import AgentNotFoundError, interface
from turnwire.config.settings import Settings
from turnwire.history.following import follower_of
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.journal.base import JournalError
from turnwire.normalize import events as ev
from turnwire.normalize.inputs import Decision
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.sessions.claims import CLOCK_S, Claim, is_believed
from turnwire.sessions.commands import prompt_name, question_answer, tool_answer
from turnwire.sessions.frontend_limits import FrontendLimits
from turnwire.sessions.history_commands import HistoryCommands
from turnwire.sessions.hosted import refuse
from turnwire.sessions.launch import family_of
from turnwire.sessions.live import LiveSession
from turnwire.sessions.prompt_history import SentPrompt
from turnwire.sessions.records.options import RecordOptions, sandbox_of
from turnwire.sessions.records.take_up import ReadTo
from turnwire.sessions.terminal_door import TerminalDoor
from turnwire.sessions.terminal_state import OpenRequest, TerminalProcess, TerminalState, WaitingPrompt

log = logging.getLogger(__name__)

LOOK_S = 0.4
"""How often the processes and the file are looked at."""

ANSWERED_THERE = 3
"""Looks after which a request counts as allowed in the terminal: the interface waits no more, and no refusal came."""

NEVER_WAITED = 10
"""The same of an interface that was never seen waiting: it may not have shown the request yet."""

ASKS_THERE = 8
"""Looks that the interface waits without a request, until that is told: its hook may still be on the way."""

FIND_CALL_S = 0.1
"""Pause between two looks for the call of a request in the file."""

FIND_CALL = 10
"""Looks for it. Some calls are never there, such as those of subagents."""

LEFT = "The agent's interface ended before anybody answered."

HOOK_BYTES = 16 << 20
"""Bytes of a hook's input."""

WAITING = 100
"""Prompts that may wait."""


Alone = Callable[[str], AbstractAsyncContextManager[LiveSession]]
Say = Callable[[LiveSession, frames.Prompt, str], Awaitable[JsonValue]]
Check = Callable[[LiveSession, str, Claim | None], Awaitable[None]]


def _again(folder: Path) -> Path:
    """Return the folder where the interface calls its hooks, without an earlier socket; another one if it is not ours."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.lstat().st_uid == os.getuid():
            (folder / "hooks").unlink(missing_ok=True)
            return folder
    return Path(tempfile.mkdtemp(prefix="turnwire-"))


def _unreadable(file: Path) -> str | None:
    """Return why a file cannot be read; None if it can."""
    try:
        with file.open("rb"):
            return None
    except OSError as error:
        return f"{file}: {error.strerror}"


class Terminals:
    """Hands conversations over to interfaces, and takes them back."""

    def __init__(
        self,
        settings: Settings,
        history: HistoryCommands,
        limits: FrontendLimits,
        *,
        alone: Alone,
        say: Say,
        check: Check,
        serve: Callable[[Coroutine[None, None, None]], object],
    ) -> None:
        """`alone` gives a session that nobody else starts or stops meanwhile. `say` sends a prompt under an id.

        `check` refuses a conversation that is another's. It takes what says that it is the session's; None: its record. `serve` starts a
        task that lasts as long as the sidecar.
        """
        self._settings = settings
        self._history = history
        self._limits = limits
        self._alone = alone
        self._say = say
        self._check = check
        self._door = TerminalDoor(serve)

    def close(self) -> None:
        """Take no more conversations over."""
        self._door.close()

    async def begin(
        self, command: frames.NativeBegin, spawn: Callable[[LiveSession, TerminalState, Path], None]
    ) -> JsonValue:
        """Hand a conversation over; `spawn` starts `keep`. Refuses what cannot be."""
        if command.ticket is None:
            return {"door": await self._door.path()}
        owner = self._door.holder(command.ticket)
        async with self._alone(command.session) as session:
            if (held := session.in_terminal) is not None and held.is_running:
                if not held.owner.is_same(owner):
                    refuse("in_terminal", f"the terminal on {held.host} has the conversation", "session")
                if command.program is not None:
                    if not owner.has_started(command.program):
                        refuse(
                            "invalid_params",
                            f"process {command.program} was not started by process {owner.pid}, which has the ticket",
                            "program",
                        )
                    held.program = TerminalProcess(command.program)
                    await session.keep_terminal()
                return {}
            record = session.record
            if sandbox_of(record, self._settings) != "off":
                refuse(
                    "not_supported",
                    "the session has a sandbox, and the agent's own interface would run without it; fork it without",
                    "session",
                )
            family = family_of(record, self._settings)
            conversation = record.cli_session_id if record.turns and not command.new else None
            agent = record.agent or self._settings.agent
            try:
                argv = interface(agent, self._settings.agents, conversation)
            except AgentNotFoundError as error:
                refuse("not_supported", str(error), "session")
            if session.cli is not None and session.is_busy:
                refuse("busy", "a turn is open; wait for its end, or interrupt it", "session")
            if session.cli is not None and session.background and not command.end_background:
                refuse(
                    "background_work", f"this would end: {'; '.join(session.background)}", "end_background"
                )
            held = TerminalState(command.host, owner, family.interface_hooks and family.interface_hooks())
            if conversation is not None:
                await self._check(session, conversation, None)
            await session.stop()
            follower = None
            if conversation is not None:
                listed = await self._history.remembered(agent, record.workspace or "", conversation)
                if listed is None:
                    refuse(
                        "unknown_conversation",
                        f"the file of the conversation {conversation} is not found, so it could not be followed",
                        "session",
                    )
                follower = await self._history.follower(listed)
                held.conversation, held.file = conversation, Path(listed.path)
                held.shown.add(conversation)
            # a short path: a socket's address has 107 bytes
            folder = held.folder = Path(tempfile.mkdtemp(prefix="turnwire-"))
            await session.hand_over(held, follower)
            if held.hooks is None or not held.hooks.asks(record.cli_version):
                text = f"What the agent asks there can only be answered in the terminal on {held.host}."
                await session.announce(ev.Notice(kind="answer_in_terminal", level="info", text=text))
            spawn(session, held, folder)
        if held.hooks is not None:
            script = str(Path(relay.__file__))
            argv += held.hooks.arguments([sys.executable, "-IS", script, str(folder / "hooks")])
        if family.name in {"claude", "auto"} and not command.new:
            argv.append(f"--permission-mode={record.permission_mode or 'default'}")
        return {"argv": list(argv), "workspace": record.workspace or ".", "agent": agent}

    async def again(
        self, session: LiveSession, spawn: Callable[[LiveSession, TerminalState, Path], None]
    ) -> None:
        """Go on with an interface that an earlier sidecar has begun, or take in what it did until its end.

        Raises JournalError, OSError, and ValueError for a record that does not say who has the conversation.
        """
        kept = RecordOptions.from_record(session.record).terminal or {}
        owner = TerminalProcess.of(kept.get("owner"))
        if owner is None:
            raise ValueError("the record does not say which process has the conversation")
        family = family_of(session.record, self._settings)
        held = TerminalState(
            text_at(kept, "host") or "", owner, family.interface_hooks and family.interface_hooks()
        )
        held.program = TerminalProcess.of(kept.get("program"))
        if isinstance(since := kept.get("since"), float):
            held.since = since
        conversation, file = text_at(kept, "conversation"), text_at(kept, "file")
        folder = text_at(kept, "folder")
        held.folder = _again(Path(folder)) if folder else Path(tempfile.mkdtemp(prefix="turnwire-"))
        held.is_taken_up = True
        if conversation and file:
            held.opened, held.read, held.opens_read = (conversation, Path(file), True), ReadTo.of(kept), True
            held.shown.add(conversation)
        await session.hand_over(held, None)
        if held.opened is not None and (trouble := await asyncio.to_thread(_unreadable, Path(file))):
            text = f"The conversation's file cannot be read, so what is said in the terminal is not shown: {trouble}"
            await session.announce(ev.Notice(kind="in_terminal", level="warning", text=text))
        spawn(session, held, held.folder)

    async def end(self, command: frames.NativeEnd) -> JsonValue:
        """Wait until frontends lead a conversation again whose interface has ended; refuses while it runs."""
        async with self._alone(command.session) as session:
            held = session.in_terminal
            if held is None:
                return None
            owner = None if command.ticket is None else self._door.holder(command.ticket)
            held.is_over |= owner is not None and owner.is_same(held.owner)
            if held.is_running:
                refuse(
                    "in_terminal",
                    f"the agent's interface runs in the terminal on {held.host}; leave it there, or send native.take_back",
                    "session",
                )
            held.look.set()
        await held.left.wait()
        return None

    async def keep(self, session: LiveSession, held: TerminalState, folder: Path) -> None:
        """Follow the conversation and serve the hooks until the interface has ended; then send what waits."""
        try:
            await self._kept(session, held, folder)
        except CommandRefused as refused:
            if refused.code != "unknown_session":
                raise
            # another worker has the session by now, and its log says what became of the prompts that wait
            session.in_terminal = None
            held.left.set()

    async def _kept(self, session: LiveSession, held: TerminalState, folder: Path) -> None:
        try:
            async with self._hooks(session, held, folder):
                while held.is_running:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK_S):
                            await held.look.wait()
                    held.look.clear()
                    try:
                        await self._look(session, held)
                    except JournalError as error:
                        self._read_again(session, held, error)
        finally:
            for asked in held.asked.values():
                asked.settle(None)
            shutil.rmtree(folder, ignore_errors=True)
        async with self._alone(session.session):
            await self._open(session, held)
            await session.follow(running=True)
            left = [
                Decision(name, "deny", f"terminal on {held.host}", asked.waited_ms, message=LEFT)
                for name, asked in held.asked.items()
            ]
            await session.hear(left)
            await session.take_back_from_terminal()
        held.left.set()
        for one in held.waiting:
            try:
                await self._say(session, one.command, one.prompt)
            except CommandRefused as error:
                await session.announce(ev.Withdrawn(prompt=one.prompt))
                await session.announce(
                    ev.Notice(
                        kind="prompt_not_sent",
                        level="warning",
                        text=f"A prompt was not sent: {error.message}",
                    )
                )

    async def command(
        self, session: LiveSession, held: TerminalState, command: frames.SessionCommand, frontend: Frontend
    ) -> JsonValue:
        """Do a command about a conversation that is in a terminal; raises CommandRefused."""
        match command:
            case frames.Prompt():
                return await self._wait(session, held, command)
            case frames.PromptWithdraw():
                left = [one for one in held.waiting if one.prompt != command.prompt]
                if len(left) == len(held.waiting):
                    return {"withdrawn": False}
                held.waiting[:] = left
                await session.announce(ev.Withdrawn(prompt=command.prompt))
                return {"withdrawn": True}
            case frames.NativeTakeBack():
                if session.is_busy and not command.now:
                    refuse(
                        "busy",
                        f"a turn is open in the terminal on {held.host}; wait for its end, or send `now`",
                        "now",
                    )
                await session.announce(
                    ev.Notice(
                        kind="in_terminal", level="info", text=f"{frontend.name} takes the conversation back."
                    )
                )
                session.want_back()
                return None
            case frames.PermissionRespond():
                await self._decide(
                    session, held, command.pending_id, tool_answer(command, self._limits), frontend.name
                )
            case frames.QuestionAnswer():
                await self._decide(session, held, command.pending_id, question_answer(command), frontend.name)
            case _:
                refuse("in_terminal", f"the conversation is in the terminal on {held.host}", "session")
        return None

    async def _wait(self, session: LiveSession, held: TerminalState, command: frames.Prompt) -> JsonValue:
        if not command.text.strip() and not command.attachments:
            refuse("invalid_params", "a prompt needs text or an attachment", "text")
        if len(held.waiting) >= WAITING:
            refuse(
                "in_terminal", f"{WAITING} prompts wait already for the terminal on {held.host}", "session"
            )
        prompt = prompt_name(command)
        if any(one.prompt == prompt for one in held.waiting):
            return {"prompt": prompt}
        held.waiting.append(
            WaitingPrompt(prompt, SentPrompt(command.text, command.attachments or ()), command)
        )
        await session.announce(
            ev.Queued(position=len(held.waiting), prompt=prompt, text=command.text or None)
        )
        return {"prompt": prompt}

    def _with_replaced_files(
        self, session: LiveSession, request: ev.PermissionRequest
    ) -> ev.PermissionRequest:
        if request.action_type != "file_write":
            return request
        from turnwire.adapter.permissions.replaced_files import with_replaced_files  # noqa: PLC0415 - few write files
        from turnwire.config.state_directory import own_places  # noqa: PLC0415 - it reads of journals

        protected = protected_places(own_places(self._settings), str(Path.home()))
        settings = PermissionSettings(workspace=str(session.record.workspace), protected=protected)
        return with_replaced_files(request, settings)

    async def _decide(
        self,
        session: LiveSession,
        held: TerminalState,
        name: str,
        answer: PermissionAnswer | QuestionAnswer,
        by: str,
    ) -> None:
        asked = held.asked.get(name)
        if asked is None or held.hooks is None:
            refuse("already_answered", "it was answered, in the terminal or elsewhere", "pending_id")
        request = asked.request
        try:
            if isinstance(answer, QuestionAnswer):
                outcome = answer_user_question(request, answer, by, asked.waited_ms)
            else:
                outcome = answer_tool(request, answer, by, asked.waited_ms)
        except InvalidAnswer as error:
            refuse("invalid_answer", str(error), error.field)
        del held.asked[name]
        asked.settle(held.hooks.answer(request, outcome.reply))
        await session.hear([outcome.decision])

    def _read_again(self, session: LiveSession, held: TerminalState, error: JournalError) -> None:
        """Have the next look publish what the log did not take, from the last place that it has."""
        log.warning(
            "what was said in a terminal is published later",
            extra={"session": session.session, "error": str(error)},
        )
        if (
            held.opened is None
            and held.read is not None
            and held.conversation is not None
            and held.file is not None
        ):
            held.opened, held.opens_read = (held.conversation, held.file, True), True

    async def _look(self, session: LiveSession, held: TerminalState) -> None:
        async with self._alone(session.session):
            await self._open(session, held)
            await session.follow(running=True)
        if held.hooks is None or held.file is None or held.program is None:
            return
        waits = await asyncio.to_thread(held.hooks.waits, held.file, held.program.pid)
        held.looks_waiting = held.looks_waiting + 1 if waits is True and not held.asked else 0
        if held.looks_waiting == ASKS_THERE:
            await self._ask_there(session, held)
        for name, asked in list(held.asked.items()):
            asked.was_waiting |= waits is True
            asked.looks = asked.looks + 1 if waits is False else 0
            enough = ANSWERED_THERE if asked.was_waiting else NEVER_WAITED
            if asked.looks >= enough and name in held.asked:
                # a refusal is in the file at once; a call that was allowed may run for long
                del held.asked[name]
                asked.settle(None)
                await session.hear([Decision(name, "allow", f"terminal on {held.host}", asked.waited_ms)])

    async def _ask_there(self, session: LiveSession, held: TerminalState, words: str = "") -> None:
        """Tell that the interface asks something that can be answered there alone."""
        said = f": {words}" if words else "."
        text = f"The agent asks something that can only be answered in the terminal on {held.host}{said}"
        await session.announce(ev.Notice(kind="answer_in_terminal", level="warning", text=text))

    async def _open(self, session: LiveSession, held: TerminalState) -> None:
        """Follow the conversation that the interface has opened last, once its file is there."""
        if held.opened is None and held.conversation is None and held.program is not None:
            # no hook says it
            found = await self._history.opened_by(held.program.pid)
            if found is not None:
                is_old = found.began is not None and found.began < held.since
                held.opened = found.id, Path(found.path), is_old
        if held.opened is None:
            return
        conversation, file, is_old = held.opened
        if (shows := await self._shows(session, held, conversation, is_old)) is not True:
            held.opened = held.opened if shows is None else None
            return
        try:
            if file.stat().st_size == 0:
                return
            if held.opens_read and held.read is not None:
                await session.take_up(file, held.read)
            else:
                follower = await asyncio.to_thread(follower_of, file)
                if not is_old:
                    # a kill or a failure of the journal may now leave a part of it in the log
                    held.opens_read = True
                    await session.keep_unread()
                await session.read_on(follower, is_known=is_old)
        except (OSError, ValueError):
            return  # its first line is not whole yet
        held.opened, held.conversation, held.file, held.opens_read = None, conversation, file, False
        session.moved_to(conversation)
        await session.keep_terminal()

    async def _shows(
        self, session: LiveSession, held: TerminalState, conversation: str, is_old: bool
    ) -> bool | None:
        """Tell whether those who see the session may see a conversation that the interface has opened; None: not known yet.

        An earlier one must be of the session's folder. If somebody who may not see all conversations has begun or steered the
        session, an earlier one must also be the session's own.
        """
        if conversation in held.shown or conversation in held.unseen:
            return conversation in held.shown
        record = session.record
        before = record.cli_session_id
        claim = Claim(conversation, held.since, resumed=before is not None, origin=before)
        try:
            await self._check(session, conversation, claim)
            listed = await self._history.known(conversation)
        except CommandRefused as error:
            if error.code == "no_library":
                return None  # the folders are still being read
            is_its_own = False
        else:
            is_old |= listed is not None and listed.began is not None and listed.began < held.since - CLOCK_S
            if not is_old:
                is_its_own = True
            elif listed is None or listed.folder is None:
                is_its_own = is_believed(record)
            else:
                is_its_own = Path(listed.folder).is_relative_to(record.workspace or ".")
        if is_its_own:
            held.shown.add(conversation)
            return True
        held.unseen.add(conversation)
        text = "The agent's interface has opened an earlier conversation that is not this session's. It is not shown here."
        await session.announce(ev.Notice(kind="in_terminal", level="warning", text=text))
        return False

    @asynccontextmanager
    async def _hooks(self, session: LiveSession, held: TerminalState, folder: Path) -> AsyncIterator[None]:
        hooks = held.hooks
        if hooks is None:
            yield
            return

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                said = json.loads(await reader.read(-1))
                if isinstance(said, dict) and (answer := await self._hooked(session, held, hooks, said)):
                    writer.write(json.dumps(answer).encode())
                    await writer.drain()
            except (ValueError, OSError, TurnwireError) as error:
                log.warning(
                    "a hook of an agent's interface failed",
                    extra={"session": session.session, "error": str(error)},
                )
            finally:
                writer.close()

        server = await asyncio.start_unix_server(serve, folder / "hooks", limit=HOOK_BYTES)
        try:
            yield
        finally:
            server.close()

    async def _hooked(
        self, session: LiveSession, held: TerminalState, hooks: InterfaceHooks, said: JsonObject
    ) -> JsonObject | None:
        name = f"terminal-{uuid4()}"
        call = hooks.read(said, name)
        if call.opened and call.file is not None and call.conversation not in (None, held.conversation):
            if held.opened is not None and held.opened[0] != call.conversation:
                held.opens_read = False
            held.opened = call.conversation, call.file, call.is_old
        held.look.set()
        if call.conversation and not await self._shows(session, held, call.conversation, call.is_old):
            return None
        if call.needs is not None and not held.asked and held.looks_waiting < ASKS_THERE:
            await self._ask_there(session, held, call.needs)
        if call.request is None:
            return None
        for _ in range(FIND_CALL):
            # the call first, then the request for it
            await self._look(session, held)
            if call.asked is not None and b'"tool_use_id"' in call.asked.line:
                break
            await asyncio.sleep(FIND_CALL_S)
            call = hooks.read(said, name)
        if session.in_terminal is not held:
            return None  # it ended meanwhile, and nobody could answer
        assert call.request is not None, "the same input was a request before"
        assert call.asked is not None, "a request has its line"
        asked = held.asked[name] = OpenRequest(call.request)
        await session.hear([call.asked], partial(self._with_replaced_files, session))
        held.look.set()
        return await asked.answer
