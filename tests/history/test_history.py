"""The library of conversations that agents have kept: listed, searched, counted and exported from an index."""

import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from acp_stage import AGENT
from kept_files import kept_file
from kept_sessions import all_kept, kept
from typer.testing import CliRunner

from recordings import ROOT
from turnwire.config.settings import Settings
from turnwire.history.agent_listing import lists_itself
from turnwire.history.conversation_text import folded
from turnwire.history.export import ExportHeading, as_html, as_markdown
from turnwire.history.folders import SessionPath, files_in, running
from turnwire.history.following import Follower
from turnwire.history.history import History, document
from turnwire.history.index import (
    BATCH,
    HELD,
    HistoryError,
    Index,
    ListedConversation,
    LogPiece,
    SearchHit,
    query_of,
)
from turnwire.history.show import hits, table
from turnwire.history.visibility import VisibleConversations
from turnwire.normalize import events as ev
from turnwire.normalize.inputs import Received
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec
from turnwire.normalize.recordings.session_files import Answer, SearchableText
from turnwire.protocol.claude.messages import Unknown
from turnwire.protocol.visible import visible_prose
from turnwire.recordings.session_file import format_of
from turnwire.sidecar.cli.commands import application
from turnwire.sidecar.process import logs
from turnwire.tracing.prices import prices


def a_home(folder: Path, *scenarios: tuple[str, str]) -> Path:
    """A folder with the projects of some scenarios; all of the newest version when none are named."""
    named = scenarios or tuple(("2.1.330", one.folder.name) for one in all_kept() if one.version == "2.1.330")
    projects = folder / ".claude" / "projects"
    for version, scenario in named:
        for project in (kept(version, scenario).folder / "projects").iterdir():
            shutil.copytree(project, projects / f"{project.name}-{scenario}")
    return projects


