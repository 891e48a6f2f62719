"""Turns: each is started once and completed once, whatever the CLI writes."""

import pytest

from tests.normalize.lines import (
    Talk,
    answer,
    assistant,
    control,
    delta,
    init,
    message_start,
    result,
    system,
    text,
    tool_result,
    tool_use,
    user,
)
from turnwire.normalize.inputs import Ended
from turnwire.protocol.json_values import JsonObject

P1, P2, P3 = "11111111-p", "22222222-p", "33333333-p"


def lifecycle(prompt: str, state: str) -> dict[str, str]:
    return {"type": "command_lifecycle", "command_uuid": prompt, "state": state, "session_id": "s"}


def task_over(task: str = "b1", call: str = "t1", status: str = "completed") -> dict[str, object]:
    return system("task_notification", task_id=task, tool_use_id=call, status=status, summary="did it")


def test_init_opens_a_turn_and_the_result_completes_it() -> None:
    talk = Talk()
    assert talk.hears(init()) == ["turn_started turn-1 user"]
    assert talk.hears(init()) == []
    assert talk.hears(assistant(text("Hi")), result("Hi")) == [
        "message_chunk Hi",
        "complete turn-1 completed",
    ]
    assert talk.hears(init(), result("Again", uuid="r2")) == [
        "turn_started turn-2 user",
        "message_chunk Again result",
        "complete turn-2 completed",
    ]
    assert talk.translator.turns == 2


def test_an_agent_without_init_opens_a_turn_by_speaking() -> None:
    talk = Talk(first_turn=5)
    assert talk.hears(assistant(text("Hello!"), id=None, uuid=None))[0] == "turn_started turn-5 user"
    talk.hears(result("Hello!", uuid=None))
    assert talk.hears(message_start(), delta("Hi")) == ["turn_started turn-6 user", "message_chunk Hi"]


def test_a_prompt_opens_the_turn_at_once() -> None:
    talk = Talk()
    assert talk.says(user("Do it", uuid=P1)) == ["turn_started turn-1 user", "user_message Do it"]
    assert talk.last("turn_started")["prompts"] == [P1]
    assert talk.hears(init(), assistant(text("Done")), result("Done")) == [
        "message_chunk Done",
        "complete turn-1 completed",
    ]
    assert talk.last("complete")["data"]["prompts"] == [P1]


def test_prompts_that_wait_are_merged_by_new_versions() -> None:
    talk = Talk()
    talk.says(user("one"))
    assert talk.says(user("two", uuid=P2), user("three", uuid=P3)) == [
        f"queued 1 {P2}",
        "user_message two",
        f"queued 2 {P3}",
        "user_message three",
    ]
    talk.hears(init(), assistant(text("A")), result("A"))
    assert talk.hears(init()) == ["turn_started turn-2 queued"]
    assert talk.last("turn_started")["prompts"] == [P2, P3]
    talk.hears(assistant(text("B")), result("B", uuid="r2"))
    assert talk.hears(init()) == ["turn_started turn-3 autonomous"]


def test_prompts_that_are_injected_between_turns_belong_to_the_turn_that_begins_with_them() -> None:
    talk = Talk()
    talk.says(user("one"), user("two", uuid=P2), user("three", uuid=P3), user("four", uuid="p4"))
    talk.hears(assistant(text("A")), result("A"))
    assert talk.hears(system("injected", message_count=2, content_length=10)) == ["injected 2"]
    assert "prompts" not in talk.last("injected")
    assert talk.hears(assistant(text("B"), id="m2"))[0] == "turn_started turn-2 queued"
    assert talk.last("turn_started")["prompts"] == [P2, P3]
    talk.hears(result("B", uuid="r2"))
    talk.hears(system("injected", message_count=1))
    assert talk.hears(assistant(text("C"), id="m3"))[0] == "turn_started turn-3 queued"
    assert talk.last("turn_started")["prompts"] == ["p4"]


def test_prompts_that_wait_get_one_turn_each_in_old_versions() -> None:
    talk = Talk()
    talk.says(user("one", uuid=None), user("two", uuid=None), user("three", uuid=None))
    for number in (1, 2, 3):
        told = talk.hears(init("2.0.14"), assistant(text("A")), result("A", uuid=f"r{number}"))
        assert told[-1] == f"complete turn-{number} completed"
    assert talk.last("turn_started")["origin"] == "queued"


