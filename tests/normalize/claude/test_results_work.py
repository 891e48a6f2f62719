"""Results of the network, subagents, MCP servers and everything else; and of anything whatever."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_pairs import answered, body, output, pairs, recorded

from recordings import recording
from turnwire.normalize.claude.results.answer import PermissionOutcome
from turnwire.normalize.claude.tools import OTHER_AGENTS, TOOLS
from turnwire.normalize.events import ToolUpdate, from_json, to_json

TEXT_ONLY = ["1.0.120", "2.0.14"]
STRUCTURED = ["2.1.101", "2.1.330"]
ALL = TEXT_ONLY + STRUCTURED


@pytest.mark.parametrize("version", ALL)
def test_a_page_that_cannot_be_fetched_is_an_error(version: str) -> None:
    done = recorded(version, "tool-web", "WebFetch")
    assert done.reason == "failed"
    assert body(done)["is_error"] is True
    assert body(done)["response"].startswith("Unable to verify if domain example.com")


@pytest.mark.parametrize(("code", "is_error"), [(200, False), (404, True)])
def test_a_page_has_its_status_and_size(code: int, is_error: bool) -> None:
    structured = {"bytes": 9, "code": code, "codeText": "", "result": "It says hi.", "url": "https://x/2"}
    found = body(answered("WebFetch", {"url": "https://x", "prompt": "p"}, "It says hi.", structured))
    assert found == {
        "url": "https://x/2",
        "method": "GET",
        "prompt": "p",
        "response": "It says hi.",
        "is_error": is_error,
        "status": code,
        "bytes": 9,
    }


def test_a_page_in_text_alone_is_its_text() -> None:
    assert body(answered("WebFetch", {"url": "u"}, "hi"))["response"] == "hi"


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_search_of_the_web_answers(version: str) -> None:
    found = body(recorded(version, "tool-web", "WebSearch"))
    assert (found["response"], found["results"], found["is_error"]) == ("OK.", [], False)


def test_a_search_of_the_web_has_its_hits() -> None:
    hit = {"title": "T", "url": "https://x"}
    structured = {"results": [{"tool_use_id": "s", "content": [hit, "no hit"]}, "Summary."]}
    found = body(answered("WebSearch", {"query": "q"}, "…", structured))
    assert (found["results"], found["response"]) == ([hit], "Summary.")


def test_a_search_of_the_web_in_text_alone_has_its_hits_too() -> None:
    text = 'Web search results for query: "q"\n\nLinks: [{"title":"T","url":"https://x"}]\n\nSummary.\n\n\nREMINDER: You MUST cite.'
    found = body(answered("WebSearch", {"query": "q"}, text))
    assert found["results"] == [{"title": "T", "url": "https://x"}]
    assert found["response"].endswith("Summary.")
    assert body(answered("WebSearch", {"query": "q"}, "Links: [broken]"))["results"] == []
    assert body(answered("WebSearch", {"query": "q"}, "Links: " + "[" * 99_999 + "]"))["results"] == []


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_subagent_has_its_report_and_totals(version: str) -> None:
    found = output(recorded(version, "hooks-observe", "Agent"))
    assert found["text"] == "Sub done."
    assert (found["status"], found["total_tokens"], found["tool_use_count"]) == ("completed", 14249, 1)
    assert found["duration_ms"] > 0
    assert found["agent_id"].startswith("a")


@pytest.mark.parametrize("version", TEXT_ONLY)
def test_a_subagent_in_text_alone_has_its_report(version: str) -> None:
    assert output(recorded(version, "subagent", "Task")) == {
        "status": "completed",
        "text": "There are two source files.",
    }


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_subagents_totals_are_read_from_text(version: str) -> None:

    pair = next(pair for pair in pairs(recording(version, "hooks-observe")) if pair.name == "Agent")
    from_text = output(answered("Agent", pair.input, pair.result["content"]))
    from_structure = output(pair.enriched())
    from_structure.pop("model", None)
    assert from_text == from_structure


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_subagent_in_the_background_goes_on(version: str) -> None:
    done = recorded(version, "subagent-background", "Agent")
    assert done.background
    assert body(done)["background"] is True
    assert output(done)["status"] == "async_launched"
    assert "text" not in output(done)


def test_a_subagent_in_the_background_is_known_by_text() -> None:
    done = answered(
        "Agent", {"prompt": "p"}, "Async agent launched successfully.\nagentId: abc (internal ID)\nMore."
    )
    assert (done.background, output(done)) == (True, {"status": "async_launched", "agent_id": "abc"})


@pytest.mark.parametrize("version", ALL)
def test_a_subagent_that_was_interrupted_says_so(version: str) -> None:
    done = recorded(version, "interrupt-subagent", "Agent" if version in STRUCTURED else "Task")
    assert done.reason == "interrupted"
    assert output(done)["status"] == "interrupted"


def test_a_workflow_goes_on_in_the_background() -> None:
    assert answered("Workflow", {"name": "w"}, "…", {"status": "async_launched", "taskId": "w1"}).background
    assert not answered("Workflow", {"name": "w"}, "…", {"status": "done"}).background


@pytest.mark.parametrize("version", ALL)
def test_an_mcp_tool_answers_with_parts(version: str) -> None:
    found = body(recorded(version, "mcp-sdk-permission", "mcp__calc__picture"))
    assert found["output"][0] == {"type": "text", "text": "A picture:"}
    assert (found["output"][1]["type"], found["output"][1]["media_type"], found["output"][1]["size"]) == (
        "image",
        "image/png",
        74,
    )
    assert found["is_error"] is False


@pytest.mark.parametrize("version", ALL)
def test_an_mcp_tool_fails_in_its_own_words(version: str) -> None:
    done = recorded(version, "mcp-sdk-permission", "mcp__calc__fail")
    assert (done.status, done.error) == ("error", "it failed")
    assert body(done)["output"] == [{"type": "text", "text": "it failed"}]
    assert body(done)["is_error"] is True


def test_an_error_without_words_of_its_own_is_the_whole_text() -> None:
    assert answered("Unheard", {}, "all of it", "Error: ", is_error=True).error == "all of it"
    assert answered("Unheard", {}, "all of it", "Error: another", is_error=True).error == "all of it"


@pytest.mark.parametrize("version", ALL)
def test_a_tool_that_does_not_exist_is_generic(version: str) -> None:
    done = recorded(version, "tool-bash", "NoSuchTool")
    assert body(done) == {
        "name": "NoSuchTool",
        "input": {"foo": 1},
        "output": "Error: No such tool available: NoSuchTool",
    }


def test_a_generic_tool_has_whatever_came_back() -> None:
    assert output(answered("Unheard", {}, "text")) == "text"
    assert output(answered("Unheard", {}, "text", {"a": 2**60 + 1})) == {"a": 2**60 + 1}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    assert output(answered("Unheard", {}, [image])) == [
        {"type": "image", "media_type": "image/png", "size": 2, "base64": "aGk="}
    ]


def test_a_skill_has_arguments_and_result() -> None:
    assert body(recorded("2.1.330", "tool-skill", "Skill")) == {
        "label": "Skill: greet",
        "details": {
            "input": {"skill": "greet", "args": "Ada"},
            "output": {"success": True, "commandName": "greet"},
        },
    }


def test_a_tool_search_names_what_it_found() -> None:
    found = body(recorded("2.1.330", "tool-skill", "ToolSearch"))
    assert found["details"]["output"]["matches"] == ["WebFetch", "NotebookEdit"]


@pytest.mark.parametrize("content", [None, [], ""])
def test_a_result_may_be_empty(content: Any) -> None:
    for name in TOOLS:
        done = answered(name, {}, content)
        assert done.status == "complete"


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)

FIELDS = [
    "type", "file", "stdout", "stderr", "interrupted", "isImage", "backgroundTaskId", "filenames", "content", "mode",
    "numMatches", "numFiles", "structuredPatch", "originalFile", "oldString", "newString", "replaceAll", "userModified",
    "status", "agentId", "totalTokens", "oldTodos", "newTodos", "statusChange", "task", "tasks", "answers", "plan",
    "filePath", "results", "code", "result", "url", "cell_id", "old_source", "new_source", "original_file", "pages",
    "error", "todos", "harnessNoteCount", "harnessTailCount", "message", "task_id", "exitCode", "totalFiles",
]  # fmt: skip

structures = (
    st.dictionaries(
        st.sampled_from(FIELDS),
        json_values | st.sampled_from(["text", "notebook", "image", "pdf", "parts", "create", "count"]),
        max_size=9,
    )
    | json_values
)
SAID = [
    "", "Exit code 3\n", "<tool_use_error>", "     1→a\n", '<cell id="x">', "Found 3 files\n", "- /a/\n  - b", "a:1:b\n--\n",
    "<persisted-output>\n", "</persisted-output>", "[Request interrupted by user]", "\n<status>running</status>",
    "on a snippet of the edited file:\n", '"Q"="', "Task #1", "<usage>total_tokens: x</usage>", "[Subagent hand-back]\n",
    "Links: [1]", "Command in background with ID: x", "Async agent launched",
]  # fmt: skip
contents = st.lists(st.sampled_from(SAID) | st.text(max_size=6), max_size=5).map("".join) | json_values
names = st.sampled_from([*TOOLS, *OTHER_AGENTS, "mcp__a__b", "Unheard"])
calls = (
    st.fixed_dictionaries(
        {},
        optional={
            "command": st.text(max_size=9),
            "path": st.text(max_size=4),
            "file_path": st.text(max_size=4),
            "pattern": st.just("x"),
            "output_mode": st.sampled_from(["content", "count", "files_with_matches"]),
            "-C": st.integers(0, 2),
            "old_string": st.text(max_size=3),
            "new_string": st.text(max_size=3),
            "edits": st.just([{"old_string": "a", "new_string": "b"}, {}]),
            "questions": st.just([{"question": "Q"}]),
            "edit_mode": st.sampled_from(["insert", "delete"]),
            "cell_id": st.just("c"),
            "taskId": st.just("1"),
        },
    )
    | json_values
)


@given(
    name=names,
    call=calls,
    content=contents,
    structured=structures,
    is_error=st.booleans(),
    permission_outcome=st.sampled_from((None, "asked", "allowed", "denied", "cancelled")),
)
def test_no_result_whatever_makes_the_normalizer_fail(
    *,
    name: str,
    call: Any,
    content: Any,
    structured: Any,
    is_error: bool,
    permission_outcome: PermissionOutcome | None,
) -> None:
    done = answered(name, call, content, structured, is_error=is_error, permission_outcome=permission_outcome)
    assert done.status == ("error" if is_error else "complete")
    event = ToolUpdate(
        tool_call_id="t",
        tool_status=done.status,
        normalized=done.payload,
        error=done.error,
        reason=done.reason,
        background=done.background,
    )
    assert from_json(to_json(event)) == event
