"""What an editor may choose: the modes that the agent has, the models that are known."""

from turnwire.frontends.acp.choices import Choices


def listed(choices: Choices) -> dict[str, list[str]]:
    return {each["id"]: [option["value"] for option in each["options"]] for each in choices.options()}


def test_the_modes_are_the_agents_but_for_those_that_ask_nobody() -> None:
    choices = Choices("claude")
    assert list(choices.offer(["default", "plan", "bypassPermissions"], sets_model=True)) != []
    assert list(choices.offer(["default", "plan", "bypassPermissions"], sets_model=True)) == []
    assert listed(choices) == {"mode": ["default", "plan"], "model": ["default", "opus", "sonnet", "haiku"]}
    kinds = [
        update["sessionUpdate"] for update in choices.changed(mode="bypassPermissions", model="claude-x")
    ]
    assert kinds == ["current_mode_update", "config_option_update"]
    assert listed(choices)["mode"] == ["default", "plan", "bypassPermissions"]
    assert listed(choices)["model"][-1] == "claude-x"
    assert list(choices.changed(mode="bypassPermissions", model="claude-x")) == []


def test_an_agent_with_modes_of_its_own_has_these_and_no_others() -> None:
    choices = Choices("codex")
    choices.offer(["read-only", "full-access"], sets_model=True)
    assert choices.modes() == {
        "currentModeId": "read-only",
        "availableModes": [
            {"id": "read-only", "name": "read-only"},
            {"id": "full-access", "name": "full-access"},
        ],
    }
    assert listed(choices)["model"] == ["default"]


def test_an_agent_without_modes_or_models_offers_none() -> None:
    choices = Choices("other")
    choices.offer([], sets_model=False)
    assert choices.modes() is None
    assert choices.options() == []
    assert choices.state() is None
    # one that names its mode all the same is believed
    assert [update["sessionUpdate"] for update in choices.changed(mode="odd")] == [
        "current_mode_update",
        "config_option_update",
    ]
