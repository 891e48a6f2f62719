"""Tool calls: one call, one end, in every order that CLIs and subagents find."""

from tests.normalize.lines import (
    Talk,
    assistant,
    init,
    result,
    system,
    text,
    tool_result,
    tool_use,
    user,
)

NO_RESULT = "no_result The turn ended without a result for this call."
REJECTED = [{"id": "b", "permission_decision": {"decision": "reject"}}]
INTERRUPTED = "interrupted The turn was interrupted before the tool answered."


def launched(call: str = "t") -> dict[str, object]:
    """The result of a call whose subagent goes on in the background."""
    answer = user(tool_result(call, [{"type": "text", "text": "Async agent launched successfully."}]))
    return {**answer, "tool_use_result": {"isAsync": True, "status": "async_launched", "agentId": "b1"}}


def agent(call: str = "t") -> dict[str, object]:
    return assistant(tool_use(call, "Agent", prompt="p", description="d", run_in_background=True))


def test_a_call_is_running_until_its_result() -> None:
    talk = Talk()
    talk.hears(init())
    assert talk.hears(assistant(tool_use("t", command="ls src"))) == ["tool_call t running"]
    assert (
        talk.last("tool_call").items()
        >= {"tool_name": "Bash", "tool_title": "ls src", "block_index": 0}.items()
    )
    assert talk.hears(user(tool_result("t", "app.py"), uuid="u7")) == ["tool_update t complete"]
    update = talk.last("tool_update")
    assert (
        update.items()
        >= {"tool_name": "Bash", "tool_title": "ls src", "uuid": "u7", "message_id": "m1"}.items()
    )
    assert update["normalized"]["shell_exec"]["output"]["stdout"] == "app.py"


def test_a_call_keeps_the_payload_it_was_published_with() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")), user(tool_result("t", "app.py")))
    assert "output" not in talk.last("tool_call")["normalized"]["shell_exec"]


def test_a_failed_call_says_why() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")))
    told = talk.hears(user(tool_result("t", "Exit code 2\nno such file", is_error=True)))
    assert told[0].startswith("tool_update t error failed")
    assert talk.last("tool_update")["normalized"]["shell_exec"]["output"]["exit_code"] == 2


def test_a_repeated_call_or_result_is_no_news() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")))
    assert talk.hears(assistant(tool_use("t"))) == []
    talk.hears(user(tool_result("t")))
    assert talk.hears(user(tool_result("t")), assistant(tool_use("t"))) == []


def test_a_result_without_a_call_is_kept_until_it_is_clear_that_none_comes() -> None:
    talk = Talk()
    assert talk.hears(user(tool_result("idle", "text"))) == ["tool_update idle complete"]
    talk.hears(init())
    assert talk.hears(user(tool_result("unseen", "text"), parent="p"), user(tool_result("unseen"))) == []
    told = [talk.hears(assistant(text(str(number)), id=f"m{number}")) for number in range(64)]
    assert [line for line in told if "tool_update [p] unseen complete" in line] == told[-1:]
    talk.hears(user(tool_result("another")))
    assert talk.hears(result("Done"))[0] == "tool_update another complete"
    talk.hears(init(), user(tool_result("last")))
    assert talk.ends()[0] == "tool_update last complete"


def test_a_result_that_comes_before_its_call_is_told_with_it() -> None:
    talk = Talk()
    talk.hears(init())
    edited = tool_result("e", "The file has been updated.")
    assert (
        talk.hears(user(edited), user(tool_result("b", "No", is_error=True), tool_result_meta=REJECTED)) == []
    )
    edit = tool_use("e", "Edit", file_path="/f", old_string="one", new_string="two")
    assert talk.hears(assistant(edit)) == ["tool_call e running", "tool_update e complete"]
    assert "+two" in talk.last("tool_update")["normalized"]["modify_file"]["mutations"][0]["diff"]
    assert talk.hears(assistant(tool_use("b", command="ls"))) == [
        "tool_call b running",
        "tool_update b error denied No",
    ]
    assert talk.hears(result("Done"))[0] == "message_chunk Done result"


def test_a_result_waits_for_a_call_that_comes_fifty_lines_later() -> None:
    talk = Talk()
    talk.hears(init(), user(tool_result("t", "app.py")))
    for number in range(50):
        assert talk.hears(assistant(text(f"{number}"), id=f"m{number}")) == [f"message_chunk {number}"]
    assert talk.hears(assistant(tool_use("t", command="ls src"))) == [
        "tool_call t running",
        "tool_update t complete",
    ]


