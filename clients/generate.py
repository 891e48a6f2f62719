"""Writes what both clients share with the hub, from the schemas and tables it is documented by: `make client-types`.

The models of normalize/ and turnwire/hub/ own the vocabulary; of `turnwire schema frames`, `commands` and `results` this makes
the structs of the Python client, of normalize/payloads/shown.py how it shows payloads, and of turnwire/hub/wire/codes.py the table of codes of both. The TypeScript client's types are
made by clients/typescript/scripts/generate_types.mjs of the same schemas.
"""

import inspect
import json
import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from turnwire.hub.schema import document
from turnwire.hub.wire.codes import CLOSE_CODES, FINAL_CLOSE_CODES, REPLY_CODES
from turnwire.normalize.events import PermissionOption, PermissionRequest
from turnwire.normalize.events.base import Event, ThreadEvent

CLIENTS = Path(__file__).resolve().parent

Schema = dict[str, Any]

IN_PYTHON = {"from": "first", "to": "last"}
"""Names of fields that read badly in Python, or cannot be: `from` is a keyword."""

EVENT_BASES = {"SessionEvent": Event.__struct_fields__, "ThreadEvent": ThreadEvent.__struct_fields__}
"""Base classes of the client's events, and the fields that an event inherits from each."""

WITH_METHODS = {"PermissionOption": PermissionOption, "PermissionRequest": PermissionRequest}
"""Structs whose methods the client has as well, and their models."""

HEADER = '''"""{title}

Generated from `turnwire schema {source}` by `make client-types`; do not edit.
"""
'''


def python_type(schema: Schema) -> str:
    """Return the annotation of one schema."""
    match schema:
        case {"$ref": str(target)}:
            return name_of(target)
        case {"const": value}:
            return f"Literal[{value!r}]"
        case {"enum": values}:
            return f"Literal[{', '.join(map(repr, values))}]"
        case {"anyOf": choices} | {"oneOf": choices}:
            return " | ".join(dict.fromkeys(map(python_type, choices)))
        case {"type": "array", "items": items}:
            return f"list[{python_type(items)}]"
        case {"type": "object", "additionalProperties": dict(values)}:
            inner = python_type(values)
            return "JsonObject" if inner == "JsonValue" else f"dict[str, {inner}]"
        case {"type": "object"}:
            return "JsonObject"
        case {"type": str(plain)}:
            return {
                "string": "str",
                "integer": "int",
                "number": "float",
                "boolean": "bool",
                "null": "None",
            }[plain]
        case _:
            return "JsonValue"


def name_of(reference: str) -> str:
    """Return the name of what a reference points to."""
    return reference.rpartition("/")[2]


def references(schema: object) -> Iterator[str]:
    """Yield the names of all definitions that a schema mentions, in order."""
    match schema:
        case {"$ref": str(target)}:
            yield name_of(target)
        case dict():
            for key, part in schema.items():
                if key != "discriminator":
                    yield from references(part)
        case list():
            for part in schema:
                yield from references(part)
        case _:
            pass


def tags(schema: object) -> Iterator[tuple[str, str]]:
    """Yield the name and the tag's field of each member of a tagged union."""
    match schema:
        case {"discriminator": {"propertyName": str(field), "mapping": dict(members)}}:
            for target in members.values():
                yield name_of(target), field
        case _:
            pass
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from tags(part)


def docstring(text: str, indent: str) -> str:
    """Return a docstring, or nothing of nothing."""
    if not text:
        return ""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    escaped = "\n".join(f"{indent}{line}" if line else "" for line in escaped.split("\n")).removeprefix(
        indent
    )
    end = f"\n{indent}" if "\n\n" in escaped else ""
    return f'{indent}"""{escaped}{end}"""\n'


