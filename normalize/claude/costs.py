"""What a turn cost. The CLI's total is cumulative for its process, so a turn's cost is the difference of two totals.

The difference is wrong in four cases. A new process counts from zero. So does /clear (2.1.220, not 2.1.160). Another
session in the same stream may belong to another process. From 2.1.277 on, a resumed process starts with the cost of its
conversation, unless the process before it was killed. From 2.1.318 on at the latest, a result contains the turn's cost itself.
Where the past cannot be subtracted, the cost is unknown rather than wrong. Qwen Code reports no money, and its tokens
count the whole session.

A turn without a result has the tokens of its lines. What it cost is unknown.
"""

from typing import NamedTuple

from msgspec import Struct

from turnwire.normalize.claude.turns.uuids import numbers
from turnwire.normalize.events.conversation_events import TokenSums
from turnwire.protocol.claude.blocks import Usage
from turnwire.protocol.claude.results import ModelUsage, Result
from turnwire.protocol.quantities import SAME_MONEY, amount

COUNTS_ON_SINCE = (2, 1, 277)
"""The first version whose resumed processes may start with the cost of the conversation so far."""


class CostReport(Struct, frozen=True, gc=False):
    """Money and tokens of a turn, and of the process up to now."""

    cost_usd: float | None
    total_cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_input_tokens: int | None
    cache_creation_input_tokens: int | None
    total_input_tokens: int | None
    total_output_tokens: int | None
    all_tokens: TokenSums | None
    """Tokens of everything that the cost covers, if that is more than the turn."""


_Kinds = tuple[int, int, int, int]
"""Tokens sent, written, read from the cache and written to it."""

_Told = tuple[int | None, int | None, int | None, int | None]
_NONE: _Kinds = (0, 0, 0, 0)


class _Past(NamedTuple):
    """What earlier processes had counted, as far as this core has seen."""

    cost: float
    usage: dict[str, ModelUsage]

    def is_in(self, result: Result) -> bool:
        """Whether the result's models have used all of the past, and the turn on top of it."""
        used = result.model_usage_camel
        known = all(name in used and _at_least(used[name], past) for name, past in self.usage.items())
        turn = result.usage.context_tokens if result.usage is not None else 0
        return known and _sum(used) - _sum(self.usage) >= turn


