"""Runs of agents that take one prompt and exit: a run is over when the agent is, and its last turn says how it went."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from turnwire.adapter.options import SessionOptions
from turnwire.adapter.session.agent import AgentSession
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import Complete
from turnwire.normalize.inputs import Ended, Message, Received
from turnwire.protocol.claude.messages import User
from turnwire.protocol.json_values import text_at
from turnwire.runner.acp_runs import AcpConversation, content_blocks, family_of
from turnwire.runner.execution import how_it_ended
from turnwire.runner.retry import Wait
from turnwire.runner.runner_lines import RunParams


class _Conversation(AcpConversation):
    answers: frozenset[type[Message]] = frozenset()
    _complete: Complete | None = None

    def options(self) -> SessionOptions:
        return replace(super().options(), family=self._agent.family)

    async def begin(self, session: AgentSession) -> None:
        await session.say(msgspec.json.encode(words(self._run.message)))

    def is_answer(self, received: Received) -> bool:  # noqa: ARG002 - the process's end is the answer
        return False

    def until_wait(self, batch: Sequence[InputWithEvents]) -> tuple[Sequence[InputWithEvents], Wait | None]:
        for _, events in batch:
            for event in events:
                if isinstance(event, Complete):
                    self._complete = event
        return batch, None

    def how(self, ended: Ended) -> str | None:
        if self._complete is None or self._complete.data.outcome == "process_exited":
            return super().how(ended) or how_it_ended(ended, self.agent, "before its turn ended")
        if self._complete.data.is_error:
            return self._complete.error or f"the turn ended: {self._complete.data.outcome}"
        return None


class OneShotParams(RunParams, frozen=True, kw_only=True):
    """Params of a run. Without a model the agent uses its default."""

    def check(self, message: User) -> None:
        """Raise ValueError for params that such an agent does not take."""
        self.refuse(
            ("system_prompt", "effort", "thinking_disabled", "user_agent", "mcp_servers"),
            "an agent that takes one prompt on standard input does not take this",
        )
        words(message)


one_shot_runs = family_of(_Conversation, OneShotParams)


def words(message: User) -> str:
    """Return a prompt as one text. Raises ValueError for a block that is no text."""
    blocks = content_blocks(message)
    if any(block["type"] != "text" for block in blocks):
        raise ValueError("an agent that takes one prompt on standard input takes text alone - at `$.message`")
    return "\n".join(text_at(block, "text") for block in blocks)
