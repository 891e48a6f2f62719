"""What a call does and what came of it: told by an agent's fields, in whatever place and words it has them."""

from base64 import b64encode
from typing import Any

import pytest

from acp_talk import Event, Talk, only, shown, types

MARK = "\\ No newline at end of file\n"
HUNK = "@@ -7 +7 @@\n-a\n+b\n"
RELATIVE = "--- /w/a\n+++ /w/a\n@@ -1,1 +1,1 @@\n-a\n+b\n"


def ended(begin: Event, end: Event, agent: str = "") -> Event:
    """The end of a call that begins and ends with these fields."""
    talk = Talk(agent)
    talk.prompt(1)
    talk.update("tool_call", **{"toolCallId": "c", "title": "Work", "status": "in_progress", **begin})
    (event,) = talk.update("tool_call_update", **{"toolCallId": "c", "status": "completed", **end})
    return event


def done(begin: Event, end: Event, agent: str = "") -> tuple[str, Event]:
    """The kind and the body of what such a call does."""
    made = ended(begin, end, agent)["normalized"]
    return made["kind"], made[made["kind"]]


def result(*blocks: Event) -> Event:
    return {"rawOutput": {"result": {"content": [*blocks]}}}


@pytest.mark.parametrize(
    ("begin", "end", "told"),
    [
        pytest.param(
            {"title": "mcp__git__log", "rawInput": {"n": 3}},
            result({"type": "text", "text": "one"}),
            {"server": "git", "tool": "log", "input": {"n": 3}, "output": [{"type": "text", "text": "one"}]},
            id="by its name",
        ),
        pytest.param(
            {"title": "log (git MCP Server)"},
            result({"type": "image", "mimeType": "image/png", "data": "AAAA"}, {"type": "smell"}),
            {
                "server": "git",
                "tool": "log",
                "input": {},
                "output": [
                    {"type": "image", "media_type": "image/png", "base64": "AAAA"},
                    {"type": "unknown", "raw": {"type": "smell"}},
                ],
            },
            id="by its title",
        ),
        pytest.param(
            {"rawInput": {"server": "git", "tool": "log", "arguments": {"n": 3}}},
            {"rawOutput": "one"},
            {"server": "git", "tool": "log", "input": {"n": 3}, "output": [{"type": "text", "text": "one"}]},
            id="by its arguments",
        ),
        pytest.param(
            {"name": "log", "_meta": {"is_mcp_tool_call": True}},
            {"status": "failed"},
            {"server": "", "tool": "log", "input": {}, "is_error": True},
            id="by its mark, without a server",
        ),
        pytest.param(
            {"name": "log", "_meta": {"claudeCode": {"mcpServer": {"name": "git"}}}},
            {"content": shown("one")},
            {"server": "git", "tool": "log", "input": {}, "output": [{"type": "text", "text": "one"}]},
            id="by its server",
        ),
    ],
)
def test_a_tool_of_an_mcp_server_is_known_wherever_that_is_told(
    begin: Event, end: Event, told: Event
) -> None:
    assert done(begin, end) == ("mcp_tool", told)


