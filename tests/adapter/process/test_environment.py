import pytest

from turnwire.adapter.process.environment import EnvironmentRefused, build_environment

OWN = {"PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C", "SECRET_TOKEN": "s3cret", "ANTHROPIC_API_KEY": "k"}


def test_only_allowed_names_are_passed_on() -> None:
    assert build_environment(OWN) == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LC_ALL": "C",
        "ANTHROPIC_API_KEY": "k",
    }
    assert build_environment(OWN, allowed=["HOME"]) == {"HOME": "/home/me"}


def test_what_the_configuration_gives_wins() -> None:
    built = build_environment(OWN, allowed=["HOME"], given={"HOME": "/x", "ODD": "1"})
    assert built == {"HOME": "/x", "ODD": "1"}


def test_a_frontend_may_set_allowed_names_alone_and_values_are_never_told() -> None:
    assert build_environment({}, requested={"LANG": "C"}) == {"LANG": "C"}
    with pytest.raises(EnvironmentRefused) as refused:
        build_environment({}, requested={"LD_PRELOAD": "s3cret"})
    assert "LD_PRELOAD" in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(("name", "value"), [("A=B", "x"), ("", "x"), ("A", "x\0y")])
def test_what_cannot_be_a_variable_is_refused(name: str, value: str) -> None:
    with pytest.raises(EnvironmentRefused):
        build_environment({}, given={name: value})


def test_what_leads_git_to_one_repository_is_not_passed_on() -> None:
    """A sidecar that a git hook starts has them; its agents work in folders of their own."""
    own = {"GIT_DIR": "/outer/.git", "GIT_INDEX_FILE": "/outer/.git/index", "GIT_AUTHOR_NAME": "Ada"}
    assert build_environment(own) == {"GIT_AUTHOR_NAME": "Ada"}
    assert build_environment(own, allowed=("*",)) == {"GIT_AUTHOR_NAME": "Ada"}
    assert build_environment(own, allowed=("GIT_DIR",)) == {"GIT_DIR": "/outer/.git"}
    assert build_environment(own, given={"GIT_DIR": "/mine"})["GIT_DIR"] == "/mine"
