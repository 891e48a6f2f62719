"""Options of a session, from a frontend's command and from the settings to what the model is asked."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from live import Frontend, real_setup
from live import preloaded_running as running
from scripted_messages_api import ScriptedMessagesApi, plan, scripted_messages_api, text, tool_use
from turnwire.client.commands import AgentOptions
from turnwire.client.events import SessionInfo
from turnwire.client.values import JsonObject

CONFIGURED = {
    "system_prompt": "You are the configured one.",
    "append_system_prompt": "Speak in rhymes.",
    "disallowed_tools": ["WebFetch"],
    "setting_sources": [],
}
ASKED = AgentOptions(
    system_prompt="You are a lighthouse keeper.",
    tools=["Read", "Bash", "Agent"],
    allowed_tools=["Bash(echo:*)"],
    disallowed_tools=["Read"],
    max_turns=2,
    max_budget_usd=5,
    effort="low",
    fallback_model="claude-haiku-4-5",
    agents={"gull": {"description": "Cries over the sea", "prompt": "Cry."}},
    settings={"env": {"LAMP": "lit"}},
    checkpointing=True,
)


@pytest.mark.long
async def test_options_of_settings_and_of_a_frontend_reach_the_model(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        setup = replace(
            setup,
            env={
                **setup.env,
                "TURNWIRE_SESSION_OPTIONS": json.dumps(CONFIGURED),
                "TURNWIRE_FRONTEND_OPTIONS": "allowed_tools,settings",
            },
        )
        async with running(tmp_path, setup) as (configured, _):
            assert (await configured.turn("hello")).data.outcome == "completed"
            assert "You are the configured one." in asked(api, "system")
            assert "Speak in rhymes." in asked(api, "system")
            assert "WebFetch" not in tools(configured)
            assert "Write" in tools(configured)

            other, beside = tmp_path / "other", tmp_path / "beside"
            other.mkdir()
            beside.mkdir()
            (beside / "note.txt").write_text("other than the workspace")
            session = await configured.client.create(
                workspace=str(other), options=msgspec.structs.replace(ASKED, add_dirs=[str(beside)])
            )
            frontend = Frontend(configured.client, session)
            call = [tool_use("Bash", command=f"echo $LAMP; cat {beside}/note.txt", description="Look")]
            done = await frontend.turn(plan(call, call, [text("never said")]))
            assert done.data.outcome == "max_turns"
            system = asked(api, "system")
            assert "You are a lighthouse keeper." in system
            assert "Speak in rhymes." in system
            assert "configured one" not in system
            assert set(tools(frontend)) == {"Bash", "Task"} or set(tools(frontend)) == {"Bash", "Agent"}
            assert "gull" in (frontend.seen(SessionInfo)[-1].agents or [])
            assert "lit\\nother than the workspace" in asked(api, "messages")


@pytest.mark.long
async def test_a_structured_answer_has_the_shape_that_was_asked_for(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, real_setup(tmp_path, api, str)) as (first, _):
            schema: JsonObject = {
                "type": "object",
                "properties": {"height": {"type": "integer"}},
                "required": ["height"],
            }
            session = await first.client.create(
                workspace=str(tmp_path / "project"), options=AgentOptions(output_schema=schema)
            )
            frontend = Frontend(first.client, session)
            await frontend.turn(plan([tool_use("StructuredOutput", height=30)], [text("Done.")]))
            [definition] = [one for one in api.requests[-1]["tools"] if one["name"] == "StructuredOutput"]
            assert definition["input_schema"]["properties"] == schema["properties"]


def asked(api: ScriptedMessagesApi, field: str) -> str:
    return json.dumps(api.requests[-1][field], ensure_ascii=False)


def tools(frontend: Frontend) -> list[str]:
    return frontend.seen(SessionInfo)[-1].tools or []