@pytest.mark.parametrize(
    ("begin", "end", "kind", "told"),
    [
        pytest.param({"name": "EnterPlanMode"}, {}, "show_plan", {"operation": "enter"}, id="to plan"),
        pytest.param(
            {"name": "exit_plan_mode", "rawInput": {"plan": "Do it."}},
            {},
            "show_plan",
            {"operation": "exit", "plan": "Do it.", "approved": True},
            id="a plan that was taken",
        ),
        pytest.param(
            {"name": "ExitPlanMode", "rawInput": {"plan": "Do it."}},
            {"status": "failed"},
            "show_plan",
            {"operation": "exit", "plan": "Do it.", "approved": False},
            id="a plan that was not",
        ),
        pytest.param(
            {
                "name": "AskUserQuestion",
                "rawInput": {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]},
            },
            {},
            "ask_user",
            {"questions": [{"question": "Which?", "options": [{"label": "A"}], "multi_select": False}]},
            id="a question",
        ),
        pytest.param(
            {"name": "ask_user", "rawInput": {"why": "?"}},
            {"rawOutput": {"said": 1}},
            "generic",
            {"name": "ask_user", "input": {"why": "?"}, "output": {"said": 1}},
            id="a question without questions",
        ),
        pytest.param({"name": "todo_read"}, {}, "manage_todos", {"operation": "list", "items": []}, id="a list is read"),
        pytest.param(
            {"name": "web_search", "rawInput": {"query": "rain"}},
            {"rawOutput": "It rains."},
            "http_request",
            {"method": "SEARCH", "query": "rain", "response": "It rains."},
            id="a search of the web",
        ),
        pytest.param(
            {"kind": "fetch", "rawInput": {"url": "https://a.test/", "prompt": "Sum up."}},
            {"status": "failed", "content": shown("404")},
            "http_request",
            {"url": "https://a.test/", "method": "GET", "prompt": "Sum up.", "response": "404", "is_error": True},
            id="a page that is not there",
        ),
        pytest.param(
            {"rawInput": {"command": ["ls", "a b"]}},
            {"rawOutput": "a"},
            "shell_exec",
            {"command": "ls 'a b'", "output": {"stdout": "a"}},
            id="a command without a kind",
        ),
        pytest.param(
            {"kind": "read", "rawInput": {"pattern": "x", "path": "/w"}},
            {"rawOutput": "/w/a:3:x\nnothing"},
            "code_search",
            {
                "query": "x",
                "path": "/w",
                "output": {
                    "files": ["/w/a"],
                    "file_count": 1,
                    "match_count": 1,
                    "matches": [{"file": "/w/a", "line": 3, "text": "x"}, {"text": "nothing"}],
                },
            },
            id="a search that is called a read",
        ),
        pytest.param(
            {"kind": "search", "rawInput": {"query": "x"}},
            {"rawOutput": "It is said\nin two places."},
            "code_search",
            {"query": "x", "output": {"matches": [{"text": "It is said"}, {"text": "in two places."}]}},
            id="a search that answers in words",
        ),
        pytest.param(
            {"kind": "read", "rawInput": {"path": "/w/a", "view_range": [3, 5]}},
            {"rawOutput": "3\tc\n4\td"},
            "read_file",
            {
                "file_path": "/w/a",
                "offset": 3,
                "limit": 3,
                "output": {"content": "c\nd", "line_count": 2, "start_line": 3},
            },
            id="lines of a file",
        ),
        pytest.param(
            {"kind": "read", "rawInput": {"path": "/w/a"}},
            {"rawOutput": "3\tc\nd"},
            "read_file",
            {"file_path": "/w/a", "output": {"content": "3\tc\nd", "line_count": 2}},
            id="lines that look numbered",
        ),
        pytest.param(
            {"kind": "read", "rawInput": {"path": "/w/a", "view_range": [3, "end"]}},
            {"rawOutput": [{"text": "c"}, {"text": "d"}, 7]},
            "read_file",
            {"file_path": "/w/a", "offset": 3, "output": {"content": "c\nd", "line_count": 2}},
            id="pieces of a file",
        ),
    ],
)  # fmt: skip
def test_a_tool_is_what_its_name_its_arguments_or_its_kind_say(
    begin: Event, end: Event, kind: str, told: Event
) -> None:
    assert done(begin, end) == (kind, told)


