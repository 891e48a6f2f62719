"""Turns of `codex app-server` that turnwire ends, because the thread is idle and the server does not report the end."""

import json

from turnwire.normalize.codex.family import CODEX_APP_SERVER
from turnwire.normalize.events import AgentEvent, Complete, Notice
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.json_values import JsonObject


class Talk:
    """One app server."""

    def __init__(self) -> None:
        self.core = CODEX_APP_SERVER.core()
        self.wire = CODEX_APP_SERVER.wire()

    def hears(self, method: str, **params: object) -> list[AgentEvent]:
        line = json.dumps({"method": method, "params": {"threadId": "th", **params}}).encode()
        heard = [Received(own or line, message) for own, message in self.wire.heard((line,))]
        return [event for one in heard for event in self.core.handle(one)]

    def notes_idle(self, **params: object) -> list[AgentEvent]:
        said: JsonObject = {"method": "turnwire/idle", "params": {"threadId": "th", **params}}
        line = json.dumps(said).encode()
        return [event for message in self.wire.sent(line) for event in self.core.handle(Sent(line, message))]


def test_an_open_turn_ends_and_what_it_was_told_of_is_its_error() -> None:
    talk = Talk()
    talk.hears("turn/started", turn={"id": "one"})
    talk.hears("error", error={"message": "The pump is dry."}, willRetry=False)
    notice, complete = talk.notes_idle(status="idle", silent_ms=700)
    assert isinstance(notice, Notice)
    assert notice.kind == "turn_end_missing"
    assert isinstance(complete, Complete)
    assert (complete.data.outcome, complete.error) == ("error", "The pump is dry.")
    talk.hears("turn/started", turn={"id": "two"})
    _, complete = talk.notes_idle(status="idle")
    assert isinstance(complete, Complete)
    assert complete.data.outcome == "completed"


def test_without_an_open_turn_and_of_another_thread_nothing_ends() -> None:
    talk = Talk()
    assert talk.notes_idle(status="idle") == []
    talk.hears("turn/started", turn={"id": "one"})
    assert talk.notes_idle(threadId="other") == []
    assert talk.core.busy
