"""The API messages of one thread, the main one or a subagent's: when each began, its first chunk, its end, its usage.

A message begins when the model could begin: with the turn, or with what it waited for, the last tool result. It
ends with the last line that belongs to it.
"""

from dataclasses import dataclass, field

from normalize.model import JsonObject
from normalize.model_calls import Began, Measured, Said, Tokens
from tracing.spans.genai_facts import Facts, answer, usage
from tracing.spans.span import Attribute, Span, Trace


@dataclass(slots=True)
class _Chat:
    span: Span
    message_id: str
    last: int
    chunked: bool = False
    finish_reason: str | None = None
    parts: list[JsonObject] = field(default_factory=list)


class Thread:
    """Who acts, and what they are waiting for."""

    def __init__(self, trace: Trace, agent: Span, at: int, facts: Facts, *, subagent: bool = False) -> None:
        self.trace = trace
        """The turn in which it began."""
        self.agent = agent
        """The span of the agent's work."""
        self.tools: dict[str, Span] = {}
        """Calls without a result."""
        self._free_since = at
        self._facts = facts
        self._subagent = subagent
        self._model: str | None = None
        """The model of the newest message."""
        self._chat: _Chat | None = None

    def free(self, at: int) -> None:
        """Note that the model can go on: a tool result came."""
        self._free_since = at

    def started(self, began: Began, at: int) -> list[Span]:
        """Take the start of a streamed message."""
        finished = self._heard(began.message_id, began.model, at)
        if self._chat is not None:
            self._chat.span.update({"gen_ai.request.stream": True})
            self._sent(self._chat, began.tokens)
        return finished

    def chunk(self, at: int) -> None:
        """Take a streamed piece."""
        chat = self._chat
        if chat is None:
            return
        chat.last = at
        if not chat.chunked:
            chat.chunked = True
            seconds = max(at - chat.span.start, 0) / 1e9
            chat.span.update({"gen_ai.response.time_to_first_chunk": seconds})

    def measured(self, delta: Measured, at: int) -> None:
        """Take what is known at the end of a streamed message."""
        chat = self._chat
        if chat is None:
            return
        chat.last = at
        self._stopped(chat, delta.stop_reason)
        if delta.tokens is not None:
            # Some versions tell here how much was written, and nothing of what was sent.
            if delta.tokens.total > delta.tokens.written:
                self._sent(chat, delta.tokens)
            chat.span.update({"gen_ai.usage.output_tokens": delta.tokens.written})

    def said(self, said: Said, at: int) -> list[Span]:
        """Take a part of a message; what the agent wrote in the model's name is a call that failed."""
        if said.is_synthetic:
            return [] if said.error is None else self._failed(said.error, at)
        finished = self._heard(said.message_id, said.model, at)
        chat = self._chat
        if chat is None:
            return finished
        if not chat.chunked:
            self._sent(chat, said.tokens)
        self._stopped(chat, said.stop_reason)
        if said.error is not None:
            chat.span.update({"error.type": said.error})
        if self._facts.content:
            chat.parts += [self._facts.part(part) for part in said.parts]
        return finished

    def end_chat(self) -> list[Span]:
        """End the message that was the last."""
        chat, self._chat = self._chat, None
        if chat is None:
            return []
        if chat.parts:
            chat.span.update({"gen_ai.output.messages": answer(chat.parts, chat.finish_reason)})
        self._free_since = max(self._free_since, chat.last)
        error = chat.span.attributes.get("error.type")
        return [chat.span.finish(chat.last, None if error is None else str(error))]

    def end(self, at: int, error: str | None = None) -> list[Span]:
        """End all that the thread has open, the agent's own span last."""
        finished = self.end_chat()
        finished += [tool.finish(at, "no_result") for tool in self.tools.values()]
        self.tools.clear()
        self.agent.update(self._facts.common("invoke_agent"))
        if (model := self._requested()) is not None:
            self.agent.update({"gen_ai.request.model": model})
        return [*finished, self.agent.finish(at, error)]

    def _heard(self, message_id: str | None, model: str | None, at: int) -> list[Span]:
        if message_id is None:
            return []
        if self._chat is not None and self._chat.message_id == message_id:
            self._chat.last = at
            return []
        finished = self.end_chat()
        attributes: dict[str, Attribute] = {"gen_ai.response.id": message_id}
        if model is not None:
            attributes["gen_ai.response.model"] = self._model = model
        self._chat = _Chat(self._begin(model, attributes), message_id, at)
        return finished

    def _failed(self, error: str, at: int) -> list[Span]:
        finished = self.end_chat()
        span = self._begin(self._requested(), {"error.type": error})
        self._free_since = at
        return [*finished, span.finish(at, error)]

    def _begin(self, model: str | None, attributes: dict[str, Attribute]) -> Span:
        name = f"chat {model}" if model else "chat"
        common = self._facts.common("chat")
        if (requested := self._requested()) is not None:
            common["gen_ai.request.model"] = requested
        return self.trace.begin(name, self._free_since, self.agent, common | attributes, client=True)

    def _requested(self) -> str | None:
        """Return the model that was asked; a fallback may answer in its place. Subagents have their own."""
        return self._model if self._subagent else self._facts.model or self._model

    @staticmethod
    def _sent(chat: _Chat, told: Tokens | None) -> None:
        """Take what was sent; what these lines say of the answer's size is not final."""
        if told is not None:
            chat.span.update(usage(told.sent, None, told.cache_read, told.cache_written))

    @staticmethod
    def _stopped(chat: _Chat, reason: str | None) -> None:
        if reason is not None:
            chat.finish_reason = reason
            chat.span.update({"gen_ai.response.finish_reasons": [reason]})
