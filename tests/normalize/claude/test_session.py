"""What the CLI says of itself, beside the conversation."""

import json

import pytest
from msgspec import to_builtins

from tests.normalize.lines import (
    JsonObject,
    Talk,
    answer,
    assistant,
    init,
    result,
    system,
    text,
    tool_result,
    tool_use,
    user,
)
from turnwire.normalize.events import ProcessStatus
from turnwire.normalize.inputs import Announced
from turnwire.protocol.claude.decode import decode


def kinds(talk: Talk) -> list[str]:
    return [event.type for event in talk.events]


def test_the_first_init_says_who_is_there() -> None:
    talk = Talk()
    talk.hears(
        init(
            cwd="/w",
            permissionMode="default",
            tools=["Bash"],
            mcp_servers=[{"name": "calc", "status": "connected"}],
            slash_commands=["compact"],
        )
    )
    assert kinds(talk) == [
        "session_status",
        "session_info",
        "available_commands",
        "session_mode",
        "turn_started",
    ]
    assert talk.last("session_status") == {
        "type": "session_status",
        "session_id": "s",
        "data": {"session_status": "new", "init": True},
    }
    info = talk.last("session_info")
    assert (
        info.items()
        >= {"model": "claude-opus-5-5", "cwd": "/w", "version": "2.1.330", "tools": ["Bash"]}.items()
    )
    assert info["mcp_servers"] == [{"name": "calc", "status": "connected"}]
    assert talk.last("available_commands")["available_commands"] == [{"name": "compact"}]


def test_an_init_that_repeats_itself_is_no_news() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w", slash_commands=["compact"]), result("x"))
    before = len(talk.events)
    assert talk.hears(init(cwd="/w", slash_commands=["compact"])) == ["turn_started turn-2 user"]
    assert len(talk.events) == before + 1
    talk.hears(init(cwd="/elsewhere"))
    assert talk.last("session_info")["cwd"] == "/elsewhere"


def test_another_session_id_is_another_session() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A"), usage={"input_tokens": 10}), result("A"))
    talk.hears({**init(), "session_id": "s2"})
    assert talk.last("session_status").items() >= {"session_id": "s2"}.items()
    assert talk.last("session_status")["data"]["session_status"] == "new"
    assert talk.last("context_window")["context_window_used"] == 0


def test_a_session_that_goes_on_says_so() -> None:
    talk = Talk(resumed=True)
    talk.hears(init())
    assert talk.last("session_status")["data"]["session_status"] == "resumed"


def test_a_process_that_was_started_to_go_on_is_not_a_new_session() -> None:
    talk = Talk()
    started = ProcessStatus(state="started", pid=7, resumed=True)
    assert talk.translator.handle(Announced(started)) == [started]
    talk.hears(init())
    assert talk.last("session_status")["data"]["session_status"] == "resumed"
    fresh = Talk()
    fresh.translator.handle(Announced(ProcessStatus(state="started", pid=7)))
    fresh.hears(init())
    assert fresh.last("session_status")["data"]["session_status"] == "new"


def test_any_system_message_may_be_the_first_to_name_the_session() -> None:
    talk = Talk()
    talk.hears(system("session_state_changed", state="running"), init())
    assert kinds(talk)[:2] == ["session_status", "notice"]
    assert kinds(talk).count("session_status") == 1
    assert talk.last("session_status")["data"] == {"session_status": "new"}


def test_commands_with_descriptions_are_kept_when_init_lists_names() -> None:
    talk = Talk()
    commands = [{"name": "compact", "description": "Shorten", "argumentHint": "<how>"}, {"no": "name"}]
    talk.hears(answer("i1", commands=commands), answer("i2", commands=commands))
    assert kinds(talk) == ["available_commands"]
    talk.hears(init(slash_commands=["compact", "clear"]))
    assert talk.last("available_commands")["available_commands"] == [
        {"name": "compact", "description": "Shorten", "argument_hint": "<how>"},
        {"name": "clear"},
    ]
    talk.hears(system("commands_changed", commands=[{"name": "new"}]))
    assert talk.last("available_commands")["available_commands"] == [{"name": "new"}]


def test_a_compaction_resets_the_context() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A"), usage={"input_tokens": 10_000}))
    told = talk.hears(
        system("status", status="compacting"),
        system("status", status=None, compact_result="success"),
        system(
            "compact_boundary", compact_metadata={"trigger": "manual", "pre_tokens": 9, "post_tokens": 2597}
        ),
    )
    assert told == ["notice Compacting the conversation status", "compact_boundary"]
    assert talk.last("context_window")["context_window_used"] == 2597
    talk.hears(system("compact_boundary"))
    assert talk.last("context_window")["context_window_used"] == 0
    assert talk.hears(system("status", status=None, compact_result="failed")) == [
        "notice Compacting: failed status"
    ]


