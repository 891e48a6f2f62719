"""Runs of Codex through its app server. They are ACP runs, but end with the turn."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from turnwire.adapter.options import SessionOptions
from turnwire.adapter.session.agent import AgentSession, RequestFailed
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.inputs import Message, Received, Sent
from turnwire.protocol.claude.messages import User
from turnwire.protocol.codex import methods, requests
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.json_wire import JsonLine
from turnwire.runner.acp_runs import AcpConversation, content_blocks, family_of
from turnwire.runner.retry import Wait
from turnwire.runner.runner_lines import RunParams


class _Conversation(AcpConversation):
    answers: frozenset[type[Message]] = frozenset({JsonLine})
    _thread: Json = None
    _request: Json = None
    """Id of the request that carried the prompt."""

    def options(self) -> SessionOptions:
        options, params = super().options(), self._run.params
        command = replace(options.command, system_prompt=params.system_prompt, effort=params.effort)
        return replace(options, family=self._agent.family, command=command)

    async def begin(self, session: AgentSession) -> None:
        if self._cannot is not None:
            raise RequestFailed(f"the agent cannot do what the run needs: {self._cannot}")
        await session.say(msgspec.json.encode(inputs(self._run.message)))

    def is_answer(self, received: Received) -> bool:
        value = received.message.value if isinstance(received.message, JsonLine) else {}
        if "method" not in value:
            is_refused = "error" in value and value.get("id") == self._request
            if is_refused:
                why = text_at(value["error"], "message") or "it does not say why"
                self.error = f"Codex refuses {methods.TURN_START}: {why}"
            return is_refused
        params = value.get("params")
        if value["method"] != "turn/completed" or not isinstance(params, dict):
            return False
        turn = params.get("turn")
        if text_at(turn, "status") == "failed":
            error = turn.get("error") if isinstance(turn, dict) else None
            self.error = text_at(error, "message") or "the turn failed; Codex does not say why"
        return bool(params.get("threadId") == self._thread)

    def until_wait(self, batch: Sequence[InputWithEvents]) -> tuple[Sequence[InputWithEvents], Wait | None]:
        for item, _ in batch:
            if isinstance(item, Sent) and isinstance(item.message, JsonLine):
                value = item.message.value
                if value.get("method") == methods.TURN_START:
                    params = value.get("params")
                    self._thread = params.get("threadId") if isinstance(params, dict) else None
                    self._request = value.get("id")
        return batch, None


class CodexParams(RunParams, frozen=True, kw_only=True):
    """Params of a Codex run. Without a model Codex uses its default."""

    def check(self, message: User) -> None:
        """Raise ValueError for params that Codex cannot take."""
        self.refuse(("thinking_disabled", "user_agent"), "Codex has no field for this")
        inputs(message)


codex_runs = family_of(_Conversation, CodexParams)


def inputs(message: User) -> tuple[JsonObject, ...]:
    """Return a prompt as Codex inputs. Raises ValueError for a block that is neither text nor an image."""
    return tuple(_input(block) for block in content_blocks(message))


def _input(block: JsonObject) -> JsonObject:
    if block["type"] == "text":
        return requests.words(text_at(block, "text"))
    url = f"data:{text_at(block, 'mimeType')};base64,{text_at(block, 'data')}"
    return {"type": "image", "url": url}
