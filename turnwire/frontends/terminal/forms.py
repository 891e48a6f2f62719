"""Forms of MCP servers as fields that are asked one after the other. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from turnwire.client.values import JsonValue


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form."""

    name: str
    title: str
    about: str
    kind: str
    """`string`, `number`, `integer` or `boolean`."""
    required: bool
    choices: Sequence[tuple[str, JsonValue]] = ()
    """Labels and values, where only these are allowed."""


def fields_of(schema: JsonValue) -> list[Field] | None:
    """Return the fields of a form; None if one of them is not a plain value."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return None
    required = schema.get("required")
    fields = []
    for name, about in properties.items():
        if not isinstance(about, dict):
            return None
        kind = about.get("type")
        if kind not in {"string", "number", "integer", "boolean"}:
            return None
        fields.append(
            Field(
                name,
                str(about.get("title") or name),
                str(about.get("description") or ""),
                str(kind),
                isinstance(required, list) and name in required,
                _choices(about),
            )
        )
    return fields


def value_of(field: Field, text: str) -> JsonValue:
    """Return what a text means in a field, None for a field that is left empty; raises ValueError with what to do."""
    said = text.strip()
    if not said:
        if field.required:
            raise ValueError("this field has to be filled in")
        return None
    if field.choices:
        for number, (label, value) in enumerate(field.choices, 1):
            if said in {label, str(number)}:
                return value
        raise ValueError(f"give a number from 1 to {len(field.choices)}")
    if field.kind == "integer":
        if not said.removeprefix("-").isdecimal():
            raise ValueError("give a whole number")
        return int(said)
    if field.kind == "number":
        try:
            return float(said)
        except ValueError:
            raise ValueError("give a number") from None
    return text


def _choices(about: dict[str, JsonValue]) -> list[tuple[str, JsonValue]]:
    if about.get("type") == "boolean":
        return [("yes", True), ("no", False)]
    if isinstance(values := about.get("enum"), list):
        names = about.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        return [(str(label), value) for label, value in zip(labels, values, strict=True)]
    if isinstance(one_of := about.get("oneOf"), list):
        return [
            (str(one.get("title") or one["const"]), one["const"])
            for one in one_of
            if isinstance(one, dict) and "const" in one
        ]
    return []
