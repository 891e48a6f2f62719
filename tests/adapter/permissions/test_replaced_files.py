"""A request to write a file that exists shows what goes, at every door; what may be a secret is named and not shown."""

import os
from pathlib import Path

import msgspec
import pytest

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.permissions.replaced_files import LARGEST, with_replaced_files
from turnwire.adapter.session.core import Outputs, SessionCore
from turnwire.client import events
from turnwire.frontends.acp.dialogs import PermissionDialog
from turnwire.frontends.acp.tool_calls import ToolCalls
from turnwire.frontends.agui.question_answers import interrupt_of
from turnwire.frontends.ai_sdk.encoder import Turn
from turnwire.frontends.mcp.turns import request_of
from turnwire.frontends.terminal.showing import asked
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import PermissionRequest, to_json
from turnwire.normalize.inputs import Received
from turnwire.normalize.payloads import ModifyFilePayload
from turnwire.normalize.payloads.files import ModifyFile, Mutation
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.json_lines import line_of


@pytest.fixture
def settings(tmp_path: Path) -> PermissionSettings:
    own, secret = tmp_path / "state", tmp_path / "home" / ".ssh"
    workspace = tmp_path / "work"
    for folder in (own, secret, workspace):
        folder.mkdir(parents=True)
    return PermissionSettings(
        workspace=str(workspace), protected=ProtectedPlaces(own=(str(own),), secret=(str(secret),))
    )


def writing(path: str, content: str = "new\n") -> PermissionRequest:
    mutation = Mutation(type="create", content=content)
    return PermissionRequest(
        pending_id="p",
        permission_title=f"Write {path}",
        permission_options=[],
        action_type="file_write",
        normalized=ModifyFilePayload(modify_file=ModifyFile(file_path=path, mutations=[mutation])),
    )


def mutation_of(request: PermissionRequest) -> Mutation:
    assert isinstance(request.normalized, ModifyFilePayload)
    [mutation] = request.normalized.modify_file.mutations
    return mutation


def test_the_text_of_a_file_that_exists_is_shown_with_what_takes_its_place(
    settings: PermissionSettings,
) -> None:
    place = Path(settings.workspace, "a.txt")
    place.write_bytes(b"one\r\ntwo\r\n")
    for path in (str(place), "a.txt"):
        told = mutation_of(with_replaced_files(writing(path, "one\nthree\n"), settings))
        assert (told.type, told.old_content, told.content) == ("overwrite", "one\ntwo\n", "one\nthree\n")
        assert told.diff is not None
        assert "-two\n+three\n" in told.diff


def test_a_new_file_and_other_changes_stay_as_they_are(settings: PermissionSettings) -> None:
    request = writing("new.txt")
    assert with_replaced_files(request, settings) is request
    Path(settings.workspace, "a.txt").write_text("old\n")
    body = ModifyFile(file_path="a.txt", mutations=[Mutation(type="edit", old_content="o", new_content="n")])
    edit = msgspec.structs.replace(request, normalized=ModifyFilePayload(modify_file=body))
    assert with_replaced_files(edit, settings) is edit
    command = msgspec.structs.replace(request, normalized=None)
    assert with_replaced_files(command, settings) is command


def test_of_several_files_each_is_looked_at(settings: PermissionSettings) -> None:
    Path(settings.workspace, "b.txt").write_text("old\n")
    mutations = [
        Mutation(type="create", content="x\n"),
        Mutation(type="create", content="y\n", file_path="b.txt"),
    ]
    body = ModifyFile(file_path="a.txt", mutations=mutations)
    request = msgspec.structs.replace(writing("a.txt"), normalized=ModifyFilePayload(modify_file=body))
    told = with_replaced_files(request, settings).normalized
    assert isinstance(told, ModifyFilePayload)
    assert [one.type for one in told.modify_file.mutations] == ["create", "overwrite"]


