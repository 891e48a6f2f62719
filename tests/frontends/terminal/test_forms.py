"""Forms of MCP servers in a terminal: what a field means, and what a form cannot be asked here."""

import pytest

from turnwire.client.values import JsonValue
from turnwire.frontends.terminal.forms import Field, fields_of, value_of

SCHEMA: JsonValue = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As in the passport"},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "colour": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f"}]},
        "age": {"type": "integer"},
        "height": {"type": "number"},
        "sure": {"type": "boolean"},
    },
    "required": ["name", "size"],
}


def field(name: str) -> Field:
    return next(one for one in fields_of(SCHEMA) or () if one.name == name)


@pytest.mark.parametrize(
    ("name", "said", "meant"),
    [
        ("name", "Ada ", "Ada "),
        ("size", "2", "l"),
        ("size", "Small", "s"),
        ("colour", "1", "#f00"),
        ("colour", "", None),
        ("age", "-3", -3),
        ("height", "1.5", 1.5),
        ("sure", "no", False),
    ],
)
def test_a_field_means_what_is_said(name: str, said: str, meant: JsonValue) -> None:
    assert value_of(field(name), said) == meant


@pytest.mark.parametrize(
    ("name", "said"), [("name", " "), ("size", "3"), ("age", "1.5"), ("height", "tall"), ("sure", "perhaps")]
)
def test_what_a_field_cannot_mean_is_refused_with_what_to_do(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"give|filled in"):
        value_of(field(name), said)


@pytest.mark.parametrize(
    "schema", [None, {}, {"properties": {"a": True}}, {"properties": {"a": {"type": "object"}}}]
)
def test_a_form_with_more_than_plain_values_is_not_asked_here(schema: JsonValue) -> None:
    assert fields_of(schema) is None