def test_a_goal_is_told_and_a_mirror_of_the_transcript_is_not() -> None:
    talk = Talk()
    talk.hears(init())
    value = {
        "condition": "the tests pass",
        "iterations": 2,
        "set_at": 1,
        "tokens_at_start": 3,
        "last_reason": "one fails",
    }
    goal = {"type": "active_goal", "value": value, "uuid": "u", "session_id": "s"}
    assert talk.hears(goal) == ["notice Goal: the tests pass (one fails) active_goal"]
    assert talk.last("notice")["details"] == {
        "condition": "the tests pass",
        "iterations": 2,
        "last_reason": "one fails",
    }
    assert talk.hears({**goal, "value": None}) == ["notice The goal is cleared active_goal"]
    assert (
        talk.hears({"type": "transcript_mirror", "filePath": "/t.jsonl", "entries": [{"type": "user"}]}) == []
    )


def test_clear_resets_the_context() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A"), usage={"input_tokens": 10_000}))
    line = {"type": "conversation_reset", "new_conversation_id": "c2", "trigger": "clear", "session_id": "s"}
    assert talk.hears(line) == ["notice The conversation begins anew conversation_reset"]
    assert talk.last("context_window")["context_window_used"] == 0


def test_another_model_that_answers_has_a_window_of_its_own() -> None:
    talk = Talk()
    talk.hears(init(model="claude-opus-5-5"))
    line = system(
        "model_fallback", original_model="claude-opus-5-5", fallback_model="claude-haiku-4-5", content=""
    )
    assert talk.hears(line) == ["notice claude-haiku-4-5 answers instead of claude-opus-5-5 model_fallback"]
    talk.hears(assistant(text("A"), model="claude-haiku-4-5", usage={"input_tokens": 1}))
    assert talk.last("context_window")["model"] == "claude-haiku-4-5"


def test_messages_that_a_refusal_withdraws_are_retracted() -> None:
    talk = Talk()
    line = system(
        "model_refusal_fallback", fallback_model="m2", content="Refused", retracted_message_uuids=["a1"]
    )
    assert talk.hears(line) == ["notice Refused model_refusal_fallback", "retraction ['a1']"]
    line = system("model_refusal_fallback", fallback_model="m2", api_refusal_explanation="Why")
    assert talk.hears(line) == ["notice Why model_refusal_fallback"]
    assert talk.hears(system("model_refusal_no_fallback")) == [
        "notice The model's provider refused this request model_refusal_no_fallback"
    ]


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (
            {
                "status": "allowed_warning",
                "rateLimitType": "five_hour",
                "utilization": 0.92,
                "resetsAt": 1795297690.5,
            },
            "Close to the rate limit (five_hour): 92% used",
        ),
        ({"status": "rejected", "rateLimitType": "five_hour"}, "Rate limited by API (five_hour)"),
        ({"status": "new_status"}, "Within the rate limit"),
    ],
)
def test_rate_limits_are_put_into_words(info: dict[str, object], message: str) -> None:
    talk = Talk()
    talk.hears({"type": "rate_limit_event", "rate_limit_info": info, "session_id": "s"})
    assert talk.last("rate_limit")["rate_limit_message"] == message


def test_the_older_rate_limit_is_read() -> None:
    talk = Talk()
    talk.hears({"type": "rate_limit", "session_id": "s"})
    assert talk.last("rate_limit")["rate_limit_message"] == "Rate limited by API"
    talk.hears({"type": "rate_limit", "message": "Slow down", "session_id": "s"})
    assert talk.last("rate_limit")["rate_limit_message"] == "Slow down"


def test_hooks_that_the_cli_runs_are_told() -> None:
    talk = Talk()
    hook = {"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"}
    assert talk.hears(
        system("hook_started", **hook),
        system("hook_progress", **hook, stdout="half"),
        system("hook_response", **hook, output="all", stderr="!", exit_code=2, outcome="error"),
    ) == ["hook_activity started", "hook_activity progress", "hook_activity finished error"]
    assert talk.last("hook_activity").items() >= {"output": "all", "stderr": "!", "exit_code": 2}.items()


