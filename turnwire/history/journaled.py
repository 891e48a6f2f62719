"""What a conversation has cost that only turnwire's own journal knows: the turns' sums minus the answers of the agent's file.

Claude Code before 2.1.330 writes no total into its file, and a compaction or a title is no answer of it. The journal has
what each turn took by the CLI's own totals. A process's life is compared as a whole: what it took in one turn it may have
counted in the next.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from turnwire.normalize.recordings.session_files import Answer, TokenCounts
from turnwire.protocol.quantities import SAME_MONEY


class JournaledTurn(NamedTuple):
    """What one turn took, by the journal."""

    began: float
    """When its process began, or when the turn before it ended: seconds since 1970."""
    at: float
    """When it ended."""
    cost_usd: float
    tokens: tuple[int, ...]
    """Sent, written, read from the cache, written to the cache."""


class Unfiled(NamedTuple):
    """What is in the journal and not in the file."""

    at: float
    """When the last turn ended: seconds since 1970."""
    cost_usd: float
    tokens: tuple[int, int, int, int]
    """Sent, written, read from the cache, written to the cache."""


def unfiled(
    turns: Sequence[JournaledTurn],
    answers: Iterable[Answer],
    other_usd: float,
    estimate: Callable[[str, TokenCounts, float | None], float | None],
) -> Unfiled | None:
    """Return the usage of the turns beyond the answers of the same time; None if there is none.

    `other_usd`: dollars beside its answers that the file itself tells.
    """
    left = [sum(kinds) for kinds in zip(*(turn.tokens for turn in turns), strict=True)]
    cost = sum(turn.cost_usd for turn in turns) - other_usd
    for answer in answers:
        at = answer.at
        if answer.is_copy or at is None or not any(turn.began <= at <= turn.at for turn in turns):
            continue
        left = [rest - took for rest, took in zip(left, answer[3:7], strict=True)]
        known = answer.cost_usd
        if known is None:
            tokens = TokenCounts(*answer[3:7], answer.cache_creation_1h_input_tokens)
            known = estimate(answer.model, tokens, at)
        cost -= known or 0.0
    sent, written, read, created = (max(rest, 0) for rest in left)
    cost = round(cost, 10) if cost > SAME_MONEY else 0.0
    if not (cost or sent or written or read or created):
        return None
    return Unfiled(max(turn.at for turn in turns), cost, (sent, written, read, created))
