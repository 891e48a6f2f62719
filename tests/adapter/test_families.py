"""The registry of families, and what is refused before anything is started."""

from pathlib import Path

import pytest

from turnwire.adapter.capabilities import OF_THEIR_OWN, impossible
from turnwire.adapter.families import FAMILIES, open_session
from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.mcp.mcp_host import HostedServer
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.rules import Rule
from turnwire.normalize.families import FAMILIES as CORES

HERE = Path()


def command(**options: object) -> SessionOptions:
    return SessionOptions(workspace=HERE, command=CommandOptions(**options))  # type: ignore[arg-type]


ASKED = [
    (command(resume="s"), "resume"),
    (command(continue_latest=True), "resume"),
    (command(permission_mode="plan"), "permission_mode"),
    (command(mcp_servers={"s": {}}), "mcp_servers"),
    (command(tools=[]), "tools"),
    (command(max_turns=3), "max_turns"),
    (SessionOptions(workspace=HERE, policy="supervised"), "policy"),
    (SessionOptions(workspace=HERE, rules=[Rule("deny")]), "rules"),
    (SessionOptions(workspace=HERE, hooks=[HookSetting(event="Stop", command=("x",))]), "hooks"),
    (SessionOptions(workspace=HERE, hosted_servers={"s": HostedServer(command=("x",))}), "hosted_mcp"),
]


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_has_one_entry_under_its_own_name(name: str) -> None:
    family = FAMILIES[name]
    assert family.name == name
    assert family.core(first_turn=3).turns == 2
    assert family.capabilities(None) == family.capabilities("a version of nobody's")
    assert family.capabilities(None).options <= {*CommandOptions.__struct_fields__} - OF_THEIR_OWN


def test_every_family_that_is_run_has_a_core() -> None:
    assert {*FAMILIES} - {"auto", "qwen"} <= CORES.keys()


@pytest.mark.parametrize(("options", "named"), ASKED)
def test_what_would_silently_not_happen_is_refused(options: SessionOptions, named: str) -> None:
    assert impossible(options, FAMILIES["claude"].capabilities(None)) == []
    assert impossible(options, FAMILIES["miriad"].capabilities(None)) == [named]


async def test_it_is_refused_before_anything_runs() -> None:
    options = SessionOptions(workspace=HERE, family="miriad", policy="plan")
    with pytest.raises(
        CommandError, match=r"^policy: an agent that speaks miriad cannot do this; leave it out$"
    ):
        async with open_session(options):
            pass


def test_a_policy_that_asks_nobody_is_no_hindrance() -> None:
    options = SessionOptions(workspace=HERE, policy="autonomous", command=CommandOptions(model="m"))
    assert impossible(options, FAMILIES["json_rpc"].capabilities(None)) == []


@pytest.mark.parametrize(
    ("family", "version", "message"),
    [("claude", "1.0.120", "u"), ("claude", "2.1.330", "msg_1"), ("miriad", None, "u")],
)
def test_a_message_that_cannot_be_gone_back_to_is_refused(
    family: str, version: str | None, message: str
) -> None:
    with pytest.raises(CommandError, match=r"^resume_at: "):
        FAMILIES[family].check_resume_at(message, version)
