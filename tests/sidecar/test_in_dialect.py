from pathlib import Path

import pytest

from adapter.claude.command import CommandError, CommandOptions
from adapter.options import SessionOptions
from adapter.permissions.rules import Rule
from protocol.dialects import AUTOMATIC, CLAUDE, JSON_RPC, MIRIAD
from sidecar.config.dialects import in_dialect

PLAIN = SessionOptions(workspace=Path(), command=CommandOptions(model="m"))


@pytest.mark.parametrize(("name", "dialect"), [("auto", AUTOMATIC), ("claude", CLAUDE)])
def test_a_cli_is_started_with_its_options(name: str, dialect: object) -> None:
    options = in_dialect(PLAIN, name)
    assert options.dialect is dialect
    assert options.command == PLAIN.command
    assert options.ask_version


@pytest.mark.parametrize(("name", "dialect"), [("miriad", MIRIAD), ("json_rpc", JSON_RPC)])
def test_any_other_agent_gets_none_of_them(name: str, dialect: object) -> None:
    options = in_dialect(PLAIN, name)
    assert options.dialect is dialect
    assert options.command == CommandOptions(bare=True)
    assert not options.ask_version


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (SessionOptions(workspace=Path(), policy="supervised"), "policy"),
        (SessionOptions(workspace=Path(), rules=[Rule("deny")]), "rules"),
        (SessionOptions(workspace=Path(), command=CommandOptions(resume="s")), "resume"),
        (SessionOptions(workspace=Path(), command=CommandOptions(permission_mode="plan")), "permission_mode"),
        (SessionOptions(workspace=Path(), command=CommandOptions(mcp_servers={"s": {}})), "mcp_servers"),
        (SessionOptions(workspace=Path(), command=CommandOptions(tools=[])), "tools"),
        (SessionOptions(workspace=Path(), command=CommandOptions(max_turns=3)), "max_turns"),
    ],
)
def test_what_would_silently_not_happen_is_refused(options: SessionOptions, named: str) -> None:
    with pytest.raises(CommandError, match=f"^{named}: an agent that speaks miriad cannot do this"):
        in_dialect(options, "miriad")
    assert in_dialect(options, "claude").command == options.command


def test_a_policy_that_asks_nobody_is_no_hindrance() -> None:
    assert in_dialect(SessionOptions(workspace=Path(), policy="autonomous"), "miriad").dialect is MIRIAD
