"""The stores of all agents of one HOME, listed together; a store that is broken costs no other."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from kept_files import KEPT, kept_file, make_database
from typer.testing import CliRunner

from recordings import ROOT
from turnwire.config.settings import Settings
from turnwire.history.folders import files_in, folders
from turnwire.history.history import History
from turnwire.history.index import LogPiece
from turnwire.history.show import short_ids
from turnwire.normalize import events as ev
from turnwire.normalize.families import recorded_core
from turnwire.normalize.recordings.session_files import Answer
from turnwire.recordings.database import database_lines, stored_in
from turnwire.recordings.filters.translate import InputError
from turnwire.recordings.filters.translate import run as translate
from turnwire.recordings.recorded import in_database
from turnwire.recordings.session_file import format_of
from turnwire.sidecar.cli.commands import application
from turnwire.sidecar.process import logs

PLACES = {
    "codex": ".codex/sessions",
    "copilot": ".copilot/session-state",
    "droid": ".factory/sessions",
    "gemini": ".gemini/tmp",
    "kimi": ".kimi-code/sessions",
    "qwen": ".qwen/projects",
}

TRANSCRIPT = (
    b'{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\\nRemember 4711\\n</user_query>"}]}}\n'
    b'{"role":"assistant","message":{"content":[{"type":"text","text":"I do."}]}}\n'
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME with a conversation of each agent."""
    found = tmp_path / "home"
    for agent, place in PLACES.items():
        (kept,) = KEPT.glob(f"{agent}-*")
        shutil.copytree(kept, found / place)
    store = found / ".local" / "share" / "opencode"
    store.mkdir(parents=True)
    make_database(store)
    transcript = found / ".cursor/projects/workspace/agent-transcripts/0a1b/0a1b.jsonl"
    (transcript.parent / "subagents").mkdir(parents=True)
    (transcript.parent / "subagents" / "x.jsonl").write_bytes(TRANSCRIPT)
    transcript.write_bytes(TRANSCRIPT)
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.setattr(logs, "configure", lambda _: None)  # it would be so for the tests after this one, too
    monkeypatch.setenv("TURNWIRE_STATE_DIR", str(tmp_path / "state"))
    for variable in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "GEMINI_CLI_HOME",
        "QWEN_HOME",
        "XDG_DATA_HOME",
    ):
        monkeypatch.delenv(variable, raising=False)
    return found


@pytest.fixture
def library(home: Path) -> Iterator[History]:
    """The library of that HOME."""
    history = History(Settings(), lambda: ())
    assert history.look().failed == []
    yield history
    history.index.close()


def test_conversations_of_all_agents_are_listed_searched_counted_and_exported(
    library: History, home: Path
) -> None:
    listed = library.index.newest(limit=20)
    assert {one.agent for one in listed} == {*PLACES, "cursor", "opencode"}
    assert len(listed) == 8
    assert {one.agent: one.turns for one in listed} == {
        "codex": 2, "copilot": 3, "cursor": 1, "droid": 3, "gemini": 2, "kimi": 3, "opencode": 3, "qwen": 2,
    }  # fmt: skip
    # one that tells no time has that of its file
    assert all(one.ended for one in listed)
    hits = library.index.search("4711", limit=50)
    assert {hit.id for hit in hits} == {one.id for one in listed}
    spent = {str(one.group["agent"]): one for one in library.index.usage(["agent"])}
    assert {agent: (one.input_tokens, one.output_tokens) for agent, one in spent.items()} == dict.fromkeys(
        [*PLACES, "opencode"], (400, 80)
    )
    assert spent["opencode"].cost_usd == pytest.approx(4 * (100 * 1 + 20 * 4) / 1e6)
    # what two conversations took is not one sum
    droid = next((home / PLACES["droid"]).glob("*/*.jsonl"))
    for file in (droid, droid.with_name(f"{droid.stem}.settings.json")):
        other = file.with_name(file.name.replace(droid.stem, "another"))
        other.write_bytes(file.read_bytes().replace(droid.stem.encode(), b"another"))
    library.look()
    assert [one.input_tokens for one in library.index.usage(["agent"]) if one.group["agent"] == "droid"] == [
        800
    ]
    assert {one.group["session"] for one in library.index.usage(["session"])} <= {
        "another",
        *(one.id for one in listed),
    }
    for one in listed:
        document = library.export(library.find(one.id), "markdown", redact=False)
        assert "Remember 4711" in document
        assert one.agent == "cursor" or "It was 4711." in document


