"""A process that was begun with a token in its environment begins anew without it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from turnwire_process import DEADLINE, TURNWIRE, environment

TOKEN = "the-control-token-of-this-test"
LOOK = """
import json, os, subprocess, sys
from sidecar.config import secrecy
secrecy.take_secrets_out()
child = subprocess.run(["env"], capture_output=True, text=True).stdout
begun = open("/proc/self/environ").read() if os.path.exists("/proc/self/environ") else ""
descriptors = sorted(int(fd) for fd in os.listdir("/dev/fd"))[:-1]
print(json.dumps({"kept": dict(secrecy.kept()), "begun": begun, "child": child, "argv": sys.argv[1:], "open": descriptors}))
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
    assert done.stderr.startswith("turnwire: TURNWIRE_HANDED is turnwire's own")
    assert done.stderr.count("\n") == 1