def field(name: str, schema: Schema, *, required: bool) -> str:
    """Return one field of a struct."""
    annotation = python_type(schema)
    renamed = IN_PYTHON.get(name, name)
    assert not keyword.iskeyword(renamed), f"{name} needs a name for Python in IN_PYTHON"
    default = repr(schema.get("default"))
    if required:
        value = "" if renamed == name else f" = field(name={name!r})"
    else:
        assert renamed == name, f"{name} is renamed and has a default"
        value = f" = {default}"
        if default == "None" and annotation != "JsonValue" and not annotation.endswith("| None"):
            annotation += " | None"
    text = schema.get("description", "")
    return f"    {renamed}: {annotation}{value}\n{docstring(text, '    ')}"


def struct(name: str, schema: Schema, base: str, tag_field: str | None) -> str:
    """Return one struct without the field of its tag, the fields of its base, and the id that the client adds. A command's base has its result's type."""
    properties = schema["properties"]
    tag = "" if tag_field is None else f", tag={properties[tag_field]['const']!r}"
    left_out = {tag_field, *EVENT_BASES.get(base, ["id"] if base.startswith("Command[") else [])}
    required = schema.get("required", [])
    fields = [
        field(key, value, required=key in required)
        for key, value in properties.items()
        if key not in left_out
    ]
    head = f"class {name}({base}, frozen=True, kw_only=True{tag}):\n"
    return head + docstring(schema.get("description", ""), "    ") + "\n" + "".join([*fields, *methods(name)])


def methods(name: str) -> Iterator[str]:
    """Yield the source of the methods of a struct."""
    for method in vars(WITH_METHODS.get(name, object)).values():
        if isinstance(method, FunctionType):
            yield "\n" + inspect.getsource(method)


def defined(definitions: dict[str, Schema], names: list[str], tagged: dict[str, tuple[str, str]]) -> str:
    """Return the structs of these names, each after those it mentions."""
    written: dict[str, str] = {}

    def write(name: str) -> None:
        if name in written or name not in names:
            return
        for mentioned in references(definitions[name].get("properties", {})):
            if mentioned != name:
                write(mentioned)
        base, tag_field = tagged.get(name, ("Value", None))
        written[name] = struct(name, definitions[name], base, tag_field)

    for name in names:
        write(name)
    return "\n\n".join(written.values())


def event_bases(fields: dict[str, Schema]) -> str:
    """Return the base classes of events; `fields` are those of an event that has all of them."""
    schemas = [
        (
            name,
            base,
            {"description": model.__doc__, "properties": {key: fields[key] for key in EVENT_BASES[name]}},
        )
        for name, base, model in (
            ("SessionEvent", "Event", Event),
            ("ThreadEvent", "SessionEvent", ThreadEvent),
        )
    ]
    return "\n\n".join(struct(name, schema, base, None) for name, base, schema in schemas) + "\n\n"


def union(name: str, members: list[str], text: str) -> str:
    """Return the alias of a union."""
    return f"\n\n{name}: TypeAlias = {' | '.join(members)}\n" + docstring(text, "")


def imports(body: str, bases: list[str], *more: str) -> str:
    """Return the imports that a module needs."""
    values = [name for name in ("JsonObject", "JsonValue", "Value", *bases) if name in body]
    own = [f"from .values import {', '.join(sorted(values))}", *more]
    outer = ["from msgspec import field"] if "field(name=" in body else []
    words = "from typing import Literal"
    # What is sent has the words of this version. What is received is read as it comes: a new word costs nobody its event.
    received = "Command" not in bases
    alias = ["TypeAlias"] if "TypeAlias" in body else []
    typing = ", ".join(["TYPE_CHECKING" if received else "Literal", *alias])
    if received:
        words = f"if TYPE_CHECKING:\n    {words}\nelse:\n    from .values import AnyWord as Literal"
    blocks = [[f"from typing import {typing}"], outer, sorted(own), [words] if received else []]
    return "\n" + "\n\n".join("\n".join(block) for block in blocks if block) + "\n\n\n"


def exported(names: list[str]) -> str:
    """Return `__all__`."""
    return f"\n\n__all__ = {sorted(names)!r}\n"


def closure(definitions: dict[str, Schema], roots: list[str]) -> list[str]:
    """Return the names of definitions that these mention, and they themselves, in the schema's order."""
    found: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in definitions and name not in found:
            found.add(name)
            todo += references(definitions[name].get("properties", {}))
    return [name for name in definitions if name in found]