def test_conversations_of_a_family_are_listed(home: Path) -> None:
    def listed(*arguments: str) -> set[str]:
        result = CliRunner().invoke(application(), ["sessions", "--json", *arguments])
        assert result.exit_code == 0, result.output
        return {json.loads(line)["agent"] for line in result.stdout.splitlines()}

    assert home.exists()
    assert listed("--family", "acp") == {*PLACES, "cursor", "opencode"}
    assert listed("--family", "acp", "--agent", "kimi") == listed("--family", "kimi") == {"kimi"}
    assert listed("--family", "opencode-serve") == {"opencode"}
    assert listed("--family", "claude") == set()
    shown = CliRunner().invoke(application(), ["sessions"], env={"COLUMNS": "200"}).stdout
    assert "session_8c68a1d4  " in shown
    for arguments, why in (
        (["nobody"], "there is no family 'nobody'; choose one of claude"),
        (["miriad"], "turnwire reads no conversations of this family"),
        (["kimi", "--agent", "codex"], "--agent codex is not of the family kimi, whose agents are kimi"),
    ):
        refused = CliRunner().invoke(application(), ["sessions", "--family", *arguments])
        assert refused.exit_code != 0
        assert why in refused.output


def test_a_copy_is_made_of_lines_of_the_named_family_alone(home: Path, tmp_path: Path) -> None:
    assert home.exists()
    source = next((ROOT / "fixtures" / "native").glob("gemini-*/shell-fail/stdout.jsonl"))
    for family, why in (
        ("codex-exec", "no line of it is one of the family codex-exec"),
        ("nobody", "there is no family"),
    ):
        refused = CliRunner().invoke(
            application(), ["redact", "--family", family, str(source), str(tmp_path / "no")]
        )
        assert refused.exit_code != 0
        assert why in refused.output
    assert not (tmp_path / "no").exists()
    made = CliRunner().invoke(
        application(), ["redact", "--family", "gemini", str(source), str(tmp_path / "copy")]
    )
    assert (made.exit_code, len((tmp_path / "copy").read_bytes().splitlines())) == (
        0,
        len(source.read_bytes().splitlines()),
    )


