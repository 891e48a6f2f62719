"""What was used, in words: of the session, and of all conversations on each of the last days. Pure."""

from collections.abc import Sequence

from turnwire.client import SessionSummary
from turnwire.client.results import UsageSum

from .conversation import Facts
from .spelling import visible_line

DAYS = 7
"""Days that are shown."""


def of_session(summary: SessionSummary | None, facts: Facts) -> list[str]:
    """Return lines about one session."""
    lines = []
    if summary is not None and summary.total_cost_usd is not None:
        lines.append(f"Cost           ${summary.total_cost_usd:.2f}")
    if (context := facts.context) is not None:
        of = f" of {context.context_window_size:,}" if context.context_window_size else ""
        lines.append(f"Context        {context.context_window_used:,}{of} tokens")
    if (turn := facts.last_turn) is not None:
        told = []
        if turn.input_tokens is not None or turn.output_tokens is not None:
            read = (turn.input_tokens or 0) + (turn.cache_read_input_tokens or 0)
            written = turn.cache_creation_input_tokens or 0
            told.append(f"{read + written:,} tokens in, {turn.output_tokens or 0:,} out")
        if turn.cost_usd is not None:
            told.append(f"${turn.cost_usd:.2f}")
        lines.append(f"The last turn  {', '.join(told) or 'tells no tokens'}")
    return lines or ["Nothing is known yet."]


def of_days(days: Sequence[UsageSum], *, complete: bool) -> list[str]:
    """Return a table of the newest days, the newest first."""
    newest = sorted(days, key=lambda one: one.group.get("day") or "", reverse=True)[:DAYS]
    lines = [f"{'Day':<12}{'Tokens in':>14}{'out':>12}{'Dollars':>12}"] if newest else ["Nothing was used."]
    for one in newest:
        read = one.input_tokens + one.cache_read_input_tokens + one.cache_creation_input_tokens
        cost = "unknown" if one.cost_usd is None else f"{one.cost_usd:.2f}{'' if one.cost_is_whole else '+'}"
        day = visible_line(one.group.get("day") or "unknown")
        lines.append(f"{day:<12}{read:>14,}{one.output_tokens:>12,}{cost:>12}")
    if any(not one.cost_is_whole for one in newest):
        lines.append("+: that much, or more; not every price is known")
    if not complete:
        lines.append("Not all conversations are read yet.")
    return lines