def test_a_prompt_between_two_turns_finds_none_waiting_before_it() -> None:
    talk = Talk()
    talk.says(user("one"), user("joined the first turn unseen"))
    talk.hears(init(), assistant(text("A")), result("A"))
    assert talk.says(user("three", uuid=P3))[0] == "turn_started turn-2 user"
    assert talk.last("turn_started")["prompts"] == [P3]


def test_a_prompt_that_joins_the_running_turn_is_injected_by_its_echo() -> None:
    talk = Talk()
    talk.says(user("one", uuid=P1))
    talk.hears(init("2.0.14"), user("one", uuid=P1, isReplay=True), assistant(tool_use("t")))
    talk.says(user("two", uuid=P2))
    talk.hears(user(tool_result("t")))
    assert talk.hears(user("two", uuid=P2, isReplay=True)) == ["injected 1"]
    assert talk.last("injected").items() >= {"content_length": 3, "prompts": [P2]}.items()
    talk.hears(assistant(text("Both")), result("Both"))
    assert talk.last("complete")["data"]["prompts"] == [P1, P2]


def test_a_prompt_that_waits_already_is_queued_once() -> None:
    talk = Talk()
    talk.says(user("one", uuid=P1), user("two", uuid=P2))
    assert talk.says(user("two", uuid=P2)) == ["user_message two"]


def test_an_echo_is_matched_by_its_text_when_the_prompt_had_no_uuid() -> None:
    talk = Talk()
    talk.says(user("one", uuid=None))
    assert talk.hears(init(), user("one", uuid="made-by-the-cli", isReplay=True)) == []
    talk.hears(assistant(text("A")))
    talk.says(user("two", uuid=None))
    assert talk.hears(user("two", uuid="x", isReplay=True)) == ["injected 1"]
    assert talk.hears(user("two", uuid="y", isReplay=True)) == ["user_message two", "injected 1"]


def test_an_echo_that_comes_late_of_the_prompt_that_opened_the_turn_is_no_news() -> None:
    talk = Talk()
    talk.says(user("one", uuid=None))
    talk.hears(init(), assistant(text("A")))
    assert talk.hears(user("one", uuid="made-by-the-cli", isReplay=True)) == []
    assert talk.hears(result("A")) == ["complete turn-1 completed"]


def test_echoes_alone_tell_what_was_asked() -> None:
    talk = Talk()
    assert talk.hears(init(), user("one", uuid=P1, isReplay=True), user("two", uuid=P2, isReplay=True))[
        1:
    ] == [
        "user_message one",
        "user_message two",
    ]
    talk.hears(assistant(text("A")))
    assert talk.hears(user("three", uuid=P3, isReplay=True)) == ["user_message three", "injected 1"]
    talk.hears(result("A"))
    assert talk.last("complete")["data"]["prompts"] == [P1, P2, P3]
    assert talk.hears(user("outside", uuid="o", isReplay=True)) == ["user_message outside"]


def test_the_lifecycle_of_prompts_names_those_of_a_turn() -> None:
    talk = Talk()
    assert talk.hears(lifecycle(P1, "queued"), lifecycle(P1, "started"), init()) == [
        "turn_started turn-1 user"
    ]
    assert talk.last("turn_started")["prompts"] == [P1]
    talk.hears(assistant(text("A")))
    assert talk.hears(lifecycle(P2, "queued"), lifecycle(P2, "queued")) == [f"queued 1 {P2}"]
    assert talk.hears(lifecycle(P2, "started")) == ["injected 1"]
    assert talk.hears(lifecycle(P3, "queued"), lifecycle(P3, "cancelled")) == [
        f"queued 1 {P3}",
        f"withdrawn {P3}",
    ]
    assert talk.hears(lifecycle(P3, "cancelled"), lifecycle(P1, "completed"), lifecycle(P1, "started")) == []


