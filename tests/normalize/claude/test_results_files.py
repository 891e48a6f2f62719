"""Results of reading and changing files: content, ranges, images, notebooks; real diffs with true line numbers."""

import json
from typing import Any

import pytest
from patches import patched
from tool_pairs import answered, body, output, recorded

TEXT_ONLY = ["1.0.120", "2.0.14"]
STRUCTURED = ["2.1.101", "2.1.330"]
ALL = TEXT_ONLY + STRUCTURED

APP = 'import sys\n\n\ndef greet(name):\n    return "Hello, " + name\n\n\nif __name__ == "__main__":\n    print(greet(sys.argv[1]))\n'
PIXELS = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4ISeHFTEMLQkAkL9BAbKfPiIAAAAASUVORK5CYII="
)


def read(content: Any, structured: Any = None, **call: Any) -> Any:
    return output(answered("Read", {"file_path": "f", **call}, content, structured))


@pytest.mark.parametrize("version", ALL)
def test_a_file_is_read_without_its_line_numbers(version: str) -> None:
    found = output(recorded(version, "tool-read", "Read", 0))
    assert found["content"] == APP
    assert (found["start_line"], found["line_count"], found["truncated"]) == (1, 10, False)
    assert found.get("total_lines") == (10 if version in STRUCTURED else None)


@pytest.mark.parametrize("version", ALL)
def test_a_range_is_read_with_its_place(version: str) -> None:
    found = output(recorded(version, "tool-read", "Read", 1))
    assert found["content"] == "line 10\nline 11\nline 12\nline 13\nline 14"
    assert (found["start_line"], found["line_count"], found["truncated"]) == (10, 5, True)
    assert found.get("total_lines") == (41 if version in STRUCTURED else None)


@pytest.mark.parametrize("version", ALL)
def test_an_image_is_a_part_with_media_type_and_size(version: str) -> None:
    assert output(recorded(version, "tool-read", "Read", 2)) == {
        "parts": [{"type": "image", "media_type": "image/png", "size": 74, "base64": PIXELS}]
    }


@pytest.mark.parametrize("version", ALL)
def test_a_missing_file_is_an_error_without_the_clis_marks(version: str) -> None:
    done = recorded(version, "tool-read", "Read", 3)
    assert (done.status, done.reason, output(done)) == ("error", "failed", None)
    assert done.error is not None
    assert done.error.startswith("File does not exist.")


@pytest.mark.parametrize("version", ALL)
def test_an_empty_file_is_empty_and_not_a_reminder(version: str) -> None:
    found = [output(recorded(version, "tool-read", "Read", number)) for number in range(4, 7)]
    empty = [one for one in found if one and one.get("content") == ""]
    assert len(empty) == 1
    assert empty[0]["total_lines"] == 1


@pytest.mark.parametrize("version", ALL)
def test_a_notebook_is_read_cell_by_cell(version: str) -> None:
    found = output(recorded(version, "tool-notebook", "Read"))
    assert found["parts"] == [
        {"type": "text", "text": "1+1", "cell_id": "c1", "cell_type": "code"},
        {"type": "text", "text": "# Title", "cell_id": "c2", "cell_type": "markdown"},
    ]
    assert found["content"] == "1+1\n\n# Title"


@pytest.mark.parametrize("version", ALL)
def test_odd_characters_stay_and_only_newlines_end_lines(version: str) -> None:
    found = output(recorded(version, "unicode", "Read"))
    assert "LS[\u2028] PS[\u2029] NEL[\x85]" in found["content"]
    assert found["line_count"] == found["content"].count("\n") + 1


def test_a_files_own_reminder_stays_and_the_clis_goes() -> None:
    shown = "     1→text\n     2→<system-reminder>\n     3→mine\n     4→\n\n<system-reminder>\nnot mine\n</system-reminder>\n"
    assert read(shown)["content"] == "text\n<system-reminder>\nmine\n"


def test_a_file_of_numbered_lines_loses_only_the_clis_numbers() -> None:
    assert read("1\t1\tone\n2\t2\ttwo\n3\t")["content"] == "1\tone\n2\ttwo\n"