def test_no_more_than_a_few_results_wait_for_their_call() -> None:
    talk = Talk()
    talk.hears(init())
    told = [talk.hears(user(tool_result(f"t{number}"))) for number in range(100)]
    assert told == [[]] * 64 + [[f"tool_update t{number} complete"] for number in range(64, 100)]


def test_a_call_without_a_result_ends_with_its_turn() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")))
    assert talk.hears(result("Deferred")) == [
        "tool_update t complete no_result",
        "message_chunk Deferred result",
        "complete turn-1 completed",
    ]
    assert "error" not in talk.last("tool_update")
    talk.hears(init(), assistant(tool_use("u")))
    assert talk.hears(result(None, "error_max_turns", uuid="r2"))[:2] == [
        f"tool_update u error {NO_RESULT}",
        "complete turn-2 The turn reached its maximum number of rounds. max_turns",
    ]


def test_a_result_that_comes_after_the_end_of_its_call_is_no_news() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")), result("Done"))
    assert talk.hears(user(tool_result("t"))) == []
    talk.hears(init(), user(tool_result("unseen")), result("Done", uuid="r2"), init())
    assert talk.hears(user(tool_result("t")), user(tool_result("unseen"))) == []
    assert talk.hears(assistant(tool_use("t"), uuid="a2"), user(tool_result("t"), uuid="u2")) == [
        "tool_call t#turn-3.2 running",
        "tool_update t#turn-3.2 complete",
    ]
    assert talk.hears(assistant(tool_use("unseen"))) == []


def test_calls_of_a_subagent_that_is_sent_on_outlive_the_turn() -> None:
    talk = Talk()
    talk.hears(init(), agent(), system("task_started", task_id="b1", tool_use_id="t"), launched())
    talk.hears(
        result("Started"), system("task_notification", task_id="b1", tool_use_id="t", status="completed")
    )
    talk.hears(init(), assistant(tool_use("s", "SendMessage", to="helper", message="Go on"), id="m2"))
    talk.hears(system("task_started", task_id="b1", tool_use_id="s"), user(tool_result("s", "Resuming")))
    talk.hears(assistant(tool_use("n"), tool_use("lost"), parent="t", id="n1"))
    assert talk.hears(result("Asked", uuid="r2")) == [
        "message_chunk Asked result",
        "complete turn-2 completed",
    ]
    assert talk.hears(user(tool_result("n"), parent="t")) == ["tool_update [t] n complete"]
    assert talk.last("tool_update")["tool_name"] == "Bash"
    over = system("task_notification", task_id="b1", tool_use_id="s", status="stopped")
    assert talk.hears(over) == [f"tool_update [t] lost error {INTERRUPTED}", "task_update s b1 stopped"]


def test_a_subagent_of_the_foreground_that_is_sent_on_works_in_the_background() -> None:
    talk = Talk()
    talk.hears(init(), agent(), system("task_started", task_id="b1", tool_use_id="t"))
    talk.hears(system("task_notification", task_id="b1", tool_use_id="t", status="completed"))
    talk.hears(user(tool_result("t")), assistant(tool_use("s", "SendMessage", to="t", message="On"), id="m2"))
    talk.hears(system("task_started", task_id="b1", tool_use_id="s"), user(tool_result("s", "Resuming")))
    talk.hears(assistant(tool_use("n"), parent="t", id="n1"))
    assert talk.hears(result("Asked"))[-1] == "complete turn-1 completed"
    assert talk.hears(user(tool_result("n"), parent="t")) == ["tool_update [t] n complete"]


def test_a_call_that_was_interrupted_says_so() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")), user(text("[Request interrupted by user for tool use]")))
    assert talk.hears(result(None, "error_during_execution"))[0] == f"tool_update t error {INTERRUPTED}"


def test_results_may_come_before_later_blocks_of_the_message() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t1")))
    assert talk.hears(user(tool_result("t1")), assistant(tool_use("t2")), user(tool_result("t2"))) == [
        "tool_update t1 complete",
        "tool_call t2 running",
        "tool_update t2 complete",
    ]
    assert talk.last("tool_call")["block_index"] == 1


