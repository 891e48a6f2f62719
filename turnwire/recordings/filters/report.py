"""A recording's report, drawn for a terminal."""

from pathlib import Path

from msgspec.structs import asdict
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from turnwire.normalize.events import CompleteData, TokenSums
from turnwire.protocol.visible import ordered
from turnwire.recordings.filters.inspection import Report, Span, Turn
from turnwire.tracing.spans.genai_facts import provider_of


def draw(report: Report, file: Path) -> None:
    """Print the report."""
    console = Console(highlight=False, soft_wrap=True)
    cost = (
        _no_price(any(turn.result is not None and turn.result.output_tokens for turn in report.turns), ", ")
        if report.cost_usd is None or not (report.cost_usd or report.cost_is_whole)
        else f", {'' if report.cost_is_whole else 'at least '}${report.cost_usd:.4f}{' (estimated)' if report.estimated_usd else ''}"
    )
    provider = provider_of(report.agent, report.model)
    model = f"{report.model or 'unknown model'}{'' if report.agent is None or provider == 'unknown' else f' of {provider}'}"
    console.print(
        f"[bold]{_plain(str(file))}[/]: {_plain(model)}, "
        f"{_plain(report.agent or 'CLI')} {_plain(report.version or 'of unknown version')}, "
        f"{_counted(len(report.turns), 'turn')} in {report.seconds:.1f} s{cost}"
    )
    for turn in report.turns:
        console.print()
        console.print(f"[bold]{turn.operation_id}[/] ({turn.origin}): {_plain(turn.verdict)}")
        for prompt in turn.prompts:
            console.print(f"  > {_plain(_short(prompt, 100))}", style="italic")
        console.print(_table(turn))
    if report.other_usd:
        console.print()
        console.print(
            f"beside these turns: {_dollars(report.other_usd, '~$' if report.estimated_usd else '$')}"
        )
    stats = asdict(report.stats)
    console.print()
    console.print("lines: " + ", ".join(f"{count} {name}" for name, count in stats.items() if count))


def _table(turn: Turn) -> Table:
    where = turn.where
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2))
    table.add_row(
        "  time",
        f"{turn.seconds:.1f} s",
        f"model {where.model:.1f}, tools {where.tool:.1f}, human {where.human:.1f}, stalled {where.stalled:.1f}",
    )
    if turn.result is not None:
        spent = turn.result
        table.add_row(
            "  cost",
            (_dollars(turn.estimated_usd, "~$") or _no_price(_lacks_price(spent)))
            if spent.cost_usd is None
            else _dollars(spent.cost_usd, "$"),
            _figures(spent),
        )
    now = turn.ended or turn.began
    for kind, spans in (("tool", turn.tools), ("asked", turn.asked)):
        for span in spans.values():
            table.add_row(f"  {kind}", f"{span.seconds(now):.1f} s", _line(span))
    for refusal in turn.refused:
        table.add_row("  refused", "", _plain(_short(refusal, 200)))
    for error in turn.errors:
        table.add_row("  error", "", _plain(_short(error, 200)))
    return table


def _dollars(cost: float | None, sign: str) -> str:
    return "" if cost is None else f"{sign}{cost:.4f}"


def _no_price(took_tokens: bool, before: str = "") -> str:
    return f"{before}price unknown" if took_tokens else ""


def _lacks_price(spent: CompleteData) -> bool:
    return bool(spent.output_tokens) and spent.tokens_of != "lines"


def _figures(spent: CompleteData) -> str:
    """Return what a turn took, and how much of it was its own where others worked for it as well; nothing of what is unknown."""
    own = _told(spent)
    tokens = (
        own if spent.all_tokens is None else "; by itself ".join(filter(None, (_told(spent.all_tokens), own)))
    )
    rounds = None if spent.num_turns is None else _counted(spent.num_turns, "round")
    return ", ".join(filter(None, (tokens, rounds)))


def _told(spent: CompleteData | TokenSums) -> str | None:
    if spent.input_tokens is None and spent.output_tokens is None:
        return None
    return f"{spent.input_tokens or 0} tokens in{_cached(spent)}, {spent.output_tokens or 0} out"


def _cached(spent: CompleteData | TokenSums) -> str:
    cached = (spent.cache_read_input_tokens or 0) + (spent.cache_creation_input_tokens or 0)
    return f" and {cached} by the cache" if cached else ""


def _line(span: Span) -> str:
    return _plain(f"{_short(span.what, 80)} ({span.status})")


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _plain(text: str) -> str:
    """Return foreign text as plain text, without markup or control characters for the terminal."""
    return escape(ordered(text))


def _short(text: str, size: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= size else flat[: size - 1] + "…"
