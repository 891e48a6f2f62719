"""The commands as methods with typed results, for a client that can send one and wait for its reply."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from . import commands
from .frames import SessionSummary
from .results import EventsPage, WholePayload
from .values import Command, JsonObject, JsonValue

Policy = Literal["autonomous", "supervised", "plan"]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Answer:
    """How to answer a question_request."""

    answers: Mapping[str, str | list[str]] | None = None
    action: Literal["accept", "decline", "cancel"] = "accept"
    content: JsonValue = None
    message: str | None = None


class Requests(ABC):
    """Sends commands. Each method raises what `Client.command` does."""

    @abstractmethod
    async def command(self, command: Command[Result], *, timeout: float | None = None) -> Result:
        """Send a command and return its reply's result."""

    async def sessions(self) -> list[SessionSummary]:
        """List all sessions."""
        return await self.command(commands.SessionList())

    async def events(
        self, session: str, *, after: int = 0, before: int | None = None, epoch: str | None = None
    ) -> EventsPage:
        """Return a page of the log, beside what is followed: only numbers above `after` and below `before`."""
        command = commands.EventsGet(session=session, after=after, epoch=epoch)
        if before is not None:
            command = msgspec.structs.replace(command, before=before)
        return await self.command(command)

    async def create(
        self,
        *,
        workspace: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        policy: Policy | None = None,
        permission_mode: str | None = None,
        mcp_servers: JsonObject | None = None,
        options: commands.AgentOptions | None = None,
        env: dict[str, str] | None = None,
        title: str | None = None,
        prompt: str | None = None,
    ) -> str:
        """Start a CLI and return its session."""
        command = commands.SessionCreate(
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
        return (await self.command(command)).session

    async def resume(self, session: str, *, at: str | None = None) -> str:
        """Start a CLI that goes on with a session, from a message when one is named."""
        command = commands.SessionResume(session=session, at=at)
        return (await self.command(command)).session

    async def fork(self, session: str, *, at: str | None = None) -> str:
        """Start a new session that begins with another's conversation, and return it."""
        command = commands.SessionFork(session=session, at=at)
        return (await self.command(command)).session

    async def retry(self, session: str) -> str:
        """Send the last prompt again, from before it, and return the prompt's UUID."""
        command = commands.SessionRetry(session=session)
        return (await self.command(command)).prompt

    async def close_session(self, session: str) -> None:
        """Stop a session's CLI."""
        await self.command(commands.SessionClose(session=session))

    async def delete_session(self, session: str) -> None:
        """Stop a session's CLI and forget the session, with its events."""
        await self.command(commands.SessionDelete(session=session))

    async def prompt(
        self,
        session: str,
        text: str,
        *,
        attachments: Sequence[commands.Attachment] = (),
        priority: Literal["now", "next", "later"] = "next",
        traceparent: str | None = None,
    ) -> str:
        """Say something to the agent and return the prompt's UUID. traceparent: the caller's span (W3C), above the turn's."""
        command = commands.Prompt(
            session=session,
            text=text,
            attachments=list(attachments) or None,
            priority=priority,
            traceparent=traceparent,
        )
        return (await self.command(command)).prompt

    async def withdraw(self, session: str, prompt: str) -> bool:
        """Take back a prompt that still waits; False when it no longer did."""
        command = commands.PromptWithdraw(session=session, prompt=prompt)
        return (await self.command(command)).withdrawn

    async def interrupt(self, session: str) -> JsonObject:
        """Stop the running turn."""
        return await self.command(commands.Interrupt(session=session))

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
        command = commands.PermissionRespond(
            session=session,
            pending_id=pending_id,
            option_id=option_id,
            updated_input=updated_input,
            message=message,
            interrupt=interrupt,
            destination=destination,
            mode=mode,
        )
        await self.command(command)

    async def answer(self, session: str, pending_id: str, answer: Answer) -> None:
        """Answer a question."""
        command = commands.QuestionAnswer(
            session=session,
            pending_id=pending_id,
            answers=None if answer.answers is None else dict(answer.answers),
            action=answer.action,
            content=answer.content,
            message=answer.message,
        )
        await self.command(command)

    async def set_model(self, session: str, model: str | None) -> None:
        """Change the model; None is the default one."""
        await self.command(commands.SetModel(session=session, model=model))

    async def set_permission_mode(self, session: str, mode: str) -> None:
        """Change the CLI's permission mode."""
        await self.command(commands.SetPermissionMode(session=session, mode=mode))

    async def control(self, session: str, request: JsonObject) -> JsonObject:
        """Send any other control request to the CLI and return its response."""
        return await self.command(commands.Control(session=session, request=request))

    async def payload(self, session: str, seq: int) -> WholePayload:
        """Return an event uncut, and the line it came from."""
        command = commands.PayloadGet(session=session, seq=seq)
        return await self.command(command)