def test_prompts_that_start_with_a_turn_that_has_not_spoken_are_its_own() -> None:
    talk = Talk()
    talk.hears(lifecycle(P1, "started"), init())
    assert talk.hears(lifecycle(P2, "started")) == []
    talk.hears(system("status", status="requesting", user_message_uuids=[P2, P3]), result("x"))
    assert talk.last("complete")["data"]["prompts"] == [P1, P2, P3]


def test_prompts_that_waited_and_start_together_open_one_turn() -> None:
    talk = Talk()
    talk.says(user("one", uuid=P1))
    talk.hears(init(), assistant(text("A")))
    talk.says(user("two", uuid=P2), user("three", uuid=P3))
    talk.hears(lifecycle(P2, "queued"), lifecycle(P3, "queued"), result("A"))
    assert talk.hears(lifecycle(P2, "started"), lifecycle(P3, "started"), init()) == [
        "turn_started turn-2 queued"
    ]
    assert talk.last("turn_started")["prompts"] == [P2, P3]


def test_the_end_of_a_background_task_starts_a_turn_of_its_own() -> None:
    talk = Talk()
    talk.says(user("Go"))
    talk.hears(init(), assistant(text("Started")), result("Started"))
    assert talk.hears(task_over(), init()) == [
        "task_update t1 b1 completed",
        "turn_started turn-2 background",
    ]
    talk.hears(
        assistant(text("It is done")), result("It is done", uuid="r2", origin={"kind": "task-notification"})
    )
    assert talk.last("complete")["data"]["origin"] == "background"


def test_a_task_that_ends_within_a_turn_starts_none() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A")), task_over(), result("A"))
    assert talk.hears(init()) == ["turn_started turn-2 user"]


def test_the_origin_of_a_turn_is_known_at_its_end() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A")), result("A", origin={"kind": "task-notification"}))
    assert talk.last("turn_started")["origin"] == "user"
    assert talk.last("complete")["data"]["origin"] == "background"


def test_a_withheld_result_completes_the_turn_when_the_next_one_begins() -> None:
    talk = Talk()
    talk.hears(init("2.1.101"), assistant(text("Started"), uuid="a1"), task_over())
    assert talk.hears(init("2.1.101")) == ["complete turn-1 completed", "turn_started turn-2 background"]
    assert talk.last("complete")["data"]["last_message_uuid"] == "a1"
    assert talk.hears(assistant(text("Done")), result("Done"))[-1] == "complete turn-2 completed"


@pytest.mark.parametrize(("next_session", "speaks"), [("t", True), ("t", False), ("s", True)])
def test_a_run_that_was_killed_ends_as_such_in_its_own_session(next_session: str, speaks: bool) -> None:
    talk = Talk()
    talk.hears(init())
    if speaks:
        talk.hears(assistant(tool_use("t")))
    told = talk.hears({**init(), "session_id": next_session})
    ended = talk.last("complete")
    assert (ended["session_id"], ended["data"]["outcome"]) == ("s", "process_exited")
    assert ended["error"] == "The agent's process ended before the turn did."
    assert told[-1] == "turn_started turn-2 user"
    assert talk.last("turn_started")["session_id"] == next_session
    done = {**result("Done"), "session_id": next_session}
    assert talk.hears(done)[-1] == "complete turn-2 completed"


def test_a_withheld_turn_that_was_interrupted_says_so() -> None:
    talk = Talk()
    talk.hears(
        init("2.1.101"), assistant(tool_use("t")), user(text("[Request interrupted by user for tool use]"))
    )
    assert talk.hears(init("2.1.101")) == [
        "tool_update t error interrupted The turn was interrupted before the tool answered.",
        "complete turn-1 interrupted",
        "turn_started turn-2 user",
    ]


def test_a_result_without_a_turn_is_a_turn_of_its_own() -> None:
    talk = Talk()
    failed = result(None, "error_during_execution", is_error=True, errors=["No conversation found"])
    assert talk.hears(failed) == [
        "turn_started turn-1 user",
        "complete turn-1 No conversation found error",
        "error No conversation found",
    ]
    assert talk.hears(failed) == []
    assert talk.hears({**failed, "uuid": "r2"})[0] == "turn_started turn-2 user"


