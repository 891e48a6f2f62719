"""The model's answers in a session file, with their tokens and their cost.

Newer CLIs write their totals (`cost-state`) by model and with tokens. The totals include helpers and the origin of a fork.
If a model's total equals its tokens at the known prices, the CLI uses these prices, and each answer's cost is known.
Otherwise an answer gets a share of its model's cost, marked as an estimate.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from turnwire.normalize.claude.context import plain_name
from turnwire.normalize.claude.conversation import SYNTHETIC
from turnwire.normalize.common.times import moment
from turnwire.normalize.recordings.session_files import Answer, ConversationSummary, Estimate, TokenCounts
from turnwire.protocol.claude.session_lines import CostState, LineFields, LineHead, MessageHead, Tokens
from turnwire.protocol.quantities import SAME_MONEY, amount

_WEIGHTS = (1.0, 5.0, 0.1, 1.25, 0.75)
"""Relative cost of tokens for a model without known prices, in units of one sent token: sent, written, read from the cache,
written to the cache, and the surcharge for one hour in the cache.
"""

_SEARCH_USD = 0.01
"""Dollars for one web search, in addition to its tokens."""


class _Seen(Struct, frozen=True, gc=False):
    """An answer as it was seen last; its lines repeat its usage, and the last one has it whole."""

    key: str
    at: float | None
    model: str
    tokens: Tokens
    cost: float | None
    origin: str | None
    """For a copied answer: the conversation that asked for it."""
    totals: int
    """How many totals had been noted before it."""
    agent: str | None
    """The subagent that it is of."""
    message: str | None
    """The API's id of it."""


