"""The first process of a container: a parent that passes signals on and reaps, here as a subreaper."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from turnwire_process import DEADLINE, environment

FIRST = """
import ctypes, os, signal, sys, time
from turnwire.sidecar.process.first_process import become_first
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: orphans come to us, as they do to process 1
first = os.getpid()
become_first()
assert os.getppid() == first
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="containers are Linux")


def begun(tmp_path: Path, rest: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FIRST + rest], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_sidecar_once_and_its_status_is_that_of_the_container(
    tmp_path: Path, number: signal.Signals
) -> None:
    rest = f"""
got = []
signal.signal({number:d}, lambda *_: got.append(1))
print("ready", flush=True)
while not got:
    time.sleep(0.01)
sys.exit(40 + len(got))
"""
    with begun(tmp_path, rest) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(DEADLINE) == 41


def test_a_sidecar_that_is_killed_ends_the_container_as_a_shell_says_it(tmp_path: Path) -> None:
    with begun(tmp_path, "os.kill(os.getpid(), 9)") as process:
        assert process.wait(DEADLINE) == 128 + 9


def test_orphans_are_reaped(tmp_path: Path) -> None:
    rest = """
reading, writing = os.pipe()
if (parent := os.fork()) == 0:
    if (orphan := os.fork()) == 0:
        time.sleep(0.05)
        os._exit(0)
    os.write(writing, str(orphan).encode())
    os._exit(0)
os.waitpid(parent, 0)
orphan = os.read(reading, 20).decode()
while os.path.exists(f"/proc/{orphan}"):
    time.sleep(0.01)
print("reaped", flush=True)
"""
    with begun(tmp_path, rest) as process:
        told, _ = process.communicate(timeout=DEADLINE)
        assert (told, process.returncode) == ("reaped\n", 0)


LOOK = """
import json, os
def text(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except OSError:
        return ""
others = [name for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid()]
print(json.dumps({kind: [text(f"/proc/{name}/{kind}") for name in others] for kind in ("cmdline", "environ")}))
"""
TOKEN = "the-control-token-of-this-test"


@pytest.mark.long
@pytest.mark.parametrize("is_first", [True, False], ids=["turnwire is the first", "an init is the first"])
def test_the_first_process_of_a_container_hides_its_variables_from_others_of_its_user(
    tmp_path: Path, is_first: bool
) -> None:
    (tmp_path / "look.py").write_text(LOOK)
    (tmp_path / "begin.sh").write_text(
        f"""(while [ ! -e {tmp_path}/look ]; do sleep 0.05; done; exec env -i {sys.executable} {tmp_path}/look.py) &
        {"exec" if is_first else ""} {sys.executable} -m turnwire serve --agent demo --port 0 --state-dir {tmp_path}/state"""
    )
    namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
    nothing = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    words = [*namespace, *nothing, "sh", str(tmp_path / "begin.sh")]
    env = environment(tmp_path, TURNWIRE_TOKEN=TOKEN)
    with subprocess.Popen(words, env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert "http" in process.stdout.readline()
            (tmp_path / "look").touch()
            seen = json.loads(next(line for line in process.stdout if line.startswith("{")))
        finally:
            process.kill()
    assert len([one for one in seen["cmdline"] if "turnwire\0serve" in one]) == (2 if is_first else 1)
    assert any(TOKEN in one for one in seen["environ"]) is not is_first