def test_retries_are_told() -> None:
    talk = Talk()
    talk.hears(
        system(
            "api_retry", attempt=1, max_retries=2, retry_delay_ms=545, error_status=529, error="overloaded"
        )
    )
    assert talk.last("api_retry") == {
        "type": "api_retry",
        "session_id": "s",
        "attempt": 1,
        "max_retries": 2,
        "delay_ms": 545.0,
        "status": 529,
        "error": "overloaded",
    }


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (system("informational", content="Note", level="warning"), "notice Note informational"),
        (system("notification", text="Look"), "notice Look notification"),
        (system("session_title_changed", title="T"), "notice T session_title_changed"),
        (system("permission_denied", tool_name="Bash", message="rule"), "notice rule permission_denied"),
        (system("permission_denied", tool_name="Bash"), "notice Bash was not allowed permission_denied"),
        (
            system("background_tasks_changed", tasks=[{}, {}]),
            "notice 2 background tasks running background_tasks_changed",
        ),
        ({"type": "prompt_suggestion", "suggestion": "Go on"}, "notice Go on prompt_suggestion"),
        ({"type": "tool_use_summary", "summary": "Read 2 files"}, "notice Read 2 files tool_use_summary"),
        ({"type": "auth_status", "isAuthenticating": True}, "notice Signing in auth_status"),
        ({"type": "auth_status", "output": ["a", "b"]}, "notice a\nb auth_status"),
        ({"type": "auth_status", "error": "No"}, "notice No auth_status"),
        (system("memory_recall", memories=[{}]), "notice 1 memories recalled memory_recall"),
        (system("files_persisted", files=[{}], failed=[]), "notice 1 files stored, 0 not files_persisted"),
        (system("plugin_install", name="p", status="installed"), "notice Plugin p: installed plugin_install"),
        (system("plugin_install", error="broken"), "notice Plugins: broken plugin_install"),
        (system("mirror_error", error="disk"), "notice disk mirror_error"),
        (
            system("session_writes_lost", error_code="ENOSPC", lost=["transcript"]),
            "notice The CLI could not write its transcript (ENOSPC) session_writes_lost",
        ),
        (
            system("elicitation_complete", mcp_server_name="calc", elicitation_id="e"),
            "notice calc: e elicitation_complete",
        ),
        (system("worker_shutting_down"), "notice The agent is about to exit worker_shutting_down"),
        (system("consolidation", entries_created=2), "consolidation"),
    ],
)
def test_what_has_no_event_of_its_own_is_a_notice(line: dict[str, object], told: str) -> None:
    assert Talk().hears(line) == [told]


def test_what_is_known_and_no_news_is_counted() -> None:
    talk = Talk()
    talk.hears(
        system("thinking_tokens", estimated_tokens=3),
        {"type": "keep_alive"},
        system("status", status="requesting"),
    )
    assert kinds(talk) == ["session_status"]
    assert talk.hears(system("control_request_progress", request_id="x", status="started")) == []
    assert (talk.translator.stats.counted, talk.translator.stats.control) == (2, 1)


def test_unknown_lines_are_kept_as_they_came() -> None:
    talk = Talk()
    line = b'{"type":"hologram",  "x":1e2, "session_id":"s"}'
    (event,) = talk.translator.receive(decode(line), line)
    assert to_builtins(event) == {
        "type": "unknown",
        "message_type": "hologram",
        "raw": line.decode(),
    }
    line = b'{"type":"system","subtype":"hologram"}'
    assert talk.hears(json.loads(line)) == ["unknown system/hologram"]
    assert talk.hears({"no": "type"}) == ["unknown "]
    (event,) = talk.translator.receive(decode(line))
    assert json.loads(to_builtins(event)["raw"]) == json.loads(line)
    assert talk.translator.stats.unknown == 4


def test_lines_that_are_no_messages_are_kept_and_blank_ones_counted() -> None:
    talk = Talk()
    (event,) = talk.translator.receive(decode(b"Segmentation fault"), b"Segmentation fault")
    assert (
        to_builtins(event).items() >= {"type": "malformed", "raw": "Segmentation fault", "size": 18}.items()
    )
    (event,) = talk.translator.receive(decode(b"[1]"))
    assert to_builtins(event)["size"] == 3
    assert talk.translator.receive(decode(b""), b"") == talk.translator.receive(decode(b"  \r")) == []
    assert (talk.translator.stats.malformed, talk.translator.stats.blank) == (2, 2)


def test_attachments_of_prompts_are_parts() -> None:
    talk = Talk()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
    assert talk.says(user(text("Look"), picture, text("here"))) == [
        "turn_started turn-1 user",
        "user_message Look\n\nhere",
    ]
    assert (
        talk.last("user_message")["parts"][0].items() >= {"type": "image", "media_type": "image/png"}.items()
    )
    talk.hears(init(), user(text("Summary of the past"), picture, isSynthetic=True))
    assert talk.last("user_message").items() >= {"text": "Summary of the past", "synthetic": True}.items()


