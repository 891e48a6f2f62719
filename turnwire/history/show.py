"""What the library has found, for a terminal and as JSON."""

import sys
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, time, timedelta

from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnwire.history.history import moment, shown_title
from turnwire.history.index import ListedConversation, SearchHit
from turnwire.hub.wire.results import UsageSum
from turnwire.normalize.model import JsonObject
from turnwire.protocol.visible import ordered, visible

WIDE = 240
"""Columns of a table that goes to no terminal."""

BEGIN, END = "\x02", "\x03"
"""Around the words that were found, in a snippet."""


def conversation(one: ListedConversation, running: Collection[str] = ()) -> JsonObject:
    """Return a conversation as frontends get it; times as RFC 3339."""
    return {
        "id": one.id,
        "agent": one.agent,
        "folder": one.folder,
        "title": shown_title(one),
        "named": one.title is not None,
        "first_prompt": one.first_prompt,
        "began": moment(one.began),
        "ended": moment(one.ended),
        "turns": one.turns,
        "cost_usd": one.cost_usd,
        "estimated_usd": one.estimated_usd,
        "cost_is_whole": one.cost_is_whole,
        "git_branch": one.git_branch,
        "model": one.model,
        "version": one.version,
        "bytes": one.size,
        "branches": one.branches,
        "running": one.id in running,
    }


def hit(one: SearchHit) -> JsonObject:
    """Return a hit as frontends get it: the snippet in parts, those with the words marked."""
    source, _, rest = one.id.partition(":")
    live = source == "live"
    return {
        "source": "live" if live else "library",
        "id": rest if live else one.id,
        "message": one.message or None,
        "seq": one.seq,
        "kind": one.kind,
        "title": one.title,
        "folder": one.folder,
        "at": moment(one.at),
        "snippet": [{"text": text, "hit": found} for text, found in _parts(one.snippet)],
    }


def _parts(snippet: str) -> list[tuple[str, bool]]:
    parts: list[tuple[str, bool]] = []
    for number, piece in enumerate(snippet.split(BEGIN)):
        marked, end, rest = piece.partition(END) if number else ("", "", piece)
        if not end:
            marked, rest = "", marked + rest
        parts += [(text, found) for text, found in ((marked, True), (rest.replace(END, ""), False)) if text]
    return parts


def time_of(day: str | None, later: int) -> float | None:
    """Return when a day begins here, or the one so many days later; None for what is no day."""
    try:
        begun = date.fromisoformat(day or "") + timedelta(days=later)
        return datetime.combine(begun, time()).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        return None


UNKNOWN = "unknown"
"""What stands for a cost that neither the agent tells nor a price gives."""


def _console() -> Console:
    """Return where tables go: as wide as the terminal, or as wide as they are where there is none."""
    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDE)


def _plain(text: str | None, size: int) -> Text:
    """Return foreign text as one line without control characters for the terminal."""
    flat = visible(" ".join((text or "").split()))
    return Text(ordered(flat if len(flat) <= size else f"{flat[: size - 1]}…"))


def _dollars(one: ListedConversation | UsageSum) -> str:
    """Write a cost; `~` before what is estimated, `>` before what is not all of it."""
    if not one.cost_usd and not one.cost_is_whole:
        return UNKNOWN
    if one.cost_usd is None:
        return ""
    return f"{'' if one.cost_is_whole else '>'}{'~' if one.estimated_usd else ''}${one.cost_usd:.4f}"


def _explain(found: Sequence[ListedConversation] | Sequence[UsageSum], console: Console) -> None:
    if any(one.estimated_usd for one in found):
        console.print("~ estimated by the prices of models, where the agent tells no cost", style="dim")
    if any(one.cost_usd and not one.cost_is_whole for one in found):
        console.print("> that much, or more: not every price is known", style="dim")
    if any(not one.cost_usd and not one.cost_is_whole for one in found):
        console.print(
            f"{UNKNOWN}: the price of the model is unknown; the setting `prices` can name it", style="dim"
        )


def short_ids(identities: Iterable[str]) -> dict[str, str]:
    """Return how ids begin, enough to name each one among these: behind what all ids of an agent begin with.

    Ids that begin with a time, as those of Codex, need more characters than random ones.
    """
    found, before = dict[str, str](), ""
    after = sorted(set(identities))
    for identity, following in zip(after, [*after[1:], ""], strict=False):
        agent, line, _ = identity.partition("_")
        least = len(agent) + 9 if line and agent.isalpha() else 8
        while least < len(identity) and (
            before.startswith(identity[:least]) or following.startswith(identity[:least])
        ):
            least += 1
        found[identity] = identity[:least]
        before = identity
    return found


def table(
    found: Sequence[ListedConversation], running: Collection[str], count: int, *, whole: bool = True
) -> None:
    """Print a list of conversations, of `count` in all; `whole`: there are no others that nobody has looked at."""
    if not found:
        print("no conversations found")  # noqa: T201 - the command's output
        return
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    console = _console()
    # what is left beside the columns of a fixed size: of a narrow terminal all for the title
    room = max(console.width - 64, 10)
    wide = room >= 40
    for name in ("id", "ended", "agent", "turns", "cost", "title", *(("folder", "model") if wide else ())):
        rows.add_column(name, no_wrap=True)
    named = short_ids(one.id for one in found)
    for one in found:
        ended = "running" if one.id in running else (moment(one.ended) or "")[:16].replace("T", " ")
        rows.add_row(
            _plain(named[one.id], 40),
            ended,
            _plain(one.agent, 8),
            "" if one.turns is None else str(one.turns),
            _dollars(one),
            _plain(shown_title(one), min(room // 2, 80) if wide else room),
            *(
                (_plain(one.folder, min(room * 3 // 10, 60)), _plain(one.model, min(room // 5, 30)))
                if wide
                else ()
            ),
        )
    console.print(rows)
    _explain(found, console)
    if count > len(found):
        more = "" if whole else " or more"
        console.print(f"{len(found)} of {count}{more}; --limit shows them", style="dim")


def hits(found: Sequence[SearchHit]) -> None:
    """Print hits."""
    console = _console()
    if not found:
        console.print("nothing found")
    named = short_ids(one.id.removeprefix("live:") for one in found)
    for one in found:
        head = _plain(named[one.id.removeprefix("live:")], 40)
        head.stylize("bold")
        head.append(f"  {(moment(one.at) or '')[:10]}  {one.kind}  ")
        head.append_text(_plain(one.title, 60))
        console.print(head)
        line = Text("  ")
        for text, marked in _parts(one.snippet):
            piece = _plain(f"{text}", 500)
            if text[:1].isspace():
                line.append(" ")
            line.append(piece.plain, style="bold" if marked else "")
            if text[-1:].isspace():
                line.append(" ")
        console.print(line)


def spending(found: Sequence[UsageSum], by: Sequence[str]) -> None:
    """Print what was used."""
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    console = _console()
    room = min(max((console.width - 70) // max(len(by), 1), 10), 60)
    for name in by:
        rows.add_column(name, no_wrap=True)
    for name in ("answers", "in", "out", "cache read", "cache written", "cost"):
        rows.add_column(name, no_wrap=True, justify="right", min_width=len(name))
    for one in found:
        rows.add_row(
            *(_plain(one.group[name], room) for name in by),
            str(one.answers),
            str(one.input_tokens),
            str(one.output_tokens),
            str(one.cache_read_input_tokens),
            str(one.cache_creation_input_tokens),
            _dollars(one),
        )
    console.print(rows)
    _explain(found, console)
