"""A stdout alone: what was sent was not heard, so what it was is taken from the answers."""

import pytest

from acp_talk import Event, Talk, only, shown, types
from turnwire.normalize.events import Unknown
from turnwire.protocol.acp import encode
from turnwire.protocol.acp.decode import decode

SAID = {"type": "text", "text": "Go on."}


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([{"stopReason": "end_turn"}], []),
        ([{"modes": None}], []),
        ([{"sessionId": "s"}], ["session_status", "session_info"]),
        ([{"sessionId": "s"}, {"stopReason": "end_turn"}], ["session_status", "session_info", "turn_started", "notice", "complete"]),
        ([{"protocolVersion": 1, "agentInfo": {"name": "a"}}], ["session_info"]),
        ([{}], []),
    ],
)  # fmt: skip
def test_an_answer_tells_what_was_asked(answers: list[Event], told: list[str]) -> None:
    talk = Talk()
    assert [kind for number, one in enumerate(answers) for kind in types(talk.answers(number, **one))] == told
    assert not talk.is_busy()


def test_an_answer_ends_the_turn_that_has_been_open_longest() -> None:
    talk = Talk()
    talk.text("Hello.")
    other = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi."}}
    talk.hears(encode.notification("session/update", {"sessionId": "other", "update": other}))
    ends = [*talk.answers(1, stopReason="end_turn"), *talk.answers(2, stopReason="end_turn")]
    assert [(end["type"], end["session_id"]) for end in ends] == [("complete", "s"), ("complete", "other")]


def test_an_error_ends_the_open_turn_and_is_told_alone_where_none_is() -> None:
    talk = Talk()
    (alone,) = talk.fails(1, -32000, "Authentication required")
    assert (alone["type"], alone["code"]) == ("error", "authentication_failed")
    talk.text("Hello.")
    failed = talk.fails(2, 429, "slow down")
    assert types(failed) == ["complete", "error"]
    assert (failed[0]["data"]["outcome"], failed[1]["code"]) == ("error", "rate_limit")


@pytest.mark.parametrize("answer", [{}, {"modes": {"currentModeId": "ask"}}, {"sessionId": "s"}])
def test_a_past_is_over_when_something_else_is_told_after_the_answer_to_its_load(answer: Event) -> None:
    talk = Talk()
    (begun, asked) = talk.update("user_message_chunk", content=SAID)
    assert (begun["data"]["session_status"], asked["history"]) == ("resumed", True)
    talk.answers(1, **answer)
    talk.update("usage_update", used=1, size=10)
    assert types(talk.text("Yes.")) == ["turn_started", "message_chunk"]


def test_a_past_goes_on_while_its_load_has_no_answer() -> None:
    talk = Talk()
    talk.update("user_message_chunk", content=SAID)
    talk.update("usage_update", used=1, size=10)
    (said,) = talk.text("Yes.")
    assert said["history"] is True


def test_leave_that_nobody_was_heard_to_give_was_given_when_the_call_goes_on() -> None:
    talk = Talk()
    asked = only(talk.asks(1, "c", title="List", kind="execute"), "permission_request")
    assert talk.waits() == [asked["pending_id"]]
    told = talk.update("tool_call_update", toolCallId="c", status="in_progress")
    assert [(one["type"], one["behavior"], one["pending_id"]) for one in told] == [
        ("permission_resolved", "allow", asked["pending_id"])
    ]
    assert talk.waits() == []


@pytest.mark.parametrize(
    ("end", "behavior", "reason"),
    [
        ({"status": "completed"}, "allow", None),
        ({"status": "failed", "content": shown("broken")}, "allow", "failed"),
        ({"status": "failed", "content": shown("The user refused permission.")}, "deny", "denied"),
    ],
)
def test_leave_that_nobody_was_heard_to_give_is_told_before_the_end_of_the_call(
    end: Event, behavior: str, reason: str | None
) -> None:
    talk = Talk()
    talk.asks(1, "c", title="List", kind="execute")
    told = talk.update("tool_call_update", toolCallId="c", **end)
    assert types(told) == ["permission_resolved", "tool_update"]
    assert (told[0]["behavior"], told[1].get("reason")) == (behavior, reason)


def test_a_batch_is_one_line_whatever_is_in_it() -> None:
    talk = Talk()
    talk.prompt(1)
    said = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": SAID}}
    lines = [encode.notification("session/update", said), encode.response(1, {"stopReason": "end_turn"})]
    told = talk.hears(b"[" + b",".join(line.strip() for line in lines) + b"]")
    assert types(told) == ["message_chunk", "complete"]
    assert talk.hears(b"[" + encode.response(7, {}).strip() + b"]") == []
    stats = talk.core.stats
    assert (stats.published, stats.counted, stats.control, stats.unknown) == (1, 1, 0, 0)


def test_a_message_that_has_no_line_is_kept_as_what_was_read_of_it() -> None:
    raw = '{"jsonrpc": "2.0", "weather": 7}'
    assert Talk().core.receive(decode(raw.encode())) == [Unknown(message_type="", raw=raw)]
