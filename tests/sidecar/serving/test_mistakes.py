"""What people do wrong at first: each is told in a sentence whose fault it is, where, and what to do, with exit code 1 or 2."""

import lzma
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cases import for_each
from preloaded import ran
from turnwire_process import environment

FILES: dict[str, str | bytes] = {
    "empty.jsonl": "",
    "good.jsonl": '{"type":"system","subtype":"init","session_id":"x","cwd":"/","tools":[],"model":"m"}\n',
    "note.txt": "hello\nworld\n",
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "bad.toml": "port = = 1\n",
    "unknown.toml": "prot = 1\n",
    "strange.toml": "qqqqqqqq = 1\n",
    "type.toml": 'port = "many"\n',
    "policy.toml": 'policy = "careful"\n',
    "action.toml": '[[rules]]\naction = "maybe"\ntool = "Bash"\n',
    "regex.toml": '[[rules]]\naction = "deny"\nregex = { command = "(" }\n',
    "heading.toml": '[[rule]]\naction = "deny"\n',
    "marked.toml": b"\xef\xbb\xbfprot = 1\r\n",
    "string.toml": '[agents]\nmine = "my-cli --acp"\n',
    "nested.toml": '[agents.mine]\ncomand = ["x"]\n',
    "marked-rules.toml": b"\xef\xbb\xbf[[rule]]\r\n",
    "packed.xz": lzma.compress(b'{"type":"system"}\n'),
    "wide.jsonl": '{"type":"system"}\n'.encode("utf-16"),
    "agents.toml": '[agents.mine]\ncommand = ["no-such-program"]\n',
    "none.toml": 'agent = "mine"\n[agents.mine]\ncommand = []\n',
    "turns.yaml": "version: 2.1.330\nturns: 3\n",
    "open.yaml": "a: [\n",
    "prices.json": "{",
    "no-program": "x",
    "open-token": "0123456789abcdef",
}


@dataclass(frozen=True)
class Mistake:
    """A wrong call, and words that its answer must have: where it is, and what to do."""

    call: str
    says: tuple[str, ...]
    code: int = 1
    env: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([*(f"{name}={value}" for name, value in self.env.items()), "turnwire", self.call])


def wrong(call: str, *says: str, code: int = 1, **env: str) -> Mistake:
    return Mistake(call, says, code, env)


HELP = "Try 'turnwire"
DEMO = "--agent demo --port 0"

CALLS = [
    wrong("rnu", "'rnu'", "Did you mean 'run'", HELP, code=2),
    wrong("run --prot 1", "--prot", "--port", HELP, code=2),
    wrong("serve extra", "extra", HELP, code=2),
    wrong("agents gemini", "gemini", HELP, code=2),
    wrong("inspect good.jsonl more.jsonl", "more.jsonl", HELP, code=2),
    wrong("translate good.jsonl more.jsonl", "more.jsonl", "usage: turnwire translate", code=2),
    wrong("translate --json good.jsonl", "--json", "usage: turnwire translate", code=2),
    wrong("translate --field-limit 1 good.jsonl", "--field-limit", "1024", code=2),
    wrong("run --port many", "--port", "integer", code=2),
    wrong("run --port 99999", "port", "65535", code=2),
    wrong("serve --port -1", "port", "greater than or equal to 0", code=2),
    wrong("serve", "TURNWIRE_PORT", "integer", code=2, TURNWIRE_PORT="many"),
    wrong("serve --agent demo --port {busy}", "{busy}", "Address already in use", "give another with --port"),
    wrong("serve --host 0.0.0.0 --port 0", "0.0.0.0", "configure a token"),
    wrong("serve --host nowhere.invalid --port 0", "nowhere.invalid", "configure a token"),
    wrong("run --qr " + DEMO, "--qr", "127.0.0.1", "give --host"),
]

