"""Frontends that are started by a command: turnwire's own, and those that other distributions register.

A distribution registers a `FrontendPlugin` as an entry point of the group `turnwire.frontends`; the entry point's name is the
command. Entry points are read for a command that turnwire does not have, so no other command pays for them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

GROUP = "turnwire.frontends"
"""The group of entry points."""


@dataclass(frozen=True, kw_only=True)
class FrontendPlugin:
    """One frontend."""

    summary: str
    """What it is for, in the list of commands."""
    command: Callable[..., None]
    """Runs it. Its parameters are the command's arguments and options, as Typer reads them; its docstring is the help."""
    examples: Sequence[str] = ()
    """Calls as one types them."""


class BadFrontend(Exception):
    """An entry point cannot be loaded, or is no FrontendPlugin; the message says why."""


def registered(name: str) -> FrontendPlugin | None:
    """Return the frontend of another distribution; None if none has this name. Raises BadFrontend."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - loaded for a command that turnwire does not have

    for entry in entry_points(group=GROUP, name=name):
        try:
            plugin = entry.load()
        except Exception as error:  # whatever a stranger's module raises when it is imported
            raise BadFrontend(f"the frontend {name} cannot be loaded: {error!r}") from error
        if not isinstance(plugin, FrontendPlugin):
            raise BadFrontend(f"the entry point {entry.value} of {GROUP} is not a FrontendPlugin")
        return plugin
    return None