def test_a_store_that_is_broken_or_leads_away_costs_no_other(home: Path, tmp_path: Path) -> None:
    store = home / ".local" / "share" / "opencode"
    (store / "opencode-empty.db").write_bytes(b"SQLite format 3\0" + bytes(84))
    whole = (store / "opencode.db").read_bytes()
    (store / "opencode-cut.db").write_bytes(whole[: len(whole) // 2])
    (store / "opencode-other.db").write_bytes(b"no database")
    with closing(sqlite3.connect(store / "opencode-view.db")) as db:
        db.executescript(
            "CREATE TABLE part (id); CREATE TABLE message (id);"
            "CREATE VIEW session AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n;"
        )
    (store / "opencode-link.db").symlink_to(store / "opencode.db")
    (store / "opencode-secret.db").touch(mode=0)
    kimi = next((home / ".kimi-code").glob("sessions/*/*/state.json"))
    kimi.unlink()
    kimi.symlink_to("/etc/hostname")
    sums = next((home / ".factory").glob("sessions/*/*.settings.json"))
    sums.write_bytes(b'{"tokenUsage":')
    (home / ".copilot/session-state/again").mkdir()
    events = next((home / ".copilot").glob("session-state/*/events.jsonl"))
    (home / ".copilot/session-state/again/events.jsonl").symlink_to(events)
    with events.open("ab") as file:
        file.write(
            b'{"type":"user.message","data":' + b"[" * 5000 + b"\n\xff\xfe\n{}\n" + b'{"type":"assistant.mess'
        )
    history = History(Settings(), lambda: ())
    looked = history.look()
    found = {one.agent: one for one in history.index.newest(limit=20)}
    assert len(found) == 8
    broken = {Path(path).parent.name for path in looked.failed}
    assert broken == {"opencode-cut.db", "opencode-empty.db", "opencode-view.db"}
    assert (found["kimi"].id, found["kimi"].turns) == (kimi.parent.name, 3)
    assert found["copilot"].turns == 3
    spent = {one.group["agent"]: one.input_tokens for one in history.index.usage(["agent"])}
    # Droid's tokens stood in the file that is damaged
    assert spent == dict.fromkeys({*PLACES, "opencode"} - {"droid"}, 400)
    history.index.close()


def test_a_database_is_read_while_its_agent_writes_and_is_not_written(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    (one,) = stored_in(database)
    path = database / one.id
    assert in_database(path)
    assert len(list(database_lines(path))) == 1 + 8
    assert (sorted(path.name for path in tmp_path.iterdir()), database.stat().st_size) == (
        before,
        database.stat().st_size,
    )
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(
            "INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated) "
            "VALUES ('ses_sub', 'global', ?, 's', '/w', 'inside', '1', 1, 1)",
            (one.id,),
        )
        db.execute(
            'INSERT INTO message VALUES (\'msg_sub\', \'ses_sub\', 1, 9999999999999, \'{"role":"assistant","modelID":"small"}\')'
        )
        finish = '{"type":"step-finish","tokens":{"input":7,"output":2}}'
        db.execute(
            "INSERT INTO part VALUES ('prt_sub', 'msg_sub', 'ses_sub', 1, 9999999999999, ?)", (finish,)
        )
        db.execute("INSERT INTO part VALUES ('prt_big', 'msg_sub', 'ses_sub', 1, 1, zeroblob(33554433))")
        db.execute("INSERT INTO part VALUES ('prt_odd', 'msg_sub', 'ses_sub', 1, 1, '[')")
        # it is open: what is only in the log of writes is read as well
        assert [found.id for found in stored_in(database)] == [one.id]
        (added,) = database_lines(path, after=9_000_000_000_000)
        assert isinstance(added, bytes)
        assert b'"input":7' in added
        format_ = format_of(path)
        assert format_ is not None
        survey = format_.files.survey()
        for line in database_lines(path):
            assert isinstance(line, bytes)
            survey.handle(line)
        assert [(a.model, a.input_tokens) for a in survey.outline().answers if a.model == "small"] == [
            ("small", 7)
        ]
    with pytest.raises(FileNotFoundError, match="no such conversation"):
        list(database_lines(database / "ses_gone"))


def test_what_is_said_in_a_database_meanwhile_is_followed(library: History, home: Path) -> None:
    listed = next(one for one in library.index.newest(limit=20) if one.agent == "opencode")
    follower = library.follower(listed)
    core = recorded_core()
    said = [event for piece in follower.first() for item in piece for event in core.handle(item)]
    assert [event.text.strip('"') for event in said if isinstance(event, ev.UserMessage)][-1] == "Fail now."
    assert follower.more() == []
    with closing(sqlite3.connect(home / ".local/share/opencode/opencode.db", isolation_level=None)) as db:
        now = 4_000_000_000_000
        db.execute(
            "INSERT INTO message VALUES ('msg_z', ?, ?, ?, '{\"role\":\"user\"}')", (listed.id, now, now)
        )
        text = '{"type":"text","text":"go on"}'
        db.execute("INSERT INTO part VALUES ('prt_z', 'msg_z', ?, ?, ?, ?)", (listed.id, now, now, text))
    added = [event for item in follower.more() for event in core.handle(item)]
    assert [event.text for event in added if isinstance(event, ev.UserMessage)] == ["go on"]
    (home / ".local/share/opencode/opencode.db").unlink()
    assert follower.more() == []


@pytest.mark.parametrize("agent", ["copilot", "kimi", "opencode"])
def test_what_turnwire_ran_itself_is_counted_by_the_agents_file(library: History, agent: str) -> None:
    """Ids of Kimi Code are longer than others, those of OpenCode shorter."""
    listed = next(one for one in library.index.newest(limit=20) if one.agent == agent)
    before = library.index.usage(["agent"])
    took = Answer(f"live:{listed.id:36}:s:turn-1", listed.ended, "scripted-1", 100, 20, 0, 0, None)
    piece = LogPiece("epoch", 3, [], [took], listed._replace(id="live:s", path=listed.id))
    library.index.log("s", piece)
    assert library.index.usage(["agent"]) == before


def test_conversations_lie_where_agents_are_told_to_keep_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = folders(Settings())
    assert {tmp_path / "elsewhere/session-state", tmp_path / "data/opencode"} <= set(found)
    assert list(files_in(tmp_path / "nowhere")) == []
    assert not in_database(kept_file("codex"))


def test_a_conversation_in_a_database_is_a_recording_like_any_other(home: Path, tmp_path: Path) -> None:
    database = home / ".local/share/opencode/opencode.db"
    (stored,) = stored_in(database)
    one, gone = str(database / stored.id), str(database / "ses_gone")

    def shown(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(application(), [*arguments])
        assert result.exit_code == code, result.output
        return result.output

    assert json.loads(shown("inspect", "--json", one))["cost_usd"] == pytest.approx(0.00072)
    assert "It was 4711." in shown("export", one)
    copy = tmp_path / "copy.jsonl"
    shown("redact", one, str(copy))
    found = format_of(copy)
    assert found is not None
    assert (found.files.agent, found.session) == ("opencode", stored.id)
    out = BytesIO()
    translate(Path(one), out, field_limit=1 << 20, stats=False)
    assert out.getvalue().count(b'"type":"complete"') == 3
    # what is none of its conversations, and all of them at once, is refused in a sentence
    assert "there is no such conversation in the database" in shown("inspect", gone, code=1)
    with pytest.raises(InputError, match="there is no such conversation in the database"):
        translate(Path(gone), out, field_limit=1 << 20, stats=False)
    assert "this is a database; name one of its conversations as" in shown("inspect", str(database), code=1)


def test_the_cost_of_a_session_is_not_whole_while_that_of_a_turn_is_unknown(library: History) -> None:
    listed = library.index.newest(limit=1)[0]._replace(
        id="live:s", path="", cost_usd=0.25, cost_is_whole=True
    )
    turns = [
        Answer(f"live:{'':36}:s:turn-{number}", 1.8e9, "unheard-of", 100, 20, 0, 0, cost)
        for number, cost in ((1, 0.25), (2, None))
    ]
    library.index.log("s", LogPiece("epoch", 3, [], turns[:1], listed))
    assert (known := library.index.find("live:s")) is not None
    assert known.cost_is_whole
    library.index.log("s", LogPiece("epoch", 5, [], turns[1:], listed, after=3))
    assert (known := library.index.find("live:s")) is not None
    assert (known.cost_usd, known.cost_is_whole) == (0.25, False)


def test_the_cost_of_each_agents_conversation_is_one_figure(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(Settings(), lambda: ())
    history.look()
    models = {str(one.group["model"]) for one in history.index.usage(["model"])}
    paths = {one.id: one.path for one in history.index.newest(limit=20) if one.agent != "cursor"}
    history.close()
    assert len(paths) == 7  # Cursor's transcripts tell no tokens
    rates = [{"input": 3, "output": 7, "cache_read": 1, "cache_write": 5}]
    mine = tmp_path / "prices.json"
    mine.write_text(json.dumps({"models": dict.fromkeys(models, rates)}))
    monkeypatch.setenv("TURNWIRE_PRICES", str(mine))

    def shown(*arguments: str) -> str:
        result = CliRunner().invoke(application(), [*arguments, "--json"])
        assert result.exit_code == 0, result.output
        return result.stdout

    listed = {one["id"]: one for one in map(json.loads, shown("sessions").splitlines())}
    used = {
        one["group"]["session"]: one
        for one in map(json.loads, shown("usage", "--by", "session").splitlines())
    }
    for identity, path in paths.items():
        told = [listed[identity], used[identity], json.loads(shown("inspect", path))]
        for name in ("cost_usd", "estimated_usd", "cost_is_whole"):
            first, *others = (one[name] for one in told)
            assert others == [pytest.approx(first)] * 2, (path, name)
        assert told[0]["cost_usd"], path


def test_a_conversation_is_resumed_by_how_its_id_begins(library: History) -> None:
    listed = library.index.newest(limit=1)[0]
    shown = short_ids(one.id for one in library.index.newest(limit=100))[listed.id]
    assert library.full_id(shown) == listed.id == library.full_id(listed.id)
    assert library.full_id("nobody knows it") == "nobody knows it"


def test_the_documented_places_are_those_that_are_read(home: Path) -> None:
    rows = [
        row
        for row in (ROOT / "docs" / "history.md").read_text().splitlines()
        if row.startswith("| ") and "`~/." in row
    ]
    missing = []
    for folder in folders(Settings()):
        place = folder.relative_to(home)
        # archived ones of Codex are named in the row of its others
        if not any(f"~/{place.parent}/" in row and place.name in row for row in rows):
            missing.append(str(place))
    assert missing == []
