"""What a client asks for, read and bounded: what is attached, and what a session to be made is to be."""

import base64
import json
from typing import Any

import pytest

from agui_harness import input_of
from turnwire.client.commands import Attachment
from turnwire.frontends.agui.run_request import THREAD_ID, RunRequest, read
from turnwire.frontends.web.bodies import BadRequest

PICTURE = base64.b64encode(b"\x89PNG").decode()


def asked(**more: Any) -> RunRequest:
    return read(json.dumps(input_of(**more)).encode())


def said(*parts: dict[str, Any]) -> RunRequest:
    return asked(messages=[{"id": "u1", "role": "user", "content": list(parts)}])


def image(**source: str) -> dict[str, Any]:
    return {"type": "image", "source": source}


def test_texts_of_a_message_are_lines_of_the_prompt_and_data_is_attached() -> None:
    request = said(
        {"type": "text", "text": "What is"},
        image(type="data", value=PICTURE, mimeType="image/png"),
        {"type": "text", "text": "this?"},
    )
    assert request.text == "What is\nthis?"
    assert request.attachments == (Attachment(base64=PICTURE, media_type="image/png"),)


def binary(**source: str) -> dict[str, Any]:
    return {"type": "binary", "mimeType": "image/png", **source}


def test_a_picture_as_clients_before_1_0_send_it_is_attached_and_one_of_the_past_is_no_hindrance() -> None:
    past = [
        {
            "id": "u0",
            "role": "user",
            "content": [binary(url="https://example.org/a.png"), binary(id="file-1")],
        },
        {"id": "a0", "role": "assistant", "content": "A cat."},
    ]
    now = {"id": "u1", "role": "user", "content": [{"type": "text", "text": "And?"}, binary(data=PICTURE)]}
    request = asked(messages=[*past, now])
    assert (request.text, request.attachments) == (
        "And?", (Attachment(base64=PICTURE, media_type="image/png"),),
    )  # fmt: skip
    report = {"type": "binary", "mimeType": "application/pdf", "data": PICTURE, "filename": "a.pdf"}
    assert [one.media_type for one in said(report).attachments] == ["application/pdf"]
    for source in ({"url": "https://example.org/a.png"}, {"id": "file-1"}):
        with pytest.raises(BadRequest, match="only data can be attached"):
            said(binary(**source))


@pytest.mark.parametrize(
    "body",
    [b'"binary"', b'{"messages": "binary"}', b'{"messages": 5, "x": "binary"}', b'{"messages": ["binary"]}', b'["binary"', b'{"messages": [{"content": ["binary"]}]}'],
)  # fmt: skip
def test_what_is_no_input_is_refused_whatever_it_says_of_binary_parts(body: bytes) -> None:
    with pytest.raises(BadRequest):
        read(body)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"type": "data", "value": "not base64!", "mimeType": "image/png"},
            "messages.0.content.1.source.value: is not base64",
        ),
        (
            {"type": "url", "value": "https://example.org/a.png"},
            "messages.0.content.1.source: only data can be attached; send the bytes as base64",
        ),
    ],
)
def test_what_cannot_be_attached_is_refused_with_its_place(source: dict[str, str], message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        said({"type": "text", "text": "Look."}, image(**source))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("thread", "is_good"),
    [("t" * THREAD_ID, True), ("t" * (THREAD_ID + 1), False), ("", False), ("a\nb", False)],
)
def test_a_thread_has_a_name_that_a_session_can_have(thread: str, is_good: bool) -> None:
    if is_good:
        assert asked(threadId=thread).input.thread_id == thread
        return
    with pytest.raises(BadRequest, match=r"threadId: must be of 1 to 200 printable characters"):
        asked(threadId=thread)


@pytest.mark.parametrize(
    ("props", "options"),
    [
        ({"turnwire": {"agent": "demo", "model": "m"}}, {"agent": "demo", "model": "m"}),
        ({"other": 1}, {}),
        ([], {}),
        (None, {}),
    ],
)
def test_what_a_new_session_is_to_be_stands_in_the_props_of_turnwire(props: Any, options: Any) -> None:
    assert asked(forwardedProps=props).options == options


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("demo", "forwardedProps.turnwire: must be an object"),
        (
            {"agent": "demo", "colour": "red"},
            "forwardedProps.turnwire.colour: is unknown; there are agent, model, permission_mode, policy, workspace",
        ),
        ({"model": 5}, "forwardedProps.turnwire.model: must be a string"),
    ],
)
def test_props_that_no_session_has_are_refused_with_their_place(given: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        _ = asked(forwardedProps={"turnwire": given}).options
    assert str(refused.value) == message
