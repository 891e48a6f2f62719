"""What an editor may choose: the modes that the agent has, the models that are known."""

from turnwire.client.events import Mode, Model
from turnwire.frontends.acp.choices import Choices


def listed(choices: Choices) -> dict[str, list[str]]:
    return {each["id"]: [option["value"] for option in each["options"]] for each in choices.options()}


def test_the_modes_are_the_agents_but_for_those_that_ask_nobody() -> None:
    choices = Choices("claude")
    assert list(choices.offer(["default", "plan", "bypassPermissions"], sets_model=True)) != []
    assert list(choices.offer(["default", "plan", "bypassPermissions"], sets_model=True)) == []
    assert listed(choices) == {"mode": ["default", "plan"]}
    # the CLI lists its models, and nobody else does
    (update,) = choices.changed(models=[Model(id="default", name="Default"), Model(id="opus")])
    assert update["configOptions"][1]["options"] == [
        {"value": "default", "name": "Default"},
        {"value": "opus", "name": "opus"},
    ]
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
            {"id": "read-only", "name": "Read only"},
            {"id": "full-access", "name": "Full access"},
        ],
    }
    assert "model" not in listed(choices)
    models = [Model(id="gpt-5.5", name="GPT-5.5", description="The newest"), Model(id="mini")]
    assert [*choices.changed(model="gpt-5.5", models=models)]
    assert listed(choices)["model"] == ["gpt-5.5", "mini"]
    assert list(choices.changed(model="gpt-5.5", models=models)) == []
    (update,) = choices.changed(model="of-tomorrow")
    assert [option["value"] for option in update["configOptions"][1]["options"]] == [
        "gpt-5.5",
        "mini",
        "of-tomorrow",
    ]


def test_modes_have_the_words_of_the_agent_that_has_them() -> None:
    choices = Choices("gemini")
    choices.offer(["default", "autoEdit", "plan", "YOLO"], sets_model=False)
    names = [each["name"] for each in (choices.modes() or {})["availableModes"]]
    # what Claude Code means by `default` and `plan` says nothing of another agent's
    assert names == ["Default", "Auto edit", "Plan", "YOLO"]
    told = [Mode(id="default", name="Manual", description="Asks before edits"), Mode(id="autoEdit")]
    (update,) = choices.changed(modes=told)
    assert update["configOptions"][0]["options"][:2] == [
        {"value": "default", "name": "Manual", "description": "Asks before edits"},
        {"value": "autoEdit", "name": "Auto edit"},
    ]
    assert list(choices.changed(modes=told)) == []
    kinds = [each["sessionUpdate"] for each in choices.changed(mode="plan", modes=told[:1])]
    assert kinds == ["current_mode_update", "config_option_update"]


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
