"""What of a fleet is configured wrongly is told in a sentence, before anything is served."""

import subprocess
import sys
from pathlib import Path

import pytest

from turnwire.config.settings import ConfigurationError, load
from turnwire_process import environment

NOWHERE = "redis://127.0.0.1:1/0"


def said(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "turnwire", *arguments, "--state-dir", str(folder / "state")],
        env=environment(folder / "home"),
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.decode()


def test_the_journal_may_be_named_by_its_address() -> None:
    settings = load({"journal": NOWHERE}, None)
    assert (settings.journal, settings.redis_url) == ("redis", NOWHERE)


@pytest.mark.parametrize(
    ("option", "value"), [("worker", "a b"), ("worker", ""), ("fleet_lease_s", 0), ("journal", "etcd")]
)
def test_what_is_no_name_lease_or_journal_is_refused_by_its_setting(option: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=f"setting {option}"):
        load({option: value}, None)


def test_a_worker_and_a_hub_without_a_redis_say_what_is_missing(tmp_path: Path) -> None:
    code, error = said(tmp_path, "serve", "--worker", "w")
    assert code != 0
    assert "give --journal redis://HOST:PORT/0, too" in error
    command = [sys.executable, "-m", "turnwire", "hub", "--journal", NOWHERE, "--port", "0"]
    with subprocess.Popen(
        [*command, "--state-dir", str(tmp_path / "hub")],
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as hub:
        assert hub.stderr is not None
        assert "the fleet's Redis is not there yet; turnwire waits for it" in hub.stderr.readline()
        hub.terminate()
        assert hub.wait(timeout=60) == 0