def test_the_agent_of_spec_1_says_results_and_errors_in_system_messages() -> None:
    talk = Talk()
    talk.hears(assistant(tool_use("t"), id=None))
    assert talk.hears(system("tool_result", tool_result=tool_result("t", "x"))) == ["tool_update t complete"]
    assert talk.hears(system("error", message="Something went wrong")) == ["error Something went wrong"]
    assert talk.hears(system("error", message="Once more")) == ["error Once more"]
    assert talk.hears(result("x", "error", is_error=True)) == [
        "message_chunk x result",
        "complete turn-1 x error",
        "error x",
    ]
    talk.hears(assistant(tool_use("t"), id=None))
    assert talk.hears(system("error", message="but")) == ["error but"]
    assert [said for said in talk.hears(result("y")) if said.startswith("error")] == []
    assert talk.hears(system("error")) == ["error The agent reports an error"]


def test_the_agent_of_spec_1_queues_and_injects() -> None:
    talk = Talk()
    assert talk.hears(system("queued", position=1)) == ["queued 1"]
    assert talk.hears(system("injected", message_count=2, content_length=150)) == ["injected 2"]
    talk.says(user("one"), user("two", uuid="p2"))
    assert talk.hears(system("queued", position=1)) == []
    assert talk.hears(system("injected", message_count=1, content_length=3)) == ["injected 1"]
    assert talk.last("injected")["prompts"] == ["p2"]


def test_a_rate_limit_that_allows_everything_is_no_news() -> None:
    talk = Talk()
    talk.hears(init())
    allowed = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "utilization": 0.3}}
    assert talk.hears(allowed) == []
    assert talk.translator.stats.counted == 1
    for status in ("allowed_warning", "rejected", "new_status"):
        told = {"type": "rate_limit_event", "rate_limit_info": {"status": status}}
        assert talk.hears(told) == ["rate_limit"]


def test_tokens_that_count_the_session_are_told_as_those_of_the_turn() -> None:
    def used(sent: int, received: int, cached: int = 0) -> JsonObject:
        total = sent + received
        return {
            "input_tokens": sent, "output_tokens": received, "cache_read_input_tokens": cached, "total_tokens": total,
        }  # fmt: skip

    def turn(number: int, usage: JsonObject) -> tuple[object, ...]:
        talk.hears(init(), result(uuid=f"r{number}", usage=usage))
        data = talk.last("complete")["data"]
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens")
        return tuple(data.get(name) for name in names)

    talk = Talk()
    assert turn(1, used(200, 40, 10)) == (200, 40, 10)
    assert turn(2, used(500, 60, 30)) == (300, 20, 20)
    # it was interrupted, and told nothing
    assert turn(3, {"input_tokens": 0, "output_tokens": 0}) == (0, 0, 0)
    assert turn(4, used(600, 70, 30)) == (100, 10, 0)
    # another conversation has begun
    assert turn(5, used(100, 10)) == (100, 10, 0)

    # of what was said before nothing is known
    talk = Talk(resumed=True)
    assert turn(1, used(500, 60, 30)) == (None, None, None)
    assert turn(2, used(600, 70, 40)) == (100, 10, 10)


def test_a_retry_without_a_number_is_the_first() -> None:
    talk = Talk()
    talk.hears(init(), system("retry", data={"reason": "retry", "preserveText": True}))
    assert talk.last("api_retry")["attempt"] == 1


def test_a_session_that_no_longer_asks_for_the_long_window_has_the_short_one() -> None:
    talk = Talk()
    used = {"input_tokens": 100}
    talk.hears(init(model="claude-opus-5[1m]"), assistant(text("a"), model="claude-opus-5", usage=used))
    talk.hears(result("a", modelUsage={"claude-opus-5[1m]": {"contextWindow": 1_000_000}}))
    assert talk.last("context_window")["context_window_size"] == 1_000_000
    talk.hears(init(model="claude-opus-5"), assistant(text("b"), id="m2", model="claude-opus-5", usage=used))
    talk.hears(result("b", uuid="r2", modelUsage={"claude-opus-5": {"contextWindow": 200_000}}))
    window = talk.last("context_window")
    assert (window["context_window_size"], window["model"]) == (200_000, "claude-opus-5")


@pytest.mark.parametrize(
    ("said", "resumed", "told"),
    [("resumed", False, "resumed"), ("new", True, "new"), ("odd", True, "resumed"), (7, False, "new")],
)
def test_what_a_line_says_of_its_session_counts(said: object, resumed: bool, told: str) -> None:
    talk = Talk(resumed=resumed)
    talk.hears({"type": "system", "session_id": "s", "session_status": said})
    assert talk.last("session_status")["data"] == {"session_status": told, "init": True}
