"""Which worker begins a session: the one that is named, or has the label, or the folder; else the one with most room. Pure."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from turnwire.fleet.directory import KnownWorker
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import SessionCreate


def candidates(command: SessionCreate, workers: Mapping[str, KnownWorker]) -> list[str]:
    """Return the workers that can begin a session, the best first; raises CommandRefused when there is none.

    One that is cordoned or drained begins none.
    """
    if not workers:
        raise CommandRefused(
            "no_worker", "the fleet has no running worker; start one with `turnwire serve --worker NAME`"
        )
    fitting = {name: known for name, known in workers.items() if known.about.takes_sessions}
    if not fitting:
        raise CommandRefused(
            "no_worker",
            f"{listed(workers)} are cordoned or drained; see `turnwire fleet`, or start another worker",
        )
    if (wish := command.worker) is not None:
        fitting = {
            name: known for name, known in fitting.items() if wish == name or wish in known.about.labels
        }
        if not fitting:
            raise CommandRefused(
                "no_worker",
                f"no running worker that takes sessions has the name or label {wish!r}; there are {listed(workers)}",
                "worker",
            )
    if (folder := command.workspace) is not None and PurePosixPath(folder).is_absolute():
        fitting = {name: known for name, known in fitting.items() if _has(known, folder)}
        if not fitting:
            raise CommandRefused(
                "no_worker",
                "no running worker may work in this workspace; see the workers' setting frontend_workspaces",
                "workspace",
            )
    if (agent := command.agent) is not None:
        fitting = {
            name: known
            for name, known in fitting.items()
            if any(choice.agent == agent for choice in known.about.agents)
        }
        if not fitting:
            raise CommandRefused("no_worker", f"no running worker has the agent {agent!r}", "agent")
    ordered = sorted(fitting, key=lambda name: (-fitting[name].room, name))
    with_room = [name for name in ordered if fitting[name].room > 0]
    if not with_room:
        raise CommandRefused(
            "limit_sessions",
            f"{listed(ordered)} cannot start another session; close some, or raise max_sessions and max_processes of these workers",
        )
    return with_room


def _has(known: KnownWorker, folder: str) -> bool:
    path = PurePosixPath(folder)
    return ".." in path.parts or any(path.is_relative_to(root) for root in known.about.workspaces)


def listed(names: Iterable[str]) -> str:
    """Return some names for a sentence."""
    found = sorted(names)
    return ", ".join(found[:10]) + (f" and {len(found) - 10} more" if len(found) > 10 else "")
