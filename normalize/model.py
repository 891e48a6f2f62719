"""The base of everything that turnwire publishes.

One configuration for all published models: frozen, tolerant of fields a newer turnwire may add, and
documented by the docstring under each field, which becomes its description in the JSON Schema.
"""

from pydantic import BaseModel, ConfigDict, JsonValue

JsonObject = dict[str, JsonValue]


class Published(BaseModel):
    """A frozen model that leaves the sidecar as JSON, empty fields left out."""

    # Built on first use: a process that touches few kinds of event does not wait for the schemas of all.
    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True, defer_build=True)