def test_an_interrupt_is_an_outcome_and_no_error() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("This is"), aborted=True))
    told = talk.hears(
        result(
            None,
            "error_during_execution",
            is_error=True,
            errors=["[ede_diagnostic] x"],
            terminal_reason="aborted_streaming",
        )
    )
    assert told == ["complete turn-1 interrupted"]
    assert talk.last("complete")["data"]["is_error"] is False
    assert "errors" not in talk.last("complete")["data"]


def test_an_interrupt_that_the_cli_words_as_an_error_of_the_api_is_none() -> None:
    talk = Talk()
    line = assistant(text("API Error: Request was aborted."), model="<synthetic>", isApiErrorMessage=True)
    talk.hears(init(), line, user(text("[Request interrupted by user]")))
    told = talk.hears(result(None, "error_during_execution", is_error=True, errors=["Request was aborted."]))
    assert told == ["complete turn-1 interrupted"]
    assert "error" not in talk.last("complete")


def test_an_interrupt_may_end_in_success() -> None:
    talk = Talk()
    assert (
        talk.hears(init(), result("", terminal_reason="aborted_tools"))[-1] == "complete turn-1 interrupted"
    )


def test_an_interrupt_we_sent_explains_the_error_that_follows() -> None:
    talk = Talk()
    talk.says(user("Go"))
    talk.hears(init("1.0"))
    talk.says(control("i1", "interrupt"))
    assert talk.hears(result(None, "error_during_execution")) == ["complete turn-1 interrupted"]
    talk.says(control("i2", "interrupt"))


def test_limits_are_outcomes_of_their_own() -> None:
    talk = Talk()
    told = talk.hears(init(), result(None, "error_max_turns", is_error=False))
    assert told[1:] == [
        "complete turn-1 The turn reached its maximum number of rounds. max_turns",
        "error The turn reached its maximum number of rounds.",
    ]
    assert talk.last("error")["code"] == "error_max_turns"
    talk.hears(init(), result(None, "error_max_budget_usd", uuid="r2", errors=["Budget of $1 is spent"]))
    assert talk.last("complete")["data"]["outcome"] == "budget"
    talk.hears(init(), result(None, "cancelled", uuid="r3"))
    assert talk.last("complete")["data"]["outcome"] == "interrupted"


def test_an_error_without_words_gets_some() -> None:
    talk = Talk()
    talk.hears(init("1.0"), result(None, "error_during_execution"))
    assert talk.last("error")["error"] == "The turn failed without a reason given by the agent."
    talk.hears(init(), result(None, "error_during_execution", uuid="r2", errors=["[ede_diagnostic] x", ""]))
    assert talk.last("error")["error"] == "[ede_diagnostic] x"


def test_an_error_of_the_api_is_said_once_with_its_kind() -> None:
    talk = Talk()
    talk.hears(init())
    line = assistant(text("API Error: 500"), model="<synthetic>", error="server_error", api_error_status=500)
    assert talk.hears(line) == ["message_chunk API Error: 500 synthetic"]
    told = talk.hears(result("API Error: 500", is_error=True, api_error_status=500))
    assert told == ["complete turn-1 API Error: 500 error", "error API Error: 500"]
    assert talk.last("error").items() >= {"code": "server_error", "status": 500}.items()
    assert talk.last("complete")["data"]["errors"] == ["API Error: 500"]


def test_an_error_that_the_turn_survives_is_said_before_its_end() -> None:
    talk = Talk()
    talk.hears(
        init(), assistant(text("Too long"), error="max_output_tokens"), assistant(text("Shorter"), id="m2")
    )
    assert talk.hears(result("Shorter")) == ["error Too long", "complete turn-1 completed"]
    assert talk.last("error")["code"] == "max_output_tokens"


def test_an_error_without_text_is_named_by_its_kind() -> None:
    talk = Talk()
    talk.hears(init(), assistant(error="billing_error"), result(None, "error_during_execution"))
    assert talk.last("error").items() >= {"error": "billing_error", "code": "billing_error"}.items()


def test_an_error_of_a_subagent_is_said_at_once() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t", "Task")))
    assert talk.hears(assistant(text("Limit"), parent="t", error="rate_limit")) == [
        "message_chunk [t] Limit",
        "error [t] Limit",
    ]


