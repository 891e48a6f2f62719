"""Building a struct from JSON that does not quite fit: one odd field costs only itself.

Walks the struct's annotations. A field that does not fit falls to its default. An element that does not fit is left
out of its list. A member of a tagged union without a model becomes the union's `Foreign` member, which keeps the raw
value.
"""

from contextlib import suppress
from functools import cache
from types import UnionType
from typing import TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

from turnwire.protocol.json_values import Foreign, Json

S = TypeVar("S", bound=Struct)

_MISSING = object()


def build(struct: type[S], value: dict[str, Json]) -> S:
    """Return the struct with every field that fits; the struct must have a default for each field. An id may be a number."""
    fields: dict[str, object] = {}
    for field in _fields(struct):
        if field.encode_name in value:
            told = value[field.encode_name]
            is_number = type(told) is int and field.type is str and field.name.endswith("_id")
            fitted = str(told) if is_number else _fit(field.type, told)
            if fitted is not _MISSING:
                fields[field.name] = fitted
    return struct(**fields)


@cache
def _fields(struct: type[Struct]) -> tuple[FieldInfo, ...]:
    return msgspec.structs.fields(struct)


def _fit(wanted: object, value: Json) -> object:
    try:
        return msgspec.convert(value, wanted)
    except (ValueError, RecursionError):
        pass
    if isinstance(value, float) and value.is_integer():  # some programs write whole numbers as 300.0
        with suppress(ValueError):
            return msgspec.convert(int(value), wanted)
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return build(wanted, value) if isinstance(value, dict) else _MISSING
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is list and isinstance(value, list):
        fitted = [_fit(arguments[0], item) for item in value]
        return [item for item in fitted if item is not _MISSING]
    if origin is dict and isinstance(value, dict):
        pairs = {key: _fit(arguments[1], item) for key, item in value.items()}
        return {key: item for key, item in pairs.items() if item is not _MISSING}
    if origin in (Union, UnionType):
        return _fit_union(arguments, value)
    return _MISSING


def _fit_union(members: tuple[object, ...], value: Json) -> object:
    structs = [member for member in members if isinstance(member, type) and issubclass(member, Struct)]
    foreign = next((struct for struct in structs if issubclass(struct, Foreign)), None)
    if isinstance(value, dict):
        for struct in structs:
            if struct is foreign:
                continue
            config = struct.__struct_config__
            if config.tag is None or value.get(config.tag_field or "") == config.tag:
                return build(struct, value)
    if foreign is not None:
        return foreign(raw=value)
    if isinstance(value, list):
        for member in members:
            if get_origin(member) is list:
                return _fit(member, value)
    return _MISSING
