"""What agents say of themselves, read once; whatever is missing or odd cannot be done."""

import pytest

from turnwire.adapter.acp.client import AgentError
from turnwire.adapter.acp.handshake import (
    AgentFacts,
    Choice,
    client_capabilities,
    kind_of,
    named,
    read_conversation,
    read_facts,
    server_of,
)
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import Json

CLAUDE = {
    "protocolVersion": 1,
    "agentCapabilities": {
        "promptCapabilities": {"image": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "loadSession": True,
        "sessionCapabilities": {"additionalDirectories": {}, "fork": {}, "list": {}, "resume": {}},
    },
    "agentInfo": {
        "name": "@agentclientprotocol/claude-agent-acp",
        "title": "Claude Agent",
        "version": "0.100.0",
    },
    "authMethods": [],
}


def test_what_an_agent_says_it_can_do() -> None:
    assert read_facts(CLAUDE) == AgentFacts(
        version=1,
        name="Claude Agent",
        own_name="@agentclientprotocol/claude-agent-acp",
        release="0.100.0",
        loads=True,
        resumes=True,
        lists=True,
        forks=True,
        more_folders=True,
        images=True,
        mcp=frozenset({"stdio", "http", "sse"}),
    )


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        [],
        {},
        {"agentCapabilities": None, "agentInfo": 3, "authMethods": "x"},
        {
            "agentCapabilities": {
                "loadSession": "yes",
                "sessionCapabilities": [],
                "promptCapabilities": {"image": 1},
            }
        },
        {"protocolVersion": "1", "authMethods": [3, None]},
    ],
)
def test_what_is_missing_or_odd_cannot_be_done(said: Json) -> None:
    assert read_facts(said) == AgentFacts(version=1)


def test_modes_and_models_in_either_of_the_two_ways() -> None:
    old = read_conversation(
        "s",
        {
            "modes": {"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "yolo"}]},
            "models": {
                "currentModelId": "auto",
                "availableModels": [{"modelId": "auto"}, {"modelId": "pro"}],
            },
        },
    )
    assert old.modes == Choice("session/set_mode", "modeId", ("default", "yolo"), "default")
    assert old.models == Choice("session/set_model", "modelId", ("auto", "pro"), "auto")
    assert old.modes.params("s", "yolo") == {"sessionId": "s", "modeId": "yolo"}
    select = {"type": "select", "name": "x"}
    new = read_conversation(
        "s",
        {
            "configOptions": [
                {**select, "id": "m", "category": "mode", "currentValue": "a", "options": [{"value": "a"}]},
                {
                    **select,
                    "id": "model",
                    "category": "model",
                    "currentValue": "b",
                    "options": [{"group": "g", "options": [{"value": "b"}, {"value": "c"}]}],
                },
                {**select, "id": "effort", "options": [{"value": "max"}, {"name": "no value"}, 3]},
                {"name": "no id"},
                3,
            ]
        },
    )
    assert new.modes == new.options["m"]
    assert new.models == Choice("session/set_config_option", "value", ("b", "c"), "b", "model")
    assert new.models.params("s", "c") == {"sessionId": "s", "configId": "model", "value": "c"}
    assert new.options["effort"].options == ("max",)
    assert (
        read_conversation("s", {"modes": {"availableModes": []}, "models": [], "configOptions": 3}).modes
        is None
    )


def test_servers_are_named_as_the_protocol_wants_them() -> None:
    assert server_of("a", {"command": "x", "args": [1], "env": {"A": 1}}) == {
        "name": "a",
        "command": "x",
        "args": ["1"],
        "env": [{"name": "A", "value": "1"}],
    }
    assert server_of("b", {"url": "http://127.0.0.1:1", "headers": {"H": "v"}}) == {
        "type": "http",
        "name": "b",
        "url": "http://127.0.0.1:1",
        "headers": [{"name": "H", "value": "v"}],
    }
    assert [kind_of(one) for one in ({"type": "sse"}, {"type": "sdk"}, {"command": "x"})] == [
        "sse",
        "sdk",
        "stdio",
    ]


def test_an_error_names_some_of_what_there_is() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named([str(number) for number in range(30)]).endswith("19 and 10 more")


def test_cursor_is_told_that_options_of_models_are_understood() -> None:
    told = client_capabilities(reads=False, writes=False, terminals=False)
    assert told["_meta"] == {"parameterizedModelPicker": True}


def test_a_model_that_grok_has_for_new_sessions_alone_is_refused_with_what_to_do() -> None:
    refused = RpcError(-32000, "incompatible", {"code": "MODEL_SWITCH_INCOMPATIBLE_AGENT"})
    assert str(AgentError("session/set_model", refused)).endswith("; this model needs a new session")
    assert str(AgentError("session/set_model", RpcError(-32000, "no"))).endswith("no (-32000)")


def test_groks_effort_is_set_with_its_model() -> None:
    about = {"reasoningEfforts": [{"value": "low"}, {"value": "high"}], "reasoningEffort": "low"}
    models = [{"modelId": "other", "_meta": about}, {"modelId": "m", "_meta": about}]
    opened = read_conversation("s", {"models": {"currentModelId": "m", "availableModels": models}})
    effort = opened.options["effort"]
    assert (effort.options, effort.current) == (("low", "high"), "low")
    assert effort.params("s", "high") == {
        "sessionId": "s",
        "modelId": "m",
        "_meta": {"reasoningEffort": "high"},
    }
    assert read_conversation("s", {"models": {"currentModelId": "m", "availableModels": [{}]}}).options == {}
