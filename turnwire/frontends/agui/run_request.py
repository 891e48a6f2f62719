"""What a client asks for: RunAgentInput as it came, read and bounded. Pure but for reading the body."""

import base64
import binascii
import json
from dataclasses import dataclass

from ag_ui.core import RunAgentInput, UserMessage
from ag_ui.core.types import DataSource, TextPart
from pydantic import ValidationError

from turnwire.client.commands import Attachment
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.web.bodies import BadRequest

THREAD_ID = 200
"""Characters of a threadId that names a session to be made."""

CREATE_FIELDS = frozenset({"workspace", "agent", "model", "policy", "permission_mode"})
"""What `forwardedProps.turnwire` may say of a session to be made."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """An input, and what is new in it."""

    input: RunAgentInput
    said: UserMessage | None
    """The last message, when it is the user's: what may be a prompt."""
    text: str
    attachments: tuple[Attachment, ...]

    def known_without(self, new: UserMessage | None) -> list[str]:
        """Return the ids of the messages that the client has, without the new one; instructions are its own affair."""
        others = self.input.messages if new is None else self.input.messages[:-1]
        return [each.id for each in others if each.role not in {"system", "developer", "activity"}]

    @property
    def options(self) -> JsonObject:
        """What a session to be made is to be."""
        props = self.input.forwarded_props
        given = props.get("turnwire") if isinstance(props, dict) else None
        if given is None:
            return {}
        if not isinstance(given, dict):
            raise BadRequest("forwardedProps.turnwire", "must be an object")
        for name, value in given.items():
            if name not in CREATE_FIELDS:
                raise BadRequest(
                    f"forwardedProps.turnwire.{name}",
                    f"is unknown; there are {', '.join(sorted(CREATE_FIELDS))}",
                )
            if not isinstance(value, str):
                raise BadRequest(f"forwardedProps.turnwire.{name}", "must be a string")
        return given


def read(body: bytes) -> RunRequest:
    """Read a request's body; raises BadRequest."""
    try:
        asked = RunAgentInput.model_validate_json(_without_binary(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise BadRequest(".".join(map(str, first["loc"])), first["msg"]) from None
    if not 0 < len(asked.thread_id) <= THREAD_ID or not asked.thread_id.isprintable():
        raise BadRequest("threadId", f"must be of 1 to {THREAD_ID} printable characters")
    last = asked.messages[-1] if asked.messages else None
    if not isinstance(last, UserMessage):
        return RunRequest(asked, None, "", ())
    text, attachments = _content(last, f"messages.{len(asked.messages) - 1}.content")
    return RunRequest(asked, last, text, attachments)


def _without_binary(body: bytes) -> bytes:
    """Return a body whose `binary` parts are of the types that version 1.0 has: clients before it send them, and their whole past each time."""
    if b'"binary"' not in body:
        return body
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return body  # said by who reads it
    match asked:
        case {"messages": list(messages)}:
            for message in messages:
                match message:
                    case {"content": list(parts)}:
                        parts[:] = map(_part, parts)
                    case _:
                        pass
        case _:
            pass
    return json.dumps(asked).encode()


def _part(part: JsonValue) -> JsonValue:
    match part:
        case {"type": "binary", "mimeType": str(kind)}:
            by = "data" if part.get("data") else "url"
            source = {"type": by, "value": part.get(by) or part.get("id") or "", "mimeType": kind}
            family = kind.partition("/")[0]
            known = family if family in {"image", "audio", "video"} else "document"
            return {"type": known, "source": source}
        case _:
            return part


def _content(message: UserMessage, field: str) -> tuple[str, tuple[Attachment, ...]]:
    if isinstance(message.content, str):
        return message.content, ()
    texts: list[str] = []
    attachments: list[Attachment] = []
    for number, part in enumerate(message.content):
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part.source, DataSource):
            try:
                base64.b64decode(part.source.value, validate=True)
            except (binascii.Error, ValueError):
                raise BadRequest(f"{field}.{number}.source.value", "is not base64") from None
            attachments.append(Attachment(base64=part.source.value, media_type=part.source.mime_type))
        else:
            raise BadRequest(
                f"{field}.{number}.source", "only data can be attached; send the bytes as base64"
            )
    return "\n".join(texts), tuple(attachments)
