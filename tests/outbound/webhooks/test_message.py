"""Messages and signatures of webhooks."""

import json

import pytest

from turnwire.normalize.events import Notice, PermissionCancelled, PermissionRequest, to_json
from turnwire.normalize.events.envelope import Envelope
from turnwire.outbound.webhooks.message import BadSecret, Message, headers, key_of, message_of


def test_the_signature_is_that_of_standard_webhooks() -> None:
    # the example of the specification's reference implementations
    key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = headers(Message("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}'), key, 1614265330)
    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signed["webhook-timestamp"] == "1614265330"


@pytest.mark.parametrize("secret", ["", "short", "whsec_", "whsec_!!!!", "whsec_c2hvcnQ="])
def test_a_secret_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(BadSecret):
        key_of(secret)


def test_a_message_says_what_happened_where_and_when_and_keeps_its_id() -> None:
    event = PermissionCancelled(pending_id="q1", reason="timeout")
    message = message_of(Envelope("s1", 7, "2026-01-02T03:04:05.000000Z", to_json(event)), event.type, "e1")
    assert message.id == "e1-s1-7"
    assert json.loads(message.body) == {
        "type": "permission_cancelled",
        "timestamp": "2026-01-02T03:04:05.000000Z",
        "data": {
            "session": "s1",
            "seq": 7,
            "event": {"type": "permission_cancelled", "pending_id": "q1", "reason": "timeout"},
        },
    }


def test_what_hides_in_a_text_is_spelt_out_and_an_id_is_kept() -> None:
    event = PermissionRequest(
        pending_id="p\u200e",
        permission_title="rm \u202etxt\x1b]0;x\x07",
        permission_options=[],
        action_type="command",
        action_details={"command": "a\u2066\U000e0041"},
    )
    message = message_of(Envelope("s1", 1, "", to_json(event)), event.type, "e1")
    told = json.loads(message.body)["data"]["event"]
    assert told["pending_id"] == "p\u200e"
    assert told["permission_title"] == "rm ⟨U+202E⟩txt⟨U+001B⟩]0;x⟨U+0007⟩"
    assert told["action_details"] == {"command": "a⟨U+2066⟩⟨U+E0041⟩"}


def test_words_of_code_from_right_to_left_are_isolated_and_prose_is_left() -> None:
    code = "rm -rf אב / גד # א"
    event = PermissionRequest(
        pending_id="p",
        permission_title=code,
        permission_options=[],
        action_type="command",
        action_details={"command": code},
    )
    told = json.loads(message_of(Envelope("s1", 1, "", to_json(event)), event.type, "e1").body)["data"][
        "event"
    ]
    isolated = "rm -rf \u2068אב\u2069 / \u2068גד\u2069 # \u2068א\u2069"
    assert told["permission_title"] == told["action_details"]["command"] == isolated
    notice = Notice(kind="k", level="info", text="שלום עולם")
    told = json.loads(message_of(Envelope("s1", 1, "", to_json(notice)), notice.type, "e1").body)["data"][
        "event"
    ]
    assert told["text"] == "שלום עולם"


def test_long_fields_are_cut() -> None:
    event = Notice(kind="k", level="info", text="x" * 1_000_000)
    message = message_of(Envelope("s1", 1, "", to_json(event)), event.type, "e1")
    assert len(message.body) < 10_000
    assert json.loads(message.body)["data"]["event"]["truncated"] == {"text": 1_000_000}
