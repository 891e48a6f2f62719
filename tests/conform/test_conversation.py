"""The kit's own conversation with an agent."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from frontends.conform.conversation import Conversation, outcome_of
from turnwire_client import Client, CommandFailed, EventFrame
from turnwire_client.events import AgentEvent, Complete, CompleteData, PermissionOption, PermissionRequest

ASKS = PermissionRequest(
    pending_id="p",
    permission_title="Run it",
    permission_options=[PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
    action_type="command",
)
INTERRUPTED = Complete(data=CompleteData(outcome="interrupted", is_error=False))


class Refusing:
    """A client whose answers come too late."""

    def __init__(self, code: str, *events: AgentEvent) -> None:
        self._code = code
        self._events = events

    async def follow(self, session: str, after: object) -> AsyncIterator[EventFrame]:
        assert after is not None
        for seq, event in enumerate(self._events, 1):
            yield EventFrame(session=session, seq=seq, ts="t", event=event)

    async def respond(self, session: str, pending_id: str, option_id: str) -> None:
        raise CommandFailed(self._code, f"{session} {pending_id} {option_id}")


@pytest.mark.parametrize("code", ["cancelled", "already_answered"])
async def test_an_answer_that_comes_when_its_request_is_over_breaks_nothing(code: str) -> None:
    talk = Conversation(cast(Client, Refusing(code, ASKS, INTERRUPTED)), "s", 60)
    assert outcome_of(await talk.finish()) == "interrupted"


async def test_an_answer_that_is_refused_otherwise_is_told() -> None:
    talk = Conversation(cast(Client, Refusing("forbidden", ASKS, INTERRUPTED)), "s", 60)
    with pytest.raises(CommandFailed):
        await talk.finish()