def test_several_results_in_one_message_end_several_calls() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t1"), tool_use("t2")))
    line = user(tool_result("t1", "a"), tool_result("t2", "b"), tool_use_result={"stdout": "of one of them"})
    assert talk.hears(line) == ["tool_update t1 complete", "tool_update t2 complete"]
    assert talk.last("tool_update")["normalized"]["shell_exec"]["output"]["stdout"] == "b"


def test_tools_of_the_api_answer_within_the_message() -> None:
    talk = Talk()
    talk.hears(init())
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u", "title": "t"}]}
    assert talk.hears(assistant(call, found, text("Found."))) == [
        "tool_call s1 running",
        "tool_update s1 complete",
        "message_chunk Found.",
    ]
    failed = {
        **found,
        "tool_use_id": "s2",
        "content": {"type": "web_search_tool_result_error", "error_code": "x"},
    }
    assert talk.hears(assistant({**call, "id": "s2"}, failed))[1].startswith("tool_update s2 error")


def test_results_in_odd_places_are_results() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t1"), tool_use("t2")))
    assert talk.hears(assistant(tool_result("t1"), id="m2")) == ["tool_update t1 complete"]
    odd = {"type": "mcp_tool_result", "tool_use_id": "t2", "content": "x"}
    assert talk.hears(user(odd)) == ["tool_update t2 complete"]


def test_a_block_of_an_unknown_kind_costs_nothing_else() -> None:
    talk = Talk()
    talk.hears(init())
    assert talk.hears(assistant(text("A"), {"type": "hologram", "data": 1}, text("B"))) == [
        "message_chunk A",
        "notice Content of type hologram in a message of the assistant content_block",
        "message_chunk B",
    ]
    assert talk.last("notice")["details"] == {"block": {"type": "hologram", "data": 1}}
    assert talk.last("message_chunk")["block_index"] == 2
    talk.hears(user({"type": "hologram"}), user(thinking_block()))
    assert talk.last("notice")["details"]["block"]["thinking"] == "?"


def thinking_block() -> dict[str, str]:
    return {"type": "thinking", "thinking": "?"}


def test_progress_of_a_tool_is_an_update_that_ends_nothing() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t")))
    progress = {"type": "tool_progress", "tool_use_id": "t", "tool_name": "Bash", "elapsed_time_seconds": 2.5}
    assert talk.hears(progress) == ["tool_update t running"]
    assert talk.last("tool_update")["elapsed_ms"] == 2500
    assert talk.hears({**progress, "tool_use_id": "x", "parent_tool_use_id": "p"}) == [
        "tool_update [p] x running"
    ]


def test_calls_of_a_subagent_name_the_call_they_belong_to() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t", "Task", prompt="p", description="d")))
    assert talk.hears(
        user(text("p"), parent="t"),
        assistant(text("Looking"), tool_use("n"), parent="t", id="n1"),
        user(tool_result("n"), parent="t"),
        user(tool_result("t", "Two files")),
        result("Two files"),
    ) == [
        "user_message [t] p",
        "message_chunk [t] Looking",
        "tool_call [t] n running",
        "tool_update [t] n complete",
        "tool_update t complete",
        "message_chunk Two files result",
        "complete turn-1 completed",
    ]


def test_an_interrupted_subagent_says_so_in_the_users_name() -> None:
    talk = Talk()
    talk.hears(init())
    assert talk.hears(user(text("[Request interrupted by user]"), parent="t")) == [
        "user_message [t] [Request interrupted by user] synthetic"
    ]


def test_a_background_subagent_outlives_its_turn() -> None:
    talk = Talk()
    talk.hears(init(), agent())
    assert talk.hears(launched()) == ["tool_update t complete background"]
    assert talk.hears(assistant(tool_use("n"), parent="t", id="n1"), result("Started")) == [
        "tool_call [t] n running",
        "message_chunk Started result",
        "complete turn-1 completed",
    ]
    assert talk.hears(user(tool_result("n"), parent="t")) == ["tool_update [t] n complete"]
    assert "operation_id" not in talk.last("tool_update")


def test_calls_deep_within_the_background_outlive_the_turn_as_well() -> None:
    talk = Talk()
    talk.hears(init(), agent(), launched())
    talk.hears(assistant(tool_use("n", "Agent", prompt="p"), parent="t", id="n1"))
    talk.hears(assistant(tool_use("nn"), parent="n", id="nn1"))
    assert talk.hears(result("Started"))[-1:] == ["complete turn-1 completed"]
    assert talk.hears(user(tool_result("nn"), parent="n")) == ["tool_update [n] nn complete"]


