"""The published schemas: valid by their own validators, true to what is really sent, and rendered into the docs."""

import json
import re
import warnings
from pathlib import Path

import pytest
from hub_harness import SESSION, ask, hub_harness, receive
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from pydantic import JsonValue

from recordings import ROOT
from turnwire.hub.schema import What, document, reference
from turnwire.hub.wire.codes import CLOSE_CODES, HTTP_CODES, REPLY_CODES, CloseCode
from turnwire.hub.wire.frames import fields_of_commands
from turnwire.hub.wire.results import RESULTS
from turnwire.normalize.events import MessageChunk, RateLimit, to_json


def validator(what: What) -> Draft202012Validator:
    return Draft202012Validator(document(what))


@pytest.mark.parametrize("what", ["events", "commands", "results", "frames"])
def test_each_schema_is_valid_json_schema_and_resolves_its_references(what: What) -> None:
    schema = document(what)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    for reference_ in re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema)):
        assert reference_.removeprefix("#/$defs/") in definitions


def test_every_field_and_type_is_described() -> None:
    for what in ("events", "commands", "results", "frames"):
        definitions = document(what)["$defs"]
        assert isinstance(definitions, dict)
        for name, definition in definitions.items():
            assert isinstance(definition, dict)
            fields = definition.get("properties", {})
            assert isinstance(fields, dict)
            assert name == "JsonValue" or definition.get("description"), name
            for field, schema in fields.items():
                assert isinstance(schema, dict)
                assert "description" in schema or "const" in schema or "$ref" in schema, f"{name}.{field}"


def test_the_asyncapi_document_is_valid_asyncapi_3() -> None:
    with warnings.catch_warnings():
        # The library's own models shadow names of pydantic's.
        warnings.simplefilter("ignore")
        from asyncapi3 import AsyncAPI3  # type: ignore[import-untyped]  # ships no types

    content = document("asyncapi")
    AsyncAPI3.model_validate(content)
    with pytest.raises(ValueError, match="operations"):
        AsyncAPI3.model_validate({**content, "operations": {"x": {"action": "shout"}}})


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    content = document("asyncapi")
    references = set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(content)))
    assert len(references) > 50
    for path in references:
        here: JsonValue = content
        for part in path.split("/"):
            assert isinstance(here, dict)
            assert part in here, path
            here = here[part]


def test_the_asyncapi_document_has_every_command_and_frame() -> None:
    content = json.dumps(document("asyncapi"))
    for what in ("commands", "frames"):
        discriminator = document(what)["discriminator"]
        assert isinstance(discriminator, dict)
        assert isinstance(discriminator["mapping"], dict)
        for type_ in discriminator["mapping"]:
            assert f'"name": "{type_}"' in content


async def test_what_the_hub_really_sends_fits_the_schema_of_frames() -> None:
    frames = validator("frames")
    async with hub_harness() as hub, hub.websocket() as frontend:
        frames.validate(await receive(frontend))
        await hub.append("a", "b")
        frames.validate(await ask(frontend, type="subscribe", session=SESSION, after=1, epoch="x"))
        seen = set()
        while "caught_up" not in seen:
            frame = await receive(frontend)
            frames.validate(frame)
            seen.add(frame["type"])
        await hub.append("c")
        frames.validate(await receive(frontend))
        frames.validate(await ask(frontend, type="nope"))
        await frontend.send("{")
        frames.validate(await receive(frontend))
        hub.host.changed()
        frames.validate(await receive(frontend))
        assert seen == {"gap", "events", "caught_up"}


def test_every_command_has_a_type_of_result() -> None:
    assert RESULTS.keys() == fields_of_commands().keys()
    assert len(RESULTS) > 45


def test_the_schema_of_events_takes_what_is_sent_and_nothing_else() -> None:
    events = validator("events")
    events.validate(json.loads(to_json(MessageChunk(text="hi"))))
    events.validate(json.loads(to_json(RateLimit(rate_limit_message="slow down"))))
    for wrong in (
        {"type": "nope"},
        {"type": "message_chunk"},
        {"text": "hi"},
        {"type": "message_chunk", "text": None},
    ):
        with pytest.raises(ValidationError):
            events.validate(wrong)


def test_the_schema_of_commands_takes_what_the_hub_takes() -> None:
    commands = validator("commands")
    commands.validate({"type": "prompt", "id": "1", "session": "s", "text": "hi", "attachments": None})
    for wrong in ({"type": "prompt", "id": "1"}, {"type": "interrupt", "id": "1", "session": "s", "x": 1}):
        with pytest.raises(ValidationError):
            commands.validate(wrong)


def test_the_reference_in_the_docs_is_the_one_the_models_give() -> None:
    assert (ROOT / "docs" / "protocol.md").read_text() == reference.render(), (
        "run: python -m turnwire.hub.schema.reference > docs/protocol.md"
    )


def test_every_code_that_is_used_is_documented() -> None:
    sources = [
        path
        for folder in (
            ROOT / "turnwire" / "hub",
            ROOT / "turnwire" / "sidecar",
            ROOT / "turnwire" / "sessions",
            ROOT / "adapter",
        )
        for path in folder.rglob("*.py")
    ]
    used = {code for path in sources for code in _codes(path)}
    assert {"invalid_params", "unknown_session", "not_running"} <= used
    assert used <= set(REPLY_CODES) | set(HTTP_CODES), used - set(REPLY_CODES) - set(HTTP_CODES)
    assert set(CloseCode) <= set(CLOSE_CODES)


def _codes(path: Path) -> list[str]:
    return re.findall(
        r'\b(?:refuse|refusal|CommandRefused|AnswerRefused)\(\s*(?:[\w.]+,\s*)?"([a-z_]+)"', path.read_text()
    )