def test_the_end_of_the_process_ends_all_that_was_open() -> None:
    talk = Talk()
    talk.says(user("Go", uuid=P1))
    talk.hears(
        init(),
        assistant(tool_use("t")),
        control("c1", "can_use_tool", tool_name="Bash", input={"command": "ls"}),
    )
    assert talk.ends(Ended("exited", exit_code=137, signal="SIGKILL", stderr_tail="killed")) == [
        "tool_update t error process_exited The agent's process ended before the tool answered.",
        "permission_cancelled t c1 process_exited",
        "complete turn-1 The agent's process ended by SIGKILL before the turn did. process_exited",
        "error The agent's process ended by SIGKILL before the turn did.",
        "process_status the process ended by itself exited",
    ]
    data = talk.last("complete")["data"]
    assert (
        data.items()
        >= {"exit_code": 137, "signal": "SIGKILL", "stderr_tail": "killed", "is_error": True}.items()
    )
    assert talk.last("error")["code"] == "process_exited"


def test_a_prompt_that_we_take_back_is_withdrawn_once() -> None:
    talk = Talk()
    talk.says(user("one", uuid=P1), user("two", uuid=P2), user("three", uuid=P3))
    talk.says(control("c1", "cancel_async_message", message_uuid=P2))
    assert talk.hears(answer("c1", cancelled=True)) == [f"withdrawn {P2}"]
    talk.says(control("c2", "cancel_async_message", message_uuid=P3))
    assert talk.hears(answer("c2", cancelled=False)) == []
    talk.says(control("c3", "cancel_async_message", message_uuid=P2))
    assert talk.hears(answer("c3", cancelled=True)) == []


def test_prompts_that_waited_are_withdrawn_with_the_process() -> None:
    talk = Talk()
    talk.says(user("one", uuid=P1), user("two", uuid=P2), user("three", uuid=None))
    told = talk.ends(Ended("exited", exit_code=1))
    assert told[-2:] == [f"withdrawn {P2}", "process_status the process ended by itself exited"]
    assert not any(P1 in line for line in told)


def test_the_end_of_an_idle_process_is_only_said() -> None:
    talk = Talk()
    talk.hears(init(), result("x"))
    assert talk.ends(Ended("stopped", exit_code=0)) == ["process_status stop requested exited"]


def test_an_agent_that_is_given_up_hung() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("API Error"), error="server_error"))
    assert talk.ends(Ended("hung"))[0].endswith("hung")
    assert talk.last("complete")["data"]["errors"] == [
        "API Error",
        "The agent did not react and was given up.",
    ]
    assert talk.last("error")["code"] == "server_error"


def test_an_exit_code_is_part_of_the_reason() -> None:
    talk = Talk()
    talk.hears(init())
    talk.ends(Ended("exited", exit_code=1))
    assert talk.last("error")["error"] == "The agent's process ended with code 1 before the turn did."
    talk.hears(init())
    talk.ends(Ended("exited"))
    assert talk.last("error")["error"] == "The agent's process ended before the turn did."


def test_the_next_process_goes_on_with_the_session() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A"), uuid="a1"), result("A", total_cost_usd=0.5))
    talk.ends()
    assert talk.hears(init(), assistant(text("B"), uuid="a2"))[0] == "turn_started turn-2 user"
    assert talk.last("session_status")["data"]["session_status"] == "resumed"
    talk.hears(result("B", uuid="r2", total_cost_usd=0.25))
    assert talk.last("complete")["data"].items() >= {"cost_usd": 0.25, "total_cost_usd": 0.25}.items()


def test_the_same_turn_again_comes_out_whole() -> None:
    talk = Talk()

    def turn(number: int) -> list[JsonObject]:
        return [
            init(),
            message_start(),
            delta("Hi"),
            assistant(text("Hi"), uuid=f"text-{number}"),
            assistant(tool_use(f"t{number}"), uuid=f"call-{number}"),
            user(tool_result(f"t{number}"), uuid=f"result-{number}"),
            result("Hi", uuid=f"end-{number}"),
        ]

    first = talk.hears(*turn(1))
    assert [line.replace("turn-2", "turn-1").replace("t2", "t1") for line in talk.hears(*turn(2))] == first
    assert len(first) == 5