def test_lines_beyond_the_padding_are_numbers_too() -> None:
    found = read("999999→a\n1000000→b", offset=999999, limit=2)
    assert (found["content"], found["start_line"], found["truncated"]) == ("a\nb", 999999, True)


def test_a_line_out_of_order_is_no_line_of_the_file() -> None:
    assert read("1\ta\n2\tb\n7\tc")["content"] == "a\nb"


def test_text_that_was_never_numbered_is_taken_as_it_is() -> None:
    assert read("Hello from test file!") == {"content": "Hello from test file!", "line_count": 1}
    assert read("") == {"content": "", "line_count": 0}


def test_fewer_lines_than_asked_for_are_the_whole_file() -> None:
    assert read("1\ta\n2\tb", limit=3)["truncated"] is False
    assert "truncated" not in read("1\ta\n2\tb", limit=2)


def test_a_file_cut_for_tokens_is_truncated() -> None:
    file = {"content": "a", "numLines": 1, "startLine": 1, "totalLines": 1, "truncatedByTokenCap": True}
    assert read("1\ta", {"type": "text", "file": file})["truncated"] is True


def test_a_structured_read_with_odd_fields_keeps_its_content() -> None:
    found = read("1\ta", {"type": "text", "file": {"content": "a\nb", "numLines": "x", "startLine": []}})
    assert found == {"content": "a\nb", "line_count": 2, "start_line": 1, "truncated": False}


def test_a_file_that_did_not_change_is_not_returned_again() -> None:
    assert output(recorded("2.1.101", "tool-read", "Read", 7)) == {"unchanged": True}
    note = "File unchanged since last read. The content from the earlier Read is still current."
    assert read(note) == {"unchanged": True}
    assert read(note, {"type": "file_unchanged", "file": {"filePath": "f"}}) == {"unchanged": True}


def test_a_pdf_is_a_document() -> None:
    structured = {"type": "pdf", "file": {"filePath": "d.pdf", "base64": "aGVsbG8=", "originalSize": 5}}
    assert read("PDF file read: d.pdf (5 bytes)", structured) == {
        "parts": [
            {
                "type": "document",
                "media_type": "application/pdf",
                "size": 5,
                "base64": "aGVsbG8=",
                "title": "d.pdf",
            }
        ]
    }


def test_pages_of_a_pdf_are_images() -> None:
    pages = [{"base64": "aGk=", "mediaType": "image/jpeg"}]
    structured = {"type": "parts", "file": {"filePath": "d.pdf", "count": 1}, "pages": pages}
    assert read("PDF pages extracted", structured) == {
        "parts": [{"type": "image", "media_type": "image/jpeg", "size": 2, "base64": "aGk="}]
    }
    assert read("1 page in /dir", {"type": "parts", "file": {}}) == {
        "parts": [{"type": "text", "text": "1 page in /dir"}]
    }


def test_a_notebooks_outputs_come_with_their_cell() -> None:
    cells = [
        {
            "cellType": "code",
            "source": ["print(1)\n", "plot()"],
            "cell_id": "c1",
            "outputs": [
                {"output_type": "stream", "text": "1\n"},
                {"output_type": "display_data", "image": {"image_data": "aGk=", "media_type": "image/png"}},
            ],
        }
    ]
    found = read("", {"type": "notebook", "file": {"cells": cells}})
    assert found["content"] == "print(1)\nplot()"
    assert found["parts"] == [
        {"type": "text", "text": "print(1)\nplot()", "cell_id": "c1", "cell_type": "code"},
        {"type": "text", "text": "1\n", "cell_id": "c1", "cell_type": "output"},
        {
            "type": "image",
            "media_type": "image/png",
            "size": 2,
            "base64": "aGk=",
            "cell_id": "c1",
            "cell_type": "output",
        },
    ]
    assert read("", {"type": "notebook", "file": {"cells": []}}) == {
        "content": "",
        "line_count": 0,
        "parts": [],
    }