def python_modules() -> dict[str, str]:
    """Return the generated modules of the Python client: file name to source, not yet formatted."""
    frames: Schema = document("frames")
    commands: Schema = document("commands")
    results: Schema = document("results")
    definitions: dict[str, Schema] = frames["$defs"]
    event = definitions["EventFrame"]["properties"]["event"]
    payload = definitions["ToolCall"]["properties"]["normalized"]
    event_names = [name_of(each["$ref"]) for each in event["oneOf"]]
    payload_names = [name_of(each["$ref"]) for each in payload["oneOf"]]
    frame_names = [name_of(each["$ref"]) for each in frames["oneOf"]]
    command_names = [name_of(each["$ref"]) for each in commands["oneOf"]]
    fields = {name: definitions[name]["properties"] for name in event_names}
    thread_events = [name for name in event_names if fields[name].keys() >= set(EVENT_BASES["ThreadEvent"])]
    bases = {
        **dict.fromkeys(event_names, "SessionEvent"),
        **dict.fromkeys(thread_events, "ThreadEvent"),
        **dict.fromkeys(payload_names, "Payload"),
        **dict.fromkeys(frame_names, "Frame"),
    }
    tagged = {name: (bases[name], tag_field) for name, tag_field in tags(frames)}
    payload_part = closure(definitions, payload_names)
    event_part = [name for name in closure(definitions, event_names) if name not in payload_part]
    frame_part = [name for name in definitions if name not in {*payload_part, *event_part}]
    result_types = {kind: python_type(each) for kind, each in results["properties"].items()}
    command_bases = {
        name_of(target): f"Command[{result_types.get(kind, 'JsonValue')}]"
        for kind, target in commands["discriminator"]["mapping"].items()
    }
    result_part = [name for name in results["$defs"] if name not in definitions]
    command_definitions = {name: each for name, each in commands["$defs"].items() if name != "JsonValue"}

    return {
        "payloads.py": module(
            "What tool calls do and what came of them: `kind` tells which.",
            "frames",
            defined(definitions, payload_part, tagged)
            + union("NormalizedPayload", payload_names, payload.get("description") or PAYLOAD_TEXT),
            ["Payload"],
            [*payload_part, "NormalizedPayload"],
        ),
        "events.py": module(
            "The events of a session: `type` tells which.",
            "frames",
            event_bases(fields[thread_events[0]])
            + defined(definitions, event_part, tagged)
            + union("AgentEvent", event_names, "Any event of a session; `type` tells which."),
            ["Event"],
            [*EVENT_BASES, *event_part, "AgentEvent"],
            payloads=[*payload_part, "NormalizedPayload"],
        ),
        "frames.py": module(
            "What a hub sends: `type` tells which.",
            "frames",
            defined(definitions, frame_part, tagged).replace(
                f"event: {' | '.join(event_names)}", "event: AgentEvent"
            )
            + union("OutFrame", frame_names, "Any frame the hub sends; `type` tells which."),
            ["Frame"],
            [*frame_part, "OutFrame"],
            events=["AgentEvent"],
        ),
        "commands.py": module(
            "What a frontend asks for: `type` tells which. The client adds the `id`.",
            "commands",
            defined(
                command_definitions,
                list(command_definitions),
                {name: (base, "type") for name, base in command_bases.items()},
            )
            + union("AnyCommand", command_names, "Any command; `type` tells which."),
            ["Command"],
            [*command_definitions, "AnyCommand"],
            results=result_part,
            frames=frame_part,
        ),
        "results.py": module(
            "What the replies to commands have as their result.",
            "results",
            defined(results["$defs"], result_part, {}).replace(
                f"event: {' | '.join(event_names)}", "event: AgentEvent"
            ),
            [],
            result_part,
            events=["AgentEvent"],
            frames=frame_part,
        ),
        "codes.py": python_codes(),
    }


