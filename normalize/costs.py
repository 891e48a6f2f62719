"""What a turn cost. The CLI's total is cumulative for its process, so a turn's share is the difference.

Three things break the difference: a new process counts from zero, /clear does too (2.1.330), and a resumed session
may begin with the cost of its past. 2.1.330 tells the share itself; where a past cannot be told apart, the share is
unknown rather than wrong.
"""

from typing import NamedTuple

from protocol.results import ModelUsage, Result


class Bill(NamedTuple):
    """Money and tokens of a turn, and of the process up to now."""

    cost_usd: float | None
    total_cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    total_input_tokens: int | None
    total_output_tokens: int | None


class Costs:
    """Keeps the totals of the last result of one process."""

    def __init__(self, *, resumed: bool) -> None:
        """`resumed`: the process goes on with a session that has a past."""
        self._past_unknown = resumed
        self._cost = 0.0
        self._input = 0
        self._output = 0

    def bill(self, result: Result) -> Bill:
        """Return the share of the turn that this result ends."""
        cost, total = self._money(result)
        input_tokens, output_tokens = self._tokens(result)
        total_input, total_output = _totals(result)
        self._past_unknown = False
        return Bill(cost, total, input_tokens, output_tokens, total_input, total_output)

    def _money(self, result: Result) -> tuple[float | None, float | None]:
        if result.total_cost_usd is None:
            if result.cost_usd is None:
                return None, None
            # Spec 3's agents tell the cost of the turn alone.
            self._cost += result.cost_usd
            return float(result.cost_usd), _rounded(self._cost)
        before, self._cost = self._cost, float(result.total_cost_usd)
        since = result.model_usage_since_last_result
        if since:
            return _rounded(sum(usage.cost_usd for usage in since.values())), self._cost
        if self._past_unknown and _has_past(result):
            return None, self._cost
        return _rounded(self._cost - before if self._cost >= before else self._cost), self._cost

    def _tokens(self, result: Result) -> tuple[int | None, int | None]:
        if result.usage is not None:
            return result.usage.input_tokens, result.usage.output_tokens
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


def _has_past(result: Result) -> bool:
    """Whether the process's tokens are more than the turn's: it counts a past (or subagents; nobody can tell)."""
    usage = result.usage
    if usage is None:
        return False
    return sum(_tokens_of(model) for model in result.model_usage_camel.values()) > usage.context_tokens


def _tokens_of(model: ModelUsage) -> int:
    return (
        model.input_tokens
        + model.output_tokens
        + model.cache_read_input_tokens
        + model.cache_creation_input_tokens
    )


def _rounded(dollars: float) -> float:
    """Without the noise of a difference of floats."""
    return round(dollars, 10)
