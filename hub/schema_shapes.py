"""How the models' schemas become the ones we publish: for either direction, what really is on the wire.

What we send leaves empty fields out, so `null` does not occur where it is the default; and the fields that tell
the members of a union apart are always there. What we are sent may leave out, or set to null, all that has a default.
"""

from typing import Any

from pydantic import JsonValue, TypeAdapter

Schema = dict[str, JsonValue]

IN_PLACE = "#/$defs/{model}"


def as_sent(adapter: TypeAdapter[Any], references: str = IN_PLACE) -> Schema:
    """Return the schema of what we send."""
    schema: Schema = adapter.json_schema(mode="serialization", ref_template=references)
    for definition in _objects(schema):
        properties = definition["properties"]
        assert isinstance(properties, dict), "a schema's properties"
        definition["properties"] = {name: _never_null(field) for name, field in properties.items()}
        _require_tags(definition)
    return _without_generated_titles(schema)


def as_received(adapter: TypeAdapter[Any], references: str = IN_PLACE) -> Schema:
    """Return the schema of what we accept."""
    schema: Schema = adapter.json_schema(mode="validation", ref_template=references)
    for definition in _objects(schema):
        _require_tags(definition)
    return _without_generated_titles(schema)


def _objects(schema: Schema) -> list[dict[str, JsonValue]]:
    definitions = schema.get("$defs", {})
    assert isinstance(definitions, dict), "a schema's definitions"
    return [
        definition
        for definition in definitions.values()
        if isinstance(definition, dict) and "properties" in definition
    ]


def _require_tags(definition: dict[str, JsonValue]) -> None:
    properties, required = definition["properties"], definition.get("required", [])
    assert isinstance(properties, dict), "a schema's properties"
    assert isinstance(required, list), "a schema's required fields"
    tags = [name for name, field in properties.items() if isinstance(field, dict) and "const" in field]
    definition["required"] = [*(tag for tag in tags if tag not in required), *required]


def _never_null(field: JsonValue) -> JsonValue:
    if not isinstance(field, dict) or field.get("default", "") is not None:
        return field
    kept = {name: value for name, value in field.items() if name not in {"anyOf", "default"}}
    choices = field.get("anyOf")
    if not isinstance(choices, list):
        return kept
    others = [choice for choice in choices if choice != {"type": "null"}]
    if len(others) == 1 and isinstance(others[0], dict):
        return {**others[0], **kept}
    return {"anyOf": others, **kept}


def _without_generated_titles(schema: Schema) -> Schema:
    """Drop the titles of fields, which only repeat their names."""
    for definition in _objects(schema):
        properties = definition["properties"]
        assert isinstance(properties, dict), "a schema's properties"
        for field in properties.values():
            if isinstance(field, dict):
                field.pop("title", None)
    return schema