def a_library(tmp_path: Path, projects: Path, **options: object) -> History:
    settings = Settings.model_validate(
        {"history_dirs": [projects], "state_dir": tmp_path / "state", **options}
    )
    return History(settings)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    """All scenarios of the newest version; for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("library")
    library = a_library(folder, a_home(folder))
    library.look()
    yield library
    library.close()


def test_conversations_are_listed_the_newest_first_with_what_they_are(library: History) -> None:
    listed = library.index.newest(limit=100)
    assert (
        len(listed)
        == library.index.count()
        == sum(len(one.files) for one in all_kept() if one.version == "2.1.330")
    )
    ends = [one.ended or 0 for one in listed]
    assert ends == sorted(ends, reverse=True)
    one = library.find(kept("2.1.330", "files-and-shell").file.stem)
    assert (one.turns, one.model, one.folder, one.version) == (
        2,
        "claude-opus-5-5",
        "/workspace/project",
        "2.1.330",
    )
    assert one.cost_usd == pytest.approx(0.0057848)


def test_pages_of_the_list_follow_each_other_without_gap_or_repeat(library: History) -> None:
    seen: list[str] = []
    before: tuple[float, str] | None = None
    while page := library.index.newest(limit=4, before=before):
        seen += [one.id for one in page]
        before = (page[-1].ended or 0, page[-1].id)
    assert seen == [one.id for one in library.index.newest(limit=100)]


def test_a_second_look_reads_only_what_has_changed_and_no_look_changes_a_file(tmp_path: Path) -> None:
    projects = a_home(tmp_path)
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in projects.rglob("*") if path.is_file()
    }
    library = a_library(tmp_path, projects)
    assert library.look().read == len(list(projects.glob("*/*.jsonl")))
    assert library.look().read == 0
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    grown = next(projects.glob("*-denied/*.jsonl"))
    with grown.open("ab") as file:
        file.write(
            b'{"type":"custom-title","customTitle":"Named by hand","sessionId":"x"}\n{"type":"user","uuid":"cut'
        )
    looked = library.look()
    assert (looked.read, looked.failed) == (1, [])
    assert library.find(grown.stem).title == "Named by hand"
    grown.unlink()
    assert library.look().gone == 1
    with pytest.raises(HistoryError, match="no conversation"):
        library.find(grown.stem)
    assert library.index.search("Named", limit=5) == []
    library.close()


def test_another_process_finds_what_the_first_has_read(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    first, second = a_library(tmp_path, projects), a_library(tmp_path, projects)
    assert first.look().read == 1
    assert second.look().read == 0
    assert [one.id for one in second.index.newest(limit=9)] == [one.id for one in first.index.newest(limit=9)]
    first.close()
    second.close()


def test_damaged_and_foreign_files_cost_nothing_but_themselves(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    odd = projects / "odd"
    odd.mkdir()
    (odd / "empty.jsonl").touch()
    (odd / "noise.jsonl").write_bytes(os.urandom(5000))
    (odd / "stdout.jsonl").write_bytes((kept("2.1.330", "denied").folder / "stdout.jsonl").read_bytes())
    (odd / "deep.jsonl").write_bytes(b'{"parentUuid":' + b"[" * 100_000 + b"\n")
    (odd / "folder.jsonl").mkdir()
    (odd / "link.jsonl").symlink_to("/etc/passwd")
    whole = kept("2.1.330", "files-and-shell").file.read_bytes()
    (odd / "half.jsonl").write_bytes(whole[: len(whole) // 2])
    library = a_library(tmp_path, projects)
    library.look()
    assert {one.id for one in library.index.newest(limit=9)} == {kept("2.1.330", "denied").file.stem, "half"}
    assert library.look().read == 0
    library.close()


def test_the_words_are_found_where_they_stand(library: History) -> None:
    hits = library.index.search("nested answer", limit=50)
    (text,) = [hit for hit in hits if hit.kind == "text" and hit.id == kept("2.1.330", "subagent").file.stem]
    assert text.snippet == "The \x02nested\x03 \x02answer\x03."
    assert text.message
    assert {hit.kind for hit in library.index.search("touch", limit=50)} >= {"prompt", "command"}
    assert [hit.kind for hit in library.index.search('"a.py"', limit=50)].count("path") == 2
    assert library.index.search("nested unheard", limit=50) == []


@pytest.mark.parametrize(
    "text", ['"', "NEAR(", "a OR", "-x", "*", "text:x", "(", "\x00", "AND NOT", '""', "ünï"]
)
def test_no_words_are_syntax(library: History, text: str) -> None:
    if query_of(text):
        library.index.search(text, limit=5)
    else:
        with pytest.raises(HistoryError, match="no word"):
            library.index.search(text, limit=5)


def test_a_name_that_a_human_gives_stays_beside_the_file_and_is_found(library: History) -> None:
    name = kept("2.1.330", "denied").file.stem
    library.index.rename(name, "Choosing a colour")
    library.index.newest(limit=1)
    assert library.find(name).title == "Choosing a colour"
    assert library.index.search("colour choosing", limit=5)[0].id == name
    library.index.rename(name, None)
    assert library.find(name).title is None


def test_an_index_of_another_version_is_made_anew_but_for_the_names(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite3"
    index = Index(file, prices())
    index.rename("x", "kept")
    index.close()
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    index = Index(file, prices())
    assert index.count() == 0
    assert list(index._db.execute("SELECT * FROM names")) == [("x", "kept")]
    index.close()


def test_what_is_no_index_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite3"
    file.write_bytes(b"no database at all, but long enough to be looked at" * 40)
    with pytest.raises(HistoryError, match="remove it"):
        Index(file, prices())


def test_usage_is_what_the_cli_has_counted_and_forks_count_once(library: History) -> None:
    (all_of_it,) = library.index.usage([])
    (priced,) = library.index.usage([], folder="/workspace/project")
    assert priced == all_of_it
    totals = 0.0
    for one in all_kept():
        if one.version != "2.1.330" or one.folder.name == "killed":
            continue
        lines = [
            json.loads(line)
            for path in one.files
            for line in path.read_bytes().split(b"\n")
            if b"cost-state" in line
        ]
        if one.folder.name in ("resume-and-rewind", "clear"):
            # the fork's total has its parent's in it, /clear begins a second one
            totals += 0.004132 if one.folder.name == "resume-and-rewind" else 2 * 0.0008264
        else:
            totals += max(line["totalCostUSD"] for line in lines)
    assert (all_of_it.cost_usd or 0) - all_of_it.estimated_usd == pytest.approx(totals)
    assert all_of_it.estimated_usd == pytest.approx(2 * 0.0008264)  # what was killed has left no total
    assert all_of_it.cost_is_whole
    days = library.index.usage(["day", "model"])
    assert {spent.group["day"] for spent in days} == {"2026-11-22"}
    assert {spent.group["model"] for spent in days} == {"claude-opus-5-5", "(other)"}
    assert sum(spent.input_tokens for spent in days) == all_of_it.input_tokens
    assert library.index.usage([], since=4e9) == []


def test_only_files_in_allowed_folders_are_listed_and_none_when_it_is_off(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    library = a_library(tmp_path, projects)
    library.look()
    library.close()
    elsewhere = a_library(tmp_path, tmp_path / "elsewhere")
    elsewhere.look()
    assert elsewhere.index.newest(limit=9) == []
    elsewhere.close()
    with pytest.raises(HistoryError, match="`history` is off"):
        a_library(tmp_path, projects, history=False)


def test_running_conversations_are_told_by_what_the_cli_notes(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    notes = tmp_path / "sessions"
    notes.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for number, (pid, session) in enumerate([(os.getpid(), "open"), (ended.pid, "ended"), (1 << 70, "odd")]):
        (notes / f"{number}.json").write_text(json.dumps({"pid": pid, "sessionId": session}))
    (notes / "broken.json").write_text("{")
    assert set(running(projects).values()) == {"open"}
    assert running(tmp_path / "nothing" / "projects") == {}
    assert list(files_in(projects)) == []


HOSTILE = '</pre><script>alert(1)</script>" onload="x" \x00 ```\n<img src=x>\n'


def hostile() -> list[ev.AgentEvent]:
    return [
        ev.UserMessage(text=HOSTILE),
        ev.MessageChunk(text=HOSTILE, message_id="m", block_index=0),
        ev.Reasoning(reasoning_text=HOSTILE, message_id="m", block_index=1),
        ev.ToolCall(
            tool_call_id="c",
            tool_name="Bash",
            tool_title=HOSTILE,
            tool_status="running",
            normalized=ShellExecPayload(shell_exec=ShellExec(command=HOSTILE)),
        ),
        ev.ToolUpdate(tool_call_id="c", tool_status="error", reason="failed", error=HOSTILE),
        ev.Error(error=HOSTILE),
    ]


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def test_an_exported_page_has_no_script_and_nothing_of_others_as_html() -> None:
    page = as_html(ExportHeading(HOSTILE, [("Folder", HOSTILE)]), folded(hostile()), str)
    found = Tags()
    found.feed(page)
    allowed = "html head meta title style body h1 dl dt dd div details summary pre span"
    assert found.tags <= set(allowed.split())
    assert found.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert page.count("alert(1)") >= 7
    assert "default-src 'none'" in page


def test_in_exported_documents_words_from_right_to_left_move_nothing() -> None:
    code = "rm -rf אב / גד # א"
    call = ev.ToolCall(
        tool_call_id="c",
        tool_name="Bash",
        tool_title=code,
        tool_status="running",
        normalized=ShellExecPayload(shell_exec=ShellExec(command=code)),
    )
    page = as_html(ExportHeading("a", []), folded([call]), str)
    isolated = "rm -rf <bdi>אב</bdi> / <bdi>גד</bdi> # <bdi>א</bdi>"
    assert f"<summary>{isolated}" in page
    assert f"<pre>$ {isolated}</pre>" in page
    said = ev.MessageChunk(text=f"שלום `{code}`", message_id="m", block_index=0)
    text = as_markdown(ExportHeading(code, [("Folder", code)]), folded([said, call]), str)
    isolated = "rm -rf \u2068אב\u2069 / \u2068גד\u2069 # \u2068א\u2069"
    for line in (f"$ {isolated}", f"שלום `{isolated}`"):
        assert f"\n{line}\n" in text
    escaped = isolated.replace("#", r"\#")
    for line in (f"# {escaped}", f"- Folder: {escaped}", f"**{escaped}** (running)"):
        assert f"{line}\n" in text


def test_exported_markdown_shuts_others_text_in() -> None:
    text = as_markdown(ExportHeading(HOSTILE, [("Folder", HOSTILE)]), folded(hostile()), str)
    outside: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = line.removeprefix("> ").removeprefix(">")
        opened = re.match(r"(`{3,})", bare)
        if fence:
            fence = "" if bare == fence else fence
        elif opened:
            fence = opened[1]
        else:
            outside.append(line)
    assert not fence
    assert not any(re.search(r"(?<!\\)<(script|img|/pre)", line) for line in outside)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_conversation_is_exported_whole_and_redacted_on_request(tmp_path: Path, form: str) -> None:
    projects = a_home(tmp_path, ("2.1.330", "files-and-shell"))
    library = a_library(tmp_path, projects)
    library.look()
    one = library.find(kept("2.1.330", "files-and-shell").file.stem)
    text = library.export(one, "html" if form == "html" else "markdown", redact=False)
    for part in ("two = 22", "@@", "All ", "oops", "ok: And now say hello"):
        assert part in text
    file = next(projects.glob("*/*.jsonl"))
    secret = f"sk-ant-api03-{uuid4().hex}{uuid4().hex}"
    file.write_bytes(file.read_bytes().replace(b"ok: And now say hello", f"the key {secret} is".encode()))
    library.look()
    plain, shared = (
        library.export(one, "html" if form == "html" else "markdown", redact=redact)
        for redact in (False, True)
    )
    assert secret in plain
    assert secret not in shared
    library.close()


def test_who_asks_while_the_folders_are_read_waits_for_a_piece_of_them_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = kept("2.1.101", "subagent").file
    projects = tmp_path / "projects"
    files = 160
    for number in range(files):
        name = uuid4()
        path = projects / f"project-{number % 3}" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.read_text().replace(source.stem, str(name)))
    library = a_library(tmp_path, projects)
    took: list[int] = []
    answered: list[int] = []
    asks = threading.Thread(target=lambda: answered.append(len(library.index.newest(limit=1000))))
    take = library.index._take

    def slowly(file: SessionPath) -> None:
        took.append(1)
        if len(took) == BATCH // 8:
            asks.start()
            while not library.index._door.locked():  # until it is next
                time.sleep(0.001)
        take(file)

    monkeypatch.setattr(library.index, "_take", slowly)
    library.look()
    asks.join(60)
    assert answered == [BATCH // 8]
    assert len(took) == files
    library.close()


def test_an_agent_that_keeps_its_conversations_elsewhere_is_asked_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(logs, "configure", lambda _: None)  # it would be so for the tests after this one, too
    monkeypatch.chdir(tmp_path)
    argv = [sys.executable, "-I", str(AGENT), "lists"]
    config = tmp_path / "turnwire.toml"
    config.write_text(
        f'[agents.keeper]\ncommand = {json.dumps(argv)}\nfamily = "acp"\n'
        f'[agents.gone]\ncommand = ["/nowhere/agent"]\nfamily = "acp"\n'
    )
    runner, asks = CliRunner(), ["sessions", "--config", str(config), "--agent"]

    def answered(*arguments: str) -> list[Any]:
        result = runner.invoke(application(), [*asks, "keeper", "--json", *arguments])
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    first, older = answered()
    assert (first["id"], first["agent"], first["folder"], first["title"], first["turns"], first["ended"]) == (
        "agent-session-1", "keeper", str(tmp_path), "An old one", None, "2026-11-22T10:00:00Z",
    )  # fmt: skip
    assert (older["id"], older["ended"]) == ("older", None)
    assert [one["id"] for one in answered("--folder", str(tmp_path))] == ["agent-session-1"]
    assert [one["id"] for one in answered("--limit", "1")] == ["agent-session-1"]
    assert "An old one" in runner.invoke(application(), [*asks, "keeper"], env={"COLUMNS": "200"}).stdout
    refused = runner.invoke(application(), [*asks, "gone"])
    assert refused.exit_code != 0
    assert "there is no file /nowhere/agent" in refused.output
    elsewhere = runner.invoke(application(), [*asks, "keeper", "--folder", "/no/such/folder"])
    assert (elsewhere.exit_code, "there is no such folder" in elsewhere.stderr) == (2, True)
    # nobody is asked who is not named, nor whose files are read
    assert runner.invoke(application(), asks[:3]).exit_code == 0
    assert not lists_itself("codex", Settings())
    assert not lists_itself("opencode", Settings())
    assert lists_itself("grok", Settings())


@pytest.mark.parametrize("command", [("sessions",), ("search", "window")])
def test_a_name_that_no_agent_has_is_no_empty_list(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    monkeypatch.setenv("TURNWIRE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(logs, "configure", lambda _: None)
    monkeypatch.setenv("TURNWIRE_HISTORY_DIRS", str(projects))
    config = tmp_path / "turnwire.toml"
    config.write_text('[agents.work]\ncommand = ["claude"]\n')
    runner, asks = CliRunner(), [*command, "--config", str(config), "--json", "--agent"]
    refused = runner.invoke(application(), [*asks, "cluade"])
    assert refused.exit_code != 0
    assert "there is no agent 'cluade'; did you mean claude? known are" in refused.output
    # another name for the same program has the same files
    named, same = (runner.invoke(application(), [*asks, name]) for name in ("claude", "work"))
    assert (named.exit_code, same.exit_code) == (0, 0)
    assert same.stdout == named.stdout
    assert bool(named.stdout) is (command == ("sessions",))


def test_the_commands_of_the_library_answer_and_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"), ("2.1.330", "subagent"))
    assert projects == tmp_path / ".claude" / "projects"
    name = kept("2.1.330", "denied").file.stem
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TURNWIRE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logs, "configure", lambda _: None)  # it would be so for the tests after this one, too

    def answered(*arguments: str) -> list[Any]:
        result = CliRunner().invoke(application(), arguments)
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    assert {one["id"] for one in answered("sessions", "--json")} == {
        name,
        kept("2.1.330", "subagent").file.stem,
    }
    (found, *_) = answered("search", "Red it is", "--json")
    assert found["id"] == name
    assert {"text": "Red it is", "hit": True} in found["snippet"]
    (spent, *_) = answered("usage", "--by", "model", "--json")
    assert spent["group"] == {"model": "claude-opus-5-5"}
    for shown, words in (("sessions", "Touch"), ("search", "Red it is."), ("usage", "2026-11-22")):
        arguments = [shown, "Red"] if shown == "search" else [shown]
        assert words in CliRunner().invoke(application(), arguments, env={"COLUMNS": "200"}).stdout
    assert CliRunner().invoke(application(), ["export", name[:8], "told.html"]).exit_code == 0
    (file,) = projects.glob(f"*/{name}.jsonl")
    by_id, by_file = (CliRunner().invoke(application(), ["export", one]) for one in (name, str(file)))
    assert by_file.exit_code == 0, by_file.stderr
    assert by_file.stdout == by_id.stdout
    listed = CliRunner().invoke(application(), ["sessions", "--limit", "1"]).stdout
    assert "1 of 2 or more; --limit shows them" in listed
    only = CliRunner().invoke(application(), ["sessions", "--folder", str(tmp_path)]).stdout
    assert only == "no conversations found\n"
    assert "Red it is." in (tmp_path / "told.html").read_text()
    for wrong, why in (
        (["export", "nothing-like-it"], "there is no conversation"),
        (["export", name, "told.html"], "does not exist yet"),
        (["export", name, "--branch", "nowhere"], "has no message"),
        (["export", str(file), "--branch", "nowhere"], "has no message"),
        (["export", name, "told.pdf"], "Markdown (.md) or HTML (.html), never .pdf"),
        (["sessions", "--folder", "/no/such/folder"], "there is no such folder"),
        (["search", "Red", "--folder", "/no/such/folder"], "there is no such folder"),
        (["usage", "--folder", "/no/such/folder"], "there is no such folder"),
        (["sessions", "--folder", "told.html"], "this is not a folder"),
        (["usage", "--by", "year"], "--by takes"),
        (["usage", "--since", "yesterday"], "YYYY-MM-DD"),
        (["search", "..."], "no word"),
    ):
        refused = CliRunner().invoke(application(), wrong)
        assert refused.exit_code in (1, 2), refused.output
        assert why in refused.stderr


def test_an_index_that_is_closed_ends_a_look_that_is_under_way(tmp_path: Path) -> None:
    library = a_library(tmp_path, a_home(tmp_path))
    take = library.index._take
    closes = threading.Thread(target=library.close)

    def and_close(file: SessionPath) -> None:
        closes.start()
        while not library.index._closed:
            time.sleep(0.001)
        take(file)

    library.index._take = and_close  # type: ignore[method-assign]
    looked = library.look()
    closes.join(60)
    assert (looked.read, looked.files > 1) == (1, True)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
def test_an_agent_in_a_terminal_is_found_by_its_process(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.0.14", "compact"), ("2.0.14", "subagent"))
    codex = tmp_path / "2026" / "11" / "22" / kept_file("codex").name
    codex.parent.mkdir(parents=True)
    place = tmp_path / "place"
    place.mkdir()
    for path in projects.glob("*-compact/*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"/workspace/project", str(place).encode()))
    shutil.copy(kept_file("codex"), codex)
    library = a_library(tmp_path, projects, history_dirs=[projects, tmp_path])
    library.look()
    (compact,) = (one.id for one in library.index.newest(limit=9) if one.folder == str(place))
    (held,) = (one.id for one in library.index.newest(limit=9) if one.agent == "codex")
    resumed = kept("2.0.14", "subagent").file.stem

    def started(name: str, *arguments: str, hold: Path | None = None, **env: str) -> subprocess.Popen[bytes]:
        code = f"import sys; f = open({str(hold or os.devnull)!r}); print('up', flush=True); sys.stdin.read()"
        process = subprocess.Popen(
            [name, "-c", code, *arguments], executable=sys.executable, cwd=place, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        return process

    assert library.running() & {compact, held, resumed} == set()
    ours = started("claude", "--resume", resumed, TURNWIRE_PROCESS="1")
    idle = started("claude")
    one, other = started("codex", hold=codex), started("/usr/bin/claude", "--resume", resumed)
    assert library.running() & {compact, held, resumed} == {held, resumed}
    with next(projects.glob("*-compact/*.jsonl")).open("ab") as file:
        now = datetime.now(UTC).isoformat()
        file.write(
            json.dumps(
                {
                    "type": "user",
                    "uuid": "n",
                    "parentUuid": None,
                    "sessionId": "s",
                    "timestamp": now,
                    "message": {"role": "user", "content": "now"},
                }
            ).encode()
            + b"\n"
        )
    library.look()
    assert compact in library.running()
    for process in (ours, idle, one, other):
        process.communicate()
    assert library.running() & {compact, held, resumed} == set()
    library.close()


def test_a_terminal_shows_how_far_the_first_look_is(tmp_path: Path) -> None:
    files = sum(1 for _ in a_home(tmp_path).glob("*/*.jsonl"))
    ours, theirs = pty.openpty()
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    try:
        for shown in (f"\rreading conversations: 0 of {files}\x1b[K\r\x1b[K", "\r\x1b[K"):
            done = subprocess.run(
                [sys.executable, "-m", "turnwire", "usage"],
                env=env,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=theirs,
                timeout=300,
                check=True,
            )
            assert b"reading" not in done.stdout
            assert os.read(ours, 4096).decode() == shown
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_file_is_followed_by_its_whole_lines_and_a_line_without_end_is_left_out(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "subagent"))
    file = next(projects.glob("*/*.jsonl"))
    found = format_of(file)
    assert found is not None
    follower = Follower(file, found.files, longest=100_000, chunk=5000)
    assert sum(len(piece) for piece in follower.first()) > 0
    assert follower.more() == []
    with file.open("ab") as out:
        out.write(b"x" * 500_000)
        out.flush()
        assert follower.more() == []
        out.write(b"\n" + b'{"type":"never-seen","sessionId":"s"}\n')
        out.flush()
        *_, unknown = follower.more()
        assert isinstance(unknown, Received)
        assert isinstance(unknown.message, Unknown)
    assert follower.close()
    file.unlink()
    assert follower.more() == []


def test_odd_numbers_names_and_links_cost_nothing_but_themselves(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "subagent"))
    good = next(projects.glob("*/*.jsonl"))
    whole = good.read_bytes()
    for number, (old, new) in enumerate(
        [
            (b'"input_tokens":100', b'"input_tokens":' + b"9" * 400),
            (b'"input_tokens":100', b'"input_tokens":-9223372036854775809'),
            (b'"totalCostUSD":0.0033056', b'"totalCostUSD":1e308'),
            (b'"costUSD":0.0033056', b'"costUSD":1e308'),
            (b'"timestamp":"2026', b'"timestamp":"9999'),
            (b'"timestamp":"2026', b'"timestamp":"0001'),
            (b'"cwd":"/workspace/project"', b'"cwd":"\\ud800\\u0000"'),
            (b'"parentUuid":"', b'"parentUuid":"x'),
        ]
    ):
        assert old in whole
        (good.parent / f"odd{number}.jsonl").write_bytes(whole.replace(old, new))
    os.mkfifo(good.with_suffix("") / "subagents" / "agent-pipe.jsonl")
    (good.with_suffix("") / "subagents" / "agent-link.jsonl").symlink_to("/etc/passwd")
    (projects / "linked").symlink_to("/etc")
    Path(os.fsdecode(os.fsencode(good.parent) + b"/\xff.jsonl")).write_bytes(whole)
    library = a_library(tmp_path, projects)
    looked = library.look()
    assert len(looked.failed) <= 1
    listed = library.index.newest(limit=99)
    assert {one.id for one in listed} >= {good.stem, "odd0", "odd2", "odd4", "odd6", "odd7"}
    for one in listed:
        assert "root:" not in library.export(one, "html", redact=False)
    library.index.usage(["day", "project", "model", "agent"])
    library.index.search("nested", limit=9)
    library.close()


def test_a_short_list_needs_only_the_newest_files(tmp_path: Path) -> None:
    projects = a_home(tmp_path)
    files = sorted(projects.glob("*/*.jsonl"))
    for number, path in enumerate(files):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    library = a_library(tmp_path, projects)
    looked = library.look(newest=3)
    assert (looked.files, looked.read) == (len(files), 3)
    assert {one.id for one in library.index.newest(limit=9)} <= {path.stem for path in files[-3:]}
    assert library.look().read == len(files) - 3
    library.close()


@pytest.mark.parametrize("held", [1, HELD])
def test_of_two_files_of_a_conversation_the_one_that_has_more_of_it_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr("turnwire.history.index.HELD", held)
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    (file,) = projects.glob("*/*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if b'"content":"Touch y' in line)
    copied = projects / "copied" / file.name
    copied.parent.mkdir()
    shutil.copy(file, copied)
    file.write_bytes(b"".join(lines[:second]))
    os.utime(file, (2_000_000_000, 2_000_000_000))
    library = a_library(tmp_path, projects)
    assert library.look().read == 2
    (one,) = library.index.newest(limit=9)
    assert (one.path, one.turns) == (str(copied), 3)
    (spent,) = library.index.usage([])
    found = library.index.search("Red it is", limit=9)
    assert len({hit.message for hit in found}) == len(found)
    # that which has less changes nothing of it, when it is read anew
    os.utime(file, (2_100_000_000, 2_100_000_000))
    assert library.look().read == 1
    assert library.index.newest(limit=9) == [one]
    assert library.index.usage([]) == [spent]
    library.close()


def test_all_words_of_a_long_conversation_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwire.history.index.HELD", 256)
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    (file,) = projects.glob("*/*.jsonl")
    (prompt, *_) = (line for line in file.read_bytes().splitlines() if b'"role":"user"' in line)
    told = json.loads(prompt)
    with file.open("ab") as out:
        for number in range(300):
            message = {"role": "user", "content": f"question{number}"}
            said = {**told, "uuid": f"u{number}", "parentUuid": f"u{number - 1}", "message": message}
            out.write(json.dumps(said).encode() + b"\n")
    library = a_library(tmp_path, projects)
    library.look()
    for word in ("question0", "question255", "question256", "question299"):
        assert file.stem in {hit.id for hit in library.index.search(f'"{word}"', limit=9)}
    library.close()


def test_who_may_see_some_folders_or_sessions_finds_and_counts_these_alone(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"), ("2.1.330", "subagent"))
    for file in projects.glob("*-subagent/**/*.jsonl"):
        file.write_bytes(file.read_bytes().replace(b"/workspace/project", b"/workspace/other"))
    library = a_library(tmp_path, projects)
    library.look()
    index, denied = library.index, kept("2.1.330", "denied").file.stem
    subagent = kept("2.1.330", "subagent").file.stem
    for seen, ids in (
        (VisibleConversations(("/workspace/project",)), {denied}),
        (VisibleConversations(("/workspace/",)), {denied, subagent}),
        (VisibleConversations(("/workspace/proj",)), set[str]()),
        (VisibleConversations(("/Workspace/project",)), set[str]()),
        (VisibleConversations((), frozenset({subagent})), {subagent}),
        (VisibleConversations(), set[str]()),
    ):
        hits = [hit.id for word in ("Red", "subagent") for hit in index.search(word, limit=99, within=seen)]
        assert set(hits) == ids
        assert {one.id for one in index.newest(limit=9, within=seen)} == ids
        assert {one.id for one in index.newest(limit=9) if seen.has(one.id, one.folder)} == ids
        assert len(index.usage(["project"], within=seen)) == len(ids)
    assert not VisibleConversations(("/workspace",)).has("x", "/workspace/../etc")
    assert {hit.id for hit in index.search("Red", limit=9, agent="claude", folder="/workspace")} == {denied}
    assert index.search("Red", limit=9, folder="/workspace/other") == []
    assert index.search("Red", limit=9, agent="codex") == []
    assert index.usage([], until=0) == []
    with pytest.raises(HistoryError, match="no word"):
        index.search("...", limit=9)
    library.close()


def test_an_index_that_others_have_been_at_is_a_sentence_and_no_transaction_stays_open(
    tmp_path: Path,
) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    library = a_library(tmp_path, projects)
    library.look()
    (one,) = library.index.newest(limit=9)
    (file,) = (tmp_path / "state").glob("*.sqlite3")
    with sqlite3.connect(file) as database:
        database.execute("DROP TABLE said")
    database.close()
    for path in projects.glob("*/*.jsonl"):
        os.utime(path, (2_000_000_000, 2_000_000_000))
    with pytest.raises(HistoryError, match="the search failed"):
        library.index.search("Red", limit=9)
    with pytest.raises(HistoryError, match="cannot be written"):
        library.look()
    said = (SearchableText("m", "text", "words"), 1)
    with pytest.raises(HistoryError, match="cannot be written"):
        library.index.log("s", LogPiece("epoch", 1, [said], [], one))
    library.index.rename(one.id, "what needs no texts goes on")
    assert library.find(one.id).title == "what needs no texts goes on"
    library.close()


def test_a_log_of_another_life_takes_the_place_of_what_was_known_of_the_former(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    library = a_library(tmp_path, projects)
    library.look()
    index = library.index
    (one,) = index.newest(limit=9)
    answer = Answer("live:k", 1.0, "claude-opus-5-5", 1, 2, 0, 0, 0.5)
    own = one._replace(id="live:s", path="/nowhere")

    def piece(epoch: str, seq: int, word: str) -> LogPiece:
        said = (SearchableText("m", "text", word), seq)
        return LogPiece(epoch, seq, [said], [answer._replace(key=f"live:{word}")], own)

    index.log("s", piece("first", 3, "violet"))
    assert (index.logged("s", "first"), index.logged("s", "second"), index.logged("t", "first")) == (3, 0, 0)
    index.log("s", piece("second", 2, "yellow"))
    assert (index.logged("s", "first"), index.logged("s", "second")) == (0, 2)
    assert index.search("violet", limit=9) == []
    assert [hit.seq for hit in index.search("yellow", limit=9)] == [2]
    assert [spent.answers for spent in index.usage(["agent"], until=2)] == [1]
    library.close()


def test_what_cannot_be_read_of_a_conversation_is_one_sentence(tmp_path: Path) -> None:
    projects = a_home(tmp_path, ("2.1.330", "denied"))
    (file,) = projects.glob("*/*.jsonl")
    twin = file.with_name(f"{file.stem[:8]}-twin.jsonl")
    twin.write_bytes(file.read_bytes().replace(file.stem.encode(), twin.stem.encode()))
    library = a_library(tmp_path, projects)
    library.look()
    one = library.find(file.stem)
    with pytest.raises(HistoryError, match="several conversations begin with"):
        library.find(file.stem[:8])
    with pytest.raises(HistoryError, match="no conversation"):
        library.find(file.stem[:3])
    with pytest.raises(HistoryError, match="not in a folder that the settings allow"):
        library.follower(one._replace(path="/etc/passwd"))
    assert library.has_message(one.id, "no-such-message") is False
    assert library.has_message("nobody", "no-such-message") is None
    file.write_text("{}\n")
    with pytest.raises(HistoryError, match="not a conversation any more"):
        library.follower(one)
    file.unlink()
    assert library.has_message(one.id, "no-such-message") is None
    with pytest.raises(HistoryError, match="cannot be read"):
        library.follower(one)
    with pytest.raises(HistoryError, match="cannot be read"):
        library.export(one, "html", redact=False)
    library.close()
    (tmp_path / "prices.json").write_text("{")
    with pytest.raises(HistoryError, match=r"prices\.json cannot be used"):
        a_library(tmp_path, projects, prices=tmp_path / "prices.json")


def test_a_time_that_no_calendar_has_is_left_out_of_a_document(library: History) -> None:
    one = library.find(kept("2.1.330", "files-and-shell").file.stem)
    told = document(one._replace(began=1e300, cost_usd=None), iter(()), "markdown", redact=False)
    assert "- Ended: " in told
    assert "- Begun" not in told
    assert "- Cost" not in told


def test_what_an_agent_wrote_in_code_stays_as_it_is_and_code_that_never_ends_is_ended() -> None:
    said: list[ev.AgentEvent] = [
        ev.MessageChunk(text="<b>\n```html\n<b>\n```\n<i>\n~~~\n<b>\n```", message_id="m", block_index=0),
        ev.Reasoning(reasoning_text=" ", message_id="m", block_index=1),
        ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="completed", is_error=False)),
    ]
    text = as_markdown(ExportHeading("t", []), folded(said), str)
    assert text == "# t\n\n\n&lt;b>\n```html\n<b>\n```\n&lt;i>\n~~~\n<b>\n```\n~~~\n"
    assert "<details" not in as_html(ExportHeading("t", []), folded(said), str)


@pytest.mark.parametrize(
    ("prose", "written"),
    [
        ("Use `Vec<u8>` and <i>", "Use `Vec<u8>` and &lt;i>"),
        ("``x ` <b>`` <c>", "``x ` <b>`` &lt;c>"),
        ("- `<a>` | `<b>`", "- `<a>` | `<b>`"),
        # no code, or perhaps none
        ("\\`<b>`", "\\`&lt;b>`"),
        ("`a\n` <b> `c`", "`a\n` &lt;b> `c`"),
        ("`a\n2) `<b>`", "`a\n2) `&lt;b>`"),
        ("`open <b>\n\n`<c>`", "`open &lt;b>\n\n`<c>`"),
        ("```js`\n<b>", "```js`\n&lt;b>"),
    ],
)
def test_markdown_leaves_code_within_a_line_as_it_is(prose: str, written: str) -> None:
    said: list[ev.AgentEvent] = [ev.MessageChunk(text=prose, message_id="m", block_index=0)]
    text = as_markdown(ExportHeading("t", []), folded(said), str)
    assert text == f"# t\n\n\n{written}\n"


@pytest.mark.parametrize("write", [as_markdown, as_html])
def test_an_export_spells_out_what_hides_and_leaves_out_colours(write: Callable[..., str]) -> None:
    hostile = "\x1b[31mred\x1b[0m \u202etxt\u2066 \x1b]0;x\x07 \x9b2J \u200e\xad\u2800\U000e0041 a\rb"
    said: list[ev.AgentEvent] = [
        ev.UserMessage(text=hostile),
        ev.MessageChunk(text=f"{hostile} می\u200cخواهم 👩\u200d💻", message_id="m", block_index=0),
        ev.Notice(kind="k", level="warning", text=hostile),
    ]
    text = write(ExportHeading(hostile, [("Folder", hostile)]), folded(said), str)
    spelt = (
        "red ⟨U+202E⟩txt⟨U+2066⟩ ⟨U+001B⟩]0;x⟨U+0007⟩ ⟨U+009B⟩2J ⟨U+200E⟩⟨U+00AD⟩⟨U+2800⟩⟨U+E0041⟩ a⟨U+000D⟩b"
    )
    assert visible_prose(text) == text
    assert text.count(spelt) >= 3
    assert "می\u200cخواهم 👩\u200d💻" in text


def test_what_is_printed_says_what_is_estimated_what_is_left_out_and_that_nothing_was_found(
    library: History, capsys: pytest.CaptureFixture[str]
) -> None:
    one = library.find(kept("2.1.330", "denied").file.stem)
    listed = [
        one._replace(id="a" * 36, cost_usd=None, turns=None, title="no cost\x1b[31m"),
        one._replace(id="b" * 36, cost_usd=1.5, estimated_usd=0.5, cost_is_whole=False),
    ]
    table(listed, {"a" * 36}, 7)
    shown = capsys.readouterr().out
    first, second = (line for line in shown.splitlines() if line[:8] in {"a" * 8, "b" * 8})
    assert "running" in first
    assert "$" not in first
    assert "\x1b" not in shown
    assert ">~$1.5000" in second
    assert "~ estimated by the prices of models" in shown
    assert "2 of 7; --limit shows them" in shown
    hits([])
    assert capsys.readouterr().out == "nothing found\n"
    hits([SearchHit("live:" + "c" * 36, "m", 1, "text", "so \x02much\x03 of it ", "title", None, None)])
    head, line, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["cccccccc", "text", "title"]
    assert line.rstrip() == "  so much of it"


def test_what_two_have_read_of_a_log_at_once_is_taken_in_once(tmp_path: Path) -> None:
    """A frontend that leaves ends its search, but not the thread that takes in what was read for it."""
    index = Index(tmp_path / "index.sqlite3", prices(None))
    listed = ListedConversation(
        "live:s", "", "agent", None, None, None, None, None, 1, None, True, None, None, None, 0, 0
    )
    said = [(SearchableText("", "text", "said once"), 1)]
    for _ in range(2):
        index.log("s", LogPiece("epoch", 5, list(said), [], listed, after=0))
    index.log("s", LogPiece("epoch", 9, [(SearchableText("", "text", "said later"), 6)], [], listed, after=5))
    assert [hit.seq for hit in index.search("said", limit=9)] == [1, 6]
    assert index.logged("s", "epoch") == 9
    index.close()