AGENTS = [
    wrong("run", "'claude'", "npm install", "--agent demo"),
    wrong("run claude", "'claude'", "npm install"),
    wrong("run --agent gemini", "'gemini'", "npm install"),
    wrong("run --agent gemmini", "'gemmini'", "did you mean gemini?", "[agents]"),
    wrong("run --agent Claude", "'Claude'", "did you mean claude?"),
    wrong("serve --agent gemmini --port 0", "'gemmini'", "did you mean gemini?"),
    wrong("acp --agent gemmini --port 0", "'gemmini'", "did you mean gemini?"),
    wrong("stdio --agent gemmini", "'gemmini'", "did you mean gemini?"),
    wrong("runner --agent gemmini", "'gemmini'", "did you mean gemini?", code=2),
    wrong("conform agent --agent gemmini", "'gemmini'", "did you mean gemini?"),
    wrong("run --config agents.toml --agent mine", "'no-such-program'", "install that CLI"),
    wrong("run --config none.toml", "'mine'", "give the program"),
    wrong("run -- ./no-program", "./no-program", "chmod +x"),
    wrong("run -- ./nothing", "./nothing", "name the CLI's program"),
    wrong("run -- ./folder", "./folder is a directory", "name the CLI's program"),
    wrong("run -- folder", "'folder'", "PATH"),
    wrong("run --workspace nowhere " + DEMO, "nowhere", "not a directory", "name an existing one"),
    wrong("run --workspace note.txt " + DEMO, "note.txt", "not a directory", "name an existing one"),
    wrong("run --policy careful " + DEMO, "--policy", "'supervised'", code=2),
    wrong("run --family acp", "--family", "`--`", code=2),
    wrong("run --family opencode-serve -- x", "--family", "claude, qwen, acp", code=2),
    wrong("run --prompt a -- claude b", "--prompt", "give one of them", code=2),
    wrong("run do␣X", "'do X' is no program", "a prompt follows the CLI"),
    wrong("run -- claude do X", "put it in quotes", code=2),
    wrong("run --fork-session " + DEMO, "fork", "needs resume"),
    wrong("run --resume-session-at x " + DEMO, "resume_at", "needs resume"),
    wrong("run --continue --resume x " + DEMO, "continue_latest", "give one of the two"),
    wrong("conform agent --agent x -- y", "`--`", "give one of them", code=2),
    wrong("conform frontend -- ./nothing", "./nothing", "name a program"),
    wrong("runner --at-end stop", "--at-end", "'drain'", "--help", code=2),
    wrong("runner --max-running 0", "--max-running", "greater than or equal to 1", code=2),
    wrong("stdio --as x", "--as", "json_rpc", code=2),
]

SETTINGS = [
    wrong("serve --config nowhere.toml", "nowhere.toml: No such file", "--config", code=2),
    wrong("serve --config folder", "folder: Is a directory", "--config", code=2),
    wrong("serve --config bad.toml", "bad.toml", "line 1, column 8", "correct the file", code=2),
    wrong("serve --config picture.png", "picture.png", "not UTF-8", "--config", code=2),
    wrong("serve --config unknown.toml", "prot", "unknown.toml", "did you mean port?", code=2),
    wrong("serve --config strange.toml", "qqqqqqqq", "strange.toml", "docs/settings.md", code=2),
    wrong("serve --config type.toml", "port", "type.toml", "integer", code=2),
    wrong("serve --config policy.toml", "policy", "policy.toml", "'supervised'", code=2),
    wrong("serve --config marked.toml", "setting prot", "marked.toml", "did you mean port?", code=2),
    wrong("serve --config string.toml", "agents.mine", "must be a list", "string.toml", code=2),
    wrong("serve --config nested.toml", "agents.mine.comand", "no such setting", "TURNWIRE_AGENTS,", code=2),
    wrong("serve --rules marked-rules.toml " + DEMO, "'rule'", "correct the name"),
    wrong("stdio --config nowhere", "nowhere: No such file", "--config", code=2),
    wrong("runner --config bad.toml", "bad.toml", "correct the file", code=2),
    wrong("serve --port 0", "TURNWIRE_PROT", "did you mean TURNWIRE_PORT?", code=2, TURNWIRE_PROT="1"),
    wrong("serve --port 0", "TURNWIRE_POLICY", "'supervised'", code=2, TURNWIRE_POLICY="x"),
    wrong("serve --rules nowhere.toml " + DEMO, "nowhere.toml: No such file", "--rules"),
    wrong("serve --rules folder " + DEMO, "folder: Is a directory", "--rules"),
    wrong("serve --rules bad.toml " + DEMO, "bad.toml", "correct the file", "--rules"),
    wrong("serve --rules action.toml " + DEMO, "action.toml: rule 1", "allow, deny or ask"),
    wrong("serve --rules regex.toml " + DEMO, "regex.toml: rule 1", "regex"),
    wrong("serve --rules heading.toml " + DEMO, "heading.toml", "'rule'", "correct the name"),
    wrong("trust", "turnwire.toml to trust", "name the folder"),
    wrong("trust folder", "folder/turnwire.toml to trust", "name the folder"),
    wrong("trust note.txt", "note.txt", "--config", code=2),
    wrong("trust --revoke", "is not trusted"),
]