class Answers:
    """All answers of a file and of its subagents' files."""

    def __init__(self, estimate: Estimate | None) -> None:
        """`estimate` has the known prices."""
        self._estimate = estimate
        self._seen: dict[str, _Seen] = {}
        """By key."""
        self._keys: dict[str, str] = {}
        """The answer of each record."""
        self._requests: dict[tuple[str, str], str] = {}
        """The answer by message and request."""
        self._contents: dict[tuple[str, object], str] = {}
        """The answer by message and what its records say. A copy of it may name another request."""
        self._latest: dict[str | None, str] = {}
        """The last answer of each thread, until a prompt or a result comes in it."""
        self._told: dict[str, CostState] = {}
        """The CLI's latest totals, by model."""
        self._totals: list[float] = []
        self._names: dict[str, str] = {}
        """Models' names without provider, date and variant."""
        self.first_model: str | None = None
        """The model that answered first."""
        self.largest: dict[str, int] = {}
        """The most tokens of an answer of the main thread, by model."""

    def note_totals(self, total_cost_usd: float, by_model: dict[str, CostState]) -> None:
        """Take the CLI's totals so far."""
        self._totals.append(dollars(total_cost_usd) or 0.0)
        for model, used in by_model.items():
            self._told[plain_name(model)] = used

    def note(self, line: LineHead, agent: str | None, *, of_main: bool) -> bool:
        """Take a record of the model. Returns whether it is an answer. `of_main`: it is in the main thread."""
        head = line.message
        model = head.model
        if model is None or model == SYNTHETIC or head.usage is None or line.uuid is None:
            return False
        self.first_model = self.first_model or model
        if of_main:
            tokens = sum(counts_of(head.usage))
            if tokens > self.largest.get(model, -1):
                self.largest[model] = tokens
        key, is_copy = self._key(line, agent, of_main=of_main)
        self._keys[line.uuid] = key
        if is_copy:
            return True
        seen = self._seen.get(key)
        cost = line.cost_usd
        at = moment(line.timestamp) if seen is None else seen.at
        if seen is not None and cost is None:
            cost = seen.cost
        origin = None if line.request_session_id == line.session_id else line.request_session_id
        # a subagent's own file is looked over after the session's: what is in it was counted with it
        totals = 0 if agent is not None else len(self._totals)
        self._seen[key] = _Seen(key, at, model, head.usage, cost, origin, totals, agent, head.id)
        for own, asked, took in advice(key, line, head):
            self._seen[own] = _Seen(own, at, asked, took, None, origin, totals, agent, None)
        return True

    def note_other(self, agent: str | None) -> None:
        """Note that a prompt or a result came in a thread: the model's next record there is of another answer."""
        self._latest.pop(agent, None)

    def _key(self, line: LineHead, agent: str | None, *, of_main: bool) -> tuple[str, bool]:
        """Return the key of a record's answer, and whether the record is a copy of one that was counted.

        The message id alone does not tell answers apart: gateways give one to all of them, and an overloaded API has given
        one to several requests.
        """
        uuid, message, request = line.uuid or "", line.message.id, line.request_id
        if uuid in self._keys:
            return self._keys[uuid], True
        if message is None:
            return uuid, False
        content = self._content(line)
        told = (message, (content, line.timestamp))
        named = None if request is None else (message, request)
        key = None if named is None else self._requests.get(named)
        if key is None and named is None:
            key = self._goes_on(line, message, agent)
        is_copy = False
        if key is None:
            key = self._contents.get(told)
            if key is None and not of_main:
                key = self._contents.get((message, content))
                key = None if key is None or self._seen[key].agent == agent else key
            is_copy = key is not None
        if key is None:
            key = f"{message}:{request}" if request is not None else uuid
        if named is not None:
            self._requests[named] = key
        seen = self._seen.get(key)
        is_copy = is_copy or (seen is not None and seen.agent != agent)
        if not is_copy:
            self._contents.setdefault(told, key)
            self._contents.setdefault((message, content), key)
            self._latest[agent] = key
        return key, is_copy

    def _goes_on(self, line: LineHead, message: str, agent: str | None) -> str | None:
        """Return the answer that a record without a request continues: its parent's, or the last one of its thread."""
        key = self._keys.get(line.parent_uuid or "") or self._latest.get(agent)
        return key if key is not None and self._seen[key].message == message else None

    def _content(self, line: LineHead) -> object:
        """Return what a record says; one that says nothing that is read here is known by its tokens."""
        head = line.message
        text, calls = head.text, tuple(block.id for block in head.calls)
        return (text, calls) if text or calls or head.usage is None else counts_of(head.usage)

    def key_of(self, uuid: str | None) -> str | None:
        """Return the key of a record's answer."""
        return self._keys.get(uuid or "")

    def __iter__(self) -> Iterator[Answer]:
        """Return all answers with their cost, if it is known."""
        rows = [(seen, _counts(seen.tokens)) for seen in self._seen.values()]
        priced = self._priced(rows)
        for seen, counts in rows:
            cost, is_share = self._cost(seen, counts, priced)
            yield Answer(
                seen.key, seen.at, seen.model, *counts[:4], dollars(cost), counts.cache_creation_1h_input_tokens, is_share,
                seen.origin is not None, seen.origin,
            )  # fmt: skip

    def costs(self) -> dict[str, float | None]:
        """Return each answer's cost by its key; None also for a share, which is no answer's own."""
        return {answer.key: None if answer.is_share else answer.cost_usd for answer in self}

    def add_to(self, summary: ConversationSummary) -> None:
        """Add the answers and the conversation's cost to the summary.

        A fork's totals include its origin, so costs outside answers count only for what began here.
        """
        summary.answers = list(self)
        answers = list(zip(summary.answers, self._seen.values(), strict=True))
        summary.cost_is_whole = bool(answers) and all(answer.cost_usd is not None for answer, _ in answers)
        own = [
            answer.cost_usd for answer, seen in answers if answer.cost_usd is not None and seen.origin is None
        ]
        if self._totals and not any(seen.origin is not None for _, seen in answers):
            counted = sum(
                answer.cost_usd or 0.0 for answer, seen in answers if seen.totals < len(self._totals)
            )
            rest = round(_sum(self._totals) - counted, 10)
            summary.other_cost_usd = rest if rest > SAME_MONEY else 0.0
        else:
            shares = [one.cost_usd or 0.0 for one in summary.answers if one.is_share and not one.is_copy]
            summary.shared_usd = round(sum(shares), 10)
        known = own or self._totals
        summary.cost_usd = round(sum(own) + summary.other_cost_usd, 10) if known else None

    def _priced(self, rows: Sequence[tuple[_Seen, TokenCounts]]) -> set[str]:
        """Return the models whose reported cost equals their tokens at the known prices."""
        found = set[str]()
        if not self._told:
            return found
        of_model: dict[str, list[tuple[_Seen, TokenCounts]]] = {}
        for row in rows:
            of_model.setdefault(self._plain_name(row[0].model), []).append(row)
        for model, used in self._told.items():
            told = used.cost_usd - _SEARCH_USD * used.web_search_requests
            answered = of_model.get(model, [])
            at = answered[-1][0].at if answered else None
            # a price may differ for long prompts, and by the day: then each answer by itself tells
            if self._is(told, self._price(model, _counts(used), at)) or (
                answered
                and self._is(
                    told, sum(self._price(seen.model, each, seen.at) or 0.0 for seen, each in answered)
                )
            ):
                found.add(model)
        return found

    def _is(self, told: float, price: float | None) -> bool:
        return price is not None and abs(price - told) <= SAME_MONEY

    def _plain_name(self, model: str) -> str:
        name = self._names.get(model)
        if name is None:
            name = self._names[model] = plain_name(model)
        return name

    def _price(self, model: str, tokens: TokenCounts, at: float | None) -> float | None:
        return None if self._estimate is None else self._estimate(model, tokens, at)

    def _cost(self, seen: _Seen, counts: TokenCounts, priced: set[str]) -> tuple[float | None, bool]:
        """Return an answer's cost, and whether it is a share of several answers' cost."""
        model = self._plain_name(seen.model)
        used = self._told.get(model)
        if seen.cost is not None or used is None or seen.totals >= len(self._totals):
            return seen.cost, False
        if model in priced:
            return self._price(seen.model, counts, seen.at), False
        whole = _weight(_counts(used))
        return (used.cost_usd * _weight(counts) / whole, True) if whole > 0 else (None, False)