PAYLOAD_TEXT = "What a tool call does and what came of it; `kind` tells which field is populated."


def module(
    title: str, source: str, body: str, bases: list[str], names: list[str], **needed: list[str]
) -> str:
    """Return a module of structs."""
    payloads = " | ".join(name for name in needed.get("payloads", []) if name.endswith("Payload"))
    body = (
        body.replace(payloads.removesuffix(" | NormalizedPayload"), "NormalizedPayload") if payloads else body
    )
    more = [
        f"from .{own} import {', '.join(sorted(used))}"
        for own, known in needed.items()
        if (used := [name for name in known if name in identifiers(body)])
    ]
    return HEADER.format(title=title, source=source) + imports(body, bases, *more) + body + exported(names)


def identifiers(source: str) -> set[str]:
    """Return the identifiers in a source text."""
    return set("".join(each if each.isidentifier() or each.isdigit() else " " for each in source).split())


def shown() -> str:
    """Return how payloads are shown, for the client's own structs."""
    source = (CLIENTS.parent / "normalize" / "payloads" / "shown.py").read_text(encoding="utf-8")
    ours = re.compile(r"from turnwire\.normalize\.payloads[.a-z]* import (\((?:[^()]*)\)|.*)\n")
    names = sorted({name for found in ours.findall(source) for name in identifiers(found)})
    body = ours.sub("", source[source.index('"""', 3) + 3 :])
    first, _, rest = body.lstrip().partition("\n\n")
    header = HEADER.format(
        title="How a payload is shown: as text, as a kind of action, and in a search.", source=""
    )
    header = header.replace("`turnwire schema `", "normalize/payloads/shown.py")
    return f"{header}\n{first}\n\nfrom .payloads import {', '.join(names)}\n\n{rest.lstrip()}"


def python_codes() -> str:
    """Return the table of codes for Python."""
    return f'''"""Why a hub closes a connection and why it refuses a command: the hub's own table.

Generated from turnwire/hub/wire/codes.py by `make client-types`; do not edit.
"""

CLOSE_CODES: dict[int, str] = {CLOSE_CODES!r}
"""What a client can see as the code of a closed connection."""

FINAL_CLOSE_CODES: frozenset[int] = frozenset({{{", ".join(map(str, sorted(FINAL_CLOSE_CODES)))}}})
"""Those after which trying again would not help: the client fails with AccessRefused."""

REPLY_CODES: dict[str, str] = {REPLY_CODES!r}
"""`code` of CommandFailed."""
'''


def typescript_codes() -> str:
    """Return the table of codes for TypeScript."""

    def record(table: dict[int, str] | dict[str, str]) -> str:
        rows = "".join(f"  {key}: {json.dumps(text, ensure_ascii=False)},\n" for key, text in table.items())
        return f"{{\n{rows}}}"

    return f"""/**
 * Why a hub closes a connection and why it refuses a command: the hub's own table.
 *
 * Generated from turnwire/hub/wire/codes.py by `make client-types`; do not edit.
 */

/** What a client can see as the code of a closed connection. */
export const CLOSE_CODES: Readonly<Record<number, string>> = {record(CLOSE_CODES)};

/** Those after which trying again would not help: the client fails with AccessRefused. */
export const FINAL_CLOSE_CODES: readonly number[] = [{", ".join(map(str, sorted(FINAL_CLOSE_CODES)))}];

/** `code` of CommandFailed. */
export const REPLY_CODES: Readonly<Record<string, string>> = {record(REPLY_CODES)};
"""


def formatted(source: str) -> str:
    """Return Python as `ruff format` leaves it."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", CLIENTS / "python" / "generated.py", "-"],
        input=source, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def generated() -> dict[Path, str]:
    """Return all that is generated: file to content."""
    package = CLIENTS / "python" / "turnwire_client"
    files = {package / name: formatted(source) for name, source in python_modules().items()}
    files[package / "shown.py"] = formatted(shown())
    return {**files, CLIENTS / "typescript" / "src" / "codes.ts": typescript_codes()}


if __name__ == "__main__":
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")