KEEPING = [
    wrong(
        "serve --journal postgres://x " + DEMO,
        "setting journal: there is no journal 'postgres'",
        "memory, redis, sqlite",
        code=2,
    ),
    wrong(
        "serve --journal redis:/x " + DEMO,
        "setting journal: there is no journal 'redis:/x'",
        "memory, redis, sqlite",
        code=2,
    ),
    wrong("serve --journal redis://127.0.0.1:{free}/0 " + DEMO, "127.0.0.1:{free}", "Check that it runs"),
    wrong("hub", "--journal redis://HOST:PORT/0", code=2),
    wrong("serve --worker a " + DEMO, "worker", "give --journal redis://"),
    wrong("serve " + DEMO, "archive_after_s", "set worker, too", TURNWIRE_ARCHIVE_AFTER_S="60"),
    wrong("serve --state-dir note.txt " + DEMO, "note.txt", "Check the path"),
    wrong("serve --state-dir /proc/x " + DEMO, "/proc/x", "Check the path"),
    wrong(
        "serve --state-dir damaged " + DEMO,
        "damaged/journal.sqlite3 is not a turnwire journal",
        "Give another path",
    ),
    wrong("run --record --record-dir note.txt " + DEMO, "note.txt", "--record-dir"),
    wrong("journal set-aside --state-dir folder", "there is no journal", "--state-dir"),
    wrong("journal set-asid", "'set-asid'", "Did you mean 'set-aside'", code=2),
    wrong("token create", "name", HELP, code=2),
    wrong("token create a/b", "'a/b'", "1 to 64 ASCII letters", code=2),
    wrong("token create ann --role root", "--role", "'control'", code=2),
    wrong("token create ann --expires soon", "--expires", "30d", code=2),
    wrong("token create ann --sessions mine", "'mine'", "folder:/ABSOLUTE/PATH", code=2),
    wrong("token revoke nobody", "'nobody'", "turnwire token list"),
]

RECORDINGS = [
    wrong("translate nowhere", "nowhere: No such file", "name a file"),
    wrong("translate folder", "folder", "timeline.jsonl is missing"),
    wrong("translate empty.jsonl", "empty.jsonl: the file is empty", "what a CLI wrote"),
    wrong("replay", "files", HELP, code=2),
    wrong("replay nowhere", "nowhere: there is no such file", "give a recording"),
    wrong("replay folder", "folder", "timeline.jsonl is missing"),
    wrong("replay empty.jsonl", "empty.jsonl: the file is empty", "give a recording"),
    wrong("replay good.jsonl --serve --otlp", "--serve", "give one of them", code=2),
    wrong("replay good.jsonl --otlp", "--otlp", "OTEL_EXPORTER_OTLP_ENDPOINT", code=2),
    wrong("replay good.jsonl --otlp", "--otlp", "other than none", code=2, OTEL_TRACES_EXPORTER="none"),
    wrong("replay good.jsonl --speed fast", "--speed", "number", code=2),
    wrong("inspect nowhere", "nowhere: there is no such file", "give a recording"),
    wrong("inspect empty.jsonl", "empty.jsonl: the file is empty", "give a recording"),
    wrong("inspect good.jsonl --prices nowhere", "nowhere", "prices"),
    wrong("inspect good.jsonl --prices prices.json", "prices.json", "it is written as"),
    wrong("redact good.jsonl", "out", HELP, code=2),
    wrong("redact nowhere copy", "nowhere: No such file", "name a recording"),
    wrong("redact good.jsonl note.txt", "note.txt: File exists", "name a copy"),
    wrong("redact copy good.jsonl", "copy: No such file", "name a recording"),
    wrong("doctor nowhere", "nowhere: there is no such file", "give a recording"),
    wrong("translate packed.xz", "packed.xz: this is compressed by xz", "unxz"),
    wrong("inspect packed.xz", "packed.xz: this is compressed by xz", "unxz"),
    wrong("redact packed.xz copy", "packed.xz: this is compressed by xz", "unxz"),
    wrong("inspect wide.jsonl", "wide.jsonl: this is UTF-16", "iconv"),
    wrong("schema evnts", "'evnts'", "'events'", HELP, code=2),
    wrong("agent nowhere.yaml", "nowhere.yaml: no such file", "demo", code=2),
    wrong("agent turns.yaml", "turns.yaml, line 2", "array", code=2),
    wrong("agent open.yaml", "open.yaml: not YAML", "line 2", code=2),
    wrong("agent picture.png", "picture.png", "name a script", code=2),
    wrong("agent folder", "folder", "timeline.jsonl", code=2),
    wrong("agent demo --family x", "--family", "acp", code=2),
]

