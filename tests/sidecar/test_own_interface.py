"""`turnwire claude …` takes the agent's arguments as they are."""

from turnwire.sidecar.cli.own_interface import opens_none


def test_a_call_that_opens_no_interface_runs_as_without_turnwire() -> None:
    for arguments in (["mcp", "list"], ["-p", "hello"], ["--model", "opus", "--print"], ["--version"]):
        assert opens_none(arguments)
    for arguments in ([], ["fix the login"], ["--resume", "mcp"], ["--continue"]):
        assert not opens_none(arguments)
