"""What `useChat` sends: the conversation as UI messages. Of it the last message counts. Pure."""

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated

import msgspec

from turnwire.client.commands import Attachment
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.web.bodies import BadRequest

CHAT_ID = 200
"""Characters of a chat's id, which is the session's."""


class _Message(msgspec.Struct):
    id: str
    role: str
    parts: list[JsonObject] = []
    metadata: JsonValue = None


class _Body(msgspec.Struct):
    messages: Annotated[list[_Message], msgspec.Meta(min_length=1)]
    id: str | None = None
    trigger: str = "submit-message"


@dataclass(frozen=True, slots=True)
class Approval:
    """An answer to a permission request."""

    id: str
    approved: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is new in a request: a prompt, or answers."""

    chat: str | None
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    message: str = ""
    """Id of the assistant's message that goes on."""
    approvals: tuple[Approval, ...] = ()
    calls: frozenset[str] = frozenset()
    """Calls that the client's message has."""
    asked_calls: frozenset[str] = frozenset()
    """Those of them that have an approval."""
    seq: int | None = None
    """Where in the log the client's message ends, as its metadata says."""
    epoch: str = ""


def read(body: bytes) -> ChatRequest:
    """Read a request's body; raises BadRequest."""
    try:
        asked = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadRequest("", str(error)) from None
    if asked.id is not None and not (0 < len(asked.id) <= CHAT_ID and asked.id.isprintable()):
        raise BadRequest("id", f"must be of 1 to {CHAT_ID} printable characters")
    last, field = asked.messages[-1], f"messages.{len(asked.messages) - 1}"
    if asked.trigger == "regenerate-message":
        raise BadRequest("trigger", "an answer is not made anew; send the prompt again")
    if last.role == "user":
        text, attachments = _prompt(last, f"{field}.parts")
        return ChatRequest(asked.id, text, attachments)
    if last.role != "assistant":
        raise BadRequest(f"{field}.role", "must be user or assistant")
    approvals = tuple(_approvals(last))
    if not approvals:
        raise BadRequest(field, "is neither a prompt nor has answers to permission requests")
    calls = frozenset(call for part in last.parts if isinstance(call := part.get("toolCallId"), str))
    asked_calls = frozenset(
        call for part in last.parts if "approval" in part and isinstance(call := part.get("toolCallId"), str)
    )
    seq, epoch = _place(last.metadata)
    return ChatRequest(
        asked.id,
        message=last.id,
        approvals=approvals,
        calls=calls,
        asked_calls=asked_calls,
        seq=seq,
        epoch=epoch,
    )


def _prompt(message: _Message, field: str) -> tuple[str, tuple[Attachment, ...]]:
    texts: list[str] = []
    attachments: list[Attachment] = []
    for number, part in enumerate(message.parts):
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "file", "url": str(url), "mediaType": str(kind)}:
                head, _, data = url.partition(";base64,")
                try:
                    base64.b64decode(data, validate=True)
                except (binascii.Error, ValueError):
                    data = ""
                if not head.startswith("data:") or not data:
                    raise BadRequest(f"{field}.{number}.url", "must be a data: URL with base64")
                name = part.get("filename")
                attachments.append(
                    Attachment(base64=data, media_type=kind, name=name if isinstance(name, str) else None)
                )
            case {"type": str(kind)} if kind.startswith("data-"):
                pass  # the page's own
            case _:
                raise BadRequest(f"{field}.{number}", "is neither text nor a file")
    if not attachments and not "".join(texts).strip():
        raise BadRequest(field, "has no text")
    return "\n".join(texts), tuple(attachments)


def _approvals(message: _Message) -> list[Approval]:
    found = []
    for part in message.parts:
        match part:
            case {
                "state": "approval-responded",
                "approval": {"id": str(one), "approved": bool(approved)} as given,
            }:
                reason = given.get("reason")
                found.append(Approval(one, approved, reason if isinstance(reason, str) else None))
            case _:
                pass
    return found


def _place(metadata: JsonValue) -> tuple[int | None, str]:
    match metadata:
        case {"turnwire": {"seq": int(seq), "epoch": str(epoch)}} if seq >= 0:
            return seq, epoch
        case _:
            return None, ""