def test_what_cannot_or_must_not_be_shown_is_told_in_words(
    settings: PermissionSettings, tmp_path: Path
) -> None:
    work = Path(settings.workspace)
    (work / "large").write_bytes(b"x" * (LARGEST + 1))
    (work / "binary").write_bytes(b"a\0b")
    (work / ".env").write_text("KEY=sk-secret\n")
    (work / "folder").mkdir()
    os.mkfifo(work / "pipe")
    (tmp_path / "home/.ssh/id_rsa").write_text("sk-secret\n")
    (tmp_path / "state/access.json").write_text("sk-secret\n")
    (work / "link").symlink_to(tmp_path / "home/.ssh/id_rsa")
    expected = {
        "large": "whose 262,145 bytes are too many to be shown",
        "binary": "which is no text",
        ".env": "may be a secret",
        "link": "may be a secret",
        str(tmp_path / "home/.ssh/id_rsa"): "may be a secret",
        str(tmp_path / "state/access.json"): "may be a secret",
        "folder": "which is no regular file",
        "pipe": "which is no regular file",
        "a.txt\0": "which cannot be read",
    }
    for path, words in expected.items():
        told = with_replaced_files(writing(path), settings)
        assert mutation_of(told).type == "overwrite", path
        assert mutation_of(told).old_content is None
        assert words in str(told.reason)
        assert "sk-secret" not in to_json(told).decode()


def test_a_text_that_is_there_already_is_told_as_that(settings: PermissionSettings) -> None:
    Path(settings.workspace, "a.txt").write_text("same\n")
    told = with_replaced_files(writing("a.txt", "same\n"), settings)
    assert told.reason == "The file a.txt holds this text already."
    assert mutation_of(told).diff == ""


def test_without_protected_places_all_text_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    told = with_replaced_files(writing("a.txt"), PermissionSettings(workspace=str(tmp_path)))
    assert mutation_of(told).old_content == "old\n"


def test_a_session_asks_with_the_text_that_goes_and_every_door_shows_it(settings: PermissionSettings) -> None:
    Path(settings.workspace, "a.txt").write_text("what goes\n")
    line = line_of(
        {
            "type": "control_request",
            "request_id": "r",
            "request": {
                "subtype": "can_use_tool",
                "tool_name": "Write",
                "input": {"file_path": str(Path(settings.workspace, "a.txt")), "content": "what comes\n"},
            },
        }
    )
    core = SessionCore(
        ClaudeCore(),
        ClaudeWire(),
        State(settings),
        shown=lambda request: with_replaced_files(request, settings),
    )
    outputs = core.receive(Received(line, decode(line)), 1.0)
    assert isinstance(outputs, Outputs)
    [made] = [event for _, told in outputs.happened for event in told if isinstance(event, PermissionRequest)]
    request = msgspec.json.decode(to_json(made), type=events.PermissionRequest)
    _, acp = PermissionDialog(request, ToolCalls()).request()
    [diff] = [one for one in acp["toolCall"]["content"] if one["type"] == "diff"]
    assert (diff["oldText"], diff["newText"]) == ("what goes\n", "what comes\n")
    _, second = PermissionDialog(request, ToolCalls(shows_patches=True)).request()
    assert "-what goes\n+what comes\n" in str(second["toolCall"]["content"][0]["patch"]["text"])
    assert any("-what goes" in part.text for part in asked(request))
    assert "-what goes" in str(interrupt_of(request).metadata)
    assert "-what goes" in str(Turn("m").handle(request))
    assert "-what goes\n+what comes\n" in str(request_of(request)["diff"])


def test_an_editor_is_never_told_that_a_file_is_new_that_exists(settings: PermissionSettings) -> None:
    Path(settings.workspace, ".env").write_text("KEY=1\n")
    told = with_replaced_files(writing(".env"), settings)
    request = msgspec.json.decode(to_json(told), type=events.PermissionRequest)
    _, acp = PermissionDialog(request, ToolCalls()).request()
    assert "replaces the file .env" in str(request_of(request)["reason"])
    assert "diff" not in request_of(request)
    [diff, why] = acp["toolCall"]["content"]
    assert diff["oldText"] == ""
    assert "replaces the file .env" in why["content"]["text"]
