"""Turn a frontend's frame into a command, or into the reply that refuses it. Also: what each role may do. Pure.

A frame is checked in steps of rising cost. The first failing step ends the check, so a thousand errors in a
frame cost as much as one. Commands that a role may not send are refused before their fields are validated.
"""

from collections.abc import Mapping

import msgspec
from pydantic import ValidationError

from turnwire.hub.wire.frames import AnyCommand, commands, fields_of_commands
from turnwire.hub.wire.frames_out import Reply, ReplyError
from turnwire.normalize.vocabulary import Role
from turnwire.protocol.json_values import text_at
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep, outermost

VIEW_COMMANDS = frozenset({
    "hello", "ping", "subscribe", "unsubscribe", "session.list", "payload.get", "events.get", "library.list",
    "library.search", "library.export", "library.usage", "port.list", "port.open", "push.key",
    "push.subscribe", "push.unsubscribe",
})  # fmt: skip
"""Commands that the role view may send. It may see the conversation, but not the workspace's other files."""

NEWCOMER_COMMANDS = frozenset({"hello"})
"""Commands that a frontend may send before it has shown a token."""


class _Head(msgspec.Struct):
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_head = msgspec.json.Decoder(_Head)
_text = msgspec.json.Decoder(str)
_known_fields: Mapping[str, frozenset[str]] = fields_of_commands()

COMMANDS: Mapping[Role | None, frozenset[str]] = {
    None: NEWCOMER_COMMANDS,
    "view": VIEW_COMMANDS,
    "control": frozenset(_known_fields),
}
"""Commands that each role may send; None before a token was shown. A role that is not here may send none."""


def parse(frame: str | bytes, role: Role | None = "control") -> AnyCommand | Reply:
    """Return the command in a frame, or the reply that says why the role may not send it or what is wrong with it.

    role: that of the connection. None: no token was shown yet, so only `hello` is allowed.
    """
    if isinstance(frame, bytes):
        return refusal(None, "bad_frame", "This is a binary frame; send JSON in text frames.")
    text = frame.encode("utf-8", "surrogatepass")
    if is_too_deep(text):
        command_id = text_at(outermost(text, ("id",)), "id") or None
        return refusal(command_id, "bad_frame", f"The frame is {TOO_DEEP}; make it flatter.")
    try:
        fields = _fields.decode(frame)
    except msgspec.ValidationError:
        return refusal(None, "bad_frame", "The frame is not a JSON object.")
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        return refusal(None, "bad_frame", f"The frame is not JSON: {_why(error)}.")
    command_id = _string(fields.get("id"))
    if (refused := _refused_by_its_head(fields, command_id, role)) is not None:
        return refused
    try:
        return commands.validate_json(frame)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        message = first["msg"].removeprefix("Invalid JSON: ")
        return refusal(command_id, "bad_frame", f"The frame is not JSON: {message}.")
    # The first part of the location is the tag of the union: the command's own name.
    field = _shown(".".join(map(str, first["loc"][1:])))
    return refusal(command_id, "invalid_params", f"`{field}`: {first['msg']}.", field)


def id_of(frame: str | bytes) -> str | None:
    """Return the id of a frame's command, if it has one, without reading anything else."""
    try:
        head = _head.decode(frame)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return None if head.id is msgspec.UNSET else _string(head.id)


def _refused_by_its_head(
    fields: Mapping[str, msgspec.Raw], command_id: str | None, role: Role | None
) -> Reply | None:
    """Return the refusal of a frame that its head alone decides."""
    if "type" not in fields:
        return refusal(command_id, "invalid_params", "The frame has no `type`: it names the command.", "type")
    kind = _string(fields["type"])
    if kind is None or kind not in _known_fields:
        return refusal(command_id, "unknown_command", "There is no command of this `type`.", "type")
    if kind not in COMMANDS.get(role, ()):
        if role is None:
            return refusal(command_id, "unauthorized", "Show a token first, by `hello`.")
        return refusal(
            command_id, "forbidden", f"The role {role} may not send {kind}; use the control token.", "type"
        )
    unknown = next((name for name in fields if name not in _known_fields[kind]), None)
    if unknown is None:
        return None
    name = _shown(unknown)
    return refusal(command_id, "invalid_params", f"`{name}`: {kind} has no such field.", name)


SHOWN = 200
"""Characters of a field's name, or of the way to it, that a refusal repeats."""


def _string(raw: msgspec.Raw | None) -> str | None:
    try:
        return None if raw is None else _text.decode(raw)
    except msgspec.DecodeError:
        return None


def _why(error: Exception) -> str:
    match error:
        case UnicodeEncodeError():
            return "it has a lone surrogate; send valid Unicode"
        case RecursionError():
            return "it is nested too deep"
        case _:
            # msgspec takes the escape of half a surrogate pair at the end of a string for a missing end
            text = str(error).removeprefix("JSON is malformed: ")
            return (
                f"{text} (a string that does not end, or a lone surrogate)" if "truncated" in text else text
            )


def _shown(name: str) -> str:
    return name if len(name) <= SHOWN else f"{name[:SHOWN]}…"


def refusal(command_id: str | None, code: str, message: str, field: str | None = None) -> Reply:
    """Return the reply that refuses a command."""
    return Reply(id=command_id, ok=False, error=ReplyError(code=code, message=message, field=field))
