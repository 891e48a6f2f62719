"""Turn the models' schemas into the published ones: for each direction, exactly what is on the wire.

Sent objects leave empty fields out, so `null` does not occur where it is the default. Tag fields
of unions are always present. Received objects may leave out, or set to null, every field with a default.
"""

import inspect
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec
from pydantic import BaseModel, TypeAdapter

from turnwire.hub.schema.field_docs import field_docs, model_docs
from turnwire.normalize.model import JsonValue, Published

Schema = dict[str, JsonValue]

IN_PLACE = "#/$defs/{model}"


def members_of(schema: Schema) -> dict[str, str]:
    """Return the members of a union: discriminating value -> name of the definition."""
    discriminator = schema["discriminator"]
    assert isinstance(discriminator, dict), "a tagged union"
    mapping = discriminator["mapping"]
    assert isinstance(mapping, dict), "a tagged union"
    return {tag: str(path).rpartition("/")[2] for tag, path in mapping.items()}


def as_sent(union: UnionType, references: str = IN_PLACE) -> Schema:
    """Return the schema of what the hub sends: a union of tagged structs."""
    (root,), definitions = all_as_sent([union], references)
    return {**root, "$defs": definitions}


def all_as_sent(types: Sequence[Any], references: str = IN_PLACE) -> tuple[list[Schema], Schema]:
    """Return the schemas of several types that the hub sends, and the definitions that they refer to."""
    template = references.replace("{model}", "{name}")
    roots, definitions = msgspec.json.schema_components(types, ref_template=template)
    models = {model.__name__: model for each in types for model in _structs(each)}
    for name, definition in definitions.items():
        texts = field_docs(models[name])
        annotations = {field.encode_name: field.type for field in msgspec.structs.fields(models[name])}
        required = definition.get("required", [])
        definition["properties"] = {
            field: _in_order(_sent_field(schema, texts.get(field), field in required), annotations.get(field))
            for field, schema in definition["properties"].items()
        }
        definition["description"] = inspect.cleandoc(definition["description"])
    return [_one_of(root) for root in roots], {
        name: _one_of_inside(each) for name, each in definitions.items()
    }


def _sent_field(schema: Schema, text: str | None, required: bool) -> Schema:
    shown = dict(schema)
    match shown.get("enum"):
        case [only]:
            shown = {"const": only, "type": "string", **{k: v for k, v in shown.items() if k != "enum"}}
        case _:
            pass
    if not required:
        shown = _never_null(shown)
    return shown if text is None else {**shown, "description": text}


def _in_order(schema: Schema, annotation: Any) -> Schema:
    """List a field's possible values as they were declared; msgspec sorts them."""
    for literal in _literals(annotation):
        if set(literal) == set(schema.get("enum", ())):
            return {**schema, "enum": list(literal)}
    return schema


def _literals(annotation: Any) -> Iterator[tuple[Any, ...]]:
    if get_origin(annotation) is Literal:
        yield get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def _one_of(schema: Schema) -> Schema:
    """Say of a tagged union that exactly one member fits."""
    if "discriminator" not in schema:
        return schema
    return {("oneOf" if key == "anyOf" else key): value for key, value in schema.items()}


def _one_of_inside(definition: Schema) -> Schema:
    fields = {name: _one_of(field) for name, field in definition["properties"].items()}
    return {**definition, "properties": fields}


def _structs(annotation: Any) -> Iterator[type[Published]]:
    """Return all structs in a type, recursively."""
    if isinstance(annotation, type) and issubclass(annotation, Published):
        yield annotation
        for field in msgspec.structs.fields(annotation):
            yield from _structs(field.type)
    else:
        for part in get_args(annotation):
            yield from _structs(part)


def as_received(adapter: TypeAdapter[Any], union: Any, references: str = IN_PLACE) -> Schema:
    """Return the schema of what the hub accepts: a union of models, with the adapter that validates it."""
    schema: Schema = adapter.json_schema(mode="validation", ref_template=references)
    definitions = schema["$defs"]
    assert isinstance(definitions, dict), "a schema's definitions"
    for model in _models(union):
        _describe(definitions[model.__name__], model_docs(model))
    for definition in _objects(schema):
        _require_tags(definition)
    return _without_generated_titles(schema)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Return all models in a type, recursively."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation)
    else:
        for part in get_args(annotation):
            yield from _models(part)


def _describe(definition: JsonValue, texts: dict[str, str]) -> None:
    assert isinstance(definition, dict), "a model's schema"
    properties = definition["properties"]
    assert isinstance(properties, dict), "a model's fields"
    for name, text in texts.items():
        field = properties[name]
        assert isinstance(field, dict), "a field's schema"
        properties[name] = dict(sorted({**field, "description": text}.items()))


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
