"""What an agent's own interface tells turnwire by its hooks, independent of families.

The interface runs a command for each hook. That command (turnwire/adapter/hooks/relay.py) passes the hook to the sidecar and its
answer back.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.permissions.requests import Reply, ToolRequest
from turnwire.normalize.inputs import Received
from turnwire.protocol.json_values import JsonObject


class HookCall(Struct, frozen=True):
    """What a hook of the interface says."""

    conversation: str | None = None
    """The conversation that it has open."""
    file: Path | None = None
    """Where that is kept; it may not be there yet."""
    opened: bool = False
    """Whether it says so because it has opened it."""
    is_old: bool = False
    """Whether that conversation has a past."""
    asked: Received | None = None
    """What it asks, as a line of the family's wire."""
    request: ToolRequest | None = None
    """The same, as it is decided."""
    needs: str | None = None
    """What it needs of its person, in its own words, where no hook can answer that."""


class InterfaceHooks(Struct, frozen=True):
    """How a family's interface is told to call hooks, and what they mean."""

    arguments: Callable[[Sequence[str]], Sequence[str]]
    """Return the arguments that make it run a command for its hooks."""
    read: Callable[[JsonObject, str], HookCall]
    """Read a hook's input. A request gets the name that is given."""
    answer: Callable[[ToolRequest, Reply], JsonObject]
    """Return the output of the hook that gives a reply."""
    asks: Callable[[str | None], bool]
    """Say whether a version of the interface tells what it asks."""
    waits: Callable[[Path, int], bool | None]
    """Say whether the interface of a file and a process waits for its person; None if that is not known. Blocks."""