def test_what_a_subagent_waited_for_ends_with_its_task() -> None:
    talk = Talk()
    talk.hears(init(), agent(), launched(), assistant(tool_use("n"), parent="t", id="n1"), result("Started"))
    over = system("task_notification", task_id="b1", tool_use_id="t", status="stopped")
    assert talk.hears(over) == [f"tool_update [t] n error {INTERRUPTED}", "task_update t b1 stopped"]
    assert talk.hears({**over, "status": "completed"}) == ["task_update t b1 completed"]


def test_a_task_says_that_it_runs_in_the_background_before_its_call_does() -> None:
    talk = Talk()
    talk.hears(init(), agent())
    started = system("task_started", task_id="b1", tool_use_id="t", description="d", is_backgrounded=True)
    assert talk.hears(started) == ["task_update t b1 running"]
    talk.hears(system("task_started", task_id="b2", is_backgrounded=True))
    talk.hears(assistant(tool_use("n"), parent="t", id="n1"), launched())
    assert talk.hears(result("Started"))[-1] == "complete turn-1 completed"
    over = system("task_notification", task_id="b1", tool_use_id="t", status="completed")
    assert talk.hears(over)[0] == "tool_update [t] n complete no_result"


def test_tasks_are_followed_from_start_to_end() -> None:
    talk = Talk()
    talk.hears(init())
    usage = {"total_tokens": 14125, "tool_uses": 1, "duration_ms": 53.4}
    assert talk.hears(
        system(
            "task_started", task_id="b1", tool_use_id="t", description="Slow", subagent_type="general-purpose"
        ),
        system("task_progress", task_id="b1", description="Running ls", usage=usage, last_tool_name="Bash"),
        system("task_updated", task_id="b1", patch={"status": "completed"}),
        system(
            "task_notification", task_id="b1", status="completed", summary="Two files", output_file="/tmp/o"
        ),
    ) == [
        "task_update t b1 running",
        "task_update t b1 running",
        "task_update t b1 completed",
        "task_update t b1 completed",
    ]
    last = talk.last("task_update")
    assert last.items() >= {"task_type": "local_agent", "description": "Slow", "summary": "Two files"}.items()
    assert "exit_code" not in last
    said = 'Background command "Tick" failed with exit code 3'
    talk.hears(system("task_notification", task_id="b2", status="failed", summary=said))
    assert talk.last("task_update")["exit_code"] == 3
    assert talk.hears(system("task_updated", task_id="unseen", patch={})) == ["task_update unseen running"]


def test_a_plan_in_the_call_is_shown() -> None:
    talk = Talk()
    talk.hears(init())
    assert talk.hears(assistant(tool_use("t", "ExitPlanMode", plan="# Plan"))) == [
        "tool_call t running",
        "agent_plan t",
    ]
    assert talk.last("agent_plan")["plan_content"] == "# Plan"


def test_a_refusal_beside_the_result_is_a_denial() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t1"), tool_use("t2")))
    meta = [{"id": "t1", "permission_decision": {"decision": "reject"}}]
    assert talk.hears(user(tool_result("t1", "No, thanks", is_error=True), tool_result_meta=meta)) == [
        "tool_update t1 error denied No, thanks"
    ]
    other = user(tool_result("t2", "No, thanks", is_error=True), tool_result_meta=meta)
    assert talk.hears(other) == ["tool_update t2 error failed No, thanks"]
    unseen = [{"id": "t3", "permission_decision": {"decision": "reject"}}]
    assert talk.hears(user(tool_result("t3", "x", is_error=True), tool_result_meta=unseen), result("Done"))[
        0
    ].startswith("tool_update t3 error denied")


def test_a_task_of_a_subagent_says_whose_it_is() -> None:
    talk = Talk()
    talk.hears(init(), agent())
    talk.hears(assistant(tool_use("b", command="sleep 9"), id="m2", parent="t"))
    for news in ("task_started", "task_progress", "task_notification"):
        talk.hears(system(news, task_id="k", tool_use_id="b"))
        assert talk.last("task_update")["parent_tool_call_id"] == "t"
    talk.hears(system("task_started", task_id="l", tool_use_id="t"))
    assert "parent_tool_call_id" not in talk.last("task_update")
