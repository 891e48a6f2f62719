"""The interface of a running agent, the same for every family."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer, Refuse
from turnwire.adapter.process.identity import ProcessIdentity
from turnwire.adapter.session.attachments import Attachment
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import JsonObject


class RequestTimeout(TurnwireError):
    """The agent did not answer a request in time. Old versions never answer unknown requests."""

    def __init__(self, name: str, deadline: float) -> None:
        super().__init__(f"the CLI did not answer {name} within {deadline:g} s")
        self.name = name


class RequestFailed(TurnwireError):
    """The agent answered a request with an error, or cannot fulfil it. The text says which."""


class AnswerRefused(TurnwireError):
    """An answer does not count; `code` is already_answered, unknown_request, cancelled or invalid_answer."""

    def __init__(self, refusal: Refuse) -> None:
        super().__init__(refusal.message)
        self.code = refusal.code
        self.message = refusal.message
        self.field = refusal.field


class AgentSession(Protocol):
    """A running agent: commands in, inputs with their events out."""

    @property
    def options(self) -> SessionOptions:
        """The options of its start."""
        ...

    @property
    def identity(self) -> ProcessIdentity:
        """The identity to record, to reap its process after a crash."""
        ...

    @property
    def argv(self) -> tuple[str, ...]:
        """How it was started."""
        ...

    @property
    def version(self) -> str | None:
        """Its version; None if it does not report one, or not yet."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """Its abilities, as far as known."""
        ...

    @property
    def initialized(self) -> asyncio.Future[JsonObject]:
        """Its answer to our greeting; or why there is none."""
        ...

    @property
    def stopping(self) -> Literal["stopped", "hung"] | None:
        """Why it is being stopped; None while it is not."""
        ...

    @property
    def has_exited(self) -> bool:
        """True once its process is gone. Its last output may still be on the way."""
        ...

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        ...

    @property
    def is_spent(self) -> bool:
        """True once an agent of one turn has had it: the next prompt is for another process."""
        ...

    async def wait_spent(self) -> None:
        """Wait until the process of a spent agent is gone."""
        ...

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        ...

    @property
    def blank_lines(self) -> int:
        """Lines of nothing, in a row with others, that were skipped."""
        ...

    def batches(self) -> AsyncIterator[list[InputWithEvents]]:
        """Yield inputs with their events, in order, until Ended. For one consumer."""
        ...

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
        trace: Mapping[str, str] | None = None,
    ) -> str:
        """Send a prompt and return its uuid. Waits for `initialized`.

        `trace` has `traceparent`, `tracestate` and `baggage` of the turn, for an agent that makes spans of its own.

        Raises:
            AttachmentRefused: an attachment is refused.
            ProcessGone, RequestTimeout, RequestFailed: no agent can receive the prompt.
        """
        ...

    async def say(self, words: bytes) -> None:
        """Say a prompt in the family's own JSON, as it is: of Claude a user message, of ACP a list of content blocks.

        Raises as `prompt` does.
        """
        ...

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn; raises RequestTimeout, RequestFailed and ProcessGone.

        With `escalate_after`, the whole agent is stopped when the turn has not ended so many seconds later.
        """
        ...

    def answer(self, pending_id: str, answer: PermissionAnswer | QuestionAnswer, by: str) -> None:
        """Answer a request that waits for a human; raises AnswerRefused when the answer does not count."""
        ...

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Make any request of the family's own; raises RequestTimeout, RequestFailed and ProcessGone."""
        ...

    async def set_model(self, model: str | None) -> JsonObject:
        """Change the model; None for the default one."""
        ...

    async def set_permission_mode(self, mode: str) -> JsonObject:
        """Change the permission mode."""
        ...

    async def withdraw(self, uuid: str) -> bool:
        """Take back a waiting prompt. Returns whether it still waited. Raises RequestFailed if the agent cannot do this."""
        ...

    def close_input(self) -> None:
        """Close the agent's input. The agent finishes its work and exits."""
        ...

    async def stop(self, reason: Literal["stopped", "hung"] = "stopped") -> None:
        """Stop the agent and wait until it is gone; `batches()` ends with Ended(reason)."""
        ...

    def remove_attachments(self) -> None:
        """Remove the files that were saved for this session."""
        ...
