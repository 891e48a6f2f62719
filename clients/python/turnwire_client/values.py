"""What all values of the protocol have in common: they are frozen, and what is empty is left out of their JSON."""

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

JsonValue: TypeAlias = Any
"""Any value of JSON. `Any`, since a recursive alias can neither be decoded by msgspec nor indexed without casts."""

JsonObject: TypeAlias = dict[str, JsonValue]
"""An object of JSON."""


class AnyWord:
    """Stands for Literal in what is received: a newer hub may have more words than this version lists."""

    def __class_getitem__(cls, _: object) -> type[str]:
        """Return what is read: any string."""
        return str


class Value(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A value of the protocol."""


class Event(Value, frozen=True, kw_only=True, tag_field="type"):
    """A fact about a session."""

    @property
    def type(self) -> str:
        """Which event this is: the `type` of its JSON."""
        return str(self.__struct_config__.tag)


class Payload(Value, frozen=True, kw_only=True, omit_defaults=False, tag_field="kind"):
    """What a tool call does; its one populated field is named as the kind."""

    @property
    def kind(self) -> str:
        """Names the populated field: the `kind` of its JSON."""
        return str(self.__struct_config__.tag)


class Frame(Value, frozen=True, kw_only=True, tag_field="type"):
    """Something the hub says."""

    @property
    def type(self) -> str:
        """Which frame this is: the `type` of its JSON."""
        return str(self.__struct_config__.tag)


Result_co = TypeVar("Result_co", covariant=True)


class Command(Value, Generic[Result_co], frozen=True, kw_only=True, tag_field="type"):
    """Something a frontend asks for, and the type of its reply's result."""

    @property
    def type(self) -> str:
        """Which command this is: the `type` of its JSON."""
        return str(self.__struct_config__.tag)
