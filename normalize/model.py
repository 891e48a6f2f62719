"""The base of everything that turnwire publishes.

Frozen msgspec structs: building one and writing it as JSON costs a tenth of what a validating model costs. They
are built from values that were validated at the edge. The docstring under each field becomes its description in the JSON
Schema (turnwire/hub/schema/field_docs.py). A field that holds its default, which is None, is left out of the JSON.
"""

from msgspec import Struct

from turnwire.protocol.json_values import Json as JsonValue
from turnwire.protocol.json_values import JsonObject

__all__ = ["JsonObject", "JsonValue", "Published"]


class Published(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A value that leaves the sidecar as JSON, empty fields left out."""
