"""From a frontend's frame to a command or to the reply that refuses it, and what each role may do. Pure."""

import json
from collections.abc import Sequence

from pydantic import ValidationError

from hub.frames import AnyCommand, commands
from hub.frames_out import Reply, ReplyError
from hub.host import CommandRefused, Role

VIEW_COMMANDS = frozenset({"hello", "subscribe", "unsubscribe", "session.list", "payload.get"})
"""What the role view may send."""


def parse(frame: str | bytes) -> AnyCommand | Reply:
    """Return the command in a frame, or the reply that says what is wrong with it."""
    if isinstance(frame, bytes):
        return refusal(None, "bad_frame", "This is a binary frame; send JSON in text frames.")
    try:
        return commands.validate_json(frame)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    except UnicodeEncodeError:
        return refusal(None, "bad_frame", "The frame has a lone surrogate; send valid Unicode.")
    kind = first["type"]
    if kind == "json_invalid":
        return refusal(
            None, "bad_frame", f"The frame is not JSON: {first['msg'].removeprefix('Invalid JSON: ')}."
        )
    if kind == "dict_type" and not first["loc"]:
        return refusal(None, "bad_frame", "The frame is not a JSON object.")
    command_id = _id_of(frame)
    if kind == "union_tag_not_found":
        return refusal(command_id, "invalid_params", "The frame has no `type`: it names the command.", "type")
    if kind == "union_tag_invalid":
        return refusal(command_id, "unknown_command", "There is no command of this `type`.", "type")
    # The first part of the location is the tag of the union: the command's own name.
    field = _path(first["loc"][1:])
    return refusal(command_id, "invalid_params", f"`{field}`: {first['msg']}.", field)


def _path(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)


def _id_of(frame: str) -> str | None:
    content = json.loads(frame)
    command_id = content.get("id") if isinstance(content, dict) else None
    return command_id if isinstance(command_id, str) else None


def refusal(command_id: str | None, code: str, message: str, field: str | None = None) -> Reply:
    """Return the reply that refuses a command."""
    return Reply(id=command_id, ok=False, error=ReplyError(code=code, message=message, field=field))


def check_role(command: AnyCommand, role: Role) -> None:
    """Raise CommandRefused when the role may not send this command."""
    if role == "view" and command.type not in VIEW_COMMANDS:
        raise CommandRefused(
            "forbidden", f"The role view may not send {command.type}; use the control token.", "type"
        )