def test_a_notebooks_outputs_are_found_in_text_alone() -> None:
    shown = '<cell id="a">print(1)</cell id="a">\n\n1\n\n<cell id="b"><cell_type>markdown</cell_type># T</cell id="b">'
    assert read(shown)["parts"] == [
        {"type": "text", "text": "print(1)", "cell_id": "a", "cell_type": "code"},
        {"type": "text", "text": "1", "cell_id": "a", "cell_type": "output"},
        {"type": "text", "text": "# T", "cell_id": "b", "cell_type": "markdown"},
    ]
    assert read('<cell id="a">never closed') == {"content": '<cell id="a">never closed', "line_count": 1}


def test_a_notebook_with_images_is_read_cell_by_cell_too() -> None:
    shown = [
        {"type": "text", "text": '<cell id="a">plot()</cell id="a">\n\n<Figure>'},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {
            "type": "text",
            "text": '\nmore\n\n<cell id="b"><cell_type>markdown</cell_type># T</cell id="b">',
        },
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "BBBB"}},
        {"type": "text", "text": "behind"},
    ]
    found = read(shown)
    assert found["content"] == "plot()\n\n# T"
    assert [
        (part.get("cell_id"), part["cell_type"], part.get("text") or part["base64"])
        for part in found["parts"]
    ] == [
        ("a", "code", "plot()"),
        ("a", "output", "<Figure>"),
        ("a", "output", "AAAA"),
        ("a", "output", "more"),
        ("b", "markdown", "# T"),
        ("b", "output", "BBBB"),
        ("b", "output", "behind"),
    ]


def test_an_image_before_any_cell_is_no_notebook() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    cell = {"type": "text", "text": '<cell id="a">x</cell id="a">'}
    assert [part["type"] for part in read([image, cell])["parts"]] == ["image", "text"]


