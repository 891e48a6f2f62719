"""Families whose wire is plain JSON objects. Each consists of a reader and the shapes of its lines."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from turnwire.normalize.core import Core
from turnwire.normalize.family import Family
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.json_wire import JsonWire

if TYPE_CHECKING:
    from turnwire.normalize.model_calls import ModelCallReaders


def stream_family(
    *,
    name: str,
    title: str,
    reader: str,
    claims: Callable[[JsonObject], bool],
    load: Callable[[bytes], Json] | None = None,
    agents: str | None = None,
) -> Family:
    """Return a family.

    Args:
        name: what `--family` takes.
        title: the agent, and how it is called to write this wire.
        reader: where the class of its readers is, as `package.module:NAME`; imported when there is a line of it.
        claims: tells the lines that only this family writes; `any_of(LineShape(…), …)` makes one.
        load: parses a line where the wire needs a parser of its own.
        agents: where the `AgentFamily` is that runs its agents, if any.
    """

    def core(*, resumed: bool = False, first_turn: int = 1) -> Core:
        from turnwire.normalize.streams.core import StreamCore  # noqa: PLC0415 - few recordings are of this family

        module, _, attribute = reader.partition(":")
        return StreamCore(getattr(import_module(module), attribute), resumed=resumed, first_turn=first_turn)

    return Family(
        name=name,
        title=title,
        core=core,
        wire=lambda: JsonWire(name, load),
        claims=claims,
        model_calls=_model_calls,
        agents=agents,
    )


def _model_calls() -> "ModelCallReaders":
    from turnwire.normalize.streams.model_calls import MODEL_CALLS  # noqa: PLC0415 - for spans alone

    return MODEL_CALLS