CONVERSATIONS = [
    wrong("search", "words", HELP, code=2),
    wrong('search "', "give letters or digits"),
    wrong("search --limit 0 x", "--limit", "greater than or equal to 1", code=2),
    wrong("usage --by hour", "--by", "'hour'", "project", code=2),
    wrong("usage --since yesterday", "--since", "YYYY-MM-DD", code=2),
    wrong("usage --until 2026", "--until", "YYYY-MM-DD", code=2),
    wrong("usage --since 2026-02-01 --until 2026-01-01", "--since 2026-02-01 is after", "exchange", code=2),
    wrong("export", "session", HELP, code=2),
    wrong("export nothing", "'nothing'", "turnwire sessions"),
    wrong("export page.html abc", "'page.html'", "turnwire sessions"),
    wrong("export packed.xz page.html", "packed.xz", "unxz"),
    wrong("export note.txt", "note.txt", "no line of it could be read", code=2),
    wrong("export good.jsonl page.pdf", "page.pdf", "(.html)", "--format", code=2),
    wrong("export good.jsonl --branch here", "good.jsonl", "leave out --branch"),
    wrong("sessions --folder nope", "--folder nope", "no such folder", code=2),
    wrong("usage --folder note.txt", "--folder note.txt", "not a folder", code=2),
]

HUBS = [
    wrong("acp --connect nonsense", "'nonsense'", "give the URL", code=2),
    wrong("acp --connect ftp://127.0.0.1", "'ftp://127.0.0.1'", "give the URL", code=2),
    wrong("agui --connect nonsense", "'nonsense'", "give the URL", code=2),
    wrong("agui --port 99999", "--port", "65535", code=2),
    wrong("agui --port 0 --allowed-host https://a.example", "'https://a.example'", "the name alone", code=2),
    wrong("usechat --port 0 --allowed-origin a.example", "'a.example'", "SCHEME://HOST", code=2),
    wrong("serve --allowed-origin *", "allowed_origins", "SCHEME://HOST", code=2),
    wrong("agui --port {busy}", "{busy}", "take another with --host and --port"),
    wrong("serve --port 0", "nowhere", "chmod 600", code=2, TURNWIRE_TOKEN_FILE="nowhere"),
    wrong("serve --port 0", "open-token", "chmod 600", code=2, TURNWIRE_TOKEN_FILE="open-token"),
]


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, str]]:
    """A port that somebody has, and one that nobody listens on: it is bound, so nobody else gets it."""
    with socket.create_server(("127.0.0.1", 0)) as busy, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield {"busy": str(busy.getsockname()[1]), "free": str(free.getsockname()[1])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("newcomer")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        (folder / name).chmod(0o644)
    (folder / "folder").mkdir()
    (folder / "damaged").mkdir()
    (folder / "damaged" / "journal.sqlite3").write_text("this is no database " * 100)
    return folder


QUICK = {"calls": CALLS, "settings": SETTINGS}
SLOW = {
    "agents": AGENTS,
    "keeping": KEEPING,
    "recordings": RECORDINGS,
    "conversations": CONVERSATIONS,
    "hubs": HUBS,
}


def cases(groups: Mapping[str, list[Mistake]]) -> list[tuple[str, Mistake]]:
    return [(group, mistake) for group, mistakes in groups.items() for mistake in mistakes]


@for_each("group, mistake", cases(QUICK), by=lambda case: case[0])
def test_a_mistake_is_told_with_what_to_do(
    group: str, mistake: Mistake, folder: Path, ports: dict[str, str]
) -> None:
    make(group, mistake, folder, ports)


@pytest.mark.long
@for_each("group, mistake", cases(SLOW), by=lambda case: case[0])
def test_a_mistake_that_takes_a_start_is_told_with_what_to_do(
    group: str, mistake: Mistake, folder: Path, ports: dict[str, str]
) -> None:
    make(group, mistake, folder, ports)


def make(group: str, mistake: Mistake, folder: Path, ports: dict[str, str]) -> None:
    """Make the mistake, and look at what is said of it."""
    call = [word.replace("␣", " ") for word in mistake.call.format(**ports).split()]
    done = ran(call, cwd=folder, env=environment(folder / f"home-{group}", **mistake.env))
    said = done.stderr.decode()
    assert done.returncode == mistake.code, said
    assert "Traceback" not in said
    assert "Errno" not in said
    # a sentence; before it the usage and the way to help, where it is the call that is wrong
    assert 1 <= len(said.splitlines()) <= 4, said
    for words in mistake.says:
        assert words.format(**ports) in said


def test_every_mistake_of_the_list_is_made_once() -> None:
    every = [mistake for _, mistake in cases(QUICK | SLOW)]
    assert len({(mistake.call, tuple(mistake.env.items())) for mistake in every}) == len(every) > 100