def advice(key: str, line: LineFields, head: MessageHead) -> list[tuple[str, str, Tokens]]:
    """Return key, model and tokens of each advisor's answer within an answer of a model."""
    told = head.usage.advice if head.usage is not None else []
    return [
        (f"{key}:advisor-{number}", one.model or line.advisor_model or head.model or "", one)
        for number, one in enumerate(told, 1)
    ]


def counts_of(tokens: Tokens | CostState) -> tuple[int, int, int, int]:
    """Return the tokens sent, written, read from the cache and written to the cache."""
    return (
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.cache_read_input_tokens,
        tokens.cache_creation_input_tokens,
    )


def dollars(cost: float | None) -> float | None:
    """Return a cost if it is a possible one; otherwise None."""
    possible = amount(cost)
    return None if possible is None else round(possible, 10)


def _counts(tokens: Tokens | CostState) -> TokenCounts:
    hour = (
        tokens.cache_creation_1h_input_tokens
        if isinstance(tokens, CostState)
        else tokens.cache_creation.ephemeral_1h_input_tokens
        if tokens.cache_creation
        else 0
    )
    return TokenCounts(
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.cache_read_input_tokens,
        tokens.cache_creation_input_tokens,
        hour,
    )


def _weight(counts: TokenCounts) -> float:
    return sum(count * weight for count, weight in zip(counts, _WEIGHTS, strict=True))


def _sum(totals: Sequence[float]) -> float:
    """Add up totals. Each total continues the one before, unless a process started again from zero."""
    whole = before = 0.0
    for now in totals:
        if now < before:
            whole += before
        before = now
    return whole + before
