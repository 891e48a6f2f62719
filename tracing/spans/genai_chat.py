"""The API messages of one thread (the main one or a subagent's): start, first chunk, end, usage.

A message starts when the model could start: with the turn, or with the last tool result before it. It ends with its
last line. Some agents report no messages (`CallsUntold`). For them a run of output stands for a message. It ends
with the first tool call, or with the turn.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct, field

from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.normalize.model_calls import AnswerPart, CallBegan, CallMeasured, PartSaid, Tokens, ToolPart
from turnwire.tracing.spans.genai_facts import TOKENS, GenAiFacts, answer, tool_answers, usage, values
from turnwire.tracing.spans.span import Attribute, Span, Trace

_MOST_PARTS = 256
"""Maximum number of exported parts of a run, and of exported results that a run answers."""


REST = "turnwire.usage.rest"
"""True on a chat whose tokens include those of the turn that no message reports."""


class Piece(NamedTuple):
    """A piece of output in a run."""

    kind: Literal["text", "reasoning"]
    text: str
    block: tuple[str | None, int | None]
    """Id of the block. Pieces of the same block are joined."""
    replaces: bool
    """True if it replaces earlier text of the block."""


class OpenTool(Struct):
    """A tool call without a result."""

    span: Span
    call_id: str
    name: str
    arguments: JsonValue = None
    """The newest arguments. Only with `content`."""
    told: bool = False
    """The agent itself told these arguments."""
    waited_ns: int = 0
    """How long it waited for a human."""

    def finish(self, facts: GenAiFacts, at: int, error: str | None) -> Span:
        """Finish the span, with the arguments that are known by now."""
        if facts.content and self.arguments is not None:
            told = facts.told(self.arguments)
            self.span.update({"gen_ai.tool.call.arguments": told, **values(told)})
        if self.waited_ns:
            self.span.update({"turnwire.human.wait.duration": self.waited_ns / 1e9})
        return self.span.finish(at, error)

    def part(self, facts: GenAiFacts) -> JsonObject:
        """Return the call as a part of a message."""
        return {
            "type": "tool_call",
            "id": self.call_id,
            "name": self.name,
            "arguments": facts.arguments(self.arguments),
        }


class _Block(Struct):
    """The stored text of a block, up to the limit."""

    kind: Literal["text", "reasoning"]
    said: list[str]
    room: int


class _Chat(Struct):
    span: Span
    message_id: str | None
    last: int
    chunked: bool = False
    finish_reason: str | None = None
    parts: list[JsonObject | _Block | OpenTool] = field(default_factory=list)
    blocks: dict[tuple[str | None, int | None], _Block] = field(default_factory=dict)
    """For a run: its blocks by id."""
    called: bool = False
    """True if it calls a tool. A tool call ends a run."""
    tokens: Tokens | None = None
    """For a run: the tokens that its pieces report."""
    has_failed: bool = False
    """The agent said in the model's name that the call failed. More may be told with the turn's end."""


class ChatThread:
    """One thread and its current message."""

    def __init__(
        self,
        trace: Trace,
        agent: Span,
        at: int,
        facts: GenAiFacts,
        counted: dict[str, int],
        *,
        subagent: bool = False,
    ) -> None:
        """Begin a thread. `counted`: tokens of messages by attribute. Other threads may share it."""
        self.trace = trace
        """The trace of the turn in which the thread began."""
        self.agent = agent
        """The span of the agent's work."""
        self.tools: dict[str, OpenTool] = {}
        """Calls without a result, by id."""
        self._free_since = at
        self._facts = facts
        self._counted = counted
        self._subagent = subagent
        self._model: str | None = None
        """The model of the newest message."""
        self._chat: _Chat | None = None
        self._asked: str | None = None
        """The input of the next run."""
        self._results: list[tuple[str, str]] = []
        """Call ids and their results since the last run."""
        self.answer: list[JsonObject] = []
        """Parts of the newest message with text. Only with `content`."""

    def free(self, at: int) -> None:
        """Note that a tool result came, so that the model can continue."""
        self._free_since = at

    def resulted(self, call_id: str, result: str) -> None:
        """Store a tool result (JSON text) as input of the next run."""
        if len(self._results) < _MOST_PARTS:
            self._results.append((call_id, result))

    def prompted(self, messages: str) -> None:
        """Store prompts (JSON text) as input of the next run."""
        self._asked = messages

    def started(self, began: CallBegan, at: int) -> list[Span]:
        """Handle the start of a streamed message."""
        finished = self._heard(began.message_id, began.model, at)
        if self._chat is not None:
            self._chat.span.update({"gen_ai.request.stream": True})
            self._sent(self._chat, began.tokens)
        return finished

    def chunk(self, at: int) -> None:
        """Handle a streamed piece. at: nanoseconds since 1970."""
        chat = self._chat
        if chat is None:
            return
        chat.last = at
        if not chat.chunked:
            chat.chunked = True
            seconds = max(at - chat.span.start, 0) / 1e9
            chat.span.update({"gen_ai.response.time_to_first_chunk": seconds})

    def measured(self, delta: CallMeasured, at: int) -> None:
        """Handle the facts at the end of a streamed message."""
        chat = self._chat
        if chat is None:
            return
        chat.last = at
        self._stopped(chat, delta.stop_reason)
        if delta.tokens is not None:
            # Some versions report here only the output tokens.
            if delta.tokens.total > delta.tokens.written:
                self._sent(chat, delta.tokens)
            self._use(chat, {"gen_ai.usage.output_tokens": delta.tokens.written})

    def said(self, said: PartSaid, at: int) -> list[Span]:
        """Handle a part of a message. Text that the agent wrote in the model's name means that the call failed."""
        if said.is_synthetic:
            return [] if said.error is None else self._failed(said, said.error, at)
        finished = self._heard(said.message_id, said.model, at)
        chat = self._chat
        if chat is None:
            return finished
        chat.called = chat.called or any(isinstance(part, ToolPart) for part in said.parts)
        if not chat.chunked:
            self._sent(chat, said.tokens)
        self._stopped(chat, said.stop_reason)
        if said.error is not None:
            chat.span.update({"error.type": said.error})
        if self._facts.content:
            chat.parts += [self._facts.part(part) for part in said.parts]
        return finished

    def piece(self, piece: Piece, at: int) -> list[Span]:
        """Handle a piece of a run. Its text is exported only with `content`."""
        chat = self._chat
        known = None if chat is None else chat.blocks.get(piece.block)
        if piece.replaces and known is None:
            return []  # it corrects what an earlier run said
        finished: list[Span] = []
        if chat is None or (chat.called and not piece.replaces):
            # The model writes while a call is open: the start of this run is unknown.
            finished, chat = self._run(at if self.tools else self._free_since)
            known = None
        if not chat.chunked:
            chat.chunked = True
            chat.span.update({"gen_ai.request.stream": True})
            if at > chat.span.start:
                seconds = (at - chat.span.start) / 1e9
                chat.span.update({"gen_ai.response.time_to_first_chunk": seconds})
        if not chat.called:
            chat.last = at
        if self._facts.content:
            self._write(chat, known, piece)
        return finished

    def called(self, tool: OpenTool | None, at: int) -> list[Span]:
        """End the run because of a tool call. Further calls at the same time belong to the same run."""
        finished: list[Span] = []
        chat = self._chat
        if chat is None or (chat.called and not self.tools):
            if self.tools:
                return []
            finished, chat = self._run(self._free_since)
        if not chat.called:
            chat.called = True
            chat.last = at
        if tool is not None and len(chat.parts) < _MOST_PARTS:
            chat.parts.append(tool)
        return finished

    def took(self, tokens: Tokens, at: int) -> list[Span]:
        """Add the tokens of a finished model call. A run may consist of several calls."""
        finished: list[Span] = []
        chat = self._chat
        if chat is None or (chat.called and not self.tools):
            finished, chat = self._run(self._free_since)
        if not chat.called:
            chat.last = at
        before = chat.tokens or Tokens(0, 0, 0, 0)
        told = chat.tokens = Tokens(*(one + other for one, other in zip(before, tokens, strict=True)))
        self._use(chat, usage(told.sent, told.written, told.cache_read, told.cache_written))
        return finished

    def end_run(
        self,
        at: int,
        *,
        stop_reason: str | None,
        error: str | None,
        asked: bool,
    ) -> list[Span]:
        """Note how the last run ends with its turn.

        Args:
            at: nanoseconds since 1970.
            stop_reason: why the agent stopped, in its own word.
            error: why the turn failed.
            asked: the error is certainly that of a call of the model, so it is a run even without output.
        """
        finished: list[Span] = []
        chat = self._chat
        if asked and not self.tools and (chat is None or chat.called):
            finished, chat = self._run(self._free_since)
        if chat is None:
            return finished
        if not chat.called:
            chat.last = at
            self._stopped(chat, stop_reason)
            if error is not None:
                chat.span.update({"error.type": error})
        return finished

    def settle(self, spent: Mapping[str, Attribute], below: Mapping[str, int], at: int) -> None:
        """Give the tokens of the turn that no message reports to its last chat, so that those of all chats are the turn's.

        Tokens of helper models, of compaction and of subagents are among them, and, without partial messages, those that messages
        wrote. Agents with runs report the tokens of a turn only.

        Args:
            spent: the turn's tokens, by attribute.
            below: tokens of subagents' messages.
            at: nanoseconds since 1970.
        """
        chat, own = self._chat, {} if self._chat is None else self._chat.span.attributes
        whole: dict[str, Attribute] = {}
        for name, total in spent.items():
            left = int(str(total)) - self._counted.get(name, 0) - below.get(name, 0)
            if left > 0:
                whole[name] = int(str(own.get(name, 0))) + left
        if not whole.keys() & {*TOKENS[:2]}:
            return
        if chat is None:
            chat = self._chat = _Chat(self._begin(self._requested(), {}, self._free_since), None, at)
        elif chat.message_id is not None:
            chat.span.update({REST: True})
        self._use(chat, whole)

    def _run(self, start: int) -> tuple[list[Span], _Chat]:
        """Start a run and end the one before."""
        finished = self.end_chat()
        chat = self._chat = _Chat(self._begin(self._requested(), {}, start), None, start)
        self._answers(chat)
        return finished, chat

    def _answers(self, chat: _Chat) -> None:
        """Set the input of a starting message."""
        asked, self._asked = self._asked, None
        results, self._results = self._results, []
        if results:
            chat.span.update({"gen_ai.input.messages": tool_answers(results)})
        elif asked is not None:
            chat.span.update({"gen_ai.input.messages": asked})

    def _write(self, chat: _Chat, block: _Block | None, piece: Piece) -> None:
        """Store a piece, up to the limit."""
        if block is None or block.kind != piece.kind:
            if len(chat.parts) >= _MOST_PARTS:
                return
            block = chat.blocks[piece.block] = _Block(piece.kind, [], self._facts.limit + 1)
            chat.parts.append(block)
        if piece.replaces:
            block.said, block.room = [], self._facts.limit + 1
        if block.room > 0:
            block.said.append(piece.text[: block.room])
            block.room -= len(piece.text)

    def _part(self, part: JsonObject | _Block | OpenTool) -> JsonObject:
        match part:
            case _Block():
                return self._facts.part(AnswerPart(part.kind, "".join(part.said)))
            case OpenTool():
                return part.part(self._facts)
            case _:
                return part

    def end_chat(self, stop_reason: str | None = None) -> list[Span]:
        """End the current message. stop_reason: why the turn ended, if it ended with this message."""
        chat, self._chat = self._chat, None
        if chat is None:
            return []
        if chat.finish_reason is None and not chat.has_failed:
            self._stopped(chat, self._reason(chat, stop_reason))
        if chat.parts:
            parts = [self._part(part) for part in chat.parts]
            chat.span.update({"gen_ai.output.messages": answer(parts, chat.finish_reason)})
            if said := [part for part in parts if part["type"] == "text"]:
                self.answer = said
            chat.span.update(values(out=text_of(said)))
        self._free_since = max(self._free_since, chat.last)
        error = chat.span.attributes.get("error.type")
        return [chat.span.finish(chat.last, None if error is None else str(error))]

    @staticmethod
    def _reason(chat: _Chat, stop_reason: str | None) -> str | None:
        """Return why a message without a stop reason ended; None if unknown."""
        if "error.type" in chat.span.attributes:
            return "error"
        if chat.called:
            # Claude's own word; for agents that report no messages, the conventions' word
            return "tool_call" if chat.message_id is None else "tool_use"
        return stop_reason

    def end(
        self, at: int, error: str | None = None, *, stop_reason: str | None = None, stopped: bool = False
    ) -> list[Span]:
        """End all open spans of the thread, the agent's own span last.

        Args:
            at: nanoseconds since 1970.
            error: why the agent failed.
            stop_reason: why the turn ended.
            stopped: a human stopped the turn, so calls without a result have not failed.
        """
        finished = self.end_chat(stop_reason)
        finished += [
            tool.finish(self._facts, at, None if stopped else "no_result") for tool in self.tools.values()
        ]
        self.tools.clear()
        self.agent.update(self._facts.common("invoke_agent"))
        if (model := self._requested()) is not None:
            self.agent.update({"gen_ai.request.model": model})
        if self.answer:
            self.agent.update({"gen_ai.output.messages": answer(self.answer, stop_reason)})
            self.agent.update(values(out=text_of(self.answer)))
        return [*finished, self.agent.finish(at, error)]

    def _heard(self, message_id: str | None, model: str | None, at: int) -> list[Span]:
        if message_id is None:
            return []
        if self._chat is not None and self._chat.message_id == message_id and not self._chat.has_failed:
            self._chat.last = at
            return []
        finished = self.end_chat()
        attributes: dict[str, Attribute] = {"gen_ai.response.id": message_id}
        if model is not None:
            attributes["gen_ai.response.model"] = self._model = model
        self._chat = _Chat(self._begin(model, attributes, self._free_since), message_id, at)
        self._answers(self._chat)
        return finished

    def _failed(self, said: PartSaid, error: str, at: int) -> list[Span]:
        finished = self.end_chat()
        span = self._begin(self._requested(), {"error.type": error}, self._free_since)
        texts = [part.text for part in said.parts if isinstance(part, AnswerPart)]
        if self._facts.limit and texts:
            span.update({"error.message": self._facts.told("\n".join(texts))})
        self._chat = _Chat(span, None, at, has_failed=True)
        return finished

    def failed_with(self, status: int | None, message: str) -> None:
        """Note the HTTP status and text of a call that failed, from the turn's end."""
        chat = self._chat
        if chat is None or not (chat.has_failed or "error.type" in chat.span.attributes):
            return
        if status is not None:
            chat.span.update({"http.response.status_code": status})
        if message and "error.message" not in chat.span.attributes:
            chat.span.update({"error.message": message})

    def _begin(self, model: str | None, attributes: dict[str, Attribute], start: int) -> Span:
        name = f"chat {model}" if model else "chat"
        common = self._facts.common("chat")
        if (requested := self._requested()) is not None:
            common["gen_ai.request.model"] = requested
        return self.trace.begin(name, start, self.agent, common | attributes, client=True)

    def _requested(self) -> str | None:
        """Return the requested model. A fallback model may answer. Subagents have their own model."""
        return self._model if self._subagent else self._facts.model or self._model

    def _sent(self, chat: _Chat, told: Tokens | None) -> None:
        """Store the input tokens. The output tokens in these lines are not final."""
        if told is not None:
            self._use(chat, usage(told.sent, None, told.cache_read, told.cache_written))

    def _use(self, chat: _Chat, tokens: Mapping[str, Attribute]) -> None:
        """Set tokens of a message, and count them."""
        for name, count in tokens.items():
            more = int(str(count)) - int(str(chat.span.attributes.get(name, 0)))
            self._counted[name] = self._counted.get(name, 0) + more
        chat.span.update(tokens)

    @staticmethod
    def _stopped(chat: _Chat, reason: str | None) -> None:
        if reason is not None:
            chat.finish_reason = reason
            chat.span.update({"gen_ai.response.finish_reasons": [reason]})


def text_of(parts: Sequence[JsonObject]) -> str:
    """Return the text of parts."""
    return "\n".join(str(part["content"]) for part in parts)
