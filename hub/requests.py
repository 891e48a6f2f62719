"""The commands as methods with typed results, for a client that can send one and wait for its reply."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
from pydantic import JsonValue

from hub.wire import frames
from hub.wire.frames_out import SessionSummary
from normalize.events import AgentEvent
from normalize.model import JsonObject, Published

Policy = Literal["autonomous", "supervised", "plan"]


class CommandFailed(Exception):
    """The hub refused a command."""

    def __init__(self, code: str, message: str, field: str | None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.field = field


class WholePayload(Published, frozen=True, kw_only=True):
    """An event uncut, and the line it came from."""

    event: AgentEvent
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How to answer a question_request."""

    answers: Mapping[str, str | list[str]] | None = None
    action: Literal["accept", "decline", "cancel"] = "accept"
    content: JsonValue = None
    message: str | None = None


class _SessionResult(Published, frozen=True, kw_only=True):
    session: str


class _PromptResult(Published, frozen=True, kw_only=True):
    prompt: str


class Requests(ABC):
    """Sends commands. Each method raises CommandFailed when the hub refuses."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)

    @abstractmethod
    async def request(self, command: frames.AnyCommand) -> JsonValue:
        """Send a command and return its reply's result."""

    def new_id(self) -> str:
        """Return an id for a command."""
        return str(next(self._ids))

    async def sessions(self) -> list[SessionSummary]:
        """List all sessions."""
        command = frames.SessionList(type="session.list", id=self.new_id())
        return msgspec.convert(await self.request(command), list[SessionSummary])

    async def create(
        self,
        *,
        workspace: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        policy: Policy | None = None,
        permission_mode: str | None = None,
        mcp_servers: JsonObject | None = None,
        options: frames.AgentOptions | None = None,
        env: dict[str, str] | None = None,
        title: str | None = None,
        prompt: str | None = None,
    ) -> str:
        """Start a CLI and return its session."""
        command = frames.SessionCreate(
            type="session.create",
            id=self.new_id(),
            workspace=workspace,
            agent=agent,
            model=model,
            policy=policy,
            permission_mode=permission_mode,
            mcp_servers=mcp_servers,
            options=options,
            env=env,
            title=title,
            prompt=prompt,
        )
        return msgspec.convert(await self.request(command), _SessionResult).session

    async def resume(self, session: str, *, at: str | None = None) -> str:
        """Start a CLI that goes on with a session, from a message when one is named."""
        command = frames.SessionResume(type="session.resume", id=self.new_id(), session=session, at=at)
        return msgspec.convert(await self.request(command), _SessionResult).session

    async def fork(self, session: str, *, at: str | None = None) -> str:
        """Start a new session that begins with another's conversation, and return it."""
        command = frames.SessionFork(type="session.fork", id=self.new_id(), session=session, at=at)
        return msgspec.convert(await self.request(command), _SessionResult).session

    async def retry(self, session: str) -> str:
        """Send the last prompt again, from before it, and return the prompt's UUID."""
        command = frames.SessionRetry(type="session.retry", id=self.new_id(), session=session)
        return msgspec.convert(await self.request(command), _PromptResult).prompt

    async def close_session(self, session: str) -> None:
        """Stop a session's CLI."""
        await self.request(frames.SessionClose(type="session.close", id=self.new_id(), session=session))

    async def delete_session(self, session: str) -> None:
        """Stop a session's CLI and forget the session, with its events."""
        await self.request(frames.SessionDelete(type="session.delete", id=self.new_id(), session=session))

    async def prompt(
        self,
        session: str,
        text: str,
        *,
        attachments: Sequence[frames.Attachment] = (),
        priority: Literal["now", "next", "later"] = "next",
    ) -> str:
        """Say something to the agent and return the prompt's UUID."""
        command = frames.Prompt(
            type="prompt",
            id=self.new_id(),
            session=session,
            text=text,
            attachments=list(attachments) or None,
            priority=priority,
        )
        return msgspec.convert(await self.request(command), _PromptResult).prompt

    async def withdraw(self, session: str, prompt: str) -> JsonValue:
        """Take back a prompt that still waits."""
        command = frames.PromptWithdraw(
            type="prompt.withdraw", id=self.new_id(), session=session, prompt=prompt
        )
        return await self.request(command)

    async def interrupt(self, session: str) -> JsonValue:
        """Stop the running turn."""
        return await self.request(frames.Interrupt(type="interrupt", id=self.new_id(), session=session))

    async def respond(
        self,
        session: str,
        pending_id: str,
        option_id: str,
        *,
        updated_input: JsonObject | None = None,
        message: str | None = None,
        interrupt: bool = False,
        destination: str | None = None,
        mode: str | None = None,
    ) -> None:
        """Answer a permission request."""
        command = frames.PermissionRespond(
            type="permission.respond",
            id=self.new_id(),
            session=session,
            pending_id=pending_id,
            option_id=option_id,
            updated_input=updated_input,
            message=message,
            interrupt=interrupt,
            destination=destination,
            mode=mode,
        )
        await self.request(command)

    async def answer(self, session: str, pending_id: str, answer: Answer) -> None:
        """Answer a question."""
        command = frames.QuestionAnswer(
            type="question.answer",
            id=self.new_id(),
            session=session,
            pending_id=pending_id,
            answers=None if answer.answers is None else dict(answer.answers),
            action=answer.action,
            content=answer.content,
            message=answer.message,
        )
        await self.request(command)

    async def set_model(self, session: str, model: str | None) -> None:
        """Change the model; None is the default one."""
        await self.request(frames.SetModel(type="set_model", id=self.new_id(), session=session, model=model))

    async def set_permission_mode(self, session: str, mode: str) -> None:
        """Change the CLI's permission mode."""
        await self.request(
            frames.SetPermissionMode(type="set_permission_mode", id=self.new_id(), session=session, mode=mode)
        )

    async def control(self, session: str, request: JsonObject) -> JsonValue:
        """Send any other control request to the CLI and return its response."""
        return await self.request(
            frames.Control(type="control", id=self.new_id(), session=session, request=request)
        )

    async def payload(self, session: str, seq: int) -> WholePayload:
        """Return an event uncut, and the line it came from."""
        command = frames.PayloadGet(type="payload.get", id=self.new_id(), session=session, seq=seq)
        return msgspec.convert(await self.request(command), WholePayload)
