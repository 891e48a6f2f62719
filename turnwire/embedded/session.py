"""A live agent in the caller's own process, without a hub and without a journal."""

import math
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args
from uuid import uuid4

from msgspec import structs

from turnwire._runtime.state_directory import sandbox_notes
from turnwire.adapter.families import FAMILIES
from turnwire.adapter.families import open_session as run_agent
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.process.environment import ALLOWED, build_environment
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.sandbox.hosts import HostList
from turnwire.adapter.sandbox.settings import LEVELS, SandboxSettings
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.attachments import Attachment
from turnwire.config.agents import AgentSetting, find, with_agent_of_argv
from turnwire.config.known_agents import divided_places, loaded_places
from turnwire.config.sandbox import own_packages
from turnwire.config.trials import trials_of
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.vocabulary import Policy, SandboxLevel
from turnwire.protocol.json_values import JsonObject

BY = "program"
"""Who decides, in `permission_resolved`: the program that runs the session."""


class Session:
    """A running agent, started by `open_session`. `async for event in session` yields its events until it ends, for one consumer."""

    def __init__(self, agent: AgentSession) -> None:
        self._agent = agent
        self._batches = agent.batches()
        self._events = deque[AgentEvent]()
        self._finished = False

    def __aiter__(self) -> AsyncIterator[AgentEvent]:
        """Return the session itself: a loop that was left can be continued by another one, no event is lost."""
        return self

    async def __anext__(self) -> AgentEvent:
        """Return the next event; raises StopAsyncIteration when the agent has ended."""
        while not self._events:
            for happened in await anext(self._batches):
                self._events.extend(happened.events)
        return self._events.popleft()

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._agent.busy

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids of permission requests and questions that wait for an answer."""
        return self._agent.pending

    async def prompt(self, text: str, *, attachments: Sequence[Attachment] = ()) -> str:
        """Send a prompt and return its id, which `complete` names in `data.prompts`; waits until the agent has started.

        Args:
            text: what to say.
            attachments: files to go with it. Images reach the agent as such, other files are saved in the workspace for it.

        Raises:
            TurnwireError: an attachment is refused, or no agent can receive the prompt; the message says why.
        """
        if self._finished:
            raise ProcessGone("the session takes no more prompts: finish() was called; open another session")
        return await self._agent.prompt(text, attachments=attachments)

    def answer(
        self,
        pending_id: str,
        option_id: str,
        *,
        message: str | None = None,
        updated_input: JsonObject | None = None,
    ) -> None:
        """Answer a permission request.

        Args:
            pending_id: of the `permission_request`.
            option_id: one of its `permission_options`.
            message: tells the agent why, on rejecting.
            updated_input: replaces the arguments of the tool, on allowing.

        Raises:
            AnswerRefused: the request is no longer open, or has no such option.
        """
        given = PermissionAnswer(option_id=option_id, updated_input=updated_input, message=message)
        self._agent.answer(pending_id, given, BY)

    def answer_question(
        self, pending_id: str, answers: Mapping[str, str | list[str]] | None, *, message: str | None = None
    ) -> None:
        """Answer a question, or decline it.

        Args:
            pending_id: of the `question_request`.
            answers: the label or labels that are chosen, by question; None declines.
            message: tells the agent why, on declining.

        Raises:
            AnswerRefused: the question is no longer open, or the answer does not fit it.
        """
        given = (
            QuestionAnswer(action="decline", message=message)
            if answers is None
            else QuestionAnswer(answers=dict(answers))
        )
        self._agent.answer(pending_id, given, BY)

    async def interrupt(self) -> None:
        """Stop the running turn; the session goes on. Raises TurnwireError when the agent does not."""
        await self._agent.interrupt()

    def finish(self) -> None:
        """Send no more prompts: the agent finishes its work and exits, and iteration ends."""
        self._finished = True
        self._agent.close_input()

    async def _close(self) -> None:
        if isinstance(self._batches, AsyncGenerator):
            await self._batches.aclose()


@asynccontextmanager
async def open_session(
    workspace: str | os.PathLike[str] = ".",
    *,
    agent: str | Sequence[str] = "claude",
    model: str | None = None,
    policy: Policy | None = None,
    resume: str | None = None,
    environment: Mapping[str, str] | None = None,
    answer_timeout: float | None = None,
    sandbox: SandboxLevel = "off",
    sandbox_hosts: Sequence[str] = (),
) -> AsyncIterator[Session]:
    """Run an agent while the context is open; leaving it stops the agent and all processes that it started.

    Args:
        workspace: the folder that the agent works in.
        agent: a name that `turnwire agents` lists, or a command line: the program and its arguments.
        model: the model; None for the agent's default.
        policy: `autonomous`, `supervised` or `plan`; None for the agent's own permission rules.
        resume: the agent's id of an earlier conversation to continue.
        environment: variables for the agent, beside the usual ones of this process.
        answer_timeout: seconds until an unanswered request is denied; None waits without end.
        sandbox: `files` keeps the agent to its workspace, its own files and the system. `network` also asks about each new host.
        sandbox_hosts: hosts that need no asking: `HOST`, `HOST:PORT`, `*.HOST` or `*`.

    Raises:
        TurnwireError: an argument is wrong, or the agent or its sandbox cannot be started; the message says why and what to do.
    """
    _check(policy, answer_timeout, sandbox, sandbox_hosts)
    started = _started_as(agent, environment or {})
    options = structs.replace(
        started,
        sandbox=structs.replace(
            started.sandbox,
            level=sandbox,
            notes=sandbox_notes(),
            hosts=sandbox_hosts,
            parts={} if sandbox == "off" else divided_places(),
            loads=() if sandbox == "off" else loaded_places(),
        ),
        workspace=_whole(workspace),
        name=f"program-{uuid4().hex}",  # sessions in one workspace keep their attachments apart
        command=CommandOptions(model=model, resume=resume),
        policy=policy,
        answer_timeout=answer_timeout,
    )
    core = FAMILIES[options.family].core(resumed=resume is not None)
    async with Watchdog.start() as watchdog, run_agent(options, core=core, watchdog=watchdog) as running:
        session = Session(running)
        try:
            yield session
        finally:
            await session._close()  # noqa: SLF001 - its own module
            running.remove_attachments()


def _check(policy: str | None, answer_timeout: float | None, sandbox: str, hosts: Sequence[str]) -> None:
    """Raise CommandError for an argument that is none of those that count: a wrong sandbox must not be a weaker one."""
    if policy is not None and policy not in get_args(Policy):
        raise CommandError(
            "policy",
            f"{policy!r} is none of {', '.join(get_args(Policy))}; leave it out for the agent's own rules",
        )
    if answer_timeout is not None and not (answer_timeout > 0 and math.isfinite(answer_timeout)):
        raise CommandError(
            "answer_timeout", f"{answer_timeout!r} must be seconds above 0; leave it out to wait without end"
        )
    if sandbox not in LEVELS:
        raise CommandError("sandbox", f"{sandbox!r} is none of {', '.join(LEVELS)}")
    if isinstance(hosts, str):
        raise CommandError("sandbox_hosts", f"give a list of hosts: [{hosts!r}]")
    try:
        HostList(hosts)
    except ValueError as error:
        raise CommandError("sandbox_hosts", str(error)) from None


def _whole(workspace: str | os.PathLike[str]) -> Path:
    return Path(workspace).resolve()


def _started_as(agent: str | Sequence[str], environment: Mapping[str, str]) -> SessionOptions:
    """Return what starts an agent in the current folder; raises AgentNotFoundError."""
    configured: dict[str, AgentSetting] = {}
    name = agent if isinstance(agent, str) else ""
    if not isinstance(agent, str):
        if not agent:
            raise CommandError("agent", "the command line is empty; give the program and its arguments")
        name, configured = with_agent_of_argv({}, tuple(agent), None)
    found = find(name, configured)
    return SessionOptions(
        workspace=Path(),
        executable=found.argv,
        environment=build_environment(os.environ, allowed=(*ALLOWED, *found.variables), given=environment),
        trials=trials_of(found),
        family="auto" if found.family == "claude" else found.family,
        sandbox=SandboxSettings(
            state=found.state,
            passes=(*found.variables, *found.keys, *environment),
            api_hosts=found.hosts,
            readable=own_packages() if found.scripted else (),
        ),
    )
