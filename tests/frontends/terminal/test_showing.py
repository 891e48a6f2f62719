"""What a terminal is told: nothing commands it, nothing hides, and nothing of what would be allowed is left out."""

import pytest

from turnwire.client.events import PermissionOption, PermissionRequest, RememberedRule
from turnwire.client.payloads import ModifyFile, ModifyFilePayload, Mutation, ShellExec, ShellExecPayload
from turnwire.frontends.terminal.conversation import Row
from turnwire.frontends.terminal.showing import (
    asked,
    body,
    head,
    is_permanent,
    measured,
    option_words,
    remembered_words,
)

HOSTILE = [
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\x1bP+q544e\x1b\\",
    "a\rb",
    "rm \u202e/ x",
    "a\u200bb",
    "\u2066x",
]


def request(command: str) -> PermissionRequest:
    return PermissionRequest(
        pending_id="p1",
        permission_title=command,
        permission_options=[],
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command=command)),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_an_agent_says_commands_the_terminal_or_hides(text: str) -> None:
    payload = ShellExecPayload(shell_exec=ShellExec(command=text))
    rows = [
        Row("k", "call", text, payload=payload, error=text),
        Row("k", "thinking", text),
        Row("k", "turn", text, status=text),
    ]
    told = [head(row) for row in rows] + [part.text for part in body(rows[0])]
    told += [part.text for part in asked(request(text))]
    told.append(option_words(PermissionOption(option_id="a", name=text, kind=text)))  # type: ignore[arg-type]
    assert all(control not in one for one in told for control in "\x1b\x9b\x07\r\u202e\u200b\u2066")
    assert any("⟨U+" in one for one in told)


def test_words_from_right_to_left_move_nothing() -> None:
    told = asked(request("rm -rf אב / גד # א"))[0].text
    assert told == "rm -rf \u2068אב\u2069 / \u2068גד\u2069 # \u2068א\u2069"


def test_the_whole_of_a_long_command_is_there_and_its_size_is_told() -> None:
    command = "\n".join(f"echo {number}" for number in range(5000))
    parts = asked(request(command))
    assert parts[0].text == command
    assert measured(parts).startswith("5000 lines, ")
    assert "[5000 lines]" in head(Row("k", "call", command))


def test_each_change_of_a_file_is_shown_also_without_a_diff() -> None:
    change = Mutation(type="edit", old_content="a", new_content="b")
    other = Mutation(type="edit", diff="@@ -1 +1 @@\n-a\n+b", file_path="/other")
    payload = ModifyFilePayload(modify_file=ModifyFile(file_path="/one", mutations=[change, other]))
    assert [part.text for part in body(Row("k", "call", "Edit", payload=payload))] == [
        "/one",
        "-a\n+b",
        "/other",
        "@@ -1 +1 @@\n-a\n+b",
    ]


def test_an_answer_that_is_remembered_says_its_rule_and_its_file() -> None:
    rule = RememberedRule(
        rule="Bash(npm publish *)", destination="localSettings", file=".claude/settings.local.json"
    )
    option = PermissionOption(
        option_id="a", name="Always", kind="allow_always", effect="Allows it for ever.", remembers=[rule]
    )
    assert option_words(option) == "Allows it for ever."
    assert (
        remembered_words(option) == "Allows it for ever.\nBash(npm publish *) (.claude/settings.local.json)"
    )
    assert is_permanent(option)
    assert is_permanent(PermissionOption(option_id="a", name="?", kind="a_new_word"))  # type: ignore[arg-type]


def test_words_that_are_new_are_shown_as_themselves() -> None:
    assert head(Row("k", "call", "Bash", status="paused")) == "paused Bash"
    assert head(Row("k", "turn", status="exploded")) == "exploded"
