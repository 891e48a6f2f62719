"""A process that was begun with a token in its environment begins anew without it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnwire.config import secrecy
from turnwire_process import DEADLINE, TURNWIRE, environment

TOKEN = "the-control-token-of-this-test"
LOOK = """
import json, os, subprocess, sys
from turnwire.config import secrecy
secrecy.restart_without_secrets()
child = subprocess.run(["env"], capture_output=True, text=True).stdout
begun = open("/proc/self/environ").read() if os.path.exists("/proc/self/environ") else ""
descriptors = sorted(int(fd) for fd in os.listdir("/dev/fd"))[:-1]
print(json.dumps({"kept": dict(secrecy.removed_variables()), "begun": begun, "child": child, "argv": sys.argv[1:], "open": descriptors}))
"""


def looked(folder: Path, *arguments: str, **variables: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *arguments],
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_secrets_are_kept_and_neither_the_process_nor_what_it_starts_has_them_in_its_environment(
    tmp_path: Path,
) -> None:
    secrets = {
        "TURNWIRE_TOKEN": TOKEN,
        "turnwire_view_token": "two\nlines = é",
        "TURNWIRE_REDIS_URL": "redis://:pw@host",
    }
    found = looked(tmp_path, "--one", "", "two words", OTHER="stays", **secrets)
    assert found["kept"] == secrets
    assert found["argv"] == ["--one", "", "two words"]
    for environ in (str(found["begun"]), str(found["child"])):
        assert "TOKEN" not in environ.upper()
        assert TOKEN not in environ
        assert "redis" not in environ
    assert "OTHER=stays" in str(found["child"])
    assert "TURNWIRE_HANDED" not in str(found["child"])
    assert found["open"] == looked(tmp_path)["open"]


@pytest.mark.parametrize("number", ["", "x", "-1", "9999", "99999999999999999999"])
def test_a_descriptor_that_was_not_handed_over_is_refused_in_a_sentence(number: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*TURNWIRE, "doctor"],
        env=environment(tmp_path, TURNWIRE_HANDED=number),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.startswith("turnwire: TURNWIRE_HANDED is an internal variable of turnwire")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def no_secrets_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrecy, "_removed", {})
    for name in os.environ:
        if secrecy.is_secret(name):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("no_secrets_yet")
def test_what_was_handed_over_is_kept_and_its_pipe_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, f"TURNWIRE_TOKEN={TOKEN}\0PATH=/elsewhere\0TURNWIRE_WEBHOOK_SECRET_A=b=c".encode())
    os.close(writing)
    monkeypatch.setenv(secrecy.HANDED, str(reading))
    secrecy.restart_without_secrets()
    assert secrecy.removed_variables() == {"TURNWIRE_TOKEN": TOKEN, "TURNWIRE_WEBHOOK_SECRET_A": "b=c"}
    assert secrecy.HANDED not in os.environ
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reading)


@pytest.mark.usefixtures("no_secrets_yet")
def test_secrets_that_no_pipe_takes_at_once_are_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TURNWIRE_TOKEN", "x" * 3_000_000)
    with pytest.raises(
        secrecy.SecretsNotPassed, match=r"^TURNWIRE_TOKEN: 3000015 bytes are too many; shorten them$"
    ):
        secrecy.restart_without_secrets()


@pytest.mark.usefixtures("no_secrets_yet")
def test_a_process_that_cannot_begin_anew_says_how_to_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWIRE_VIEW_TOKEN", TOKEN)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(secrecy.SecretsNotPassed) as refused:
        secrecy.restart_without_secrets()
    assert TOKEN not in str(refused.value)
    assert str(refused.value).startswith(
        "cannot restart without TURNWIRE_VIEW_TOKEN in the environment (No such"
    )
    assert str(refused.value).endswith("name a file with TURNWIRE_TOKEN_FILE instead")
