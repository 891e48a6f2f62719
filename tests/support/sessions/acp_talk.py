"""A conversation with an ACP agent, told by lines as both sides write them, and the events of it."""

import json
from typing import Any

from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Decision, Ended
from turnwire.protocol.acp import encode
from turnwire.protocol.acp.decode import decode

Event = dict[str, Any]


class Talk:
    """A conversation with an agent."""

    def __init__(self, agent: str = "", *, first_turn: int = 1) -> None:
        self.core = AcpCore(first_turn=first_turn)
        if agent:
            self.sends(0, "initialize", protocolVersion=1)
            self.answers(0, protocolVersion=1, agentInfo={"name": agent, "version": "1"})

    def _told(self, events: list[AgentEvent]) -> list[Event]:
        return [json.loads(to_json(event)) for event in events]

    def hears(self, line: bytes) -> list[Event]:
        return self._told(self.core.receive(decode(line.rstrip()), line.rstrip()))

    def says(self, line: bytes) -> list[Event]:
        return self._told(self.core.on_sent(decode(line.rstrip())))

    def sends(self, number: int, method: str, **params: Any) -> list[Event]:
        return self.says(encode.request(number, method, params))

    def answers(self, number: int, **result: Any) -> list[Event]:
        return self.hears(encode.response(number, result))

    def fails(self, number: int, code: int, message: str, data: Any = None) -> list[Event]:
        return self.hears(encode.error(number, code, message, data))

    def prompt(self, number: int, text: str = "Go on.", **more: Any) -> list[Event]:
        return self.sends(
            number, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": text}], **more
        )

    def update(self, name: str, /, **fields: Any) -> list[Event]:
        return self.hears(
            encode.notification(
                "session/update", {"sessionId": "s", "update": {"sessionUpdate": name, **fields}}
            )
        )

    def text(self, words: str, **more: Any) -> list[Event]:
        return self.update("agent_message_chunk", content={"type": "text", "text": words}, **more)

    def asks(self, number: int, call: str, **fields: Any) -> list[Event]:
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        params = {"sessionId": "s", "toolCall": {"toolCallId": call, **fields}, "options": options}
        return self.hears(encode.request(number, "session/request_permission", params))

    def chooses(self, number: int, option: str) -> list[Event]:
        return self.says(encode.response(number, {"outcome": {"outcome": "selected", "optionId": option}}))

    def cancels(self) -> list[Event]:
        return self.says(encode.notification("session/cancel", {"sessionId": "s"}))

    def is_busy(self) -> bool:
        return self.core.busy

    def waits(self) -> list[str]:
        return [*self.core.pending]

    def decides(self, decision: Decision) -> list[Event]:
        return self._told(self.core.handle(decision))

    def ends(self, end: Ended | None = None) -> list[Event]:
        return self._told(self.core.handle(end or Ended("exited", exit_code=1)))


def types(events: list[Event]) -> list[str]:
    return [event["type"] for event in events]


def only(events: list[Event], kind: str) -> Event:
    (found,) = [event for event in events if event["type"] == kind]
    return found


def shown(words: str) -> list[Event]:
    return [{"type": "content", "content": {"type": "text", "text": words}}]
