"""`turnwire stdio` over an agent of any family: a caller that speaks Claude Code's stream-json, and a turnwire session.

encoder.py writes the agent's events as Claude's lines. The session fulfils the caller's requests, or refuses them with an
error that names them. When the caller is gone, open requests are denied, its prompts are still answered, and then the
agent is stopped.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

from msgspec import structs

from turnwire.adapter.families import FAMILIES, open_session
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.permissions.real_paths import protected_places
from turnwire.adapter.process.cli import ProgramNotFound
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.sandbox.settings import SandboxUnavailable
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize import events as ev
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    failure,
    success,
)
from turnwire.protocol.claude.decode import decode, malformed
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.messages import Message, User
from turnwire.protocol.claude.requests import (
    CancelAsyncMessage,
    EndSession,
    Interrupt,
    McpMessage,
    McpStatus,
    SetModel,
    SetPermissionMode,
)
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.malformed import BLANK, Malformed
from turnwire.runner.input import Input
from turnwire.runner.output import Output, OutputLost
from turnwire.sidecar.process.signals import number_of, on_stop
from turnwire.sidecar.streams.sdk.encoder import ClaudeLines, SessionFacts
from turnwire.sidecar.streams.sdk.mcp_servers import CallerServers, caller_servers
from turnwire.sidecar.streams.sdk.options import OWN_MODES, Wanted, introduced
from turnwire.sidecar.streams.sdk.permissions import Permissions
from turnwire.sidecar.streams.sdk.prompts import read_prompt
from turnwire.sidecar.streams.stdio.bridge import whole_request

Tap = Callable[[SessionInput, Sequence[ev.AgentEvent]], None]

MOST_PROMPTS = 1000
"""Maximum number of waiting prompts. With more, turnwire would have to stop reading and could not receive an interrupt."""

NOT_YET = "the agent has not been started; send `initialize` or a prompt first"


class SdkSession:
    """One caller and one agent."""

    def __init__(
        self,
        wanted: Wanted,
        options: SessionOptions,
        *,
        agent: str,
        see: Tap,
        on_named: Callable[[str], None],
    ) -> None:
        """Create a session. It starts its agent once the caller requests something from it.

        Args:
            wanted: the requests in the caller's command line.
            options: start options of the agent.
            agent: the agent's name.
            see: called with each input and its events.
            on_named: called with the agent's own session id.
        """
        self._wanted = wanted
        self._options = options
        self._agent = agent
        self._see = see
        self._on_named = on_named
        facts = SessionFacts(
            mode=wanted.mode, model=options.command.model, cwd=str(options.workspace), agent=agent
        )
        self._lines = ClaudeLines(
            new_id=lambda: str(uuid4()),
            now=time.monotonic,
            facts=facts,
            partial=wanted.partial,
            replays=wanted.replays,
            named=wanted.session_id,
        )
        self._facts = facts
        self._output = Output(1)
        self._started = asyncio.Event()
        """Set when the caller needs the agent, or is gone."""
        self._is_wanted = False
        self._is_closed = False
        """True if the caller has closed its stream."""
        self._closed = asyncio.Event()
        self._session: asyncio.Future[AgentSession] = asyncio.get_running_loop().create_future()
        home = options.environment.get("HOME", "")
        places = protected_places(options.own_places, home) or ProtectedPlaces()
        self._permissions = Permissions(wanted, options.workspace, self._say, places)
        self._sdk_servers = frozenset(wanted.sdk_servers)
        self._can = FAMILIES[options.family].capabilities(None)
        self._servers: CallerServers | None = None
        self._asked_servers: dict[str, asyncio.Future[JsonObject]] = {}
        self._prompts: asyncio.Queue[User] = asyncio.Queue(MOST_PROMPTS)
        self._open: set[str] = set()
        """Ids of prompts that were sent and have no result."""
        self._taken_back: set[str] = set()
        self._unsaid = 0
        """Number of the caller's prompts that have not reached the agent."""
        self._refused: list[str] = list(wanted.refused)
        """Requests that cannot be fulfilled. If there are any, nothing is done."""
        self._cannot: list[str] = []
        """The same, found when the agent started."""
        self._stopping: asyncio.Task[None] | None = None
        self._ended: Ended | None = None
        self._first_mode: str | None = None

    async def run(self) -> int:
        """Serve the caller until either side is gone. Returns the exit code, or -N for signal N. Raises OutputLost."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                loops = [
                    self._tasks.create_task(each)
                    for each in (self._read_caller(), self._say_prompts(), self._output.lost())
                ]
                await self._started.wait()
                code = await self._live() if self._is_wanted else int(bool(self._refused))
                for loop in loops:
                    loop.cancel()
            await self._output.flush()
        except* OutputLost as lost:
            raise lost.exceptions[0] from None
        return code

    async def _live(self) -> int:
        """Run the agent until its end."""
        try:
            async with self._opened() as session:
                self._session.set_result(session)
                async for batch in session.batches():
                    await self._tell(batch)
        except (CommandError, ProgramNotFound, SandboxUnavailable, OSError) as error:
            if not self._session.done():
                self._session.set_exception(error)
                self._session.exception()  # mark it as retrieved: nobody waits for it
            await self._closed.wait()
            return 1
        return self._exit_code()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[AgentSession]:
        options = self._options
        async with (
            Watchdog.start() as watchdog,
            caller_servers(sorted(self._sdk_servers), self._ask_server) as self._servers,
        ):
            core = FAMILIES[options.family].core(resumed=options.command.resume is not None)
            servers = {**options.command.mcp_servers, **self._servers.commands}
            command = structs.replace(options.command, mcp_servers=servers)
            options = structs.replace(options, command=command)
            async with open_session(options, core=core, watchdog=watchdog, notify=self._on_notice) as session:
                try:
                    yield session
                finally:
                    session.remove_attachments()

    def _exit_code(self) -> int:
        ended = self._ended
        if self._stopping is not None or ended is None:
            return 0
        if ended.signal is not None:
            return -number_of(ended.signal)
        return ended.exit_code or int(bool(self._open))

    # The agent

    async def _tell(self, batch: Sequence[InputWithEvents]) -> None:
        for happened in batch:
            self._see(happened.input, happened.events)
            if isinstance(happened.input, Ended):
                self._ended = happened.input
            for event in happened.events:
                await self._on_event(event)
        self._end_if_done()

    async def _on_event(self, event: ev.AgentEvent) -> None:
        session = self._session.result()
        match event:
            case ev.SessionStatus(session_id=str(own)):
                self._on_named(own)
            case ev.SessionMode(current_mode_id=mode):
                self._first_mode = self._first_mode or mode
            case ev.Complete(data=data):
                self._open.difference_update(data.prompts or tuple(self._open))
            case ev.Withdrawn(prompt=prompt) if prompt in self._open:
                self._open.discard(prompt)
                if prompt not in self._taken_back:
                    await self._write(self._lines.failure("the agent was never told this prompt"))
            case _:
                pass
        await self._write(self._lines.lines(event))
        match event:
            case ev.PermissionRequest():
                call, lines = self._lines.asked(event)
                await self._write(lines)
                self._permissions.ask(session, event, call)
            case ev.QuestionRequest():
                self._permissions.question(session, event)
            case ev.PermissionResolved(pending_id=pending) | ev.PermissionCancelled(pending_id=pending):
                self._permissions.over(pending)
            case _:
                pass

    def _on_notice(self, notice: SessionNotice) -> None:
        match notice.code:
            case "initialize_failed":
                pass  # whoever waits for the agent gets the error
            case "mcp_failed" | "hooks_not_run":
                self._cannot.append(notice.message)
            case _:
                self._note(notice.message)

    # The caller

    async def _read_caller(self) -> None:
        framer = LineFramer(self._options.line_limit)
        async for chunk in Input(sys.stdin.fileno()).chunks():
            for lines in framer.slices(chunk):
                for line in lines:
                    self._on_line(line)
                await asyncio.sleep(0)
        if (last := framer.close()) is not None:
            self._on_line(last)
        self._is_closed = True
        self._permissions.caller_gone()
        for waiting in self._asked_servers.values():
            waiting.cancel()
        self._closed.set()
        self._started.set()
        self._end_if_done()

    def _on_line(self, line: bytes | OversizeLine) -> None:
        message: Message = malformed(line) if isinstance(line, OversizeLine) else decode(line)
        match message:
            case User() if self._prompts.full():
                why = f"{MOST_PROMPTS} prompts wait already; this one was not taken"
                self._output.add(b"".join(map(line_of, self._lines.failure(why))))
            case User():
                self._unsaid += 1
                self._want()
                self._prompts.put_nowait(message)
            case ControlRequest(own_id=own_id, request=request):
                body = whole_request(request, line) if isinstance(line, bytes) else {}
                if request.subtype == "initialize":
                    self._introduce(body)
                self._tasks.create_task(self._answer(own_id, self._do(message, body)))
            case ControlResponse(request_id=request_id) if request_id in self._asked_servers:
                asked = self._asked_servers.pop(request_id)
                if not asked.done():
                    asked.set_result(message.payload if isinstance(message.payload, dict) else {})
            case ControlResponse():
                self._permissions.answered(message)
            case Malformed(reason=reason, asks=asks) if asks is not None:
                self._say(failure(asks, reason))
            case Malformed(reason=reason) if reason != BLANK:
                self._note(f"a line of the caller is no message and was dropped: {reason}")
            case _:
                pass

    async def _say_prompts(self) -> None:
        """Send the caller's prompts to the agent, in order."""
        while True:
            prompt = await self._prompts.get()
            try:
                if cannot := [*self._refused, *self._cannot]:
                    raise CommandError("options", self._refusal(cannot))
                text, attachments = read_prompt(prompt)
                session = await asyncio.shield(self._session)
                name = prompt.uuid or str(uuid4())
                self._open.add(name)
                priority = prompt.priority if prompt.priority in ("now", "next", "later") else "next"
                try:
                    await session.prompt(text, attachments=attachments, priority=priority, uuid=name)  # type: ignore[arg-type]
                except TurnwireError:
                    self._open.discard(name)
                    raise
            except (TurnwireError, OSError) as error:
                await self._write(self._lines.failure(str(error)))
            finally:
                self._unsaid -= 1
                self._end_if_done()

    async def _answer(self, own_id: Json, doing: Coroutine[None, None, JsonObject]) -> None:
        try:
            self._say(success(own_id, await doing))
        except (TurnwireError, OSError) as error:
            self._say(failure(own_id, str(error)))

    async def _do(self, asked: ControlRequest, body: JsonObject) -> JsonObject:
        request = asked.request
        if request.subtype == "initialize":
            return await self._initialize()
        match request:
            case EndSession():
                self._stop()
                return {}
            case McpStatus():
                return {"mcpServers": self._facts.mcp_servers}
            case McpMessage(server_name=name, message=message):
                if self._servers is None or not self._servers.tell(name, message):
                    raise CommandError("mcp_message", f"the agent has not started the server {name!r}")
                return {}
            case _:
                pass
        if not self._session.done():
            raise CommandError(request.subtype, NOT_YET)
        session = await asyncio.shield(self._session)
        match request:
            case Interrupt():
                return await session.interrupt()
            case SetModel(model=model):
                await session.set_model(None if model == "default" else model)
                self._facts.model = model or self._facts.model
                return {}
            case SetPermissionMode(mode=mode):
                return await self._set_mode(session, mode)
            case CancelAsyncMessage(message_uuid=uuid):
                self._taken_back.add(uuid)
                return {"cancelled": await session.withdraw(uuid)}
            case _:
                return await session.control(body)

    def _introduce(self, body: JsonObject) -> None:
        """Handle `initialize`, or refuse it and all prompts. A caller may send prompts before it gets the answer."""
        asked = introduced(body, self._can)
        is_late = self._is_wanted and bool(asked.changes or not asked.sdk_servers <= set(self._sdk_servers))
        late = ["initialize came after the first prompt"] if is_late else []
        servers = sorted(self._sdk_servers | asked.sdk_servers)
        is_apart = bool(servers) and self._options.sandbox.level != "off"
        unreached = (
            [f"{', '.join(servers)}: in a sandbox no server inside its caller is reached"] if is_apart else []
        )
        self._refused = [*self._wanted.refused, *asked.refused, *unreached, *late]
        if not self._refused:
            self._sdk_servers |= asked.sdk_servers
            command = structs.replace(self._options.command, **asked.changes)
            self._options = structs.replace(self._options, command=command)
            self._want()

    async def _initialize(self) -> JsonObject:
        if self._refused:
            raise CommandError("initialize", self._refusal(self._refused))
        session = await asyncio.shield(self._session)
        await asyncio.shield(session.initialized)
        if self._cannot:
            raise CommandError("initialize", self._refusal(self._cannot))
        facts = self._facts
        return {
            "commands": facts.commands,
            "agents": [{"name": name, "description": ""} for name in facts.agents],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": facts.models,
            "account": {},
            "pid": os.getpid(),
            "turnwire": {"agent": facts.agent, "version": facts.version, "modes": facts.agent_modes},
        }

    async def _set_mode(self, session: AgentSession, mode: str) -> JsonObject:
        """Change the mode: to the agent's own mode of this name, or else to one that turnwire implements.

        Raises CommandError for a change into or out of bypassPermissions that the agent itself does not know.
        """
        modes = self._facts.agent_modes
        bypass = "bypassPermissions"
        if (mode == bypass) != (self._wanted.mode == bypass) and bypass not in modes:
            raise CommandError(
                "set_permission_mode",
                f"the agent {self._agent} is started in another way for {bypass}; "
                f"begin a session with permission_mode={mode!r} instead",
            )
        if mode in modes or mode not in OWN_MODES:
            await session.set_permission_mode(mode)
        elif self._first_mode in modes and self._facts.agent_mode != self._first_mode:
            assert self._first_mode is not None
            await session.set_permission_mode(self._first_mode)
        self._permissions.mode = self._facts.mode = mode
        await self._write([self._lines.status()])
        return {"mode": mode}

    def _refusal(self, cannot: Sequence[str]) -> str:
        return f"the agent {self._agent} cannot do what is asked for: {'; '.join(cannot)}. Leave it out"

    # Both

    def _want(self) -> None:
        if not self._refused:
            self._is_wanted = True
            self._started.set()

    def _end_if_done(self) -> None:
        """Stop the agent once the caller is gone and all its prompts are answered."""
        is_idle = not self._open and not self._unsaid
        if self._is_closed and is_idle and self._session.done() and self._session.exception() is None:
            self._stop()

    def _stop(self) -> None:
        is_running = self._session.done() and self._session.exception() is None and self._ended is None
        if self._stopping is None and is_running:
            self._stopping = self._tasks.create_task(self._session.result().stop())

    async def _ask_server(self, name: str, message: JsonObject) -> JsonObject:
        request_id = str(uuid4())
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._asked_servers[request_id] = answer
        self._say(ControlRequest(request_id, McpMessage(server_name=name, message=message)))
        try:
            if self._is_closed:
                answer.cancel()
            said = (await answer).get("mcp_response")
        except asyncio.CancelledError:
            said = None
        finally:
            self._asked_servers.pop(request_id, None)
        error = {"code": -32603, "message": "the program that has this server did not answer"}
        return said if isinstance(said, dict) else {"jsonrpc": "2.0", "id": message.get("id"), "error": error}

    def _say(self, message: ControlRequest | ControlResponse | ControlCancelRequest) -> None:
        self._output.add(line_of(to_json(message)))

    async def _write(self, lines: Sequence[JsonObject]) -> None:
        if lines:
            await self._output.put(b"".join(map(line_of, lines)))

    def _note(self, text: str) -> None:
        sys.stderr.write(f"turnwire: {text}\n")


async def serve(make: Callable[[], SdkSession], stop_timeout: float) -> int:
    """Serve the caller. After a stop signal everything ends within `stop_timeout` seconds. Returns the exit code."""
    serving = asyncio.current_task()
    assert serving is not None
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if not received:
            serving.cancel()
        received.append(number)

    on_stop(stop, stop_timeout)
    try:
        return await make().run()
    except asyncio.CancelledError:
        return -received[0]
    except OutputLost:
        return 1