def test_every_kind_of_block_in_a_result_becomes_a_part() -> None:
    blocks = [
        {"type": "text", "text": "t"},
        {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        {
            "type": "document",
            "title": "D",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
        },
        {"type": "document", "source": {"type": "text", "data": "plain"}},
        {"type": "tool_reference", "tool_name": "WebFetch"},
        {"type": "hologram", "depth": 3},
        {"type": "thinking", "thinking": "hm"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "1", "name": "n", "input": {}},
        {"type": "server_tool_use", "id": "2", "name": "n", "input": {}},
        {"type": "tool_result", "tool_use_id": "3"},
    ]
    parts = read(blocks)["parts"]
    assert parts[:6] == [
        {"type": "text", "text": "t"},
        {"type": "image", "url": "https://x/y.png"},
        {"type": "document", "media_type": "application/pdf", "size": 2, "base64": "aGk=", "title": "D"},
        {"type": "document", "text": "plain"},
        {"type": "reference", "title": "WebFetch"},
        {"type": "unknown", "raw": {"type": "hologram", "depth": 3}},
    ]
    assert [part["raw"]["type"] for part in parts[6:]] == [
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_use",
        "tool_result",
    ]


@pytest.mark.parametrize("version", ALL)
def test_a_new_file_is_created(version: str) -> None:
    found = body(recorded(version, "tool-write-edit", "Write", 0))
    assert found["output"]["created"] is True
    mutation = found["mutations"][0]
    assert (mutation["type"], mutation["content"]) == ("create", "x = 1\ny = 2\nx = x + y\n")
    assert mutation["diff"].startswith(
        "--- /dev/null\n+++ /workspace/project/src/new.py\n@@ -0,0 +1,3 @@\n+x = 1\n"
    )
    assert (found["output"]["added_lines"], found["output"]["removed_lines"]) == (3, 0)


@pytest.mark.parametrize("version", TEXT_ONLY)
def test_a_file_is_overwritten_and_what_was_there_is_unknown(version: str) -> None:
    found = body(recorded(version, "tool-write-edit", "Write", 2))
    assert found["mutations"] == [{"type": "overwrite", "content": "x = 2\n"}]
    assert found["output"]["created"] is False
    assert "added_lines" not in found["output"]


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_file_is_overwritten_and_the_diff_shows_what_was_there(version: str) -> None:
    found = body(recorded(version, "tool-write-edit", "Write", 2))
    only = found["mutations"][0]
    assert (only["type"], only["content"], only["old_content"]) == (
        "overwrite",
        "x = 2\n",
        "x = 1\ny = 2\nx = x + y\n",
    )
    assert patched(only["old_content"], only["diff"]) == only["content"]
    assert found["output"]["created"] is False


@pytest.mark.parametrize("version", ALL)
def test_an_edit_in_the_middle_of_a_file_has_true_line_numbers(version: str) -> None:
    if version == "2.1.330":
        found = body(recorded(version, "tool-write-edit", "Edit", 0))
        assert (
            "@@ -1,5 +1,5 @@\n def add(a, b):\n-    return a + b\n+    return b + a\n"
            in found["mutations"][0]["diff"]
        )
        return
    found = body(recorded(version, "tool-write-edit", "Edit", 1))
    change = found["mutations"][0]["diff"]
    assert '-    return "Hello, " + name\n+    return f"Hello, {name}!"\n' in change
    assert patched(APP, change) == APP.replace('"Hello, " + name', 'f"Hello, {name}!"')
    assert (found["output"]["added_lines"], found["output"]["removed_lines"]) == (1, 1)


@pytest.mark.parametrize("version", ALL)
def test_a_failed_edit_says_why(version: str) -> None:
    done = recorded(version, "tool-write-edit", "Edit", 2 if version != "2.1.330" else 1)
    assert (done.status, done.reason) == ("error", "failed")
    assert done.error is not None
    assert done.error.startswith("String to replace not found in file.\nString: ")
    assert output(done) == {"applied": False, "message": done.error}


def edited(said: str, structured: Any = None, **call: Any) -> Any:
    return body(answered("Edit", {"file_path": "f", **call}, said, structured))["mutations"][0]


def snippet(text: str, start: int) -> str:
    lines = "\n".join(f"{number:6}→{line}" for number, line in enumerate(text.split("\n"), start))
    return (
        "The file f has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"
        + lines
    )


def test_a_snippet_places_an_edit_deep_in_a_file() -> None:
    around = [f"line {number}" for number in range(37, 46)]
    new = "\n".join(["LINE 41" if line == "line 41" else line for line in around])
    change = edited(snippet(new, 37), old_string="line 41", new_string="LINE 41")
    assert change["diff"].split("\n")[2:6] == ["@@ -38,7 +38,7 @@", " line 38", " line 39", " line 40"]
    assert "relative" not in change


def test_a_snippet_at_the_end_of_a_file_does_not_invent_a_line() -> None:
    assert (
        patched("a\nb\nc\n", edited(snippet("a\nB\nc\n", 1), old_string="b", new_string="B")["diff"])
        == "a\nB\nc\n"
    )
    assert patched("a\nb", edited(snippet("a\nB", 1), old_string="b", new_string="B")["diff"]) == "a\nB"


def test_an_edit_that_may_be_in_several_places_is_not_guessed_at() -> None:
    change = edited(snippet("x\nx\nx", 1), old_string="y", new_string="x")
    assert change["relative"] is True
    assert change["diff"] == "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-y\n+x\n"


def test_an_edit_is_looked_for_only_where_a_snippet_has_it() -> None:
    shown = snippet("x\na\nb\nc\nx\nd\nx", 30)
    change = edited(shown, old_string="y", new_string="x")
    assert "@@ -31,6 +31,6 @@\n a\n b\n c\n-y\n+x\n d\n x\n" in change["diff"]
    assert edited(snippet("x\na\nb\nc\nd", 30), old_string="y", new_string="x")["relative"] is True


def test_a_removed_passage_leaves_no_trace_in_a_snippet() -> None:
    change = edited(snippet("a\nb", 1), old_string="gone\n", new_string="")
    assert change["relative"] is True


def test_an_edit_of_nothing_makes_the_file() -> None:
    done = answered("Edit", {"file_path": "f", "old_string": "", "new_string": "a\n"}, snippet("a\n", 1))
    assert output(done)["created"] is True
    assert body(done)["mutations"][0]["diff"] == "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"


def structured_edit(original: str, old: str, new: str, lines: list[str], **fields: Any) -> dict[str, Any]:
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": lines}
    return {
        "filePath": "f",
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": [hunk] if lines else [],
        "userModified": False,
        "replaceAll": False,
        **fields,
    }


def test_a_patch_that_shows_tabs_as_blanks_is_computed_anew() -> None:
    structured = structured_edit("\tif x\n\t\tfoo()\n", "foo", "bar", ["   if x", "-    foo()", "+    bar()"])
    change = edited("updated", structured, old_string="foo", new_string="bar")
    assert patched("\tif x\n\t\tfoo()\n", change["diff"]) == "\tif x\n\t\tbar()\n"


def test_a_made_file_is_all_new_lines() -> None:
    change = edited("updated", structured_edit("", "", "a\nb\n", []), old_string="", new_string="a\nb\n")
    assert change["diff"].endswith("@@ -0,0 +1,2 @@\n+a\n+b\n")


def test_every_occurrence_is_replaced_when_that_was_asked() -> None:
    structured = structured_edit("a\na\n", "a", "b", [], replaceAll=True)
    change = edited("updated", structured, old_string="a", new_string="b", replace_all=True)
    assert patched("a\na\n", change["diff"]) == "b\nb\n"
    assert change["replace_all"] is True


def test_a_line_removed_without_its_end_goes_whole() -> None:
    structured = structured_edit("a\nb\nc\n", "b", "", [])
    change = edited("updated", structured, old_string="b", new_string="")
    assert patched("a\nb\nc\n", change["diff"]) == "a\nc\n"


def test_what_the_human_changed_is_what_was_applied() -> None:
    structured = structured_edit("a\n", "a", "human", [], userModified=True)
    done = answered(
        "Edit", {"file_path": "f", "old_string": "a", "new_string": "agent"}, "updated", structured
    )
    assert output(done)["user_modified"] is True
    assert body(done)["mutations"][0]["new_content"] == "human"
    assert "+human\n" in body(done)["mutations"][0]["diff"]


def test_an_edit_of_a_file_that_is_not_given_is_relative() -> None:
    structured = structured_edit("", "a", "b", [])
    assert (
        edited("updated", {**structured, "originalFile": None}, old_string="a", new_string="b")["relative"]
        is True
    )


def test_a_write_without_hunks_is_compared_with_what_was_there() -> None:
    structured = {"type": "update", "content": "b\n", "originalFile": "a\n", "structuredPatch": []}
    done = answered("Write", {"file_path": "f", "content": "b\n"}, "updated", structured)
    assert body(done)["mutations"][0]["diff"] == "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b\n"


@pytest.mark.parametrize("version", ["1.0.120"])
def test_several_edits_in_text_alone_have_small_diffs(version: str) -> None:
    found = body(recorded(version, "tool-multiedit", "MultiEdit", 0))
    assert [mutation["diff"].split("\n")[3:5] for mutation in found["mutations"]] == [
        ["-a + b", "+b + a"],
        ["-a - b", "+-b + a"],
    ]
    assert found["output"]["applied"] is True


def test_several_edits_of_a_known_file_each_have_the_diff_of_their_step() -> None:
    edits = [{"old_string": "b", "new_string": "B"}, {"old_string": "B\n", "new_string": "B\nx\n"}]
    done = answered("MultiEdit", {"file_path": "f", "edits": edits}, "Applied", {"originalFile": "a\nb\nc\n"})
    first, second = (mutation["diff"] for mutation in body(done)["mutations"])
    assert patched("a\nb\nc\n", first) == "a\nB\nc\n"
    assert patched("a\nB\nc\n", second) == "a\nB\nx\nc\n"


def test_several_edits_that_do_not_fit_the_file_stay_relative() -> None:
    edits = [{"old_string": "zzz", "new_string": "B"}, {"old_string": "a", "new_string": "A"}]
    done = answered("MultiEdit", {"file_path": "f", "edits": edits}, "Applied", {"originalFile": "a\n"})
    assert [mutation["relative"] for mutation in body(done)["mutations"]] == [True, True]


@pytest.mark.parametrize("version", ALL)
def test_a_notebook_cell_is_changed(version: str) -> None:
    found = body(recorded(version, "tool-notebook", "NotebookEdit", 0))
    assert found["file_path"] == "/workspace/project/nb.ipynb"
    only = found["mutations"][0]
    assert (only["type"], only["new_content"], only["cell_id"]) == ("edit", "2+2", "c1")
    if version in STRUCTURED:
        assert only["old_content"] == "1+1"
        assert (
            only["diff"]
            == "--- /workspace/project/nb.ipynb\n+++ /workspace/project/nb.ipynb\n@@ -1,1 +1,1 @@\n-1+1\n+2+2\n"
        )
        assert only["relative"] is True


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_notebook_cell_is_inserted_or_deleted(version: str) -> None:
    inserted = body(recorded(version, "tool-notebook", "NotebookEdit", 1))["mutations"][0]
    assert (inserted["type"], inserted["content"], inserted["cell_type"]) == (
        "insert",
        "Some *text*",
        "markdown",
    )
    assert inserted["diff"].endswith("@@ -0,0 +1,1 @@\n+Some *text*\n")
    deleted = body(recorded(version, "tool-notebook", "NotebookEdit", 2))["mutations"][0]
    assert (deleted["type"], deleted["old_content"]) == ("delete", "# Title")
    assert deleted["diff"].endswith("@@ -1,1 +0,0 @@\n-# Title\n")


@pytest.mark.parametrize("version", ALL)
def test_a_cell_that_does_not_exist_is_an_error(version: str) -> None:
    done = recorded(version, "tool-notebook", "NotebookEdit", 3)
    assert output(done) == {"applied": False, "message": 'Cell with ID "zz" not found in notebook.'}


def notebook(structured: dict[str, Any], **call: Any) -> Any:
    return answered(
        "NotebookEdit", {"notebook_path": "n", "new_source": "new", **call}, "Updated", structured
    )


@pytest.mark.parametrize(
    ("cell", "old"),
    [
        ({"source": ["a\n", "b"]}, "a\nb"),
        ({"source": "a"}, "a"),
        ({"source": 5}, None),
        ({"id": "cell-9", "source": "a"}, "a"),
    ],
)
def test_the_old_source_is_found_in_the_notebook_by_id_or_place(
    cell: dict[str, Any], old: str | None
) -> None:
    original = json.dumps({"cells": [{"id": "first", "source": "no"}, cell]})
    cell_id = "cell-9" if "id" in cell else "cell-1"
    done = notebook({"new_source": "new", "original_file": original}, cell_id=cell_id)
    assert body(done)["mutations"][0].get("old_content") == old


@pytest.mark.parametrize("original", ["no json", "[]", "[" * 100_000, '{"cells": []}', None])
def test_a_notebook_that_cannot_be_read_leaves_the_old_source_unknown(original: str | None) -> None:
    done = notebook({"new_source": "new", "original_file": original}, cell_id="c")
    assert "old_content" not in body(done)["mutations"][0]
    gone = notebook({"new_source": "", "original_file": original}, cell_id="c", edit_mode="delete")
    assert "old_content" not in body(gone)["mutations"][0]


def test_an_error_inside_a_structured_result_is_an_error_of_the_edit() -> None:
    done = notebook({"new_source": "new", "error": "Cell not found"}, cell_id="c")
    assert output(done) == {"applied": False, "message": "Cell not found"}


def test_a_deleted_file_is_deleted() -> None:
    done = answered("delete_file", {"path": "f"}, "ok")
    assert body(done)["mutations"] == [{"type": "delete"}]
    assert output(done) == {"applied": True, "message": "ok"}