def test_a_process_that_ends_in_an_interrupted_turn_leaves_it_interrupted() -> None:
    for ended, outcome in (
        (Ended("exited", exit_code=1), "interrupted"),
        (Ended("stopped", exit_code=0), "process_exited"),
        (Ended("hung"), "hung"),
    ):
        talk = Talk()
        talk.hears(init())
        talk.says(control("i1", "interrupt"))
        talk.ends(ended)
        assert talk.last("complete")["data"]["outcome"] == outcome
        assert any(event.type == "error" for event in talk.events) is (outcome != "interrupted")


def test_an_agent_that_gives_its_lines_the_same_ids_in_each_turn_ends_its_turns() -> None:
    talk = Talk()
    turn = [assistant(text("Hi"), id="m1", uuid="u2"), result("Hi", uuid="u3")]
    talk.hears(init())
    for number in (1, 2):
        talk.says(user("hello", uuid=f"p{number}"))
        assert talk.hears(*turn)[-1] == f"complete turn-{number} completed"


def about_a_task(words: str = "", named: list[str] | None = None) -> JsonObject:
    return result(words, origin={"kind": "task-notification"}, user_message_uuids=named or [])


def test_the_empty_result_of_a_task_ends_no_prompt() -> None:
    talk = Talk()
    talk.says(user("Go on.", uuid="p1"))
    assert talk.hears(lifecycle("p1", "queued"), init(), about_a_task()) == []
    assert talk.translator.busy
    assert talk.hears(
        lifecycle("p1", "started"),
        init(),
        assistant(text("Done.")),
        result("Done.", uuid="r2", user_message_uuids=["p1"]),
    ) == ["message_chunk Done.", "complete turn-1 completed"]
    assert talk.last("complete")["data"]["prompts"] == ["p1"]


def test_what_is_said_of_a_task_is_a_turn_without_the_prompt_that_waits() -> None:
    talk = Talk()
    talk.says(user("Go on.", uuid="p1"))
    told = talk.hears(
        lifecycle("p1", "queued"), init(), assistant(text("It ended.")), about_a_task("It ended.")
    )
    assert told == ["message_chunk It ended.", "complete turn-1 completed", "turn_started turn-2 queued"]
    data = talk.last("complete")["data"]
    assert (data["origin"], data.get("prompts")) == ("background", None)
    talk.hears(
        lifecycle("p1", "started"),
        init(),
        assistant(text("Done."), id="m2", uuid="a2"),
        result("Done.", uuid="r2"),
    )
    assert talk.last("complete")["data"]["prompts"] == ["p1"]
    assert talk.last("complete")["operation_id"] == "turn-2"


def test_a_prompt_that_no_report_names_gets_the_turn_after_the_one_of_the_task() -> None:
    talk = Talk()
    talk.says(user("Go on.", uuid="p1"))
    told = talk.hears(init(), assistant(text("It ended.")), about_a_task("It ended."), init())
    assert told[-1] == "turn_started turn-2 queued"
    talk.hears(assistant(text("Done."), id="m2", uuid="a2"), result("Done.", uuid="r2"))
    assert talk.last("complete")["data"]["prompts"] == ["p1"]


def test_a_result_of_a_task_that_names_the_prompt_ends_it() -> None:
    talk = Talk()
    talk.says(user("Go on.", uuid="p1"))
    talk.hears(init(), lifecycle("p1", "started"), about_a_task(named=["p1"]))
    assert talk.last("complete")["data"]["prompts"] == ["p1"]


def test_what_the_cli_says_twice_in_the_models_name_is_told_once() -> None:
    talk = Talk()
    words = "You have reached a limit."
    lines = [
        assistant(text(words), id=f"x{number}", uuid=f"a{number}", model="<synthetic>", error="rate_limit")
        for number in range(3)
    ]
    told = talk.hears(init(), *lines, result(words, is_error=True))
    assert [one for one in told if one.startswith("message_chunk")] == [f"message_chunk {words} synthetic"]
    assert told[-2].startswith("complete")
