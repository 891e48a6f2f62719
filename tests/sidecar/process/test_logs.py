"""What a log line looks like, and what it must not cost."""

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnwire.protocol.visible import visible
from turnwire.sidecar.process import logs

log = logging.getLogger(f"turnwire.{__name__}")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    ours = logging.getLogger(logs.OURS)
    before = ours.level, ours.propagate, ours.handlers
    yield
    ours.level, ours.propagate, ours.handlers = before
    ours.setLevel(before[0])


def written(level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    logs.configure(level, stream)
    return stream


def test_a_line_is_an_object_of_json_with_the_sentence_and_its_fields() -> None:
    stream = written()
    log.warning("a file was not kept at 100 %", extra={"path": "/ü", "error": "full"})
    line = json.loads(stream.getvalue())
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "a file was not kept at 100 %",
        "path": "/ü",
        "error": "full",
        "level": "warning",
    }
    assert "ü" in stream.getvalue()


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("loads", [True, False])
@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_what_an_agent_says_is_no_order_to_the_terminal_that_reads_the_log(
    kind: type[io.StringIO], loads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = kind()
    logs.configure("info", stream)
    if not loads:
        monkeypatch.setitem(sys.modules, "structlog", None)
    said = "\x1b]0;x\x07\u202e\x9b2J"
    log.warning("an agent said %s", said, extra={"line": said, "lines": [said], "count": 7})
    shown = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert visible(shown) == shown
    assert "202e" in shown.lower()
    assert "\\x1b" not in shown or kind is Terminal


def fail(secret: str) -> None:
    body = {"prompt": secret, "deep": [secret] * 10}
    try:
        int(body["prompt"])  # type: ignore[call-overload]  # whatever it is, it is in the error's words
    except ValueError as error:
        raise ExceptionGroup(secret, [KeyError(body["prompt"]), error]) from error


def test_an_exception_is_part_of_its_line_by_its_kind_and_its_places() -> None:
    stream = written()
    try:
        Path("/nowhere/at/all").read_bytes()
    except OSError:
        log.exception("a session failed", extra={"session": "s-1"})
    (line,) = stream.getvalue().splitlines()
    (told,) = json.loads(line)["exception"]
    assert told["exc_type"] == "FileNotFoundError"
    assert "/nowhere/at/all" in told["exc_value"]
    assert told["frames"][0].startswith("tests/sidecar/process/test_logs.py:")
    assert told["frames"][0].endswith(" in test_an_exception_is_part_of_its_line_by_its_kind_and_its_places")


@pytest.mark.parametrize("loads", [True, False])
@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_no_line_holds_locals_or_the_words_of_foreign_exceptions(
    kind: type[io.StringIO], loads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = kind()
    logs.configure("info", stream)
    if not loads:
        monkeypatch.setitem(sys.modules, "structlog", None)
    try:
        fail("CANARY")
    except ExceptionGroup:
        log.exception("a session failed")
    said = stream.getvalue()
    assert "CANARY" not in said
    for word in ("a session failed", "ExceptionGroup", "KeyError", "ValueError", "test_logs.py", "in fail"):
        assert word in said


def test_an_exception_a_thousand_calls_deep_is_told_in_a_few_lines() -> None:
    def deeper(secret: str) -> None:
        deeper(secret)

    stream = written()
    try:
        deeper("CANARY" * 1000)
    except RecursionError:
        log.exception("a session failed")
    assert len(stream.getvalue()) < 10_000
    assert "CANARY" not in stream.getvalue()


def test_asyncio_tells_of_a_callback_without_its_arguments() -> None:
    record = logging.LogRecord(
        "asyncio",
        logging.ERROR,
        "x.py",
        1,
        "Exception in callback take('CANARY')\nhandle: <CANARY>",
        (),
        None,
    )
    assert (
        logs.PlainFormatter("%(name)s: %(message)s").format(record) == "asyncio: Exception in callback take"
    )


def test_lines_below_the_level_are_left_out() -> None:
    stream = written("warning")
    log.info("all is well")
    assert stream.getvalue() == ""


def test_a_person_at_a_terminal_reads_text() -> None:
    stream = Terminal()
    logs.configure("info", stream)
    log.warning("a file was not kept", extra={"path": "/here"})
    assert "a file was not kept" in stream.getvalue()
    assert "/here" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_a_line_that_cannot_be_written_is_lost_and_nothing_else_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Full(io.StringIO):
        def write(self, text: str, /) -> int:  # noqa: ARG002 - the signature of a stream
            raise OSError(28, "No space left on device")

    logs.configure("info", Full())
    log.warning("a file was not kept")
    assert capsys.readouterr() == ("", "")


def test_a_person_reads_plain_text_where_structlog_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    logs.configure("info", stream)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "structlog", None)
        log.warning("too many open files")
    log.warning("and again")
    plain, drawn = stream.getvalue().splitlines()
    assert plain == "too many open files"
    assert "and again" in drawn
    assert "warning" in drawn


def test_a_field_that_is_no_json_is_written_as_python_shows_it() -> None:
    stream = written()
    log.warning("a file was not kept", extra={"path": Path("/x")})
    assert json.loads(stream.getvalue())["path"].endswith("Path('/x')")


def test_a_line_for_a_file_loads_no_structlog() -> None:
    says = (
        "import logging, sys; from turnwire.sidecar.process import logs; logs.configure('info'); "
        "logging.getLogger('turnwire').error('x', exc_info=OSError()); print('structlog' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", says], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
    assert json.loads(result.stderr)["exception"][0]["exc_type"] == "OSError"
