"""The kit on an agent that does all it is asked for, and on agents with faults, which it has to name; real ones are in test_agents.py."""

import json
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from faulty_agent import faulty_agent

from preloaded import ran
from turnwire_process import environment

SUPERVISED = "Under the policy supervised it asks before it runs a command and before it writes a file"


def conform(folder: Path, *words: str) -> CompletedProcess[bytes]:
    return ran(("conform", "agent", *words), cwd=folder, env=environment(folder / "home"))


def findings(done: CompletedProcess[bytes]) -> list[dict[str, Any]]:
    assert done.stdout, done.stderr.decode()
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def details(found: Sequence[dict[str, Any]], verdict: str) -> dict[str, str]:
    return {one["check"]: one["detail"] for one in found if one["verdict"] == verdict}


def test_an_agent_that_does_as_it_is_told_holds_everything_that_was_tried(tmp_path: Path) -> None:
    done = conform(tmp_path, "--json", "--", *faulty_agent(tmp_path))
    found = findings(done)
    [untested] = [one for one in found if one["verdict"] != "held"]
    assert (untested["check"], untested["verdict"]) == (SUPERVISED, "not tested")
    # its only tool is a shell
    tried = {"command": "held", **dict.fromkeys(("write", "edit", "outside", "web"), "not tried")}
    assert untested["asked"]["git"] == tried
    assert (len(found), done.returncode) == (16, 0)
    held = details(found, "held")
    assert held["It says which session this is, and with which model"] == "model m"
    assert held["The output of a command is reported, and its exit code"] == "exit code 3"
    assert held["Another process of it goes on with the conversation"] == "as the same session"


def test_the_faults_of_an_agent_are_named_and_no_others(tmp_path: Path) -> None:
    faults = (
        "says everything twice",
        "runs what is refused",
        "runs nothing",
        "ends an interrupted turn as any other",
        "does what nobody knows",
        "has another id when resumed",
        "writes what is no message",
    )
    done = conform(tmp_path, "--json", "--", *faulty_agent(tmp_path, faults))
    found = findings(done)
    broken = details(found, "broken")
    no_message = broken.pop("All that it wrote was of its protocol")
    assert "lines are not messages" in no_message
    assert broken == {
        "What is said comes once, and each turn has one end": "the word came 2 times",
        "A command that is refused is not run, and the turn ends": "it ran what was refused",
        "An allowed command runs, and its end is reported": "the command was not run",
        SUPERVISED: "the command was refused and made all the same",
        "An interrupt ends the turn, and what it ran": "the turn ended as if it had not been interrupted",
        "A request that it does not know gets an error, and does no harm": "it reports success for an unknown request",
    }
    assert details(found, "not supported") == {
        "The output of a command is reported, and its exit code": "it does not report the output"
    }
    held = details(found, "held")
    assert held["Another process of it goes on with the conversation"] == "as a session of another id"
    assert done.returncode == 1


def test_what_came_of_each_check_is_a_line_for_people_and_the_last_one_counts_them(tmp_path: Path) -> None:
    faults = (
        "asks nobody",
        "tells no call",
        "is dazed by an interrupt",
        "reads no large prompts",
        "fails at odd characters",
        "forgets when resumed",
    )
    done = conform(tmp_path, "--", *faulty_agent(tmp_path, faults))
    *lines, closing = done.stdout.decode().splitlines()
    said = [line.partition(" (")[0] for line in lines if line.startswith("broken")]
    assert said == [
        "broken        An allowed command runs, and its end is reported: 0 calls began and 0 ended",
        "broken        After an interrupt the next prompt is answered as before: the turn ends error: I cannot.",
        "broken        A prompt of 300,000 characters arrives whole: completed: 'What?'",
        "broken        Characters of all kinds in a prompt do no harm: error: 'done'",
        "broken        Another process of it goes on with the conversation: the answer is 'Who are you?'",
        "broken        All that it wrote was of its protocol: 0 calls began and 1 ended",
    ]
    unasked, supervised = [line for line in lines if line.startswith("does not ask")]
    assert (
        "A command that is refused is not run, and the turn ends: it ran the command without asking"
        in unasked
    )
    assert "Under the policy supervised it asks before it runs" in supervised
    assert "in a git folder: command not held, write not tried" in supervised
    assert closing == "7 held, 6 broken, 2 does not ask, 1 not supported"
    assert done.returncode == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("agent", "refusal"), [("demo", "Unsupported control request"), ("demo-acp", "-32601")]
)
def test_the_demo_holds_what_an_agent_can_that_runs_nothing(tmp_path: Path, agent: str, refusal: str) -> None:
    done = conform(tmp_path, "--json", "--agent", agent)
    found = findings(done)
    assert (len(details(found, "held")), done.returncode) == (12, 0), found
    nothing = "it called no tool: 'This is a scripted agent: it runs no command.'"
    assert list(details(found, "not tested").values())[:2] == [nothing, nothing]
    assert list(details(found, "not supported").values()) == ["it does not report the output"]
    # it is the agent that does not know the request, and not turnwire in its place
    assert (
        refusal in details(found, "held")["A request that it does not know gets an error, and does no harm"]
    )


def test_a_folder_in_which_there_is_something_is_not_given_to_an_agent_to_be_tried(tmp_path: Path) -> None:
    done = conform(tmp_path, "--workspace", ".", "--", *faulty_agent(tmp_path))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"is not empty. The agent runs commands in this folder, so name an empty one" in done.stderr


def test_the_last_words_of_an_agent_that_cannot_start_are_told(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\necho 'there is no file settings.ini' >&2\nexit 2\n")
    agent.chmod(0o755)
    for family in ((), ("--family", "acp")):
        first = findings(conform(tmp_path, "--json", *family, "--", str(agent)))[0]
        assert first["verdict"] == "broken"
        assert (
            first["detail"] == "the agent has exited: exit code 2; it said: there is no file settings.ini\n"
        )