class Costs:
    """Keeps the totals of one process's last result, and of the processes before it."""

    def __init__(self, *, resumed: bool) -> None:
        """`resumed`: the process continues a session with a past."""
        self._version: tuple[int, ...] | None = None
        self._past = _Past(0.0, {}) if resumed else None
        """Set until a resumed process's first result shows whether its total includes the past."""
        self._before: _Past | None = None
        """Totals of the stream's previous session, until this session's first result."""
        self._cost = 0.0
        self._usage: dict[str, ModelUsage] = {}
        self._input = 0
        self._output = 0
        self._session = None if resumed else Usage()
        """The last counts of a CLI that counts the session across all processes; None if unknown."""
        self._lines: list[tuple[str, Usage, bool]] = []
        """What the turn's lines tell: the message, its tokens, and whether the main thread wrote it. Few turns need it."""
        self._unbilled = _NONE
        """Tokens of turns without a result since the last result: the process's next totals may have them."""

    def line(self, message: str, usage: Usage | None, *, of_main: bool) -> None:
        """Note the tokens in a line of a message. Lines of one message repeat them, and later ones tell more."""
        if usage is not None:
            self._lines.append((message, usage, of_main))

    def version(self, version: str | None) -> None:
        """Note the CLI's version; None in an `init` means 1.0, which does not say."""
        self._version = numbers(version or "1.0")

    def resumes(self) -> None:
        """Another process continues the conversation."""
        if self._past is None:
            self._past = _Past(self._cost, self._usage)
        self._cost, self._usage, self._input, self._output = 0.0, {}, 0, 0
        self._unbilled = _NONE

    def moves(self) -> None:
        """Switch to another session, of the same process (/clear) or of another one in the same stream."""
        self._before = _Past(self._cost, self._usage)

    def bill(self, result: Result) -> CostReport:
        """Return the share of the turn that this result ends."""
        grown = self._growth(result)
        if grown is not None and self._unbilled != _NONE:
            grown = _without(grown, self._unbilled)
        self._unbilled = _NONE
        cost, total = self._money(result)
        usage = self._share(result.usage)
        input_tokens, output_tokens = (
            self._tokens(result) if usage is None else (usage.input_tokens, usage.output_tokens)
        )
        self._lines.clear()
        return CostReport(
            cost,
            total,
            input_tokens,
            output_tokens,
            None if usage is None else usage.cache_read_input_tokens,
            None if usage is None else usage.cache_creation_input_tokens,
            *_totals(result),
            None if grown is None or grown == _own(usage) else _sums(grown),
        )

    def bill_lines(self) -> CostReport:
        """Return what the lines tell of a turn that ends without a result."""
        messages: dict[str, tuple[bool, _Kinds]] = {}
        for message, usage, of_main in self._lines:
            if (kinds := _own(usage)) != _NONE:
                before = messages.get(message, (of_main, _NONE))[1]
                messages[message] = of_main, _most(before, kinds)
        self._lines.clear()
        main = everything = _NONE
        for of_main, kinds in messages.values():
            everything = _both(everything, kinds)
            main = _both(main, kinds) if of_main else main
        self._unbilled = _both(self._unbilled, everything)
        return _by_lines(main, everything)

    def _growth(self, result: Result) -> _Kinds | None:
        """Return how many tokens the models' totals grew in this turn; None if unknown."""
        since, used, before = result.model_usage_since_last_result, result.model_usage_camel, self._usage
        if since is not None:
            return _added(since)
        if not used:
            return None
        if self._past is not None:
            past = self._past
            if not self._counts_past(result):
                return _added(used)
            if not (past.usage and past.is_in(result)):
                return None
            before = past.usage
        if all(name in used and _at_least(used[name], then) for name, then in before.items()):
            sent, written, read, kept = _added(used)
            less = _added(before)
            return sent - less[0], written - less[1], read - less[2], kept - less[3]
        return _added(used)

    def _money(self, result: Result) -> tuple[float | None, float | None]:
        total, before = amount(result.total_cost_usd), self._cost
        if total is None:
            cost = amount(result.cost_usd)
            if cost is None:
                return None, None
            # Kandev's agents tell the cost of the turn alone.
            self._cost += cost
            return cost, _rounded(self._cost)
        # 2.0.14 names no models in the result of a compaction, though its total has it
        self._cost, self._usage = total, result.model_usage_camel or (self._usage if total else {})
        since = result.model_usage_since_last_result
        if not total and since is None and not self._usage:
            return (
                0.0,
                total,
            )  # nothing was asked of the API: a resume that failed, a /clear; the past is still to come
        past, self._past = self._past, None
        other, self._before = self._before, None
        if since is not None:
            spent = 0.0
            for usage in since.values():
                spent += amount(usage.cost_usd) or 0.0
            return _rounded(spent), total
        if past is not None:
            return self._first(past, result, total), total
        if other is not None and not (other.usage and other.is_in(result)):
            return _rounded(total), total
        more = _rounded(total - before)
        return _rounded(total) if more < -SAME_MONEY else max(more, 0.0), total

    def _first(self, past: _Past, result: Result, total: float) -> float | None:
        """The share of the first result of a resumed process, which may count the past."""
        if not self._counts_past(result):
            return total
        more = _rounded(total - past.cost)
        return max(more, 0.0) if past.usage and past.is_in(result) and more >= -SAME_MONEY else None

    def _counts_past(self, result: Result) -> bool:
        """Return whether a resumed process's first result may include earlier costs."""
        is_older = self._version is not None and self._version < COUNTS_ON_SINCE
        return not is_older and _is_more_than_its_turn(result)

    def _share(self, usage: Usage | None) -> Usage | None:
        """Return the turn's tokens. Qwen Code counts the session, so the previous count is subtracted; None if that is unknown."""
        if usage is None or usage.total_tokens is None:
            return usage
        before, self._session = self._session, usage
        if before is None:
            return None
        share = Usage(
            input_tokens=usage.input_tokens - before.input_tokens,
            output_tokens=usage.output_tokens - before.output_tokens,
            cache_read_input_tokens=usage.cache_read_input_tokens - before.cache_read_input_tokens,
        )
        return (
            usage
            if min(share.input_tokens, share.output_tokens, share.cache_read_input_tokens) < 0
            else share
        )

    def _tokens(self, result: Result) -> tuple[int | None, int | None]:
        if result.total_input_tokens is None and result.total_output_tokens is None:
            return None, None
        total_input, total_output = result.total_input_tokens or 0, result.total_output_tokens or 0
        share = max(total_input - self._input, 0), max(total_output - self._output, 0)
        self._input, self._output = total_input, total_output
        return share


