"""Compare a recording with the protocol as turnwire knows it: new types and fields, and how often they occur.

A field is known if a model has it, or if it is in seen_fields.txt: fields that a real CLI has written and turnwire does not
need. `python -m pytest tests/sidecar/checks/test_drift.py --update-goldens` rewrites that file.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from turnwire.normalize.events import Unknown as UnknownEvent
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Received
from turnwire.protocol.claude.messages import Unknown
from turnwire.protocol.claude.system import UnknownSystem
from turnwire.protocol.json_values import Foreign
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.generic import load
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import timed_happenings
from turnwire.sidecar.checks.doctor.finding import Finding

SEEN = "seen_fields.txt"
SHOWN = 8
"""Names of new types and fields that one line shows."""


@dataclass(slots=True)
class Drift:
    """New types and fields in some lines."""

    lines: int = 0
    types: Counter[str] = field(default_factory=Counter)
    """Types of messages, blocks and requests without a model."""
    fields: Counter[str] = field(default_factory=Counter)
    """Fields that no model has, as dotted paths."""
    mistyped: Counter[str] = field(default_factory=Counter)
    """Fields whose values do not fit their model."""
    malformed: int = 0
    """Lines that are no message."""

    @property
    def count(self) -> int:
        """How many different things are new."""
        return len(self.types) + len(self.fields) + len(self.mistyped) + (self.malformed > 0)

    def without(self, known: frozenset[str]) -> "Drift":
        """Return the drift without types and fields that are known though no model has them."""
        types = Counter({path: count for path, count in self.types.items() if path not in known})
        fields = Counter({path: count for path, count in self.fields.items() if path not in known})
        return Drift(self.lines, types, fields, self.mistyped, self.malformed)

    def add(self, line: bytes, message: Struct) -> None:
        """Compare a line with its parsed message."""
        self.lines += 1
        if isinstance(message, Malformed):
            self.malformed += 1
            return
        value = load(line)
        if not isinstance(value, dict):
            return
        subtype = value.get("subtype")
        root = str(value.get("type", "")) + (f"/{subtype}" if isinstance(subtype, str) else "")
        if isinstance(message, Unknown | UnknownSystem):
            self.types[root] += 1
        else:
            self._object(root, value, message)

    def _object(self, path: str, value: dict[str, object], model: Struct) -> None:
        known = _fields(type(model))
        tag = model.__struct_config__.tag_field
        for key, inner in value.items():
            if key in {tag, "type"}:
                continue
            found = known.get(key)
            if found is None:
                self.fields[f"{path}.{key}"] += 1
            else:
                self._value(f"{path}.{key}", inner, getattr(model, found.name), found.type)

    def _value(self, path: str, value: object, understood: object, wanted: object) -> None:
        if isinstance(understood, Foreign):
            name = value.get("type") or value.get("subtype") if isinstance(value, dict) else None
            self.types[f"{path}[{name or 'object'}]"] += 1
        elif isinstance(understood, Struct) and isinstance(value, dict):
            tag = understood.__struct_config__.tag
            self._object(path if tag is None else f"{path}[{tag}]", value, understood)
        elif isinstance(understood, list) and isinstance(value, list) and len(understood) == len(value):
            for one, other in zip(value, understood, strict=True):
                if isinstance(other, Struct):
                    self._value(path, one, other, object)
        elif not _fits(value, wanted):
            self.mistyped[f"{path}: {type(value).__name__}"] += 1


def _fits(value: object, wanted: object) -> bool:
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        return value is None  # absent and null are the same to us
    return True


@cache
def _fields(model: type[Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {one.encode_name: one for one in msgspec.structs.fields(model)}


@cache
def seen() -> frozenset[str]:
    """Return the types and fields that real CLIs write and no model has."""
    return frozenset((files("turnwire.sidecar.checks.doctor") / SEEN).read_text().split())


def finding(recording: Path, family: str | None = None) -> Finding:
    """Report what in a recording is new to turnwire. Raises RecordingError and UnknownFamily.

    Claude's lines are compared field by field, those of other families by what their core knows.
    """
    found, core = Drift(), recorded_core(family)
    for timed, events in timed_happenings(core, read(recording, family)):
        if not isinstance(timed.input, Received):
            continue
        whose = getattr(timed.input.message, "family", None)
        if whose is None:
            found.add(timed.input.line, timed.input.message)
            continue
        found.lines += 1
        found.types.update(
            f"{whose} {event.message_type}" for event in events if isinstance(event, UnknownEvent)
        )
    new = found.without(seen())
    if new.count == 0:
        return Finding("protocol", "ok", f"all types and fields of {found.lines} lines are known")
    parts = [
        f"{kind} {_listed(counted)}"
        for kind, counted in (("types", new.types), ("fields", new.fields), ("mistyped", new.mistyped))
        if counted
    ]
    if new.malformed:
        parts.append(f"{new.malformed} malformed lines")
    return Finding(
        "protocol",
        "note",
        f"new in {found.lines} lines: {'; '.join(parts)}",
        "nothing is lost: lines of new types become `unknown` events, new fields stay in the raw line; report it",
    )


def _listed(counted: dict[str, int]) -> str:
    names = sorted(counted, key=lambda name: (-counted[name], name))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"{name} x {counted[name]}" for name in names[:SHOWN]) + more
