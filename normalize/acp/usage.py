"""Tokens and money: how full the context is, what a turn used, what the session has cost.

Agents report a turn's tokens in the prompt's response (`usage`, `_meta.usage` or `_meta.quota`), in the chunks' `_meta` (Qwen),
or
not at all. Some count the whole session there. Money is the session's total, in any currency.
"""

from msgspec import Struct

from turnwire.normalize.acp.agents import SAFE
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.tokens import Tokens, added, difference
from turnwire.normalize.events import AgentEvent, ContextWindow
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.protocol.acp.updates import UsageUpdate
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.quantities import MOST, SAME_MONEY, amount, count

_DEPTH = 3
"""Levels of an object in which tokens are looked for."""
_READ = (
    "cachedReadTokens",
    "cachedInputTokens",
    "cached_input_tokens",
    "cacheReadTokens",
    "cacheReadInputTokens",
    "cache_read_input_tokens",
)
_WRITTEN = (
    "cachedWriteTokens",
    "cacheWriteInputTokens",
    "cacheWriteTokens",
    "cacheCreationInputTokens",
    "cache_creation_input_tokens",
)


class TurnCosts(Struct, frozen=True, gc=False):
    """Tokens and cost of a turn."""

    turn: Tokens | None = None
    total: Tokens | None = None
    is_of_last_call: bool = False
    """The turn called the model several times, and the tokens are those of the last call only."""
    cost_usd: float | None = None
    total_cost_usd: float | None = None


class Usage:
    """The figures of one session."""

    def __init__(self, place: EventContext) -> None:
        self._place = place
        self.quirks = SAFE
        self.window: int | None = None
        """Tokens of the context window of the model that was chosen, of agents that tell them with their models."""
        self.model: str | None = None
        """The model that answers, as the figures name it."""
        self.has_calls = False
        """The turn has called a tool, so the model was called more than once."""
        self._shown: tuple[int | None, int, str | None] | None = None
        self._cost: float | None = None
        self._billed: float | None = None
        """The reported total before the turn; None until there was one."""
        self._total: Tokens | None = None
        self._chunks: Tokens | None = None

    def update(self, update: UsageUpdate) -> list[AgentEvent]:
        """Handle an update of context and cost."""
        cost = fields(update.cost)
        total = amount(cost.get("amount"))
        if total is not None and (text(cost, "currency") or "USD").upper() == "USD":
            self._cost = total
            if self._place.here["operation_id"] is None and self._billed is None:
                self._billed = self._cost  # of the conversation before
        self.model = text(fields(update.meta), "_claude/model") or self.model
        used, size = update.used, update.size
        if used is None or not 0 <= used <= MOST:
            return []
        if size is None or not max(used, 1) <= size <= MOST:
            size = None  # an agent that does not know the window tells 0, or less than is used
        shown = (size, used, self.model)
        if shown == self._shown:
            return []
        self._shown = shown
        return [
            ContextWindow(
                **self._place.here,
                context_window_size=size,
                context_window_used=used,
                context_window_remaining=None if size is None else size - used,
                context_efficiency=None if size is None else 100 * used / size,
                model=self.model,
            )
        ]

    def context(self, meta: Json) -> list[AgentEvent]:
        """Handle the context's fill level, which some agents report in `_meta`."""
        used = whole(fields(meta), "totalTokens")
        return [] if used is None else self.update(UsageUpdate(used=used, size=self.window))

    def chunk(self, meta: Json) -> None:
        """Handle the usage of one answer of the model, which some agents attach to a chunk."""
        told = tokens_of(meta)
        if told is not None:
            self._chunks = told if self._chunks is None else added(self._chunks, told)

    def bill(self, result: JsonObject, *, goes_on: bool) -> TurnCosts:
        """Return the tokens and cost of the turn that ends with this response.

        `goes_on`: the conversation is older than this process, so the first cost may cover all of it.
        """
        meta = fields(result.get("_meta"))
        quota = fields(meta.get("quota"))
        told = (
            _tokens(fields(result.get("usage")))
            or _tokens(fields(quota.get("token_count")))
            or tokens_of(meta)
            or self._chunks
            or _nested(meta)
        )
        self._chunks = None
        models = objects(quota, "model_usage")
        self.model = (text(models[0], "model") if len(models) == 1 else None) or self.model
        turn = told
        if told is not None:
            counts_session = self.quirks.counts == "session"
            turn = difference(told, self._total) if counts_session else told
            self._total = told if counts_session else None
        cost = None if self._cost is None else round(self._cost, 10)
        if cost is not None and self._billed is not None:
            # a total that went back started over
            more = cost - self._billed
            cost = cost if more < -SAME_MONEY else max(round(more, 10), 0.0)
        elif goes_on:
            cost = None
        self._billed = self._billed if self._cost is None else self._cost
        return TurnCosts(
            turn=turn,
            total=None if told is None else self._total,
            is_of_last_call=told is not None and self.has_calls and self.quirks.counts == "last_call",
            cost_usd=cost,
            total_cost_usd=self._cost,
        )


def tokens_of(meta: Json) -> Tokens | None:
    """Return the tokens of one answer of the model, from a chunk's `_meta`."""
    return _tokens(fields(fields(meta).get("usage")))


def _nested(told: JsonObject, room: int = _DEPTH) -> Tokens | None:
    """Return the first tokens in an object or inside it: agents that are not known have a place of their own for them."""
    for value in told.values():
        inner = fields(value)
        found = _tokens(inner) or (_nested(inner, room - 1) if room else None)
        if found is not None:
            return found
    return None


def _tokens(told: JsonObject) -> Tokens | None:
    sent = _count(told, "inputTokens", "input_tokens", "promptTokens", "prompt_tokens")
    received = _count(told, "outputTokens", "output_tokens", "completionTokens", "completion_tokens")
    if sent is None and received is None:
        return None
    sent, received = sent or 0, received or 0
    read = _count(told, *_READ)
    written = _count(told, *_WRITTEN)
    total = _count(told, "totalTokens", "total_tokens")
    cached = (read or 0) + (written or 0)
    if 0 < cached <= sent and total is not None and total < sent + received + cached:
        sent -= cached  # this agent counts cached tokens among those sent
    return Tokens(sent, received, read, written)


def _count(told: JsonObject, *names: str) -> int | None:
    return count(whole(told, *names))