def _totals(result: Result) -> tuple[int | None, int | None]:
    if not result.model_usage_camel:
        return result.total_input_tokens, result.total_output_tokens
    sent = received = 0
    for model in result.model_usage_camel.values():
        sent += model.input_tokens
        received += model.output_tokens
    return sent, received


def _is_more_than_its_turn(result: Result) -> bool:
    """Whether the process's tokens are more than the turn's: it counts a past, or subagents and helper models."""
    usage = result.usage
    return usage is not None and _sum(result.model_usage_camel) > usage.context_tokens


def _sum(used: dict[str, ModelUsage]) -> int:
    return sum(sum(_kinds(model)) for model in used.values())


def _at_least(model: ModelUsage, past: ModelUsage) -> bool:
    return all(now >= then for now, then in zip(_kinds(model), _kinds(past), strict=True))


def _kinds(model: ModelUsage) -> _Kinds:
    return (
        model.input_tokens,
        model.output_tokens,
        model.cache_read_input_tokens,
        model.cache_creation_input_tokens,
    )


def _added(used: dict[str, ModelUsage]) -> _Kinds:
    sent = written = read = kept = 0
    for model in used.values():
        kinds = _kinds(model)
        sent, written, read, kept = sent + kinds[0], written + kinds[1], read + kinds[2], kept + kinds[3]
    return sent, written, read, kept


def _own(usage: Usage | None) -> _Kinds:
    """Return the tokens of the turn itself."""
    if usage is None:
        return 0, 0, 0, 0
    return (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
    )


def _by_lines(main: _Kinds, everything: _Kinds) -> CostReport:
    """Return the tokens of lines; None where the lines have none."""
    own: _Told = (None, None, None, None) if main == _NONE else main
    others = None if everything == main else _sums(everything)
    return CostReport(None, None, *own, None, None, others)


def _both(one: _Kinds, other: _Kinds) -> _Kinds:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


def _most(one: _Kinds, other: _Kinds) -> _Kinds:
    return max(one[0], other[0]), max(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _without(kinds: _Kinds, part: _Kinds) -> _Kinds:
    """Return a count without a part of it; the count itself if it does not contain the part."""
    rest = kinds[0] - part[0], kinds[1] - part[1], kinds[2] - part[2], kinds[3] - part[3]
    return kinds if min(rest) < 0 else rest


def _sums(kinds: _Kinds) -> TokenSums:
    return TokenSums(
        input_tokens=kinds[0],
        output_tokens=kinds[1],
        cache_read_input_tokens=kinds[2],
        cache_creation_input_tokens=kinds[3],
    )


def _rounded(dollars: float) -> float:
    """Without the noise of a difference of floats."""
    return round(dollars, 10)