@pytest.mark.parametrize(
    ("begin", "end", "mutations"),
    [
        pytest.param(
            {"kind": "other", "rawInput": {"path": "/w/a", "old_string": "a", "new_string": "b"}},
            {},
            [{"type": "edit", "old_content": "a", "new_content": "b", "diff": RELATIVE, "relative": True}],
            id="of arguments that only an edit has",
        ),
        pytest.param(
            {"kind": "other"},
            {"content": [{"type": "diff", "path": "/w/a", "oldText": "a", "newText": "b"}]},
            [{"type": "edit", "old_content": "a", "new_content": "b", "diff": RELATIVE, "relative": True}],
            id="of what it shows alone",
        ),
        pytest.param(
            {"kind": "delete", "rawInput": {"path": "/w/a", "content": "gone"}}, {}, [{"type": "delete"}], id="a removal"
        ),
        pytest.param(
            {"kind": "edit", "rawInput": {"path": "/w/a", "diff": HUNK}},
            {},
            [{"type": "edit", "diff": f"--- /w/a\n+++ /w/a\n{HUNK}"}],
            id="a diff among the arguments",
        ),
        *(
            pytest.param({"kind": "edit", "rawInput": {"path": "/w/a", "diff": odd}}, {}, [], id=why)
            for why, odd in {
                "no diff": "as said",
                "a diff of two files before it begins": "--- /w/a\n--- /w/b\n" + HUNK,
                "a diff of two files": HUNK + "diff --git a/b b/b\n" + HUNK,
                "a diff with words in it": HUNK + "and so on",
            }.items()
        ),
        pytest.param(
            {"kind": "edit", "rawInput": {"path": "/w/a"}},
            {"_meta": {"claudeCode": {"toolResponse": {"originalFile": "a\n", "content": "b\n"}}}},
            [{"type": "edit", "diff": "--- /w/a\n+++ /w/a\n@@ -1,1 +1,1 @@\n-a\n+b\n"}],
            id="a structured result with both texts",
        ),
        *(
            pytest.param(
                {"kind": "edit", "rawInput": {"path": "/w/a"}},
                {
                    "_meta": {
                        "claudeCode": {
                            "toolResponse": {
                                **response,
                                "structuredPatch": [
                                    {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" a", "-b", "+b"]}
                                ],
                            }
                        }
                    }
                },
                [{"type": "edit", "diff": f"--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n a\n-b\n{mark}+b\n"}],
                id=why,
            )
            for why, response, mark in (
                ("no newline before an edit", {"originalFile": "a\nb", "oldString": "b", "newString": "b\n"}, MARK),
                ("no newline before a write", {"originalFile": "a\nb", "content": "a\nb\n"}, MARK),
                ("a file that is not known", {"oldString": "b", "newString": "b\n"}, ""),
                ("an edit that is not known", {"originalFile": "a\nb"}, ""),
            )
        ),
        pytest.param(
            {"kind": "edit", "rawInput": {"path": "/w/a"}},
            {
                "_meta": {
                    "claudeCode": {
                        "toolResponse": {
                            "structuredPatch": [{"oldStart": 1, "oldLines": "one", "newStart": 1, "newLines": 1, "lines": []}]
                        }
                    }
                }
            },
            [],
            id="a structured result with odd numbers",
        ),
        pytest.param(
            {"kind": "edit"},
            {
                "content": [
                    {
                        "type": "diff",
                        "changes": [{"operation": "add", "path": "/w/n"}],
                        "patch": {"format": "git_patch", "text": "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+b\n"},
                    }
                ]
            },
            [{"type": "create", "file_path": "/w/n", "diff": "--- /dev/null\n+++ /w/n\n@@ -0,0 +1 @@\n+b\n"}],
            id="version 2: a new file",
        ),
        pytest.param(
            {"kind": "edit", "rawInput": {"path": "/w/a"}},
            {
                "content": [
                    {
                        "type": "diff",
                        "changes": [{"operation": "modify", "path": "/w/a"}, {"operation": "delete", "path": "/w/b"}],
                        "patch": {"format": "git_patch", "text": "both"},
                    }
                ]
            },
            [{"type": "edit"}, {"type": "delete", "file_path": "/w/b", "diff": "both"}],
            id="version 2: several files in one patch",
        ),
        pytest.param(
            {"kind": "edit", "rawInput": {"path": "/w/a"}},
            {
                "content": [
                    {
                        "type": "diff",
                        "changes": [{"operation": "delete", "path": "/w/a"}],
                        "patch": {"format": "git_patch", "text": "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
                    }
                ]
            },
            [{"type": "delete", "diff": "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"}],
            id="version 2: a file that goes",
        ),
        pytest.param(
            {"kind": "edit", "rawInput": {"path": "/w/a"}},
            {"content": [{"type": "diff", "changes": []}]},
            [{"type": "edit"}],
            id="version 2: a change of which nothing is told",
        ),
    ],
)  # fmt: skip
def test_a_change_of_files_is_what_is_told_of_it(begin: Event, end: Event, mutations: list[Event]) -> None:
    kind, body = done(begin, end)
    assert (kind, body["mutations"]) == ("modify_file", mutations)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ({"rawOutput": {"contents": [{"exitCode": 1}]}}, 1),
        ({"rawOutput": {"contents": ["odd", {"text": "x"}, {"exit_code": 4}]}}, 4),
        ({"rawOutput": {"contents": [{"exitCode": "one"}]}}, None),
        ({"rawOutput": {"contents": "none"}}, None),
    ],
)
def test_an_exit_code_is_found_among_the_contents_of_a_result(end: Event, code: int | None) -> None:
    kind, body = done({"kind": "execute", "rawInput": {"command": "x"}}, end)
    assert (kind, (body["output"] or {}).get("exit_code")) == ("shell_exec", code)


@pytest.mark.parametrize("words", ['{"command": nothing}', '{"a":' * 300 + "1" + "}" * 300, '{"command": '])
def test_what_only_looks_like_streamed_arguments_is_none(words: str) -> None:
    talk = Talk("Kimi Code CLI")
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", title="Shell", kind="execute", content=shown(words))
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert end["normalized"]["shell_exec"]["command"] == ""
    assert end["normalized"]["shell_exec"]["output"] == {"stdout": words}


def terminal(**fields: Any) -> list[Event]:
    """What is told of the terminal of a call when news of it come."""
    talk = Talk()
    talk.prompt(1)
    talk.update(
        "tool_call",
        toolCallId="c",
        kind="execute",
        title="Run",
        status="in_progress",
        content=[{"type": "terminal", "terminalId": "t"}],
    )
    return talk.update("terminal_update", terminalId="t", **fields)


