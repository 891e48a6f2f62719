"""Under `supervised` an agent is put in the mode in which it asks, and is refused where it has none."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from acp_stage import AcpStage

from turnwire.adapter.acp.asking import EVERYTHING, UNTRIED, OfferedMode, asking_of, never_asks
from turnwire.adapter.acp.handshake import read_conversation, read_facts
from turnwire.adapter.options import CommandOptions
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.permissions.trials import Trial
from turnwire.adapter.session import tried
from turnwire.adapter.session.agent import RequestFailed
from turnwire.normalize.vocabulary import Act, Asked, FolderKind, Policy

CORPUS = Path(__file__).parents[3] / "fixtures" / "acp"


@pytest.fixture
def stage(tmp_path: Path) -> AcpStage:
    return AcpStage(tmp_path)


@pytest.fixture
def own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for a repository in the workspace alone: other programs may have left a `.git` above it."""
    monkeypatch.setattr(tried, "git_above", lambda folder: next(folder.glob(".git"), None))


def offered(**modes: str) -> list[OfferedMode]:
    return [OfferedMode(name, words) for name, words in modes.items()]


def opened(agent: str) -> tuple[str, list[OfferedMode], list[str]]:
    """What a recorded agent said of itself and of its first session."""
    name = ""
    for path in sorted((CORPUS / agent).glob("*/stdout.jsonl")):
        for line in path.read_text().splitlines():
            result: Any = json.loads(line).get("result")
            if isinstance(result, dict) and "agentInfo" in result:
                name = read_facts(result).own_name
            if isinstance(result, dict) and "sessionId" in result:
                conversation = read_conversation("s", result)
                return name, [*conversation.offered], [*conversation.options]
    raise AssertionError(f"no session is opened in the recordings of {agent}")


@pytest.mark.parametrize(
    ("agent", "mode"),
    [
        ("claude-agent-acp-0.100.0", "default"),
        ("codex-acp-2.6.0", "read-only"),
        ("copilot-acp-1.0.102", "https://agentclientprotocol.com/protocol/session-modes#agent"),
        ("droid-acp-0.215.0", "normal"),
        ("gemini-acp-0.61.0", "default"),
        ("kimi-acp-2.1.0", "default"),
    ],
)
def test_the_asking_mode_of_recorded_agents_is_found(agent: str, mode: str) -> None:
    asking = asking_of(*opened(agent))
    assert (asking.mode, asking.is_known) == (mode, True)
    assert asking.options == ({"allow_all": "off"} if agent.startswith("copilot") else {})


@pytest.mark.parametrize(
    ("name", "modes"),
    [
        ("pi-acp", offered(off="Thinking: off")),
        ("hermes-agent", offered(default="Default Ask before edits.")),
        ("grok", []),
        ("fast-agent", []),
        ("oh-my-pi", []),
    ],
)
def test_of_some_agents_it_is_known_that_they_do_not_ask_about_everything(
    name: str, modes: list[OfferedMode]
) -> None:
    asking = asking_of(name, modes, [])
    assert asking.never_asks
    assert asking.is_known


def test_an_agent_that_nobody_knows_is_put_where_it_says_that_it_asks_and_is_not_believed() -> None:
    modes = offered(fast="Auto approve everything", slow="Slow: asks before it changes anything")
    found = asking_of("new", modes, [])
    assert (found.mode, found.is_known, found.never_asks) == ("slow", False, (UNTRIED,))
    for words in (
        "",
        "Default",
        "Ask less: auto-approves edits",
        "Never asks",
        "Don't ask",
        "Plan: ask, no edits",
    ):
        asking = asking_of("new", offered(default=words), [])
        assert (asking.mode, asking.is_known, asking.never_asks) == (None, False, (UNTRIED,)), words


def test_a_known_agent_without_its_asking_mode_is_as_one_that_nobody_knows() -> None:
    assert not asking_of("gemini-cli", offered(yolo="Auto-approves all tools"), []).is_known
    assert not asking_of("OpenCode", [], [], "/bin/a-wrapper").is_known
    assert asking_of("OpenCode", [], [], "/bin/opencode").is_known
    assert not asking_of("Kilo", [], [], "/bin/a-wrapper").is_known
    assert asking_of("Kilo", [], [], "/bin/kilo").is_known


def test_what_an_agent_never_asks_about_is_known_before_it_runs() -> None:
    assert never_asks("/usr/bin/pi-acp") == (EVERYTHING,)
    assert never_asks("gemini") == ()
    assert never_asks("nobody-knows") == ()


@pytest.mark.parametrize("ways", [("begins-loose",), ()])
async def test_it_is_put_in_the_mode_in_which_it_asks_whatever_it_says_of_itself(
    stage: AcpStage, ways: Sequence[str]
) -> None:
    async with stage.session(*ways, policy="supervised") as run:
        await run.turn("hello")
        (told,) = [line["params"] for line in run.told if line.get("method") == "session/set_mode"]
        assert told["modeId"] == "ask"
        assert run.session.capabilities.never_asks == ()


