"""The whole wire as an AsyncAPI 3 document: WebSocket and event stream, commands with their replies, frames, access."""

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from turnwire.hub.schema.shapes import Schema, as_received, as_sent, members_of
from turnwire.hub.wire.codes import CLOSE_CODES, HTTP_CODES, REPLY_CODES
from turnwire.hub.wire.frames import AnyCommand, commands
from turnwire.hub.wire.frames_out import OutFrame

IN_COMPONENTS = "#/components/schemas/{model}"
SECURITY: list[JsonValue] = [
    {"$ref": "#/components/securitySchemes/bearer"},
    {"$ref": "#/components/securitySchemes/cookie"},
]

INTRODUCTION = """Agent-neutral, typed events of coding-agent CLIs, and the commands that steer them.

A frontend connects, is welcomed, and subscribes to sessions from a cursor; it gets everything after the cursor,
then `caught_up`, then what happens, without gap or repeat. Every command carries an `id` and gets one `reply`."""


def asyncapi(version: str = "1.0.0") -> Schema:
    """Return the document; the version is the wire's."""
    received, sent = as_received(commands, AnyCommand, IN_COMPONENTS), as_sent(OutFrame, IN_COMPONENTS)
    command_names, frame_names = members_of(received), members_of(sent)
    schemas: Schema = {**_definitions(received), **_definitions(sent)}
    channel = "#/channels/frontend"
    return {
        "asyncapi": "3.0.0",
        "id": "urn:turnwire:v1",
        "info": {
            "title": "turnwire",
            "version": version,
            "description": INTRODUCTION,
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "websocket": _server("ws", "One port for all; `wss` with TLS."),
            "http": _server("http", "The same port; `https` with TLS."),
        },
        "channels": {
            "frontend": {
                "address": "/ws",
                "title": "A frontend",
                "description": "Text frames of one JSON object each; subprotocol `turnwire.v1`. Close codes: "
                + _list({str(code): meaning for code, meaning in CLOSE_CODES.items()}),
                "servers": [{"$ref": "#/servers/websocket"}],
                "messages": {
                    name: {"$ref": f"#/components/messages/{name}"}
                    for name in (*command_names.values(), *frame_names.values())
                },
                "bindings": {"ws": {"method": "GET"}},
            },
            "eventStream": {
                "address": "/sessions/{session}/events",
                "title": "The events of a session as server-sent events",
                "description": "`id` is the cursor, EPOCH-SEQ: send it as Last-Event-ID to resume. `data` of an event "
                "without a name is an `event` frame; other frames have their type as name. Errors: "
                + _list({f"{status} {code}": text for code, (status, text) in HTTP_CODES.items()}),
                "servers": [{"$ref": "#/servers/http"}],
                "parameters": {"session": {"description": "turnwire's session id."}},
                "messages": {
                    name: {"$ref": f"#/components/messages/{name}"}
                    for name in (frame_names[type_] for type_ in STREAMED)
                },
            },
        },
        "operations": {
            **{
                to_camel(type_.replace(".", "_")): _operation(channel, name)
                for type_, name in command_names.items()
            },
            "sendFrames": {
                "action": "send",
                "channel": {"$ref": channel},
                "summary": "What the hub says unasked.",
                "messages": [
                    {"$ref": f"{channel}/messages/{name}"}
                    for type_, name in frame_names.items()
                    if type_ != "reply"
                ],
            },
            "streamEvents": {
                "action": "send",
                "channel": {"$ref": "#/channels/eventStream"},
                "summary": "The events of one session.",
                "bindings": {"http": {"method": "GET"}},
            },
        },
        "components": {
            "messages": {
                name: _message(type_, name, schemas)
                for type_, name in (*command_names.items(), *frame_names.items())
            },
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of a role. Browsers, which cannot set the header of a WebSocket, offer it as "
                    "subprotocol `turnwire.token.TOKEN` or send it in a first frame `hello`.",
                },
                "cookie": {
                    "type": "httpApiKey",
                    "in": "cookie",
                    "name": "turnwire-PORT",
                    "description": "What POST /login (with the token as bearer) gives a browser. It counts together with the key of the answer, sent as the subprotocol turnwire.key.KEY.",
                },
            },
        },
    }


STREAMED = ("event", "gap", "lag", "caught_up")
"""Frames that occur in the event stream."""


def _server(protocol: str, description: str) -> Schema:
    return {
        "host": "127.0.0.1:{port}",
        "protocol": protocol,
        "description": description,
        "variables": {"port": {"description": "Printed at the start.", "default": "8787"}},
        "security": SECURITY,
    }


def _operation(channel: str, name: str) -> Schema:
    return {
        "action": "receive",
        "channel": {"$ref": channel},
        "messages": [{"$ref": f"{channel}/messages/{name}"}],
        "reply": {
            "channel": {"$ref": channel},
            "messages": [{"$ref": f"{channel}/messages/Reply"}],
        },
    }


def _message(type_: str, name: str, schemas: Schema) -> Schema:
    schema = schemas[name]
    assert isinstance(schema, dict), "an object's schema"
    description = str(schema.get("description", ""))
    if name == "Reply":
        description += " Error codes: " + _list(REPLY_CODES)
    return {
        "name": type_,
        "title": name,
        "summary": description.split(". ")[0].rstrip(".") + ".",
        "description": description,
        "contentType": "application/json",
        "payload": {"$ref": f"#/components/schemas/{name}"},
    }


def _list(meanings: dict[str, str]) -> str:
    return " ".join(f"`{code}`: {meaning}" for code, meaning in meanings.items())


def _definitions(schema: Schema) -> Schema:
    definitions = schema["$defs"]
    assert isinstance(definitions, dict), "a schema's definitions"
    return {name: _without_discriminators(definition) for name, definition in definitions.items()}


def _without_discriminators(schema: JsonValue) -> JsonValue:
    """Drop a keyword that AsyncAPI has with another meaning; the constants of the members say the same."""
    if isinstance(schema, list):
        return [_without_discriminators(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_discriminators(value)
        for name, value in schema.items()
        if not (name == "discriminator" and isinstance(value, dict) and "propertyName" in value)
    }