def test_a_terminal_of_version_2_is_shown_by_its_call() -> None:
    (event,) = terminal(command="ls", output={"data": b64encode("ä\n".encode()).decode()})
    assert event["normalized"]["shell_exec"] == {"command": "ls", "output": {"stdout": "ä\n"}}


def test_what_is_no_base64_is_shown_as_it_came() -> None:
    (event,) = terminal(output={"data": "abcde"})
    assert event["normalized"]["shell_exec"]["output"] == {"stdout": "abcde"}


def test_a_terminal_that_shows_nothing_more_is_no_news() -> None:
    assert terminal(output={"data": ""}) == terminal(output={"data": "===="}) == []


def test_a_terminal_says_how_its_command_ended_before_the_call_does() -> None:
    talk = Talk()
    talk.prompt(1)
    begun = {"kind": "execute", "title": "Run", "content": [{"type": "terminal", "terminalId": "t"}]}
    talk.update("tool_call", toolCallId="c", status="in_progress", **begun)
    talk.update("terminal_update", terminalId="t", exitStatus={"exitCode": 3, "signal": None})
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert (end["tool_status"], end["error"]) == ("error", "The command ended with exit code 3.")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (
            {"type": "audio", "mimeType": "audio/wav", "data": "AAA="},
            {"type": "document", "media_type": "audio/wav", "base64": "AAA=", "size": 2},
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "a"}},
            {"type": "document", "text": "a", "url": "file:///a", "media_type": "text/plain"},
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}},
            {"type": "document", "url": "file:///a", "base64": "AAAA", "size": 3},
        ),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "reference", "url": "file:///a", "title": "a"},
        ),
    ],
)
def test_what_is_no_text_is_a_part(content: Event, part: Event) -> None:
    talk = Talk()
    talk.prompt(1)
    (event,) = talk.update("agent_message_chunk", content=content)
    assert event["parts"] == [part]


@pytest.mark.parametrize(
    ("fields", "action", "details"),
    [
        ({"kind": "execute", "rawInput": {"command": "ls", "cwd": "/w"}}, "command", {"command": "ls", "cwd": "/w"}),
        ({"kind": "edit", "rawInput": {"path": "/w/a", "content": "x"}}, "file_write", {"path": "/w/a"}),
        ({"kind": "read", "rawInput": {"path": "/w/a"}}, "file_read", {"path": "/w/a"}),
        ({"kind": "search", "rawInput": {"query": "x", "path": "/w"}}, "file_read", {"path": "/w", "pattern": "x"}),
        ({"kind": "fetch", "rawInput": {"url": "https://a.test/"}}, "network", {"url": "https://a.test/"}),
        ({"title": "log (git MCP Server)"}, "mcp_tool", {"server": "git", "tool": "log"}),
        ({"title": "Odd", "kind": "other"}, "other", None),
    ],
)  # fmt: skip
def test_leave_is_asked_for_what_the_call_does(fields: Event, action: str, details: Event | None) -> None:
    talk = Talk()
    talk.prompt(1)
    asked = only(talk.asks(0, "c", **fields), "permission_request")
    assert (asked["action_type"], asked.get("action_details")) == (action, details)
    assert types(talk.chooses(0, "yes")) == ["permission_resolved"]


def test_how_a_call_ended_that_the_agent_never_ended_is_unknown() -> None:
    talk = Talk()
    talk.prompt(1)
    talk.update("tool_call", toolCallId="c", title="Read", kind="read", status="pending")
    talk.text("Done.")
    (end,) = [event for event in talk.answers(1, stopReason="end_turn") if event["type"] == "tool_update"]
    assert (end["tool_status"], end["reason"], end.get("error")) == ("unknown", "no_result", None)


def test_an_empty_output_is_not_what_was_asked_before() -> None:
    talk = Talk("codex-acp")
    talk.prompt(1)
    question = [{"type": "content", "content": {"type": "text", "text": "May I run `true`?"}}]
    talk.asks(0, "c", kind="execute", title="true", rawInput={"command": ["true"]}, content=question)
    talk.chooses(0, "yes")
    talk.update("tool_call_update", toolCallId="c", status="in_progress", content=question)
    output = {"stdout": "", "stderr": "", "exit_code": 0, "formatted_output": ""}
    (end,) = talk.update("tool_call_update", toolCallId="c", status="completed", rawOutput=output)
    assert end["normalized"]["shell_exec"]["output"] == {"exit_code": 0}