async def test_without_the_policy_its_mode_is_its_own(stage: AcpStage) -> None:
    async with stage.session("begins-loose") as run:
        await run.turn("hello")
        assert not [line for line in run.told if line.get("method") == "session/set_mode"]


async def test_a_mode_that_somebody_asks_for_is_theirs(stage: AcpStage) -> None:
    async with stage.session(policy="supervised", command=CommandOptions(permission_mode="code")) as run:
        await run.turn("hello")
        (told,) = [line["params"] for line in run.told if line.get("method") == "session/set_mode"]
        assert told["modeId"] == "code"


async def test_one_without_such_a_mode_is_refused_and_hears_no_prompt(stage: AcpStage) -> None:
    async with stage.session("bare", policy="supervised", trials={}) as run:
        with pytest.raises(RequestFailed, match=r"never asks about anything.*accept_unasked = true"):
            await run.session.prompt("hello")
        assert not [line for line in run.told if line.get("method") == "session/prompt"]
        assert [notice.code for notice in run.notices] == ["initialize_failed"]


async def test_the_operator_may_accept_it_and_everybody_is_told(stage: AcpStage) -> None:
    async with stage.session("bare", policy="supervised", accept_unasked=True, trials={}) as run:
        await run.turn("hello")
        assert [notice.code for notice in run.notices] == ["asks_not_everything"]
        assert UNTRIED in run.notices[0].message
        assert run.session.capabilities.never_asks == (UNTRIED,)


ASKED: Mapping[FolderKind, Mapping[Act, Asked]] = {
    "plain": {"command": "held", "write": "held", "edit": "held"},
    "git": {"command": "held", "write": "not held", "edit": "held"},
}


@pytest.mark.usefixtures("own_git")
@pytest.mark.parametrize(
    ("trials", "is_git", "refusal"),
    [
        ({}, False, "never asks about anything, as far as turnwire knows"),
        ({"": Trial(ASKED, "1.2.3")}, False, None),
        ({"": Trial(ASKED, "1.2.3")}, True, "does not ask about new files in a git folder"),
        ({"": Trial({"plain": ASKED["plain"]}, "1.2.3")}, True, "was not tried in a git folder"),
        ({"": Trial(ASKED, "0.9.0")}, False, "was tried in version 0.9.0, and this is 1.2.3"),
        ({"gemini": Trial(ASKED, "1.2.3")}, False, "never asks about anything"),
    ],
)
async def test_an_agent_that_says_that_it_asks_is_started_only_where_it_was_seen_to(
    stage: AcpStage, trials: Mapping[str, Trial], *, is_git: bool, refusal: str | None
) -> None:
    if is_git:
        (stage.workspace / ".git").mkdir()
    async with stage.session(policy="supervised", trials=trials) as run:
        if refusal is None:
            await run.turn("hello")
            assert run.notices == []
            assert run.session.capabilities.never_asks == ()
            return
        with pytest.raises(RequestFailed, match=refusal):
            await run.session.prompt("hello")
        assert not [line for line in run.told if line.get("method") == "session/prompt"]
    async with stage.session(policy="supervised", trials=trials, accept_unasked=True) as run:
        await run.turn("hello")
        assert refusal in str(run.notices)


@pytest.mark.usefixtures("own_git")
async def test_a_version_beside_the_tried_one_is_started_and_people_are_told(stage: AcpStage) -> None:
    trials = {"": Trial(ASKED, "1.0.0")}
    async with stage.session(policy="supervised", trials=trials) as run:
        await run.turn("hello")
        assert [notice.message for notice in run.notices] == [
            "Tester was tried in version 1.0.0; this is 1.2.3."
        ]


@pytest.mark.parametrize("policy", [None, "autonomous", "plan"])
async def test_no_other_policy_changes_the_mode_or_refuses(stage: AcpStage, policy: Policy | None) -> None:
    ways = () if policy == "plan" else ("bare",)
    async with stage.session(*ways, policy=policy) as run:
        await run.turn("hello")
        assert run.notices == []


@pytest.mark.usefixtures("own_git")
@pytest.mark.parametrize("policy", [None, "autonomous", "supervised"])
@pytest.mark.parametrize("is_git", [False, True])
async def test_a_rule_that_cannot_be_enforced_there_is_named_when_the_session_begins(
    stage: AcpStage, policy: Policy | None, *, is_git: bool
) -> None:
    if is_git:
        (stage.workspace / ".git").mkdir()
    asked: Mapping[FolderKind, Mapping[Act, Asked]] = {
        kind: {**acts, "outside": "held"} for kind, acts in ASKED.items()
    }
    rules = read_rules([{"action": "deny", "input": {"file_path": "secret/*"}, "reason": "keys"}])
    trials = {"": Trial(asked, "1.2.3")}
    async with stage.session(policy=policy, rules=rules, trials=trials, accept_unasked=True) as run:
        await run.turn("hello")
        told = [notice.message for notice in run.notices if notice.code == "rules_in_doubt"]
    assert len(told) == is_git
    assert all("new files in a git folder" in one and "cannot enforce rule 1 (keys)" in one for one in told)
