import base64
from pathlib import Path

import pytest

from turnwire.adapter.claude.attachments import compose
from turnwire.adapter.session.attachments import (
    Attachment,
    AttachmentFolder,
    AttachmentRefused,
    AttachmentSettings,
    decode_attachment,
    sniff,
)
from turnwire.protocol.claude.blocks import ImageBlock, TextBlock

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4ISeHFTEMLQkAkL9BAbKfPiIAAAAASUVORK5CYII="
)
JPEG = b"\xff\xd8\xff\xe0rest"
GIF = b"GIF89arest"
WEBP = b"RIFF\x10\x00\x00\x00WEBPVP8 "
BLOCKS, FILES = AttachmentSettings(), AttachmentSettings(mode="files")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (GIF, "image/gif"),
        (b"GIF87a", "image/gif"),
        (WEBP, "image/webp"),
        (b"RIFF\x10\x00\x00\x00WAVE", None),
        (b"XXXX\x10\x00\x00\x00WEBP", None),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_the_content_says_what_a_file_is(content: bytes, media_type: str | None) -> None:
    kind = sniff(content)
    assert (kind and kind.media_type) == media_type


def test_images_become_blocks_before_the_text(tmp_path: Path) -> None:
    content = compose(AttachmentFolder(tmp_path, "s"), "Look.", [Attachment(PNG, "lie.txt")], BLOCKS)
    assert content == [
        ImageBlock(
            source={
                "type": "base64",
                "media_type": "image/png",
                "data": base64.b64encode(PNG).decode(),
            }
        ),
        TextBlock("Look."),
    ]
    assert list(tmp_path.iterdir()) == []


def test_an_image_needs_no_text(tmp_path: Path) -> None:
    [block] = list(compose(AttachmentFolder(tmp_path, "s"), "", [Attachment(PNG)], BLOCKS))
    assert isinstance(block, ImageBlock)


def test_other_files_are_saved_and_named_in_the_prompt(tmp_path: Path) -> None:
    folder = AttachmentFolder(tmp_path, "s1")
    content = compose(folder, "Read it.", [Attachment(b"hello", "notes.txt")], BLOCKS)
    assert content == (
        "Attached files, to be read from the workspace:\n- .turnwire/attachments/s1/001-notes.txt\n\nRead it."
    )
    saved = tmp_path / ".turnwire/attachments/s1/001-notes.txt"
    assert saved.read_bytes() == b"hello"
    assert saved.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".turnwire/.gitignore").read_text() == "*\n"


def test_in_files_mode_images_are_saved_under_what_they_are(tmp_path: Path) -> None:
    content = compose(
        AttachmentFolder(tmp_path, "s"),
        "",
        [Attachment(PNG, "shot"), Attachment(JPEG, "a.jpeg"), Attachment(PNG, "x.txt")],
        FILES,
    )
    names = sorted(path.name for path in (tmp_path / ".turnwire/attachments/s").iterdir())
    assert names == ["001-shot.png", "002-a.jpeg", "003-x.txt.png"]
    assert all(name in content for name in names)


@pytest.mark.parametrize(
    "name",
    ["../../evil", "/etc/passwd", "..\\..\\evil", "..", ".", "", ".bashrc", "a/b/../c", "a\0b", "é" * 300],
)
def test_a_name_never_leads_anywhere(name: str, tmp_path: Path) -> None:
    compose(AttachmentFolder(tmp_path, "../" + name), "", [Attachment(b"x", name)], BLOCKS)
    [saved] = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".gitignore"]
    assert saved.parent.parent == tmp_path / ".turnwire/attachments"
    assert saved.name.startswith("001-")
    assert len(saved.name) < 100


@pytest.mark.parametrize("link", [".turnwire", ".turnwire/attachments", ".turnwire/attachments/s"])
def test_a_link_out_of_the_workspace_is_not_followed(link: str, tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    outside.mkdir()
    (workspace / link).parent.mkdir(parents=True)
    (workspace / link).symlink_to(outside)
    with pytest.raises(AttachmentRefused, match="but a link"):
        compose(AttachmentFolder(workspace, "s"), "", [Attachment(b"x")], BLOCKS)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_the_place_of_the_ignore_file_is_not_written_through(there: bool, tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (workspace / ".turnwire").mkdir(parents=True)
    if there:
        outside.write_text("mine")
    (workspace / ".turnwire" / ".gitignore").symlink_to(outside)
    compose(AttachmentFolder(workspace, "s"), "", [Attachment(b"x")], BLOCKS)
    assert (outside.read_text() if outside.exists() else None) == ("mine" if there else None)


def test_files_of_the_past_are_never_overwritten(tmp_path: Path) -> None:
    for text in (b"one", b"two"):
        compose(AttachmentFolder(tmp_path, "s"), "", [Attachment(text, "a.txt")], BLOCKS)
    folder = tmp_path / ".turnwire/attachments/s"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "001-a.txt": b"one",
        "002-a.txt": b"two",
    }


@pytest.mark.parametrize(
    ("attachments", "complaint"),
    [
        ([Attachment(b"x")] * 3, "3 attachments; at most 2"),
        ([Attachment(b"x" * 11, "big.txt")], "big.txt has 11 bytes; 1 to 10"),
        ([Attachment(b"")], "attachment 1 has 0 bytes"),
        ([Attachment(b"x" * 9)] * 2, "have 18 bytes; at most 15"),
    ],
)
def test_what_is_too_much_is_refused_and_nothing_is_saved(
    attachments: list[Attachment], complaint: str, tmp_path: Path
) -> None:
    limits = AttachmentSettings(max_count=2, max_size=10, max_total=15)
    with pytest.raises(AttachmentRefused, match=complaint):
        compose(AttachmentFolder(tmp_path, "s"), "", attachments, limits)
    assert list(tmp_path.iterdir()) == []


def test_what_was_saved_goes_with_the_session_and_nothing_else(tmp_path: Path) -> None:
    one, two = AttachmentFolder(tmp_path, "one"), AttachmentFolder(tmp_path, "two")
    for folder in (one, two):
        compose(folder, "", [Attachment(b"x", "a.txt")], BLOCKS)
    one.remove()
    assert not one.path.exists()
    assert two.path.exists()
    two.remove()
    assert not (tmp_path / ".turnwire/attachments").exists()
    two.remove()


def test_base64_is_checked() -> None:
    assert decode_attachment("aGk=", "a").content == b"hi"
    with pytest.raises(AttachmentRefused, match="not valid base64"):
        decode_attachment("a b", "a")
