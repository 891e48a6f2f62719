"""The conversations of all workers as one library: which workers are asked, and how their answers become one. Pure.

Workers of one group see the same files, so a conversation may be told of by several: it is listed once, and counted once.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from turnwire.fleet.choice import listed
from turnwire.fleet.directory import KnownWorker
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire import frames
from turnwire.normalize.model import JsonObject, JsonValue

SUMS = (
    "answers",
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "estimated_usd",
)
"""What is added up of what was used; `cost_usd` may be null, and `cost_is_whole` is another matter."""


def asked(
    command: frames.LibraryCommand | frames.SessionCreate, workers: Mapping[str, KnownWorker]
) -> list[str]:
    """Return the workers that a command about conversations needs; raises CommandRefused without one."""
    if not workers:
        raise CommandRefused(
            "no_worker", "the fleet has no running worker; start one with `turnwire serve --worker NAME`"
        )
    wish = command.worker
    names = sorted(
        name for name, known in workers.items() if wish in {None, name} or wish in known.about.labels
    )
    if not names:
        raise CommandRefused(
            "no_worker",
            f"no running worker has the name or label {wish!r}; there are {listed(workers)}",
            "worker",
        )
    if not isinstance(command, frames.LibraryUsage):
        return names
    # What several can tell of would be counted several times.
    groups: dict[str, str] = {}
    for name in names:
        groups.setdefault(f"of {group}" if (group := workers[name].about.group) is not None else name, name)
    return list(groups.values())


def merged(
    command: frames.LibraryCommand, answers: Mapping[str, JsonObject], missing: Sequence[str]
) -> JsonObject:
    """Return one answer of those of workers, in the order of their names; `missing` have not answered in time."""
    match command:
        case frames.LibraryList(limit=limit):
            found = _conversations(answers, limit)
        case frames.LibrarySearch(limit=limit):
            found = {"hits": _hits(answers, limit)}
        case _:
            found = {"usage": _usage(answers)}
    is_whole = not missing and all(answer.get("complete") is True for answer in answers.values())
    return {**found, "complete": is_whole, "missing": list(missing)}


def holder(answers: Mapping[str, JsonObject]) -> str | None:
    """Return which worker's conversation it is, of the answers to a `library.list` of that one; None where nobody has it.

    One that has a session with it comes first, then one whose machine has it open.
    """
    ranked = [
        (one.get("session") is None, one.get("running") is not True, name)
        for name, answer in answers.items()
        for one in _objects(answer, "conversations")
    ]
    return min(ranked)[2] if ranked else None


def _conversations(answers: Mapping[str, JsonObject], limit: int) -> JsonObject:
    found: dict[str, JsonObject] = {}
    for name, answer in answers.items():
        for one in _objects(answer, "conversations"):
            identity = str(one.get("id"))
            known = found.get(identity)
            if known is None or (known.get("session") is None and one.get("session") is not None):
                is_open = one.get("running") is True or (known is not None and known.get("running") is True)
                found[identity] = {**one, "running": is_open, "worker": name}
            elif one.get("running") is True:
                known["running"] = True
    ordered = sorted(found.values(), key=_newness, reverse=True)
    shown = ordered[:limit]
    has_more = len(ordered) > limit or any(answer.get("next") is not None for answer in answers.values())
    rest = shown[-1].get("cursor") if shown and has_more else None
    conversations: list[JsonValue] = [*shown]
    return {"conversations": conversations, "next": rest}


def _newness(one: JsonObject) -> tuple[float, str]:
    ended, _, identity = str(one.get("cursor")).partition(":")
    try:
        return float(ended), identity
    except ValueError:
        return 0.0, identity


def _hits(answers: Mapping[str, JsonObject], limit: int) -> list[JsonValue]:
    """Return the best of each, then the second best of each, and so on: their ranks cannot be compared."""
    rows = [[{**hit, "worker": name} for hit in _objects(answer, "hits")] for name, answer in answers.items()]
    found: dict[tuple[str, ...], JsonValue] = {}
    for row in zip_longest(*rows):
        for hit in row:
            if hit is not None:
                where = tuple(str(hit.get(part)) for part in ("source", "id", "message", "seq", "kind"))
                found.setdefault(where, hit)
    return list(found.values())[:limit]


def _usage(answers: Mapping[str, JsonObject]) -> list[JsonValue]:
    found: dict[tuple[tuple[str, str], ...], JsonObject] = {}
    for answer in answers.values():
        for one in _objects(answer, "usage"):
            group = one.get("group")
            names = group if isinstance(group, dict) else {}
            key = tuple((part, "" if value is None else str(value)) for part, value in names.items())
            known = found.get(key)
            found[key] = dict(one) if known is None else _sum(known, one)
    return [found[key] for key in sorted(found)]


def _sum(one: JsonObject, other: JsonObject) -> JsonObject:
    costs = [_number(cost) for each in (one, other) if (cost := each.get("cost_usd")) is not None]
    return {
        **one,
        **{part: _number(one.get(part)) + _number(other.get(part)) for part in SUMS},
        "cost_usd": sum(costs) if costs else None,
        "cost_is_whole": one.get("cost_is_whole") is True and other.get("cost_is_whole") is True,
    }


def _number(value: JsonValue) -> int | float:
    return value if isinstance(value, int | float) else 0


def _objects(answer: JsonObject, part: str) -> Iterable[JsonObject]:
    rows = answer.get(part)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
