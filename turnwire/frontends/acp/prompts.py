"""What an editor sends as a prompt, as turnwire takes it: one text, and attachments. Pure."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from turnwire.client.commands import Attachment
from turnwire.client.values import JsonObject, JsonValue

MOST_BYTES = 15 * 1024 * 1024
"""Characters of a prompt with all that goes with it: what the hub takes in one frame, with room for what is around it."""


class BadPrompt(ValueError):
    """The prompt cannot be sent on; the message says which block, and why."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as the hub takes it."""

    text: str
    attachments: Sequence[Attachment]


def read_prompt(blocks: Sequence[JsonValue]) -> Prompt:
    """Return the prompt of ACP's content blocks: texts and links in their order, then embedded texts; raises BadPrompt."""
    texts: list[str] = []
    contexts: list[str] = []
    attachments: list[Attachment] = []
    for number, block in enumerate(blocks):
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image", "data": str(data)}:
                attachments.append(_attachment(block, data, f"image-{number + 1}"))
            case {"type": "resource_link", "uri": str(uri)}:
                texts.append(link(uri, block.get("name")))
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
                texts.append(link(uri))
                contexts.append(f'\n<context ref="{uri}">\n{text}\n</context>')
            case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)} as resource}:
                attachments.append(_attachment(resource, data, _name(uri)))
            case {"type": "audio"}:
                raise BadPrompt(
                    f"prompt[{number}] is audio, which turnwire cannot send to agents; leave it out"
                )
            case {"type": str(kind)}:
                raise BadPrompt(f"prompt[{number}] is not a complete {kind} block of ACP 1")
            case _:
                raise BadPrompt(f"prompt[{number}] must be a content block: an object with a `type`")
    prompt = Prompt("".join([*texts, *contexts]), attachments)
    size = len(prompt.text.encode("utf-8", "surrogatepass")) + sum(len(each.base64) for each in attachments)
    if size > MOST_BYTES:
        raise BadPrompt(
            f"the prompt has {size} bytes; the maximum is {MOST_BYTES}. Name files instead of sending them"
        )
    if not prompt.text.strip() and not attachments:
        raise BadPrompt("the prompt is empty; send text")
    return prompt


def link(uri: str, name: JsonValue = None) -> str:
    """Return a mention of a file as agents read them: a Markdown link, to a plain path where it is one."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path) if parts.scheme == "file" else uri
    except ValueError:
        path = uri
    return f"[@{name if isinstance(name, str) and name else _name(uri)}]({path})"


def _name(uri: str) -> str:
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        path = uri
    return posixpath.basename(path.rstrip("/")) or uri


def _attachment(block: JsonObject, data: str, name: str) -> Attachment:
    uri, kind = block.get("uri"), block.get("mimeType")
    return Attachment(
        name=_name(uri) if isinstance(uri, str) and uri else name,
        media_type=kind if isinstance(kind, str) else None,
        base64=data,
    )
